"""Dims by number in partly known shapes, and the message when that fails."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

from simpletorch.rules.common.arguments import known_ints
from simpletorch.rules.common.conditions import need_distinct
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Dim, Item, Rest, Shape

__all__ = [
    "axes",
    "axis",
    "drop_first",
    "first_dims",
    "insert",
    "item_at",
    "leave_unknown",
    "locate",
    "locate_two",
    "need_axes",
    "of",
    "of_rank",
    "one_rest",
    "position",
    "replaced",
    "reveal",
    "shaped",
    "size_at",
    "unknown_dims",
    "without",
]

P = ParamSpec("P")
R = TypeVar("R")


# -- dim numbers -------------------------------------------------------------------------------------------------------


def axis(dim: Value, shape: Shape, *, extra: int = 0, name: str = "dim") -> int:
    """A dim number as torch takes it, checked; from 0 for an exact shape, as given where the rank is not known.

    Args:
        dim: the argument.
        shape: the tensor's shape.
        extra: how many more positions are allowed, as in `torch.unsqueeze` (1).
        name: the parameter's name, for the message.

    Raises:
        Mismatch: the dim is out of range.
        CannotTell: it isn't known, or a variadic part hides where it is.
    """
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise CannotTell
    if shape.rank is None:
        # behind the last known dim an insertion has a place as well, which ``extra`` allows
        if dim >= 0 and dim < len(shape.head) + extra * bool(shape.head):
            return dim
        if dim < 0 and -dim <= len(shape.tail) + extra:
            return dim
        raise CannotTell
    rank = shape.rank + extra
    if rank == 0 and dim in (-1, 0):
        return 0  # torch takes 0 and -1 on a 0-dim tensor
    if not -rank <= dim < rank:
        dims = "1 dim" if shape.rank == 1 else f"{shape.rank} dims"
        raise Mismatch(
            f"{name}={dim} is out of range for {dims} {shape}; it must be in [{-rank}, {rank - 1}]",
            expected=range(-rank, rank),
            got=dim,
        )
    return dim % rank


def axes(dims: Value, shape: Shape, *, name: str = "dim") -> tuple[int, ...] | None:
    """Several dim numbers (an int, a tuple, or None for "all", which is None here), checked and distinct.

    Raises:
        Mismatch: one is out of range or given twice.
        CannotTell: one isn't known.
    """
    if dims is None:
        return None
    given = dims if isinstance(dims, tuple) else (dims,)
    found = tuple(axis(d, shape, name=name) for d in given)
    need_distinct(name, given, found)
    return found


def locate(shape: Shape, *dims: Value, name: str = "dim") -> tuple[Shape, tuple[int, ...]]:
    """Several dim numbers as places among the items of the shape, which is revealed as far as they need it.

    Raises:
        Mismatch: one is out of range.
        CannotTell: one isn't known, or it can't be told whether two of them are one dim.
    """
    if shape.is_exact:
        return shape, tuple(axis(d, shape, name=name) for d in dims)
    given = known_ints(dims)
    # counted from one side only: where some are from the left and some from the right, they may meet
    if all(d >= 0 for d in given):
        shape = reveal(shape, max(given, default=-1) + 1)
    elif all(d < 0 for d in given):
        shape = reveal(shape, 0, -min(given))
    found = tuple(axis(d, shape, name=name) for d in given)
    return shape, tuple(d if d >= 0 else len(shape.items) + d for d in found)


def position(dim: Value, shape: Shape, *, name: str = "dim") -> tuple[Shape, int]:
    """`locate` for one dim."""
    shape, (at,) = locate(shape, dim, name=name)
    return shape, at


def locate_two(shape: Shape, dims: tuple[Value, Value], names: tuple[str, str]) -> tuple[Shape, tuple[int, int]]:
    """`locate` for two parameters that each name a dim."""
    if shape.is_exact:
        first, second = (axis(d, shape, name=name) for d, name in zip(dims, names, strict=True))
    else:
        shape, (first, second) = locate(shape, *dims)
    return shape, (first, second)


def need_axes(dims: Value, shape: Shape, *, name: str = "dim") -> None:
    """Dim numbers (an int, a tuple, or None) must be in range and distinct, where that can be told."""
    given = dims if isinstance(dims, tuple) else () if dims is None else (dims,)
    with suppress(CannotTell):
        need_distinct(name, given, locate(shape, *given, name=name)[1])


def size_at(shape: Shape, dim: Value) -> Dim:
    """The size of the dim with this number, checked; UNKNOWN where it can't be told which that is."""
    try:
        return shape.dim(axis(dim, shape))
    except CannotTell:
        return UNKNOWN


# -- shapes with other dims --------------------------------------------------------------------------------------------


def shaped(tensor: TensorType, shape: Shape) -> TensorType:
    """``tensor`` with another shape."""
    return TensorType(shape, tensor.dtype, tensor.device)


def of(batch: Shape, *dims: Item) -> Shape:
    """The batch dims and then these."""
    return Shape((*batch.items, *dims))


def of_rank(shape: Shape, rank: int) -> Shape:
    """``shape`` taken to have ``rank`` dims (at least its ``min_rank``)."""
    if shape.is_exact:
        return shape
    return Shape((*shape.head, *[UNKNOWN] * (rank - shape.min_rank), *shape.tail))


def reveal(shape: Shape, left: int, right: int = 0) -> Shape:
    """``shape`` with at least ``left`` dims before and ``right`` dims after its variadic part, all of them different.

    A dim that may be on either side becomes part of "any number of dims".
    """
    if shape.is_exact:
        return shape
    head, tail = shape.head, shape.tail
    more_left, more_right = max(0, left - len(head)), max(0, right - len(tail))
    if not more_left and not more_right:
        return shape
    kept_left, kept_right = max(left, len(head) - more_right), max(right, len(tail) - more_left)
    new_head = (*head, *[UNKNOWN] * more_left)[:kept_left]
    new_tail = (*[UNKNOWN] * more_right, *tail)
    return Shape((*new_head, ANY_REST, *new_tail[len(new_tail) - kept_right :]))


def first_dims(shape: Shape, count: int) -> tuple[Dim, ...]:
    """The first ``count`` dims, UNKNOWN where a variadic part hides them."""
    return tuple(shape.dim(i) for i in range(count))


def drop_first(shape: Shape, count: int) -> Shape:
    """The shape without its first ``count`` dims."""
    return Shape(reveal(shape, count).items[count:])


def item_at(shape: Shape, at: int) -> Dim:
    """The dim at a place that `position` found."""
    item = shape.items[at]
    assert not isinstance(item, Rest)
    return item


def replaced(shape: Shape, at: int, *items: Item) -> Shape:
    """``shape`` with the item at ``at`` replaced: no items remove it, several split it."""
    return Shape((*shape.items[:at], *items, *shape.items[at + 1 :]))


def without(shape: Shape, at: Collection[int]) -> Shape:
    """``shape`` without the items at these places."""
    return Shape(tuple(item for i, item in enumerate(shape.items) if i not in at))


def insert(shape: Shape, dim: Value, *items: Item, name: str = "dim") -> Shape:
    """``shape`` with items put in where ``dim`` says, counted in the result, as `torch.unsqueeze` does."""
    if shape.is_exact:
        at = axis(dim, shape, extra=1, name=name)
        return Shape((*shape.items[:at], *items, *shape.items[at:]))
    (at,) = known_ints((dim,))
    shape = reveal(shape, at) if at >= 0 else reveal(shape, 0, -at - 1)
    at = at if at >= 0 else len(shape.items) + 1 + at
    return Shape((*shape.items[:at], *items, *shape.items[at:]))


def one_rest(items: Sequence[Item]) -> Shape:
    """A shape of items among which are several variadic parts: what lies between them becomes part of one."""
    rests = [i for i, item in enumerate(items) if isinstance(item, Rest)]
    if len(rests) <= 1:
        return Shape(tuple(items))
    return Shape((*items[: rests[0]], ANY_REST, *items[rests[-1] + 1 :]))


def unknown_dims(shape: Shape, more: int = 0) -> Shape:
    """A shape of unknown dims, with the rank of ``shape`` and ``more``."""
    return ANY_SHAPE if shape.rank is None else Shape((UNKNOWN,) * (shape.rank + more))


def leave_unknown(
    more: int | None = 0,
) -> Callable[[Callable[Concatenate[TensorType, P], R]], Callable[Concatenate[TensorType, P], R | TensorType]]:
    """For a rule whose other arguments aren't known: its result still has input's dtype, and ``more`` dims than it."""

    def wrap(
        function: Callable[Concatenate[TensorType, P], R],
    ) -> Callable[Concatenate[TensorType, P], R | TensorType]:
        def guarded(input: TensorType, /, *args: P.args, **kwargs: P.kwargs) -> R | TensorType:
            try:
                return function(input, *args, **kwargs)
            except CannotTell:
                return shaped(input, ANY_SHAPE if more is None else unknown_dims(input.shape, more))

        return update_wrapper(guarded, function)

    return wrap
