"""Dims by number in shapes of which only a part is known, and what to say when that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

from simpletorch.rules.arguments import axis, is_dim
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.values import ANY_TENSOR, ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Dim, Expr, Item, Rest, Shape, Unknown

__all__ = [
    "as_dim",
    "drop_first",
    "first",
    "insert",
    "known_ints",
    "leave_unknown",
    "locate",
    "need_rank",
    "of_rank",
    "one_rest",
    "position",
    "replaced",
    "reveal",
    "shaped",
    "tensors_of",
    "unknown_dims",
]

P = ParamSpec("P")
R = TypeVar("R")


def shaped(tensor: TensorType, shape: Shape) -> TensorType:
    """``tensor`` with another shape."""
    return tensor.with_shape(*shape.items)


def of_rank(shape: Shape, rank: int) -> Shape:
    """``shape`` taken to have ``rank`` dims (at least its ``min_rank``)."""
    if shape.is_exact:
        return shape
    return Shape((*shape.head, *[UNKNOWN] * (rank - shape.min_rank), *shape.tail))


def reveal(shape: Shape, left: int, right: int = 0) -> Shape:
    """``shape`` with at least ``left`` dims before and ``right`` dims after its variadic part, all of them different.

    A dim of which it is no longer certain on which side it is becomes part of "any number of dims".
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


def first(shape: Shape, count: int) -> tuple[Dim, ...]:
    """The first ``count`` dims, UNKNOWN where a variadic part hides them."""
    return tuple(shape.dim(i) for i in range(count))


def drop_first(shape: Shape, count: int) -> Shape:
    """The shape without its first ``count`` dims."""
    return Shape(reveal(shape, count).items[count:])


def locate(shape: Shape, *dims: Value, name: str = "dim") -> tuple[Shape, tuple[int, ...]]:
    """Several dim numbers as places among the items of the shape, which is revealed as far as they need it.

    Raises:
        Mismatch: one is out of range.
        CannotTell: one isn't known, or it can't be told whether two of them are one dim.
    """
    if shape.is_exact:
        return shape, tuple(axis(d, shape, name=name) for d in dims)
    given = known_ints(dims)
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


def known_ints(values: Sequence[Value]) -> tuple[int, ...]:
    """The values as numbers.

    Raises:
        CannotTell: one isn't a known int.
    """
    out = []
    for v in values:
        if not isinstance(v, int) or isinstance(v, bool):
            raise CannotTell
        out.append(v)
    return tuple(out)


def as_dim(value: Value) -> Dim:
    """The value as a size; UNKNOWN if it isn't one."""
    return value if isinstance(value, int | Expr | Unknown) and is_dim(value) else UNKNOWN


def replaced(shape: Shape, at: int, *items: Item) -> Shape:
    """``shape`` with the item at ``at`` replaced: no items remove it, several split it."""
    return Shape((*shape.items[:at], *items, *shape.items[at + 1 :]))


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
    """A shape of which no dim is known, with the rank of ``shape`` and ``more``."""
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


def need_rank(shape: Shape, least: int, most: int | None = None, *, name: str = "input") -> None:
    """Raise `Mismatch` for a shape whose rank is surely not in ``least..most``."""
    too_few = shape.rank is not None and shape.rank < least
    if too_few or (most is not None and shape.min_rank > most):
        if most is None:
            wanted = f"at least {least}"
        elif least == most:
            wanted = str(least)
        else:
            wanted = f"at most {most}" if least == 0 else f"{least} to {most}"
        plural = "" if wanted.split()[-1] == "1" else "s"
        raise Mismatch(
            f"{name} must have {wanted} dim{plural}, but it is {shape}",
            expected=least if too_few else most,
            got=shape.rank,
        )


def tensors_of(values: Value) -> tuple[TensorType, ...]:
    """A list of tensors, an unknown item taken to be an unknown tensor.

    Raises:
        CannotTell: it isn't known how many there are, or one isn't a tensor.
    """
    if not isinstance(values, tuple):
        raise CannotTell
    out = []
    for v in values:
        if v is ANYTHING:
            v = ANY_TENSOR
        if not isinstance(v, TensorType):
            raise CannotTell
        out.append(v)
    return tuple(out)
