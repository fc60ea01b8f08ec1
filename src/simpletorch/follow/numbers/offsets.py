"""Ints by chance and what is added to them: of ``data[i : i + 16]`` it isn't known where it begins, but how long it is.

Who draws a place draws one at which there is enough, as the author of a slice is trusted to know.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simpletorch.follow.numbers import indexes
from simpletorch.follow.values import MISSING, SIZE, List, Tensor, Unknown, Value, is_int
from simpletorch.rules import TensorType
from simpletorch.shapes import UNKNOWN, Dim, Expr, Shape, some, variables

Offset: TypeAlias = tuple[Any, Dim, Dim]  # what was drawn, times how many, and what was added

__all__ = [
    "as_number",
    "drawn",
    "filled",
    "is_toss",
    "length",
    "linear",
    "moved",
    "placed",
    "size_of",
    "times",
    "total",
    "unplaced",
]

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_MOST_ITEMS: Final = 5_000
_PLACE: Final = some("place")


def drawn(value: Unknown) -> Unknown:
    """The int, as one that lies where there is enough."""
    value.offset = (value, 1, 0)
    return value


def is_toss(run: Interpreter, condition: Unknown) -> bool:
    """Whether a condition asks for a number that was drawn for it, so that it holds now and then and now and then not.

    Where another condition on the same number holds, it may be decided.
    """
    operation, left, right = condition.fact or ("", None, None)
    for one, other in ((left, right), (right, left)):
        if not isinstance(one, Unknown) or one.offset is None or one.offset[0] is not one or operation not in _COMPARED:
            continue
        if any(c is not condition and c.fact is not None and one in c.fact for c in run.conditions):
            return False
        if isinstance(other, Unknown):
            return other.offset is None and one.type == "float"
        if one.type == "float":
            return isinstance(other, int | float) and 0 < other < 1
        known = indexes.of(one)
        return known is not None and isinstance(other, int) and known.least < other < known.most
    return False


_COMPARED: Final = ("<", ">", "==")


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
        found.numbers = value.numbers
    return found


def moved(name: str, left: Value, right: Value, result: Value) -> Value:
    """The result of ``left + right``, ``-`` or ``*``, with how it was made of what was drawn."""
    if not isinstance(result, Tensor | Unknown) or (isinstance(result, Tensor) and not _is_number(result.type)):
        return result
    if isinstance(result, Unknown):
        result.numbers = indexes.computed(name, left, right)
    first, second = linear(left), linear(right)
    if first is None or second is None or (first[0] is None and second[0] is None):
        return result
    if name == "__add__":
        result.offset = total(first, second)
    elif name == "__sub__":
        result.offset = total(first, (second[0], -second[1], -second[2]))
    elif name == "__mul__" and None in (first[0], second[0]):
        (origin, times, by), factor = (first, second[2]) if second[0] is None else (second, first[2])
        result.offset = (origin, times * factor, by * factor)
    return result


def linear(value: Value) -> Offset | None:
    """How a value was made of an int by chance; a size that is known or has a name was made of none."""
    return (None, 0, value) if is_int(value) else _offset(value)


def total(left: Offset | None, right: Offset | None) -> Offset | None:
    """The sum of two, if they were made of the same."""
    if left is None or right is None or (None not in (left[0], right[0]) and left[0] is not right[0]):
        return None
    return right[0] if left[0] is None else left[0], left[1] + right[1], left[2] + right[2]


def size_of(run: Interpreter, value: List) -> Offset:
    """How many items a list has: a number, or one that isn't known but is the same as long as the list is."""
    if value.items is not None:
        return None, 0, len(value.items)
    cells = value.cells  # a view's are those of another list each time that it is asked
    if SIZE not in cells:
        run.heap.write(cells, SIZE, (object(), 1, 0))
    found: Offset = cells[SIZE]
    return found


def resized(run: Interpreter, value: List, size: Offset | None, by: int | None) -> None:
    """A list of unknown length that had this size has so many more items; ``by`` is None where that isn't known."""
    if size is not None:
        run.heap.write(value.cells, SIZE, MISSING if by is None else (*size[:2], size[2] + by))


def filled(run: Interpreter, item: Value, size: Offset | None) -> List:
    """A list of so many of an item."""
    if size is not None and size[1] == 0 and isinstance(size[2], int) and 0 <= size[2] <= _MOST_ITEMS:
        return List((item,) * size[2])
    made = List(None, item)
    if size is not None:
        run.heap.write(made.cells, SIZE, size)
    return made


def times(run: Interpreter, value: List, count: Value, item: Value) -> List:
    """``[item] * count``, of a count that isn't known."""
    each, size = size_of(run, value), linear(count)
    one = size is not None and each[0] is None and each[2] == 1
    return filled(run, item, size if one else None)


def length(index: slice) -> Dim | None:
    """How many items a slice takes whose beginning and end were drawn together; None where that isn't known."""
    start, stop = _offset(index.start), _offset(index.stop)
    if start is None or stop is None or index.step not in (None, 1):
        return None
    return stop[2] - start[2] if start[0] is stop[0] and start[1] == stop[1] else None


def unplaced(found: Any) -> Any:
    """A rule's answer without the name of that place, which is another one in each slice."""
    if not isinstance(found, TensorType) or not any(map(_is_placed, found.shape.items)):
        return found
    return replace(found, shape=Shape(tuple(UNKNOWN if _is_placed(d) else d for d in found.shape.items)))


def _is_placed(dim: Any) -> bool:
    return type(dim) is not int and isinstance(dim, Expr) and not variables(_PLACE).isdisjoint(variables(dim))


def placed(index: Value) -> Value:
    """An index as rules can read it: slices of a known length begin at a place that has a name."""
    if isinstance(index, slice):
        count = length(index)
        return index if count is None else slice(_PLACE, _PLACE + count)
    return tuple(map(placed, index)) if type(index) is tuple else index
