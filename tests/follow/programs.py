"""Small programs, followed and run: what the follower says of their variables must be what Python gives them."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import scipy.sparse
import torch

from simpletorch.follow import followed as _followed  # noqa: F401  (fills the tables)
from simpletorch.follow.disk.reach import Reach
from simpletorch.follow.interpreter import Interpreter
from simpletorch.follow.marks import sparsity
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.sources.program import Program
from simpletorch.follow.values import (
    MISSING,
    Choice,
    Dict,
    Fields,
    Instance,
    Iterator,
    List,
    Namespace,
    Set,
    Tensor,
    Unknown,
)
from simpletorch.rules import Device
from simpletorch.rules.core.dtype import DType

__all__ = ["compare", "difference", "follow_source", "run_source"]


def follow_source(
    source: str, path: Path, arguments: tuple[str, ...] = (), reach: Reach | None = None
) -> tuple[dict[str, Any], list[str]]:
    """The global variables at the end, as the follower has them, and what it reports."""
    program = Program(path, arguments, path.name, reach)
    run = Interpreter(program)
    scope = Scope(None, path.name, {"__name__": "__main__", "__file__": str(path), "__doc__": None})
    program.modules["__main__"] = Namespace("__main__", scope.cells, str(path))
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 40_000))
    try:
        done = run.execute(ast.parse(source).body, scope)
    finally:
        sys.setrecursionlimit(before)  # other tests of this process count on it
    assert done is None, f"the follower ends with {getattr(done, 'error', done)!r}"
    assert not run.faults, run.faults
    found = {k: run.resolve(v) for k, v in scope.cells.items() if not k.startswith("_")}
    return found, [f.message for f in run.findings]


def run_source(source: str, path: Path, arguments: tuple[str, ...] = ()) -> dict[str, Any]:
    """The global variables at the end, as Python has them."""
    module = ModuleType("__main__")
    module.__file__ = str(path)
    names = vars(module)
    path.write_text(source)
    before, sys.argv = sys.argv, [str(path), *arguments]
    searched = list(sys.path)  # a program may add folders to it
    held = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(source, str(path), "exec"), names)
    finally:
        sys.argv = before
        sys.path[:] = searched
        sys.modules["__main__"] = held
    return {k: v for k, v in names.items() if not k.startswith("_")}


def compare(source: str, path: Path, arguments: tuple[str, ...] = ()) -> None:
    """Fail where the follower says something else than Python, or doesn't know a variable.

    Variables whose names begin with ``some`` may be unknown.
    """
    real = run_source(source, path, arguments)
    claimed, reports = follow_source(source, path, arguments)
    assert not reports, reports
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for name, value in real.items():
        if name in imported or callable(value):
            continue
        assert name in claimed, f"{name} isn't there"
        wrong = difference(claimed[name], value, lenient=name.startswith("some"))
        assert wrong is None, f"{name}: {wrong}"


def difference(claimed: Any, real: Any, *, lenient: bool) -> str | None:
    """Where a claim isn't what is real."""
    if isinstance(claimed, Unknown) and claimed.matrix is not None:
        return _matrix(claimed.matrix, real, lenient)
    if isinstance(claimed, Unknown) and claimed.type == sparsity.TENSOR:
        return None if isinstance(real, torch.Tensor) and lenient else f"said to be a sparse tensor, is {real!r}"
    if isinstance(claimed, Unknown):
        if claimed.type is not None and type(real).__name__ != claimed.type:
            return f"said to be {claimed.type}, is {real!r}"
        return None if lenient else f"isn't known ({claimed.reason}), is {real!r}"
    if isinstance(claimed, Choice):
        options = [difference(v, real, lenient=lenient) for v in (claimed.when_true, claimed.when_false)]
        return None if None in options else options[0]
    if claimed is MISSING:
        return f"said to be undefined, is {real!r}"
    reader = next((r for kind, r in _READERS.items() if isinstance(claimed, kind)), None)
    if reader is not None:
        found: str | None = reader(claimed, real, lenient)
        return found
    if isinstance(real, numpy.generic):  # NumPy's numbers are kept as Python's
        real = real.item()
    same = claimed is real or (claimed == real and type(claimed) is type(real)) or (claimed != claimed and real != real)
    return None if same else f"said to be {claimed!r}, is {real!r}"


def _tensor(claimed: Tensor, real: Any, lenient: bool) -> str | None:
    kind = numpy.ndarray | numpy.generic if claimed.array else torch.Tensor
    if not isinstance(real, kind):
        return f"said to be {'an array' if claimed.array else 'a tensor'}, is {real!r}"
    shape, dtype = claimed.type.shape, claimed.type.dtype
    if shape.is_exact:
        if len(shape.dims) != len(real.shape):
            return f"said to be {claimed}, has the shape {tuple(real.shape)}"
        for a, b in zip(shape.dims, real.shape, strict=True):
            if (isinstance(a, int) and a != b) or (not isinstance(a, int) and not lenient):
                return f"said to be {claimed}, has the shape {tuple(real.shape)}"
    elif not lenient:
        return f"its rank isn't known, the shape is {tuple(real.shape)}"
    if dtype is None:
        return None if lenient else f"its dtype isn't known, it is {real.dtype}"
    shown = str(real.dtype).rpartition(".")[2]
    return None if dtype.torch_name == shown else f"said to be {dtype}, is {shown}"


def _matrix(claimed: sparsity.Matrix, real: Any, lenient: bool) -> str | None:
    """A sparse tensor, a sparse matrix of SciPy's, or NumPy's ``matrix``."""
    if claimed.kind == sparsity.TENSOR:
        if claimed.format is not None and str(real.layout) != f"torch.sparse_{claimed.format}":
            return f"said to be of the format {claimed.format}, is {real.layout}"
        if real.layout == torch.strided or (claimed.plain and _kept(real).ndim != 1):
            return f"said to be sparse, is {real!r}"
        return _tensor(Tensor(claimed.type), real, lenient)
    if claimed.kind == sparsity.DENSE:
        wrong = None if isinstance(real, numpy.matrix) else f"said to be a matrix, is {real!r}"
        return wrong or _tensor(Tensor(claimed.type, array=True), real, lenient)
    if not scipy.sparse.issparse(real) or isinstance(real, scipy.sparse.sparray) is not claimed.array:
        return f"said to be sparse, is {real!r}"
    if claimed.format not in (None, real.format):
        return f"said to be of the format {claimed.format}, is {real.format}"
    return _tensor(Tensor(claimed.type, array=True), numpy.empty(real.shape, real.dtype), lenient)


def _kept(real: torch.Tensor) -> torch.Tensor:
    return real._values() if real.layout == torch.sparse_coo else real.values()  # one that isn't coalesced too


def _rows(claimed: Any, real: Any, lenient: bool) -> str | None:
    if len(claimed) != len(real):
        return f"said to have {len(claimed)} items, is {real!r}"
    wrong = (difference(a, b, lenient=lenient) for a, b in zip(claimed, real, strict=True))
    return next((w for w in wrong if w is not None), None)


def _tuple(claimed: tuple[Any, ...], real: Any, lenient: bool) -> str | None:
    return _rows(claimed, real, lenient) if isinstance(real, tuple) else f"said to be {claimed!r}, is {real!r}"


def _list(claimed: List, real: Any, lenient: bool) -> str | None:
    if not isinstance(real, list) and type(real).__name__ not in ("dict_keys", "dict_values", "dict_items"):
        return f"said to be a list, is {real!r}"
    if claimed.items is None:
        each = (difference(claimed.item, v, lenient=True) for v in real)
        return next((w for w in each if w is not None), None) if lenient else f"its length isn't known, is {real!r}"
    return _rows(claimed.items, list(real), lenient)


def _dict(claimed: Dict, real: Any, lenient: bool) -> str | None:
    if not isinstance(real, dict):
        return f"said to be a dict, is {real!r}"
    if claimed.rest is not MISSING and not lenient:
        return f"its keys aren't all known, is {real!r}"
    if claimed.rest is MISSING and len(real) != len(claimed.cells):
        return f"said to be {claimed!r}, is {real!r}"
    for key, value in claimed.cells.items():
        if isinstance(key, Instance):
            continue
        if key not in real:
            return f"said to have the key {key!r}, is {real!r}"
        if (wrong := difference(value, real[key], lenient=lenient)) is not None:
            return f"[{key!r}]: {wrong}"
    return None


def _set(claimed: Set, real: Any, lenient: bool) -> str | None:
    if not isinstance(real, set | frozenset):
        return f"said to be a set, is {real!r}"
    if claimed.open:
        return None if lenient else f"its items aren't all known, is {real!r}"
    return None if set(claimed.cells) == real else f"said to be {set(claimed.cells)!r}, is {real!r}"


def _instance(claimed: Instance, real: Any, lenient: bool) -> str | None:
    if type(real).__name__.removeprefix("Posix") != claimed.cls.name:
        return f"said to be of {claimed.cls.name}, is {real!r}"
    if claimed.cls.fields is None and claimed.cls.name not in ("Namespace", "SimpleNamespace"):
        return None
    for name, value in claimed.cells.items():
        if not name.startswith("_") and (wrong := difference(value, getattr(real, name), lenient=lenient)) is not None:
            return f".{name}: {wrong}"
    return None


def _iterator(claimed: Iterator, real: Any, lenient: bool) -> str | None:
    items = list(real)
    if claimed.items is None:
        return None if lenient else f"its length isn't known, gives {items!r}"
    return _rows(claimed.items, items, lenient)


def _dtype(claimed: DType, real: Any, lenient: bool) -> str | None:
    shown = str(getattr(real, "__name__", real)).rpartition(".")[2]
    return None if claimed.torch_name == shown else f"said to be {claimed}, is {shown}"


def _device(claimed: Device, real: Any, lenient: bool) -> str | None:
    return None if str(claimed) == str(real) else f"said to be {claimed}, is {real}"


_READERS: dict[Any, Any] = {
    Tensor: _tensor,
    Fields: _tuple,
    tuple: _tuple,
    List: _list,
    Dict: _dict,
    Set: _set,
    Instance: _instance,
    Iterator: _iterator,
    DType: _dtype,
    Device: _device,
}
