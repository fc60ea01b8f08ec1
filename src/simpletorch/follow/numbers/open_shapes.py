"""``x.shape`` of a tensor whose number of dims isn't known: a size that is asked for gets a name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from simpletorch.follow.values import Tensor, Unknown, Value, is_int
from simpletorch.rules import TensorType
from simpletorch.shapes import ANY_REST, UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["item", "unpacked"]

_PART: Final = "a part of the shape"


def item(run: Interpreter, sizes_of: Unknown, index: Value) -> Value:
    """``x.shape[-1]``, or ``x.shape[:2]``."""
    assert sizes_of.fact is not None
    _, tensor, shape = sizes_of.fact
    if is_int(index):
        size = run.ask("Tensor.size", (Tensor(TensorType(shape)), index))
        if is_int(size):
            return size
    if type(index) is int:
        return _size(run, sizes_of, tensor, index)
    part = run.part(sizes_of, sizes_of.reason)
    if isinstance(index, slice) and index.step in (None, 1):
        part.fact = _PART, sizes_of, index
    return part


def _size(run: Interpreter, sizes_of: Unknown, tensor: Tensor, index: int) -> Value:
    """One size: the same symbol whenever it is asked for."""
    named = run.derived("[]", sizes_of, index, "int")
    if not named.size:
        named.size = run.some_size()
    _learn(run, tensor, index, named.size)
    return named.size


def _learn(run: Interpreter, tensor: Tensor, index: int, size: Value) -> None:
    """The tensor has this dim, counted from its first or its last, from here on."""
    head, tail, is_exact = tensor.type.shape.head, tensor.type.shape.tail, tensor.type.shape.is_exact
    if is_exact or (tail if index >= 0 else head):
        return
    if len(head) <= index:
        head = (*head, *(UNKNOWN,) * (index - len(head)), size)
    elif len(tail) < -index:
        tail = (size, *(UNKNOWN,) * (-index - 1 - len(tail)), *tail)
    run.heap.learn(tensor.cells, replace(tensor.type, shape=Shape((*head, ANY_REST, *tail))))


def unpacked(run: Interpreter, value: Unknown, count: int) -> list[Value]:
    """The sizes of ``b, t, c = x.shape`` and ``h, w = x.shape[2:]``: x has so many dims from here on."""
    if value.fact is None:
        return []
    kind, of, asked = value.fact
    if kind == "shape":
        return _dims(run, of, slice(None), count, count)
    if kind != _PART:
        return []
    start, stop, tensor = asked.start or 0, asked.stop, of.fact[1]
    if type(start) is not int or type(stop) not in (int, type(None)):
        return []
    if start >= 0 and (stop is None or stop < 0 or count < stop - start):
        return _dims(run, tensor, asked, start + count - min(stop or 0, 0), count)
    if (start >= 0 and count == stop - start) or (stop is None and count == -start):
        return [item(run, of, start + i) for i in range(count)]
    return []


def _dims(run: Interpreter, tensor: Tensor, part: slice, rank: int, count: int) -> list[Value]:
    run.narrow_rank(tensor, rank)
    shape = run.attribute(tensor, "shape")
    found = list(shape[part]) if isinstance(shape, tuple) else []
    return found if len(found) == count else []
