"""The same elements in other dims: view, reshape, flatten, unflatten, squeeze, unsqueeze."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, cast

from simpletorch.rules.common.arguments import given_sizes, known_ints, tensor_list
from simpletorch.rules.common.conditions import (
    differ,
    need_categories,
    need_distinct,
    need_dtype,
    need_min_rank,
    need_size,
)
from simpletorch.rules.common.dtypes import complex_dtype, real_dtype
from simpletorch.rules.common.positions import (
    drop_first,
    first_dims,
    insert,
    leave_unknown,
    locate,
    of,
    one_rest,
    position,
    replaced,
    reveal,
    shaped,
)
from simpletorch.rules.core.cards import BITS, FIRST, MAYBE, MOVED, VIEW, Card
from simpletorch.rules.core.dtype import FLOAT16, FLOAT32, FLOAT64, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import (
    ANY_REST,
    ANY_SHAPE,
    UNKNOWN,
    Dim,
    Expr,
    Item,
    Rest,
    Shape,
    Unknown,
    at_least,
    equal,
    variables,
)

__all__ = ["fit", "padded", "reshape", "view"]


def fit(shape: Shape, wanted: Sequence[Dim], done: str, *, subject: str = "") -> tuple[Dim, ...]:
    """``wanted`` with -1 (and a single unknown) solved so that it has as many elements as ``shape``.

    Args:
        shape: what there is.
        wanted: what it shall be.
        done: for the message: ``"viewed as"``.
        subject: for the message, if it isn't the number of elements.

    Raises:
        Mismatch: there is no such size, or the counts differ.
    """
    wanted = tuple(wanted)
    if _is_surely_right(wanted, shape):  # nearly always
        return wanted
    if wanted.count(-1) > 1:
        raise Mismatch(f"only one dim can be -1, but {Shape(wanted)} has {wanted.count(-1)}", got=wanted)
    if any(isinstance(d, int) and d < -1 for d in wanted):
        raise Mismatch(f"a size can't be negative (only -1 is special), but got {Shape(wanted)}", got=wanted)
    count = shape.numel()
    open_at = [i for i, d in enumerate(wanted) if d == -1 or isinstance(d, Unknown)]
    total = Shape(tuple(d for i, d in enumerate(wanted) if i not in open_at)).numel()
    elements = "1 element" if count == 1 else f"{count} elements"
    refusal = Mismatch(f"{subject or elements} can't be {done} {Shape(wanted)}", expected=count, got=wanted)
    if not open_at:
        _need_same_count(shape, count, total, refusal)
        return wanted
    # with two open sizes one equation isn't enough
    solved = _solve(count, total, -1 in wanted, refusal) if len(open_at) == 1 else UNKNOWN
    return tuple(solved if i in open_at else d for i, d in enumerate(wanted))


_NUMBERS: Final = frozenset({int})


def _is_surely_right(wanted: tuple[Dim, ...], shape: Shape) -> bool:
    """Whether all sizes are numbers, and there are as many elements."""
    if not _NUMBERS.issuperset(map(type, (*wanted, *shape.items))):
        return False
    new, old = cast(tuple[int, ...], wanted), cast(tuple[int, ...], shape.items)
    return min(new, default=0) >= 0 and prod(new) == prod(old)


def _need_same_count(shape: Shape, count: Dim, total: Dim, refusal: Mismatch) -> None:
    """The counts must be equal; where not all of ``shape`` is known, its known numbers must divide the total."""
    known = Shape(tuple(d for d in shape.items if isinstance(d, int))).numel()
    if isinstance(count, Unknown):
        if isinstance(total, int) and isinstance(known, int) and total % known:
            raise Mismatch(
                f"a multiple of {known} elements {refusal.reason.partition(' elements ')[2]}, which has {total}"
            )
    elif equal(count, total) is False:
        both = isinstance(count, int) and isinstance(total, int)
        more = f", which has {total}" if both else f": {differ(count, total)}"
        raise Mismatch(refusal.reason + more, expected=count, got=total)


def _solve(count: Dim, others: Dim, is_minus: bool, refusal: Mismatch) -> Dim:
    """The size that makes ``others`` into ``count``. For symbols it is taken that the author knows it divides."""
    if others == 0:
        if is_minus or (isinstance(count, int) and count):
            refusal.reason += ": with 0 elements nothing tells the size of -1" if is_minus else ""
            raise refusal
        return UNKNOWN
    if isinstance(count, int) and isinstance(others, int) and count % others:
        refusal.reason += f": {count} is not divisible by {others}"
        raise refusal
    return count // others


@rule("Tensor.view", card=Card(VIEW, BITS))
@rule("torch.view_copy", card=Card(VIEW, MOVED))
@leave_unknown(None)
def view(input: TensorType, *shape: Value, size: Value = ANYTHING, dtype: Value = None) -> TensorType:
    """``(*s) -> (*shape)`` with as many elements; ``view(dtype)`` scales the last dim"""
    if isinstance(dtype, DType) or (len(shape) == 1 and isinstance(shape[0], DType)):
        return _view_dtype(input, dtype if isinstance(dtype, DType) else shape[0])
    if shape == (ANYTHING,) or (not shape and size is ANYTHING):
        return TensorType(ANY_SHAPE, None, input.device)
    return shaped(input, Shape(fit(input.shape, given_sizes(shape, size), "viewed as")))


def _view_dtype(input: TensorType, dtype: Value) -> TensorType:
    assert isinstance(dtype, DType)
    out = input.with_dtype(dtype)
    if input.dtype is None or not input.dtype.is_concrete or not dtype.is_concrete:
        known = input.shape.rank == 0
        return out if known else shaped(out, Shape((*reveal(input.shape, 0, 1).items[:-1], UNKNOWN)))
    old, new = input.dtype.bits, dtype.bits
    if old == new:
        return out
    if input.shape.rank == 0:
        raise Mismatch(
            f"a 0-dim tensor of {input.dtype} can't be viewed as {dtype}, which has another size",
            kind="dtype",
            hint="use .to(dtype) to convert",
        )
    shape = reveal(input.shape, 0, 1)
    last = shape.dim(-1)
    if new > old and isinstance(last, int) and last % (new // old):
        raise Mismatch(
            f"the last dim {last} must be divisible by {new // old} to view {input.dtype} as {dtype}",
            kind="dtype",
            got=last,
        )
    return shaped(out, Shape((*shape.items[:-1], last // (new // old) if new > old else last * (old // new))))


@rule("torch.reshape", "Tensor.reshape", card=Card(MAYBE, MOVED))
@leave_unknown(None)
def reshape(input: TensorType, *sizes: Value, shape: Value = ANYTHING) -> TensorType:
    """``(*s) -> (*shape)`` with as many elements"""
    return shaped(input, Shape(fit(input.shape, given_sizes(sizes, shape), "reshaped to")))


@rule("Tensor.view_as", moves=True, card=Card(VIEW, MOVED, FIRST))
def view_as(input: TensorType, other: TensorType) -> TensorType:
    """``(*s), (*t) -> (*t)`` with as many elements"""
    return _as_other(input, other, "viewed as")


@rule("Tensor.reshape_as", moves=True, card=Card(MAYBE, MOVED, FIRST))
def reshape_as(input: TensorType, other: TensorType) -> TensorType:
    """``(*s), (*t) -> (*t)`` with as many elements"""
    return _as_other(input, other, "reshaped to")


def _as_other(input: TensorType, other: TensorType, done: str) -> TensorType:
    if other.shape.is_exact:
        dims = other.shape.dims
        solved = fit(input.shape, dims, done) if dims.count(UNKNOWN) <= 1 else dims
        return shaped(input, Shape(solved))
    return shaped(input, other.shape)


@rule("torch.ravel", "Tensor.ravel", card=Card(MAYBE, MOVED))
def ravel(input: TensorType) -> TensorType:
    """``(*s) -> (n,)`` with n the number of elements"""
    return input.with_shape(input.shape.numel())


@rule("torch.flatten", "Tensor.flatten", card=Card(MAYBE, MOVED))
@leave_unknown(None)
def flatten(input: TensorType, start_dim: Value = 0, end_dim: Value = -1) -> TensorType:
    """``(*a, *m, *b) -> (*a, n, *b)`` with n the product of the dims from start_dim to end_dim"""
    if input.shape.is_exact:
        shape, (start,) = locate(input.shape, start_dim, name="start_dim")
        _, (end,) = locate(input.shape, end_dim, name="end_dim")
        if shape.rank == 0:
            return input.with_shape(1)
        if start > end:
            raise Mismatch(f"start_dim={start_dim} comes after end_dim={end_dim} in {shape}", got=start_dim)
        return input.with_shape(
            *shape.items[:start], Shape(shape.dims[start : end + 1]).numel(), *shape.items[end + 1 :]
        )
    start, end = known_ints((start_dim, end_dim))
    return shaped(input, _flatten_part(input.shape, start, end))


def _flatten_part(shape: Shape, start: int, end: int) -> Shape:
    """Flatten where a variadic part hides dims: torch refuses what is too short, which tells the rank of the rest."""
    before: tuple[Item, ...] = first_dims(shape, start) if start >= 0 else shape.drop_last(-start).items
    after: tuple[Item, ...] = shape.last(-end - 1) if end < 0 else drop_first(shape, end + 1).items
    # counted from two sides: without the rank it isn't known which dims lie between
    if start < 0 <= end:
        return ANY_SHAPE
    if (start < 0) == (end < 0):
        seen = shape.last(-start)[: end - start + 1] if start < 0 else first_dims(shape, end + 1)[start:]
        return Shape((*before, Shape(seen).numel(), *after))
    return Shape((*before, UNKNOWN, *after))


@rule("torch.unflatten", "Tensor.unflatten", card=Card(VIEW, MOVED))
@leave_unknown(None)
def unflatten(input: TensorType, dim: Value, sizes: Value) -> TensorType:
    """``(*a, n, *b) -> (*a, *sizes, *b)`` with the product of sizes n"""
    wanted = given_sizes((), sizes)
    if not isinstance(sizes, tuple):
        raise CannotTell
    shape, at = position(dim, input.shape)
    if not wanted:
        raise Mismatch("sizes is empty")
    need_min_rank("input", input, 1)
    item = shape.items[at]
    solved = fit(Shape.of(item), wanted, "unflattened to", subject=f"dim {dim} of size {item}")
    return shaped(input, replaced(shape, at, *solved))


@rule("torch.squeeze", "Tensor.squeeze", "Tensor.squeeze_", "torch.squeeze_copy", card=Card(VIEW, MOVED))
@leave_unknown(None)
def squeeze(input: TensorType, dim: Value = None) -> TensorType:
    """``(*a, 1, *b) -> (*a, *b)``; without dim every dim of size 1 goes"""
    if dim is None:
        return shaped(input, _squeeze_all(input.shape))
    shape, places = locate(input.shape, *(dim if isinstance(dim, tuple) else (dim,)))
    need_distinct("dim", dim, places)
    items: list[Item] = []
    for i, item in enumerate(shape.items):
        if i not in places or not (item == 1 or _may_be_one(item)):
            items.append(item)
        elif item != 1:
            # an unknown size may be 1 and go: no dim, or one
            items.append(ANY_REST)
    return shaped(input, one_rest(items))


def _may_be_one(item: Item) -> bool:
    """Whether a dim isn't known, and perhaps is 1; one with a name stands for any size, and stays."""
    if isinstance(item, Unknown):
        return True
    return isinstance(item, Expr) and any(v.is_some for v in variables(item)) and not at_least(item, 2)


def _squeeze_all(shape: Shape) -> Shape:
    return one_rest([i if _stays(i) else ANY_REST for i in shape.items if i != 1])


def _stays(item: Item) -> bool:
    """Whether a dim is surely not 1."""
    return isinstance(item, int) or (not isinstance(item, Rest) and at_least(item, 2) is True)


@rule("torch.unsqueeze", "Tensor.unsqueeze", "Tensor.unsqueeze_", "torch.unsqueeze_copy", card=Card(VIEW, MOVED))
@leave_unknown(1)
def unsqueeze(input: TensorType, dim: Value) -> TensorType:
    """``(*a, *b) -> (*a, 1, *b)``"""
    return shaped(input, insert(input.shape, dim, 1))


def _atleast(tensors: tuple[Value, ...], count: int) -> Value:
    if len(tensors) == 1 and tensors[0] is ANYTHING:
        raise CannotTell
    if len(tensors) == 1 and isinstance(tensors[0], TensorType):
        return padded(tensors[0], count)
    given = tensors[0] if len(tensors) == 1 else tensors
    return tuple(padded(t, count) for t in tensor_list(given))


def padded(input: TensorType, count: int) -> TensorType:
    """The tensor with ones put in as `torch.atleast_1d`, ``atleast_2d`` and ``atleast_3d`` do."""
    shape = input.shape
    if shape.min_rank >= count:
        return input
    # torch.atleast_2d keeps the last dim last, whatever the rank; torch.atleast_3d puts a 1 behind a matrix
    if shape.rank is None:
        return (
            input.with_shape(ANY_REST, UNKNOWN, *shape.tail)
            if count == 2 and shape.tail
            else input.with_shape(ANY_REST)
        )
    if shape.rank == 0:
        return input.with_shape(*[1] * count)
    if shape.rank == 1:
        return input.with_shape(*(1, *shape.dims, 1)[:count])
    return input.with_shape(*shape.dims, 1)


@rule("torch.atleast_1d", moves=True, card=Card(MAYBE, MOVED))
def atleast_1d(*tensors: Value) -> Value:
    """``() -> (1,)``"""
    return _atleast(tensors, 1)


@rule("torch.atleast_2d", moves=True, card=Card(MAYBE, MOVED))
def atleast_2d(*tensors: Value) -> Value:
    """``(n,) -> (1, n)``"""
    return _atleast(tensors, 2)


@rule("torch.atleast_3d", moves=True, card=Card(MAYBE, MOVED))
def atleast_3d(*tensors: Value) -> Value:
    """``(n,) -> (1, n, 1)``, ``(n, m) -> (n, m, 1)``"""
    return _atleast(tensors, 3)


@rule("torch.view_as_real", "torch.view_as_real_copy", card=Card(VIEW))
def view_as_real(input: TensorType) -> TensorType:
    """``(*s) complex -> (*s, 2) real``"""
    need_categories("input", input.dtype, "complex")
    return TensorType(of(input.shape, 2), real_dtype(input.dtype))


@rule("torch.view_as_complex", "torch.view_as_complex_copy", card=Card(VIEW))
def view_as_complex(input: TensorType) -> TensorType:
    """``(*s, 2) real -> (*s) complex``"""
    need_dtype("input", input, FLOAT16, FLOAT32, FLOAT64, hint="input.float()")
    need_min_rank("input", input, 1)
    need_size("the last dim of input is", input.shape.dim(-1), "real and imaginary parts are", 2)
    return TensorType(input.shape.drop_last(1), complex_dtype(input.dtype))
