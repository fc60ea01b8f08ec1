"""NumPy's functions that put several arrays together, also all those of a list of which nobody knows how long it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow import iteration, tensors
from simpletorch.follow.libraries import Work, model, native
from simpletorch.follow.libraries.arrays import array, as_array, as_dtype, by_rule, is_hidden, promote
from simpletorch.follow.values import List, Value
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


def _joined(run: Interpreter, rule: str, source: Value, *place: Value, dtype: Value = None, out: Value = None) -> Value:
    """Arrays that a function of torch's puts together; ``place`` is its axis, if it has one."""
    found = run.items(source)
    one = iteration.item(run, source) if found is None and not isinstance(source, List) else None
    rows = [run.resolve(v) for v in found or (source.item if isinstance(source, List) else one,)]
    if out is not None or any(v is None or is_hidden(v) for v in rows):
        return run.unknown("arrays put together")
    arrays = tuple(as_array(run, v) for v in rows)
    kind = as_dtype(dtype, promote(arrays))
    if place == (None,):
        return array(Shape((UNKNOWN,)), kind)
    if found is not None:
        return by_rule(run, rule, (arrays, *place), {}, kind)
    several = [by_rule(run, rule, (arrays * n, *place), {}, kind) for n in (2, 3)]
    type_ = tensors.type_of_many(rule, source, several)
    return run.unknown("arrays put together") if type_ is None else array(type_.shape, kind)


@model("numpy.concatenate", "numpy.concat")
def _concatenate(
    run: Interpreter,
    arrays: Value,
    /,
    axis: Value = 0,
    out: Value = None,
    *,
    dtype: Value = None,
    casting: Value = "same_kind",
) -> Value:
    return _joined(run, "torch.cat", arrays, axis, dtype=dtype, out=out)


@model("numpy.stack")
def _stack(
    run: Interpreter,
    arrays: Value,
    axis: Value = 0,
    out: Value = None,
    *,
    dtype: Value = None,
    casting: Value = "same_kind",
) -> Value:
    return _joined(run, "torch.stack", arrays, axis, dtype=dtype, out=out)


def _rows(rule: str) -> Work:
    def work(run: Interpreter, tup: Value, *, dtype: Value = None, casting: Value = "same_kind") -> Value:
        return _joined(run, rule, tup, dtype=dtype)

    return work


native("numpy.vstack", "numpy.row_stack")(_rows("torch.vstack"))
native("numpy.hstack")(_rows("torch.hstack"))
native("numpy.dstack")(_rows("torch.dstack"))
native("numpy.column_stack")(_rows("torch.column_stack"))
