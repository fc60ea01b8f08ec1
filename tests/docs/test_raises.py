"""The reference names the exceptions that a public function raises itself, under ``Raises``.

An exception stands in the docstring of the function or, for a method, of its class; a base class of it will do.
``python -m tests.docs.test_raises`` lists the missing ones.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from tests.docs.test_reference import described, is_ours
from tests.test_pages import site_hooks

SPECIAL = {"__init__", "__new__", "__post_init__", "__call__", "__class_getitem__", "__getitem__", "__enter__"}
"""Methods that belong to a class's own description."""
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def raised(function: Callable[..., object]) -> set[type]:
    """The classes of the exceptions in its `raise` statements; one in a local variable is another function's."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, SyntaxError):  # made by dataclasses, or a lambda within a call
        return set()
    return {kind for kind in (class_of(each, function.__globals__) for each in statements(tree)) if kind}


def statements(node: ast.AST) -> Iterator[ast.expr]:
    """The exceptions that the statements raise, without those of functions inside."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise) and child.exc:
            yield child.exc
        if not isinstance(child, INNER):
            yield from statements(child)


def class_of(exception: ast.expr, names: dict[str, Any]) -> type | None:
    """The class that a `raise` names, or that the function which it calls returns."""
    made = exception.func if isinstance(exception, ast.Call) else exception
    try:
        value = eval(ast.unparse(made), names)  # our own source
    except NameError:
        return None
    if inspect.isfunction(value):
        returned = value.__annotations__["return"]
        value = eval(returned, value.__globals__) if isinstance(returned, str) else returned
    return value if isinstance(value, type) else None


def untold(function: Callable[..., object], documents: list[str | None]) -> list[str]:
    """The names of the exceptions that no `Raises` has, nor a base class of them."""
    told = {name for document in documents for name in described(document, "Raises")}
    kinds = raised(function) - {NotImplementedError}
    return sorted(kind.__name__ for kind in kinds if not told & {base.__name__ for base in kind.__mro__[:-2]})


def of_names() -> Iterator[tuple[str, list[str]]]:
    """Every public function and method, with what it raises unsaid."""
    hooks = site_hooks()
    for module, path in ((each, path) for each in hooks.MODULES for path in hooks.public(each)):
        home, _, name = path.rpartition(".")
        value = getattr(import_module(home), name)
        shown = name if module == "simpletorch" else f"{module}.{name}"
        if inspect.isclass(value):
            yield from of_class(shown, value)
        elif is_ours(value) and inspect.isfunction(inspect.unwrap(value)):
            yield shown, untold(inspect.unwrap(value), [value.__doc__])


def of_class(shown: str, kind: type) -> Iterator[tuple[str, list[str]]]:
    """Its own methods and those of our bases."""
    for base in filter(is_ours, kind.__mro__):
        for at, member in vars(base).items():
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if not callable(function) or not is_ours(function) or (at.startswith("_") and at not in SPECIAL):
                continue
            function = inspect.unwrap(function)
            if inspect.isfunction(function):
                yield f"{shown}.{at}", untold(function, [function.__doc__, base.__doc__, kind.__doc__])


FOUND = dict(of_names())


@pytest.mark.parametrize("name", FOUND)
def test_the_reference_names_the_exceptions(name: str):
    assert FOUND[name] == []


def refuses(size: int) -> None:
    """Refuse it."""
    if size < 0:
        raise ValueError(size)


def test_an_exception_without_a_word_is_found():
    assert untold(refuses, [refuses.__doc__]) == ["ValueError"]
    assert untold(refuses, ["Refuse it.\n\nRaises:\n    ValueError: it is negative.\n"]) == []


if __name__ == "__main__":
    for shown, missing in FOUND.items():
        if missing:
            print(f"{shown}: {', '.join(missing)}")
