"""Reading elements by number: index_select, gather, take; masked_select, nonzero."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown, is_dim
from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_categories,
    need_dtype,
    need_max_rank,
    need_same_rank,
)
from simpletorch.rules.common.positions import leave_unknown, of_rank, position, replaced, shaped
from simpletorch.rules.core.cards import PICKED, Card
from simpletorch.rules.core.dtype import BOOL, INT32, INT64
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, Unknown, at_least

__all__ = ["need_as_many_dims", "need_no_larger"]


def need_as_many_dims(left: str, a: Shape, right: str, b: Shape) -> None:
    """Two tensors must have as many dims; torch takes a 0-dim one for a 1-dim one."""
    if not (a.min_rank <= 1 and b.min_rank <= 1):
        need_same_rank(left, a, right, b)


def need_no_larger(
    name: str, small: Shape, of: str, large: Shape, *, apart_from: int | None = None, empty_fits: bool = True
) -> None:
    """No dim of ``small`` may be larger than that of ``large``."""
    if not small.is_exact or not large.is_exact or len(small.items) != len(large.items):
        return
    if empty_fits and 0 in small.items:
        return
    for i, (s, t) in enumerate(zip(small.dims, large.dims, strict=True)):
        if i != apart_from and at_least(t, s) is False:
            raise Mismatch(f"{name} has {s} at dim {i}, which is larger than {of}'s {t}", expected=t, got=s)


@rule("torch.index_select", "Tensor.index_select", card=Card(numbers=PICKED))
@leave_unknown()
def index_select(input: TensorType, dim: Value, index: TensorType) -> TensorType:
    """``(*a, n, *b), index (k,) -> (*a, k, *b)``"""
    need_dtype("index", index, INT64, INT32)
    need_max_rank("index", index, 1)
    count: Dim = 1 if index.shape.rank == 0 else index.shape.dim(0) if index.shape.min_rank == 1 else UNKNOWN
    shape, at = position(dim, input.shape)
    if shape.rank == 0:
        if isinstance(count, int) and count != 1:
            raise Mismatch(f"input is 0-dim; index can have only 1 element, not {count}", expected=1, got=count)
        return input
    if input.shape.min_rank == 0 and not input.shape.is_exact and (count == 1 or isinstance(count, Unknown)):
        return shaped(input, ANY_SHAPE)  # a 0-dim tensor stays one
    return shaped(input, replaced(shape, at, count))


@rule("torch.gather", "Tensor.gather", card=Card(numbers=PICKED))
def gather(input: TensorType, dim: Value, index: TensorType, *, sparse_grad: Value = False) -> TensorType:
    """``(*s), index (*t) -> (*t)`` with t no larger than s apart from dim"""
    if index.shape.numel() == 0:
        return shaped(input, index.shape)  # torch checks nothing
    need_dtype("index", index, INT64, INT32)
    need_as_many_dims("input", input.shape, "index", index.shape)
    try:
        _, at = position(dim, input.shape)
    except CannotTell:
        return shaped(input, index.shape)
    need_no_larger("index", index.shape, "input", input.shape, apart_from=at)
    return shaped(input, index.shape)


@rule("torch.take", "Tensor.take", card=Card(numbers=PICKED))
def take(input: TensorType, index: TensorType) -> TensorType:
    """``(*s), index (*t) -> (*t)``"""
    need_dtype("index", index, INT64)
    return shaped(input, index.shape)


@rule("torch.take_along_dim", "Tensor.take_along_dim", card=Card(numbers=PICKED))
def take_along_dim(input: TensorType, indices: TensorType, dim: Value = None) -> TensorType:
    """``(*a, n, *b), indices (*a, k, *b) -> (*a, k, *b)``, the others broadcast; without dim both are flat"""
    need_dtype("indices", indices, INT64)
    if dim is None:
        return input.with_shape(indices.shape.numel())
    a, b = input.shape, indices.shape
    need_same_rank("input", a, "indices", b)
    rank = a.rank if a.rank is not None else b.rank
    if rank is None or a.min_rank > rank or b.min_rank > rank:
        return shaped(input, ANY_SHAPE)
    a, b = of_rank(a, rank), of_rank(b, rank)
    try:
        _, at = position(dim, a)
    except CannotTell:
        return input.with_shape(*[UNKNOWN] * rank)
    if rank == 0:
        return input
    joint = broadcast_shapes(("input", replaced(a, at, 1)), ("indices", replaced(b, at, 1)))
    return shaped(input, replaced(joint, at, b.items[at]))


@rule("torch.masked_select", "Tensor.masked_select", card=Card(numbers=PICKED))
def masked_select(input: TensorType, mask: TensorType) -> TensorType:
    """``(*s), mask (*s) -> (?,)``"""
    need_dtype("mask", mask, BOOL)
    broadcast_shapes(("input", input.shape), ("mask", mask.shape))
    return input.with_shape(UNKNOWN)


@rule("torch.nonzero", "Tensor.nonzero")
def nonzero(input: TensorType, *, as_tuple: Value = False) -> Value:
    """``(*s) -> (?, r)`` with r the number of dims; as a tuple ``(?,)`` for every dim"""
    rank = input.shape.rank
    found = input.with_dtype(INT64)
    if as_tuple is False:
        return found.with_shape(UNKNOWN, UNKNOWN if rank is None else rank)
    if as_tuple is not True or rank is None:
        raise CannotTell
    return (found.with_shape(UNKNOWN),) * max(1, rank)


@rule("torch.argwhere", "Tensor.argwhere")
def argwhere(input: TensorType) -> TensorType:
    """``(*s) -> (?, r)`` with r the number of dims"""
    rank = input.shape.rank
    return input.with_dtype(INT64).with_shape(UNKNOWN, UNKNOWN if rank is None else rank)


@rule("torch.nonzero_static", "Tensor.nonzero_static")
def nonzero_static(input: TensorType, *, size: Value, fill_value: Value = -1) -> TensorType:
    """``(*s) -> (size, r)`` with r the number of dims"""
    need_at_least("size", size, 0)
    rank = input.shape.rank
    return input.with_dtype(INT64).with_shape(dim_or_unknown(size), UNKNOWN if rank is None else rank)


@rule("torch.unravel_index", "torch.functional.unravel_index")
def unravel_index(indices: TensorType, shape: Value) -> Value:
    """``(*s) -> (*s), …``, one for every dim of shape"""
    need_categories("indices", indices.dtype, "int", hint="indices.long()")
    if not isinstance(shape, tuple) and not is_dim(shape):
        raise CannotTell
    count = len(shape) if isinstance(shape, tuple) else 1
    return (indices.with_dtype(INT64),) * count
