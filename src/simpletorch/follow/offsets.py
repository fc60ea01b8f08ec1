"""Ints by chance and what is added to them: of ``data[i : i + 16]`` it isn't known where it begins, but how long it is.

Who draws a place draws one at which there is enough, as the author of a slice is trusted to know.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from simpletorch.follow.values import Tensor, Unknown, Value, is_int
from simpletorch.rules import TensorType
from simpletorch.shapes import Dim, some

Offset: TypeAlias = tuple[Any, Dim, Dim]  # what was drawn, times how many, and what was added

__all__ = ["as_number", "drawn", "length", "moved", "placed"]

_PLACE: Final = some("place")


def drawn(value: Unknown) -> Unknown:
    """The int, as one that lies where there is enough."""
    value.offset = (value, 1, 0)
    return value


def _offset(value: Value) -> Offset | None:
    """How the value was made of an int by chance."""
    if isinstance(value, Unknown):
        return value.offset
    if isinstance(value, Tensor) and _is_number(value.type):
        return value.offset or (value, 1, 0)
    return None


def _is_number(kind: TensorType) -> bool:
    return kind.shape.rank == 0 and kind.dtype is not None and kind.dtype.category == "int"


def as_number(value: Tensor, found: Value) -> Value:
    """``value.item()``, which lies where the element of the tensor does."""
    if isinstance(found, Unknown) and found.type == "int":
        found.offset = _offset(value) or (found, 1, 0)
    return found


def moved(name: str, left: Value, right: Value, result: Value) -> Value:
    """The result of ``left + right``, ``-`` or ``*``, with how it was made of what was drawn."""
    if not isinstance(result, Tensor | Unknown) or (isinstance(result, Tensor) and not _is_number(result.type)):
        return result
    one, by = (left, right) if is_int(right) else (right, left)
    offset = _offset(one) if is_int(by) and (one is left or name in ("__add__", "__mul__")) else None
    if offset is not None:
        origin, times, so_far = offset
        if name in ("__add__", "__sub__"):
            result.offset = (origin, times, so_far + by if name == "__add__" else so_far - by)
        elif name == "__mul__":
            result.offset = (origin, times * by, so_far * by)
    elif name == "__add__":
        result.offset = _sum(_offset(left), _offset(right))
    return result


def _sum(left: Offset | None, right: Offset | None) -> Offset | None:
    if left is None or right is None or left[0] is not right[0]:
        return None
    return left[0], left[1] + right[1], left[2] + right[2]


def length(index: slice) -> Dim | None:
    """How many items a slice takes whose beginning and end were drawn together; None where that isn't known."""
    start, stop = _offset(index.start), _offset(index.stop)
    if start is None or stop is None or index.step not in (None, 1):
        return None
    return stop[2] - start[2] if start[0] is stop[0] and start[1] == stop[1] else None


def placed(index: Value) -> Value:
    """An index as rules can read it: slices of a known length begin at a place that has a name."""
    if isinstance(index, slice):
        count = length(index)
        return index if count is None else slice(_PLACE, _PLACE + count)
    return tuple(map(placed, index)) if type(index) is tuple else index
