"""The reference describes every parameter of the public names, none that isn't there, and every result.

``python -m tests.docs.test_reference`` lists the missing ones. torch and Python describe what they define: a function,
a constructor, or a method with a parameter of the same name in a base class.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from tests.test_pages import site_hooks

SECTION = r"^(?:{}):\n((?:[ \t]+\S.*\n|[ \t]*\n)+)"
ENTRY = re.compile(r"^(\w+(?:, \w+)*): \S", re.MULTILINE)
RESULT = re.compile(r"^(?:Returns|Yields):\n[ ]+\S", re.MULTILINE)
NAMES_IT = re.compile(r"(?:The|An?|Whether|Which|Where|How|Everything|Its|Each|This|One)\b|`|[A-Z][\w/-]*[:,\d-]")
"""How a first sentence begins that describes a result: the site shows it as such (``docs/docstrings.py``)."""
NO_RESULT = ("None", "NoReturn", "Never", "Iterator[None]")


def described(document: str | None, sections: str = "Args|Attributes") -> set[str]:
    """The names in these sections of a docstring; one line may describe several."""
    found = re.finditer(SECTION.format(sections), f"{inspect.cleandoc(document or '')}\n", re.MULTILINE)
    entries = [entry[1] for section in found for entry in ENTRY.finditer(textwrap.dedent(section[1]))]
    return {name for entry in entries for name in entry.split(", ")}


def described_fields(kind: type) -> set[str]:
    """The fields of a class that have a docstring of their own, the string below their annotation."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    return {
        field.target.id
        for field, below in zip(tree.body, tree.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


def is_ours(value: object) -> bool:
    """Whether simpletorch defines it, and doesn't only call torch's own by its name."""
    own = inspect.unwrap(value) if callable(value) else value
    return (getattr(own, "__module__", None) or "").partition(".")[0] == "simpletorch"


def parameters(function: Callable[..., object]) -> list[str]:
    """The public parameters of a function, a method or a class."""
    try:
        found = inspect.signature(function).parameters
    except ValueError:  # a function in C without a signature
        return []
    return [name for name in found if name not in ("self", "cls") and not name.startswith("_")]


@dataclasses.dataclass
class Described:
    """What a docstring says of the parameters of a function, a constructor or a method."""

    parameters: list[str]
    known: set[str]
    """Described here or by a base."""
    own: set[str]
    """Described here, under ``Args``."""
    result: bool = True
    """Whether the result is described, if there is one."""

    @property
    def missing(self) -> list[str]:
        """The parameters without a description."""
        return [name for name in self.parameters if name not in self.known]


def describes_its_result(function: Callable[..., object]) -> bool:
    """Whether a section does, or the first sentence; True if there is no result."""
    annotation = getattr(function, "__annotations__", {}).get("return")
    document = inspect.cleandoc(function.__doc__ or "")
    has_none = annotation is None or str(annotation).removeprefix("collections.abc.") in NO_RESULT
    return has_none or bool(RESULT.search(document) or NAMES_IT.match(document))


def of_names() -> Iterator[tuple[str, Described]]:
    """Every public function, constructor and method."""
    hooks, seen = site_hooks(), set[object]()
    for module in hooks.MODULES:
        if module == "follow":  # its three classes describe their fields in prose
            continue
        for path in hooks.public(module):
            home, _, name = path.rpartition(".")
            value = getattr(import_module(home), name)
            shown = name if module == "simpletorch" else f"{module}.{name}"
            if inspect.isclass(value):
                yield from of_class(shown, value, seen)
            elif is_ours(value) and inspect.isroutine(inspect.unwrap(value)):
                known, own = described(value.__doc__), described(value.__doc__, "Args")
                yield shown, Described(parameters(value), known, own, describes_its_result(value))


def of_class(name: str, kind: type, seen: set[object]) -> Iterator[tuple[str, Described]]:
    """The constructor and the methods, those of our bases too; no function twice."""
    ours = [base for base in kind.__mro__ if is_ours(base)]
    maker = next(vars(base)[at] for base in kind.__mro__ for at in ("__init__", "__new__") if at in vars(base))
    has_fields = dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")
    if ours and (has_fields or is_ours(maker)):
        known = {each for base in ours for each in described(base.__doc__)} | described(maker.__doc__)
        if has_fields:
            known |= {each for base in ours for each in described_fields(base)}
        yield name, Described(parameters(kind), known, described(vars(kind).get("__doc__"), "Args"))
    for at in (at for base in ours for at in vars(base) if not at.startswith("_")):
        held: list[Any] = [vars(base)[at] for base in kind.__mro__ if at in vars(base)]
        function, *inherited = (getattr(member, "__func__", member) for member in held)
        is_field = at in getattr(kind, "__dataclass_fields__", {})
        if not inspect.isfunction(function) or not is_ours(function) or is_field or function in seen:
            continue
        seen.add(function)
        known = described(function.__doc__)
        for base in filter(inspect.isroutine, inherited):
            known |= described(base.__doc__) if is_ours(base) else set(parameters(base))
        own = described(function.__doc__, "Args")
        yield f"{name}.{at}", Described(parameters(function), known, own, describes_its_result(function))


FOUND = dict(of_names())


@pytest.mark.parametrize("name", FOUND)
def test_the_reference_describes_the_parameters(name: str):
    found = FOUND[name]
    assert found.missing == []
    assert found.result, "Returns"
    assert sorted(found.own - set(found.parameters)) == []


class Sample:
    """A class of ours.

    Args:
        told: described.
        gone: no parameter.
    """

    __module__ = "simpletorch"

    def __init__(self, told: int, untold: int) -> None:
        """Its methods have neither."""

    def method(self, x: int) -> None:
        """Nothing is said of x."""


def test_a_result_without_a_description_is_found():
    def blend(x: int) -> int:
        """Blend it."""
        return x

    assert not describes_its_result(blend)
    for described_so in ("The blend of it.", "Blend it.\n\nReturns:\n    The blend."):
        blend.__doc__ = described_so
        assert describes_its_result(blend)


def test_what_is_missing_or_gone_is_found(monkeypatch):
    monkeypatch.setattr(Sample.method, "__module__", "simpletorch")
    monkeypatch.setattr(Sample.__init__, "__module__", "simpletorch")
    found = dict(of_class("Sample", Sample, set()))
    assert {name: each.missing for name, each in found.items()} == {"Sample": ["untold"], "Sample.method": ["x"]}
    assert found["Sample"].own - set(found["Sample"].parameters) == {"gone"}


if __name__ == "__main__":
    for shown, each in FOUND.items():
        if each.missing:
            print(f"{shown}: {', '.join(each.missing)}")
    count = sum(len(each.missing) for each in FOUND.values())
    print(f"{count} of {sum(len(each.parameters) for each in FOUND.values())} parameters are not described")
