"""Writing elements by number or mask: scatter, index_add, index_put, masked_fill, select_scatter."""

from __future__ import annotations

from collections.abc import Callable

from simpletorch.rules.common.broadcasting import broadcast_shapes, need_expandable
from simpletorch.rules.common.conditions import (
    need_dtype,
    need_equal,
    need_index,
    need_max_rank,
    need_min_rank,
    need_rank,
    need_same_rank,
    need_shape,
    need_size,
    need_storable,
)
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.common.positions import item_at, position, replaced, shaped
from simpletorch.rules.common.selection import select
from simpletorch.rules.common.slicing import length
from simpletorch.rules.core.dtype import BOOL, INT32, INT64
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.rules.functions.indexing.gathering import need_as_many_dims, need_no_larger
from simpletorch.rules.functions.indexing.indexing import need_device_of, need_one_device, need_room
from simpletorch.rules.functions.linear_algebra.diagonals import diagonal
from simpletorch.shapes import Dim, Shape

__all__ = ["index_add", "masked_fill", "scatter"]


def _at(input: TensorType, dim: Value) -> tuple[Shape, int] | None:
    """The shape and the place of ``dim`` in it; None if that isn't known."""
    try:
        return position(dim, input.shape)
    except CannotTell:
        return None


def _need_number(input: TensorType, value: Value, name: str = "value") -> None:
    """A number or a 0-dim tensor that torch can store in a tensor of this dtype."""
    if isinstance(value, TensorType):
        need_rank(name, value, 0)
    need_storable(value, input.dtype)


# -- scatter -----------------------------------------------------------------------------------------------------------


def _scatter(input: TensorType, dim: Value, index: TensorType, src: Value, name: str = "src") -> TensorType:
    need_dtype("index", index, INT64, INT32)
    if isinstance(src, TensorType):
        same_dtype(("input", input), (name, src))
    else:
        need_storable(src, input.dtype)
    # where there is no index torch writes nothing and compares no dims
    if index.shape.items == (0,):
        return input
    need_as_many_dims("input", input.shape, "index", index.shape)
    found = _at(input, dim)
    if found is not None:
        need_no_larger("index", index.shape, "input", input.shape, apart_from=found[1])
    if isinstance(src, TensorType):
        need_as_many_dims("index", index.shape, name, src.shape)
        need_no_larger("index", index.shape, name, src.shape)
    return input


@rule("torch.scatter", "Tensor.scatter", "Tensor.scatter_")
def scatter(
    input: TensorType, dim: Value, index: TensorType, src: Value = None, *, value: Value = None, reduce: Value = None
) -> TensorType:
    """``(*s), index (*t), src (*u) -> (*s)`` with t no larger than u, nor than s apart from dim"""
    return _scatter(input, dim, index, src if value is None else value)


@rule("torch.scatter_add", "Tensor.scatter_add", "Tensor.scatter_add_")
def scatter_add(input: TensorType, dim: Value, index: TensorType, src: TensorType) -> TensorType:
    """``(*s), index (*t), src (*u) -> (*s)`` with t no larger than u, nor than s apart from dim"""
    return _scatter(input, dim, index, src)


@rule("torch.scatter_reduce", "Tensor.scatter_reduce", "Tensor.scatter_reduce_")
def scatter_reduce(
    input: TensorType,
    dim: Value,
    index: TensorType,
    src: TensorType,
    reduce: Value = ANYTHING,
    *,
    include_self: Value = True,
) -> TensorType:
    """``(*s), index (*t), src (*u) -> (*s)`` with t no larger than u, nor than s apart from dim"""
    return _scatter(input, dim, index, src)


# -- index_add and its like --------------------------------------------------------------------------------------------


def _need_slices(input: TensorType, dim: Value, index: TensorType, source: TensorType) -> None:
    """``source`` must have input's dims but for ``dim``, where it has as many as there are indices."""
    need_max_rank("index", index, 1)
    found = _at(input, dim)
    a, b = input.shape, source.shape
    if found is None or not a.is_exact or not b.is_exact:
        return
    at = found[1]
    count: Dim | None = None if index.shape.rank is None else 1 if index.shape.rank == 0 else index.shape.dim(0)
    if b.rank == 0 and isinstance(count, int) and count != 1:
        raise Mismatch(f"source is 0-dim; index can have only 1 element, not {count}", expected=1, got=count)
    if 0 in (a.rank, b.rank):
        return
    need_same_rank("input", a, "source", b)
    for i, (s, t) in enumerate(zip(a.dims, b.dims, strict=True)):
        wanted = count if i == at else s
        if wanted is not None:
            need_size(f"dim {i} of source is", t, "index has" if i == at else "that of input is", wanted)


@rule("torch.index_add", "Tensor.index_add", "Tensor.index_add_")
def index_add(input: TensorType, dim: Value, index: TensorType, source: TensorType, *, alpha: Value = 1) -> TensorType:
    """``(*a, n, *b), index (k,), source (*a, k, *b) -> (*a, n, *b)``"""
    need_dtype("index", index, INT64, INT32)
    same_dtype(("input", input), ("source", source))
    _need_slices(input, dim, index, source)
    return input


@rule("torch.index_reduce", "Tensor.index_reduce", "Tensor.index_reduce_")
def index_reduce(
    input: TensorType,
    dim: Value,
    index: TensorType,
    source: TensorType,
    reduce: Value = ANYTHING,
    *,
    include_self: Value = True,
) -> TensorType:
    """``(*a, n, *b), index (k,), source (*a, k, *b) -> (*a, n, *b)``"""
    need_dtype("index", index, INT64, INT32)
    same_dtype(("input", input), ("source", source))
    _need_slices(input, dim, index, source)
    return input


@rule("torch.index_copy", "Tensor.index_copy", "Tensor.index_copy_")
def index_copy(input: TensorType, dim: Value, index: TensorType, source: TensorType) -> TensorType:
    """``(*a, n, *b), index (k,), source (*a, k, *b) -> (*a, n, *b)``"""
    need_dtype("index", index, INT64)
    same_dtype(("input", input), ("source", source))
    _need_slices(input, dim, index, source)
    return input


@rule("torch.index_fill", "Tensor.index_fill", "Tensor.index_fill_")
def index_fill(input: TensorType, dim: Value, index: TensorType, value: Value) -> TensorType:
    """``(*s), index (k,), value () -> (*s)``"""
    need_dtype("index", index, INT64)
    need_max_rank("index", index, 1)
    _need_number(input, value)
    _at(input, dim)
    return input


@rule("torch.index_put", "Tensor.index_put", "Tensor.index_put_", "torch.index_put_", moves=True)
def index_put(input: TensorType, indices: Value, values: TensorType, accumulate: Value = False) -> TensorType:
    """``(*s), values that broadcast to input[indices] -> (*s)``"""
    same_dtype(("input", input), ("values", values))
    need_one_device(input, indices)
    if values.shape.min_rank:
        need_device_of(input, values, "values are")
    if not isinstance(indices, tuple):
        return input
    try:
        chosen = select(input.shape, tuple(slice(None) if i is None else i for i in indices))
    except CannotTell:
        return input
    need_room("values", values.shape, chosen.shape, what="input[indices]")
    return input


@rule("torch.put", "Tensor.put", "Tensor.put_")
def put(input: TensorType, index: TensorType, source: TensorType, accumulate: Value = False) -> TensorType:
    """``(*s), index (*t), source of as many elements -> (*s)``"""
    need_dtype("index", index, INT64)
    same_dtype(("input", input), ("source", source))
    need_equal("index", index.shape.numel(), "source", source.shape.numel(), what="the numbers of elements")
    return input


# -- masks -------------------------------------------------------------------------------------------------------------


def _masked(input: TensorType, mask: TensorType) -> TensorType:
    need_dtype("mask", mask, BOOL)
    return shaped(input, broadcast_shapes(("input", input.shape), ("mask", mask.shape)))


def _masked_in_place(input: TensorType, mask: TensorType) -> TensorType:
    need_dtype("mask", mask, BOOL)
    need_expandable("mask", mask.shape, input.shape, "input")
    return input


@rule("torch.masked_fill", "Tensor.masked_fill")
def masked_fill(input: TensorType, mask: TensorType, value: Value) -> TensorType:
    """``(*s), mask (*t), value () -> (*b)``"""
    _need_number(input, value)
    return _masked(input, mask)


@rule("Tensor.masked_fill_")
def masked_fill_(input: TensorType, mask: TensorType, value: Value) -> TensorType:
    """``(*s), mask that broadcasts to (*s), value () -> (*s)``"""
    _need_number(input, value)
    return _masked_in_place(input, mask)


@rule("torch.masked_scatter", "Tensor.masked_scatter")
def masked_scatter(input: TensorType, mask: TensorType, source: TensorType) -> TensorType:
    """``(*s), mask (*t), source (*u) -> (*b)``"""
    same_dtype(("input", input), ("source", source))
    return _masked(input, mask)


@rule("Tensor.masked_scatter_")
def masked_scatter_(input: TensorType, mask: TensorType, source: TensorType) -> TensorType:
    """``(*s), mask that broadcasts to (*s), source (*u) -> (*s)``"""
    same_dtype(("input", input), ("source", source))
    return _masked_in_place(input, mask)


# -- a part replaced ---------------------------------------------------------------------------------------------------


def _need_part(part: Callable[[], Shape], src: TensorType) -> None:
    try:
        wanted = part()
    except CannotTell:
        return
    need_shape("src", src.shape, wanted, whose="the part it replaces is")


@rule("torch.select_scatter", "Tensor.select_scatter", moves=True)
def select_scatter(input: TensorType, src: TensorType, dim: Value, index: Value) -> TensorType:
    """``(*a, n, *b), src (*a, *b) -> (*a, n, *b)``"""

    def part() -> Shape:
        shape, at = position(dim, input.shape)
        need_index(index, item_at(shape, at), dim)
        return replaced(shape, at)

    need_min_rank("input", input, 1)
    _need_part(part, src)
    return input


@rule("torch.slice_scatter", "Tensor.slice_scatter", moves=True)
def slice_scatter(
    input: TensorType, src: TensorType, dim: Value = 0, start: Value = None, end: Value = None, step: Value = 1
) -> TensorType:
    """``(*a, n, *b), src (*a, len(start:end:step), *b) -> (*a, n, *b)``"""

    def part() -> Shape:
        shape, at = position(dim, input.shape)
        return replaced(shape, at, length(item_at(shape, at), start, end, step))

    need_min_rank("input", input, 1)
    _need_part(part, src)
    return input


@rule("torch.diagonal_scatter", "Tensor.diagonal_scatter", moves=True)
def diagonal_scatter(
    input: TensorType, src: TensorType, offset: Value = 0, dim1: Value = 0, dim2: Value = 1
) -> TensorType:
    """``(n, m), src (min(n, m),) -> (n, m)``"""
    _need_part(lambda: diagonal(input, offset, dim1, dim2).shape, src)
    return input
