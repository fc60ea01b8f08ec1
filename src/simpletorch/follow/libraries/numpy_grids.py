"""``numpy``'s objects that are indexed: ``mgrid[:h, :w]``, ``ogrid``, ``c_``, ``s_``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import MADE, library_class
from simpletorch.follow.libraries.arrays import array
from simpletorch.follow.values import Instance, List, Value, is_int
from simpletorch.rules.core.dtype import FLOAT64, INT64, DType
from simpletorch.shapes import Item, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


def _axis(run: Interpreter, index: Value) -> tuple[Item, DType] | None:
    """How many numbers a slice stands for, and of which dtype they are: ``2:7``, ``0:1:50j``."""
    if not isinstance(index, slice):
        return None
    start, stop, step = (run.resolve(v) for v in (index.start, index.stop, index.step))
    if isinstance(step, complex):
        return int(abs(step)), FLOAT64
    if not is_int(stop) or not (start is None or is_int(start)) or step not in (None, 1):
        return None
    return stop if start is None else stop - start, INT64


def _axes(run: Interpreter, index: Value) -> list[tuple[Item, DType]] | None:
    rows = [_axis(run, one) for one in (index if isinstance(index, tuple) else (index,))]
    known = [r for r in rows if r is not None]
    return known if len(known) == len(rows) else None


def _dtype(axes: list[tuple[Item, DType]]) -> DType:
    return FLOAT64 if any(dtype == FLOAT64 for _, dtype in axes) else INT64


def _mgrid(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    index = run.resolve(args[1])
    axes = _axes(run, index)
    if axes is None:
        return run.unknown("a grid of unknown size")
    sizes = tuple(size for size, _ in axes)
    return array(Shape((len(sizes), *sizes) if isinstance(index, tuple) else sizes), _dtype(axes))


def _ogrid(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    index = run.resolve(args[1])
    axes = _axes(run, index)
    if axes is None:
        return run.unknown("a grid of unknown size")
    if not isinstance(index, tuple):
        return array(Shape((axes[0][0],)), _dtype(axes))
    ones = (1,) * len(axes)
    return List(tuple(array(Shape((*ones[:i], n, *ones[i + 1 :])), _dtype(axes)) for i, (n, _) in enumerate(axes)))


def _columns(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    parts = args[1] if isinstance(args[1], tuple) else (args[1],)
    if any(isinstance(p, slice | str) for p in parts):
        return run.unknown("columns made of ranges")
    return run.call(run.program.library(run, "numpy.column_stack"), (parts,))


def _index(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[1]


_INDEXED: Final = {"mgrid": _mgrid, "ogrid": _ogrid, "c_": _columns, "s_": _index, "index_exp": _index}
for _name, _work in _INDEXED.items():
    library_class(f"numpy.lib.{_name}", methods={"__getitem__": _work})
    MADE[f"numpy.{_name}"] = lambda run, n=_name: Instance(run.program.library_class(f"numpy.lib.{n}"))  # type: ignore[misc]
