"""Dims in another order or direction, and windows into them: permute, transpose, flip, roll, narrow, select, unfold."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress

from simpletorch.rules.common.arguments import dim_or_unknown, is_dim, known_ints
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_categories,
    need_distinct,
    need_index,
    need_max_rank,
    need_min_rank,
    need_rank,
)
from simpletorch.rules.common.positions import (
    item_at,
    leave_unknown,
    locate,
    locate_two,
    need_axes,
    of_rank,
    position,
    replaced,
    shaped,
    unknown_dims,
)
from simpletorch.rules.common.slicing import length
from simpletorch.rules.core.cards import MOVED, PICKED, VIEW, Card
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, ANY_SHAPE, Item, Rest, Shape, Unknown, at_least

__all__ = ["transposed"]


def _listed(varargs: tuple[Value, ...], keyword: Value) -> tuple[Value, ...]:
    """Dims given one by one, as one tuple, or by keyword; an int stands for itself.

    Raises:
        CannotTell: it isn't known how many there are.
    """
    given = varargs if varargs else (keyword,)
    if len(given) == 1 and isinstance(given[0], tuple):
        return given[0]
    if given == (ANYTHING,):
        raise CannotTell
    return given


@rule("torch.permute", "Tensor.permute", "torch.permute_copy", card=Card(VIEW, MOVED))
@leave_unknown()
def permute(input: TensorType, *axes: Value, dims: Value = ANYTHING) -> TensorType:
    """``(*s) -> (s[dims[0]], s[dims[1]], …)``"""
    order = _listed(axes, dims)
    rank, least, count = input.shape.rank, input.shape.min_rank, len(order)
    if (rank is not None and rank != count) or least > count:
        raise Mismatch(f"dims names {count} dims, but input is {input.shape}", expected=rank, got=count)
    shape = of_rank(input.shape, len(order))
    if not all(isinstance(d, int) for d in order):
        return shaped(input, unknown_dims(shape))
    _, places = locate(shape, *order, name="dims")
    need_distinct("dims", order, places)
    return input.with_shape(*(shape.items[p] for p in places))


def transposed(shape: Shape, dim0: Value, dim1: Value, names: tuple[str, str] = ("dim0", "dim1")) -> Shape:
    """``shape`` with two dims exchanged."""
    # exchanged with itself a dim stays, whichever it is
    if dim0 == dim1 and is_dim(dim0) and not isinstance(dim0, Unknown) and not shape.is_exact:
        return shape
    shape, (a, b) = locate_two(shape, (dim0, dim1), names)
    items = list(shape.items)
    if items:
        items[a], items[b] = items[b], items[a]
    return Shape(tuple(items))


@rule("torch.transpose", "Tensor.transpose", "Tensor.transpose_", "torch.transpose_copy", card=Card(VIEW, MOVED))
@rule("torch.swapdims", "Tensor.swapdims", "Tensor.swapdims_", card=Card(VIEW, MOVED))
@leave_unknown()
def transpose(input: TensorType, dim0: Value, dim1: Value) -> TensorType:
    """``(*a, n, *b, m, *c) -> (*a, m, *b, n, *c)``"""
    return shaped(input, transposed(input.shape, dim0, dim1))


@rule("torch.swapaxes", "Tensor.swapaxes", "Tensor.swapaxes_", card=Card(VIEW, MOVED))
@leave_unknown()
def swapaxes(input: TensorType, axis0: Value, axis1: Value) -> TensorType:
    """``(*a, n, *b, m, *c) -> (*a, m, *b, n, *c)``"""
    return shaped(input, transposed(input.shape, axis0, axis1, ("axis0", "axis1")))


@rule("torch.t", "Tensor.t", "Tensor.t_", "torch.t_copy", card=Card(VIEW, MOVED))
def t(input: TensorType) -> TensorType:
    """``(n, m) -> (m, n)``; fewer dims stay"""
    need_max_rank("input", input, 2)
    if input.shape.is_exact or input.shape.min_rank == 2:
        return input.with_shape(*reversed(of_rank(input.shape, input.shape.min_rank).items))
    return shaped(input, ANY_SHAPE)


@rule("Tensor.T", card=Card(VIEW, MOVED))
def reverse_dims(input: TensorType) -> TensorType:
    """``(n, m) -> (m, n)``"""
    return input.with_shape(*reversed(input.shape.items))


@rule("Tensor.mT", "Tensor.mH", "torch.adjoint", "Tensor.adjoint", card=Card(VIEW, MOVED))
def adjoint(input: TensorType) -> TensorType:
    """``(*b, n, m) -> (*b, m, n)``"""
    if input.shape.rank == 0:
        return input
    need_min_rank("input", input, 2)
    if input.shape.rank is None and input.shape.min_rank == 0:
        return input
    return shaped(input, transposed(input.shape, -2, -1))


@rule("Tensor.H", card=Card(VIEW, MOVED))
def hermitian(input: TensorType) -> TensorType:
    """``(n, m) -> (m, n)``"""
    if input.shape.rank == 0:
        return input
    need_rank("input", input, 2)
    if input.shape.min_rank == 0:
        return shaped(input, ANY_SHAPE)
    return input.with_shape(*reversed(of_rank(input.shape, 2).items))


@rule("torch.movedim", "Tensor.movedim", "torch.moveaxis", "Tensor.moveaxis", card=Card(VIEW, MOVED))
@leave_unknown()
def movedim(input: TensorType, source: Value, destination: Value) -> TensorType:
    """``(*s) -> (*s)`` with the dims at source moved to destination"""
    origins, targets = _listed((source,), ANYTHING), _listed((destination,), ANYTHING)
    if len(origins) != len(targets):
        raise Mismatch(f"source names {len(origins)} dims, but destination names {len(targets)}")
    shape = input.shape
    if shape.is_exact:
        for dims, name in ((origins, "source"), (targets, "destination")):
            need_distinct(name, dims, locate(shape, *dims, name=name)[1])
        if shape.rank == 0:
            return input
    elif shape.min_rank == 0 and {*origins, *targets} <= {0, -1}:
        raise CannotTell  # it may be 0-dim, which torch takes
    elif len({d >= 0 for d in known_ints((*origins, *targets))}) == 1:
        shape, _ = locate(shape, *origins, *targets)
    shape, places = locate(shape, *origins)
    return shaped(input, _moved(shape, dict(zip(known_ints(targets), places, strict=True))))


def _moved(shape: Shape, moves: Mapping[int, int]) -> Shape:
    """Items put where ``moves`` says (number in the result: place now); the others fill up from both sides."""
    others = deque(item for i, item in enumerate(shape.items) if i not in moves.values())
    left, right = max(moves, default=-1) + 1, max((-d for d in moves), default=0)

    def take(dim: int, next_item: Callable[[], Item]) -> Item:
        item = shape.items[moves[dim]] if dim in moves else next_item()
        if isinstance(item, Rest):
            raise CannotTell
        return item

    head = [take(i, others.popleft) for i in range(left)]
    tail = [take(-i, others.pop) for i in range(1, right + 1)]
    return Shape((*head, *others, *reversed(tail)))


@rule("torch.flip", "Tensor.flip", card=Card(numbers=MOVED))
def flip(input: TensorType, *axes: Value, dims: Value = ANYTHING) -> TensorType:
    """``(*s) -> (*s)``"""
    with suppress(CannotTell):
        need_axes(_listed(axes, dims), input.shape, name="dims")
    return input


@rule("torch.fliplr", "Tensor.fliplr", card=Card(numbers=MOVED))
def fliplr(input: TensorType) -> TensorType:
    """``(n, m, *s) -> (n, m, *s)``"""
    need_min_rank("input", input, 2)
    return input


@rule("torch.flipud", "Tensor.flipud", card=Card(numbers=MOVED))
def flipud(input: TensorType) -> TensorType:
    """``(n, *s) -> (n, *s)``"""
    need_min_rank("input", input, 1)
    return input


@rule("torch.roll", "Tensor.roll", card=Card(numbers=MOVED))
def roll(input: TensorType, shifts: Value, dims: Value = None) -> TensorType:
    """``(*s) -> (*s)``"""
    count = len(shifts) if isinstance(shifts, tuple) else 1 if is_dim(shifts) else None
    if dims is None or dims == ():
        if count not in (None, 1):
            raise Mismatch(f"shifts has {count} numbers, but dims names none")
        return input
    if input.shape.rank == 0:
        raise Mismatch(f"dims={dims} names dims, but input is 0-dim")
    named = len(dims) if isinstance(dims, tuple) else 1 if is_dim(dims) else None
    if None not in (count, named) and count != named:
        raise Mismatch(f"shifts has {count} numbers, but dims names {named}", expected=count, got=named)
    with suppress(CannotTell):
        locate(input.shape, *_listed((dims,), ANYTHING), name="dims")  # torch takes one twice
    return input


@rule("torch.rot90", "Tensor.rot90", card=Card(numbers=MOVED))
@leave_unknown()
def rot90(input: TensorType, k: Value = 1, dims: Value = (0, 1)) -> TensorType:
    """``(n, m, *s) -> (m, n, *s)`` for odd k"""
    given = _listed((dims,), ANYTHING)
    if len(given) != 2:
        raise Mismatch(f"dims must name 2 dims, but it names {len(given)}", expected=2, got=len(given))
    need_min_rank("input", input, 2)
    if input.shape.is_exact:
        need_axes(given, input.shape, name="dims")
    swapped = transposed(input.shape, *given)
    if isinstance(k, int):
        return shaped(input, swapped) if k % 2 else input
    return input if swapped == input.shape else shaped(input, unknown_dims(swapped))


@rule("Tensor.unfold", "torch.unfold_copy", card=Card(VIEW, PICKED))
@leave_unknown(1)
def unfold(input: TensorType, dimension: Value, size: Value, step: Value) -> TensorType:
    """``(*a, n, *b) -> (*a, (n - size)//step + 1, *b, size)``"""
    need_at_least("step", step, 1)
    need_at_least("size", size, 0)
    shape, at = position(dimension, input.shape, name="dimension")
    window, stride = dim_or_unknown(size), dim_or_unknown(step)
    if input.shape.min_rank == 0 and not input.shape.is_exact:
        return input.with_shape(ANY_REST, window)  # a 0-dim tensor gets one dim, too
    whole = item_at(shape, at) if shape.rank != 0 else 1
    if at_least(whole, window) is False:
        raise Mismatch(f"size={window} is larger than dim {dimension}, which is {whole}", expected=whole, got=window)
    if shape.rank == 0:
        return input.with_shape(window)
    kept = replaced(shape, at, (whole - window) // stride + 1)
    return input.with_shape(*kept.items, window)


@rule("torch.narrow", "Tensor.narrow", "torch.narrow_copy", "Tensor.narrow_copy", card=Card(VIEW, PICKED))
@leave_unknown()
def narrow(input: TensorType, dim: Value, start: Value, length: Value) -> TensorType:
    """``(*a, n, *b) -> (*a, length, *b)``"""
    need_min_rank("input", input, 1)
    shape, at = position(dim, input.shape)
    if isinstance(start, TensorType):
        need_rank("start", start, 0)
        need_categories("start", start.dtype, "int", hint="start.long()")
    whole, size, begin = item_at(shape, at), dim_or_unknown(length), dim_or_unknown(start)
    need_at_least("length", size, 0)
    if isinstance(begin, int) and begin < 0:
        if isinstance(whole, int) and -begin > whole:
            raise Mismatch(f"start={begin} is out of range for dim {dim} of size {whole}", expected=whole, got=begin)
        begin = whole + begin
    if at_least(whole, begin + size) is False:
        raise Mismatch(
            f"start={start} and length={length} reach beyond dim {dim}, which is {whole}",
            expected=whole,
            got=begin + size,
        )
    return shaped(input, replaced(shape, at, size))


@rule("torch.slice_copy")
@leave_unknown()
def slice_copy(
    input: TensorType, dim: Value = 0, start: Value = None, end: Value = None, step: Value = 1
) -> TensorType:
    """``(*a, n, *b) -> (*a, len(start:end:step), *b)``"""
    need_min_rank("input", input, 1)
    shape, at = position(dim, input.shape)
    return shaped(input, replaced(shape, at, length(item_at(shape, at), start, end, step)))


@rule("torch.select", "Tensor.select", "torch.select_copy", card=Card(VIEW, PICKED))
@leave_unknown(-1)
def select(input: TensorType, dim: Value, index: Value) -> TensorType:
    """``(*a, n, *b) -> (*a, *b)``"""
    need_min_rank("input", input, 1)
    shape, at = position(dim, input.shape)
    need_index(index, item_at(shape, at), dim)
    return shaped(input, replaced(shape, at))
