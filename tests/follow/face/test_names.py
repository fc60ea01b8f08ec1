"""Every public name: the follower knows it and answers what torch gives, or ``unknown.txt`` says why not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
import torch

import simpletorch as st
from simpletorch._stub import homes
from simpletorch.follow import follow, followed
from simpletorch.follow.interpreter import Interpreter
from simpletorch.follow.libraries.simpletorch import TORCHS
from simpletorch.follow.sources.program import Program
from simpletorch.follow.values import MISSING, Unknown
from simpletorch.rules import TensorType
from simpletorch.tensor import _FACTORIES

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


_SAMPLES: Final = (
    ("a", "a = Tensor.rand(3, 5) / 2"),
    ("a, 1", "a = Tensor.rand(3, 5) / 2"),
    ("a, b", "a, b = Tensor.rand(3, 5) / 2, Tensor.rand(3, 5) / 2"),
    ("a, b", "a, b = Tensor.randn(7, 7), Tensor.randn(7, 7)"),
    ("a", "a = Tensor.randint(0, 5, (3, 7))"),
    ("a, b", "a, b = Tensor.randint(1, 5, (3, 7)), Tensor.randint(1, 5, (3, 7))"),
    ("a, b", "a, b = Tensor.randn(3, 5), Tensor.randint(0, 5, (3,))"),
    ("[a, b]", "a, b = Tensor.rand(3, 5), Tensor.rand(3, 5)"),
    ("a, 2", "a = Tensor.rand(2, 3, 11, 13)"),
    ("a, b, c", "a, b, c = Tensor.rand(3, 5), Tensor.rand(3, 5), Tensor.rand(3, 5)"),
    ("(3, 5)", "a = 1"),
    ("5", "a = 1"),
)


_WRONG: Final = {
    ("adaptive_avg_pool2d", "a, 1"): "torch takes a mean for an output of 1, and doesn't look how many dims there are",
    ("pinv", "a, b"): "the rule reads a tensor of tolerances as a number: it broadcasts with the batch",
}
"""What a rule doesn't know yet."""


@pytest.mark.parametrize(("arguments", "before"), _SAMPLES)
def test_what_the_follower_answers_is_what_torch_gives(arguments: str, before: str, tmp_path: Path) -> None:
    """Of each function that takes such arguments: the shapes and dtypes that it knows are the right ones."""
    functions = [n for n, home in homes("simpletorch").items() if home.startswith("torch")]
    scope: dict[str, Any] = {"Tensor": st.Tensor, "st": st}
    exec(before, scope)
    lines, given = [f"import simpletorch as st; from simpletorch import Tensor; {before}"], []
    for name in functions:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = eval(f"st.{name}({arguments})", scope)
        except Exception:
            continue  # it doesn't take these
        if isinstance(result, torch.Tensor) and (name, arguments) not in _WRONG:
            given.append((name, result))
            lines.append(f"y = st.{name}({arguments})")
    path = tmp_path / "program.py"
    path.write_text("\n".join(lines) + "\n")
    found = follow(path)
    assert [str(f) for f in found.errors] == []
    known = 0
    for line, (name, result) in enumerate(given, 2):
        for one in found.shapes_at(str(path), line).get("y", ()):
            assert isinstance(one, TensorType)
            assert _may_be(one, result), (
                f"{name}({arguments}): {one}, but torch gives {list(result.shape)}, {result.dtype}"
            )
            known += one.shape.is_exact
    assert known > 0.8 * len(given)


def _may_be(known: TensorType, result: torch.Tensor) -> bool:
    items: Sequence[Any] = known.shape.items
    sizes = [i for i in items if isinstance(i, int)]
    fits = not known.shape.is_exact or len(items) == result.ndim
    if known.shape.is_exact and len(sizes) == len(items):
        fits = fits and sizes == list(result.shape)
    return fits and (
        known.dtype is None or not known.dtype.is_concrete or known.dtype.torch_name == str(result.dtype)[6:]
    )
