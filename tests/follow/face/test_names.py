"""Every public name: the follower knows it and answers what torch gives, or ``unknown.txt`` says why not."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from simpletorch.follow import follow, followed
from simpletorch.follow.interpreter import Interpreter
from simpletorch.follow.libraries.simpletorch import TORCHS
from simpletorch.follow.sources.program import Program
from simpletorch.follow.values import MISSING, Unknown
from simpletorch.rules import TensorType
from simpletorch.tensor import _FACTORIES
from tests.oracle.face import OWN_BEFORE, SAMPLES, may_be, of_our_own, tensors_given

_PACKAGES: Final = (
    *("", "amp", "checkpoint", "cuda", "data", "distributed", "errors", "export", "interop", "kernels", "language"),
    *("language.models", "losses", "metrics", "nn", "optim", "reproducibility", "train", "transforms", "vision.models"),
)
_UNKNOWN: Final = Path(__file__).with_name("unknown.txt")
"""Of which callables the follower knows nothing, and why."""


def _without_a_model(package: str) -> set[str]:
    rows = [line.split(" | ") for line in _UNKNOWN.read_text().splitlines() if " | " in line]
    return {name for owner, _, names in rows if owner == (package or "simpletorch") for name in names.split()}


def _callables(package: str) -> Iterator[str]:
    module = import_module(f"simpletorch.{package}" if package else "simpletorch")
    for name in dir(module):
        found = getattr(module, name)
        if not name.startswith("_") and callable(found) and not isinstance(found, ModuleType):
            yield name


@pytest.mark.parametrize("package", [p for p in _PACKAGES if p != "errors"])
def test_the_follower_knows_every_public_callable_or_a_reason_is_given(package: str, tmp_path: Path) -> None:
    """A name that is new is known to it, or is put into the table."""
    assert followed.follow is follow  # which reads the tables
    run = Interpreter(Program(tmp_path / "program.py"))
    prefix = f"simpletorch.{package}" if package else "simpletorch"
    known = {name: run.program.library(run, f"{prefix}.{name}") for name in _callables(package)}
    unknown = {name for name, found in known.items() if found is MISSING or isinstance(found, Unknown)}
    assert unknown == _without_a_model(package)


def test_tensors_factories_are_those_of_the_run_time() -> None:
    """And make what these make."""
    assert TORCHS.keys() == _FACTORIES.keys()


@pytest.mark.parametrize(("arguments", "before"), SAMPLES)
def test_what_the_follower_answers_is_what_torch_gives(arguments: str, before: str, tmp_path: Path) -> None:
    """Of each function that takes such arguments: the shapes and dtypes that it knows are the right ones."""
    given = tensors_given(arguments, before)
    lines = [f"import simpletorch as st; from simpletorch import Tensor; {before}"]
    lines += [f"y = st.{name}({arguments})" for name, _ in given]
    path = tmp_path / "program.py"
    path.write_text("\n".join(lines) + "\n")
    found = follow(path)
    assert [str(f) for f in found.errors] == []
    known = 0
    for line, (name, result) in enumerate(given, 2):
        for one in found.shapes_at(str(path), line).get("y", ()):
            assert isinstance(one, TensorType)
            assert may_be(one, result), (
                f"{name}({arguments}): {one}, but torch gives {list(result.shape)}, {result.dtype}"
            )
            known += one.shape.is_exact
    assert known > 0.8 * len(given)


def test_what_it_answers_of_our_own_is_what_they_give(tmp_path: Path) -> None:
    """Blocks, losses, transforms, and calls inside calls."""
    given = of_our_own()
    path = tmp_path / "program.py"
    path.write_text(OWN_BEFORE + "".join(f"y = {expression}\n" for expression, _ in given))
    found = follow(path)
    assert [str(f) for f in found.errors] == []
    known = 0
    for line, (expression, result) in enumerate(given, OWN_BEFORE.count("\n") + 1):
        shapes = found.shapes_at(str(path), line).get("y", ())
        for one in shapes:
            assert isinstance(one, TensorType)
            assert may_be(one, result), f"{expression}: {one}, but it gives {list(result.shape)}, {result.dtype}"
        known += bool(shapes) and all(one.shape.is_exact for one in shapes)
    assert known == len(given)
