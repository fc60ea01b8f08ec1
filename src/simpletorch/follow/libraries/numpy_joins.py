"""NumPy's functions that put several arrays together, also all those of a list of which nobody knows how long it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow import iteration, tensors
from simpletorch.follow.libraries import Work, native
from simpletorch.follow.libraries.arrays import argument, array, as_array, by_rule, is_hidden, promote
from simpletorch.follow.values import List, Value
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


def _joined(rule: str, default_axis: int | None) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        source = run.resolve(argument(run, args, kwargs, 0, "arrays", "tup"))
        found = run.items(source)
        one = iteration.item(run, source) if found is None and not isinstance(source, List) else None
        rows = [run.resolve(v) for v in found or (source.item if isinstance(source, List) else one,)]
        if any(v is None or is_hidden(v) for v in rows):
            return run.unknown("arrays put together")
        arrays = tuple(as_array(run, v) for v in rows)
        dtype = promote(arrays)
        axis = argument(run, args, kwargs, 1, "axis") if default_axis is not None else None
        if axis is None and "axis" in kwargs:
            return array(Shape((UNKNOWN,)), dtype)
        given = () if default_axis is None else (default_axis if axis is None else axis,)
        if found is not None:
            return by_rule(run, rule, (arrays, *given), {}, dtype)
        several = [by_rule(run, rule, (arrays * n, *given), {}, dtype) for n in (2, 3)]
        type_ = tensors.type_of_many(rule, source, several)
        return run.unknown("arrays put together") if type_ is None else array(type_.shape, dtype)

    return work


native("numpy.concatenate", "numpy.concat")(_joined("torch.cat", 0))
native("numpy.stack")(_joined("torch.stack", 0))
native("numpy.vstack", "numpy.row_stack")(_joined("torch.vstack", None))
native("numpy.hstack")(_joined("torch.hstack", None))
native("numpy.dstack")(_joined("torch.dstack", None))
native("numpy.column_stack")(_joined("torch.column_stack", None))
