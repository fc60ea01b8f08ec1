"""Diagonals and triangles of matrices."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown
from simpletorch.rules.common.conditions import need_min_rank, need_rank
from simpletorch.rules.common.dtypes import summed_dtype
from simpletorch.rules.common.positions import axis, item_at, locate_two, of, reveal, shaped, unknown_dims, without
from simpletorch.rules.core.cards import PICKED, VIEW, Card
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, at_least, equal, maximum, minimum


def _magnitude(offset: Dim) -> Dim:
    """``abs(offset)``, where its sign is known."""
    if isinstance(offset, int):
        return abs(offset)
    return offset if at_least(offset, 0) else UNKNOWN


def diagonal_size(rows: Dim, columns: Dim, offset: Dim) -> Dim:
    """How long a diagonal is: ``offset`` above the main one, or below it if negative."""
    if isinstance(offset, int):
        size = minimum(rows, columns - offset) if offset >= 0 else minimum(rows + offset, columns)
    elif at_least(offset, 0):
        size = minimum(rows, columns - offset)
    else:
        return UNKNOWN
    return size if at_least(size, 0) else maximum(size, 0)


@rule("torch.trace", "Tensor.trace")
def trace(input: TensorType) -> TensorType:
    """``(n, m) -> ()``; ints are summed in Int64"""
    need_rank("input", input, 2)
    return TensorType(Shape(()), summed_dtype(input.dtype))


@rule("torch.diag", "Tensor.diag")
def diag(input: TensorType, diagonal: Value = 0) -> TensorType:
    """``(n,) -> (n, n)``; ``(n, m) -> (min(n, m),)``"""
    need_rank("input", input, 1, 2)
    offset = dim_or_unknown(diagonal)
    if input.shape.rank == 1:
        size = input.shape.dim(0) + _magnitude(offset)
        return input.with_shape(size, size)
    if input.shape.rank == 2 or input.shape.min_rank == 2:
        return input.with_shape(diagonal_size(input.shape.dim(-2), input.shape.dim(-1), offset))
    return TensorType(ANY_SHAPE, input.dtype)


def _diagonal(input: TensorType, offset: Value, dim1: Value, dim2: Value) -> TensorType:
    try:
        shape, places = locate_two(input.shape, (dim1, dim2), ("dim1", "dim2"))
    except CannotTell:
        return TensorType(unknown_dims(input.shape, -1), input.dtype)
    _need_two_dims(dim1, dim2, places)
    rows, columns = (item_at(shape, at) for at in places)
    return shaped(input, of(without(shape, places), diagonal_size(rows, columns, dim_or_unknown(offset))))


def _need_two_dims(dim1: Value, dim2: Value, places: tuple[int, int]) -> None:
    if places[0] == places[1]:
        raise Mismatch(f"dim1={dim1} and dim2={dim2} are the same dim", got=places)


@rule("torch.diagonal", "Tensor.diagonal", "torch.diagonal_copy", card=Card(VIEW, PICKED))
def diagonal(input: TensorType, offset: Value = 0, dim1: Value = 0, dim2: Value = 1) -> TensorType:
    """``(n, m, *b) -> (*b, min(n, m))``"""
    return _diagonal(input, offset, dim1, dim2)


@rule("torch.linalg.diagonal", card=Card(VIEW, PICKED))
def linalg_diagonal(A: TensorType, *, offset: Value = 0, dim1: Value = -2, dim2: Value = -1) -> TensorType:
    """``(*b, n, m) -> (*b, min(n, m))``"""
    return _diagonal(A, offset, dim1, dim2)


@rule("torch.diag_embed", "Tensor.diag_embed")
def diag_embed(input: TensorType, offset: Value = 0, dim1: Value = -2, dim2: Value = -1) -> TensorType:
    """``(*b, n) -> (*b, n, n)``"""
    need_min_rank("input", input, 1)
    size = input.shape.dim(-1) + _magnitude(dim_or_unknown(offset))
    batch = input.shape.drop_last(1)
    if not input.shape.is_exact:
        return input.with_shape(*batch.items, size, size) if (dim1, dim2) == (-2, -1) else TensorType(dtype=input.dtype)
    try:
        found = axis(dim1, input.shape, extra=1, name="dim1"), axis(dim2, input.shape, extra=1, name="dim2")
    except CannotTell:
        return shaped(input, unknown_dims(input.shape, 1))
    _need_two_dims(dim1, dim2, found)
    dims = list(batch.items)
    for at in sorted(found):
        dims.insert(at, size)
    return input.with_shape(*dims)


@rule("torch.diagflat", "Tensor.diagflat")
def diagflat(input: TensorType, offset: Value = 0) -> TensorType:
    """``(*b) -> (n, n)`` with n elements in the input"""
    size = input.shape.numel() + _magnitude(dim_or_unknown(offset))
    return input.with_shape(size, size)


@rule("torch.tril", "torch.triu", "Tensor.tril", "Tensor.triu", "Tensor.tril_", "Tensor.triu_")
def tril(input: TensorType, diagonal: Value = 0) -> TensorType:
    """``(*b, n, m) -> (*b, n, m)``"""
    need_min_rank("input", input, 2)
    return shaped(input, input.shape if input.shape.head else reveal(input.shape, 0, 2))


@rule("Tensor.fill_diagonal_")
def fill_diagonal_(input: TensorType, fill_value: Value, wrap: Value = False) -> TensorType:
    """``(n, m) -> (n, m)``; more than 2 dims must all be equal"""
    need_min_rank("input", input, 2)
    if input.shape.rank is not None and input.shape.rank > 2:
        first, *others = input.shape.dims
        if any(equal(first, d) is False for d in others):
            raise Mismatch(
                f"the dims of input {input.shape} must be equal where there are more than 2", got=input.shape
            )
    return input


__all__ = [
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_size",
    "fill_diagonal_",
    "linalg_diagonal",
    "trace",
    "tril",
]
