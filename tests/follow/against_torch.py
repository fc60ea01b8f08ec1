"""A small program is run with the installed torch and followed without it: what is claimed must be what is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from simpletorch.follow import follow
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BY_TORCH_NAME
from simpletorch.shapes import Shape, equal

__all__ = ["agrees", "findings"]


def findings(source: str, folder: Path) -> list[tuple[int, str]]:
    """The mistakes that following a program finds: line and text."""
    return [(e.line, e.message) for e in _followed(source, folder).errors]


def agrees(source: str, folder: Path, known: str = "") -> None:
    """Every name that the program's own lines give a tensor has it in torch too.

    Args:
        source: the program; it must run.
        folder: where to put it.
        known: the names of which everything must be known; they may be ints.
    """
    result = _followed(source, folder)
    assert not result.errors, [e.lines() for e in result.errors]
    torch.manual_seed(0)
    real: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, str(folder / "program.py"), "exec"), real)
    claimed = {
        name: shown
        for (_, line), names in sorted(result.claims.items())
        if line in _own_lines(source)
        for name, shown in names.items()
    }
    assert not set(known.split()) - set(claimed), f"nothing is known of {set(known.split()) - set(claimed)}"
    for name, shown in claimed.items():
        if name in real:
            for value in shown:
                _compare(name, value, real[name], full=name in known.split())


def _followed(source: str, folder: Path) -> Any:
    path = folder / "program.py"
    path.write_text(source)
    return follow(path)


def _own_lines(source: str) -> set[int]:
    """The lines that no function or class holds: what they give to names is there at the end."""

    def lines(body: list[Any]) -> Iterator[int]:
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.lineno
                yield from lines([inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.stmt)])

    return set(lines(ast.parse(source).body))


def _compare(name: str, value: Any, real: Any, *, full: bool) -> None:
    if isinstance(value, TensorType):
        assert isinstance(real, torch.Tensor | np.ndarray), f"{name} is {type(real)}, claimed is {value}"
        there = TensorType(Shape(tuple(real.shape)), BY_TORCH_NAME[str(real.dtype).removeprefix("torch.")])
        if full:
            assert (value.shape, value.dtype) == (there.shape, there.dtype), f"{name} is {there}, claimed is {value}"
        assert value.dtype in (None, there.dtype), f"{name} is {there}, claimed is {value}"
        assert _may_be(value.shape, there.shape.dims), f"{name} is {there}, claimed is {value}"
    elif isinstance(value, tuple):
        assert len(value) == len(real), f"{name} has {len(real)} items, claimed are {value}"
        for i, (one, other) in enumerate(zip(value, real, strict=True)):
            _compare(f"{name}[{i}]", one, other, full=full)
    elif isinstance(value, int) and full:  # another one is a counter: what it is in the first round
        assert value == real, f"{name} is {real}, claimed is {value}"


def _may_be(shape: Shape, dims: tuple[Any, ...]) -> bool:
    if not shape.is_exact:
        return (
            len(dims) >= shape.min_rank
            and all(equal(a, b) is not False for a, b in zip(shape.head, dims, strict=False))
            and all(equal(a, b) is not False for a, b in zip(reversed(shape.tail), reversed(dims), strict=False))
        )
    return len(dims) == shape.rank and all(equal(a, b) is not False for a, b in zip(shape.dims, dims, strict=True))
