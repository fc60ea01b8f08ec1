"""Norms of vectors and matrices, condition numbers, distances between many points."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dtype_argument, is_dim
from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import (
    need_categories,
    need_equal,
    need_float_or_complex,
    need_min_rank,
    need_not_bool,
    need_square,
)
from simpletorch.rules.common.dtypes import real_dtype, result_dtype, same_dtype
from simpletorch.rules.common.positions import need_axes, of
from simpletorch.rules.common.reduced import reduced
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import Shape


def _norm_dtype(name: str, tensor: TensorType, dtype: Value) -> DType | None:
    """The result is real, of the input's or the given precision.

    Raises:
        Mismatch: ints, or a ``dtype`` of another category or of less precision.
    """
    need_float_or_complex(name, tensor)
    if isinstance(dtype, DType):
        need_categories("dtype", dtype, "float", "complex")
        own = tensor.dtype
        if own is not None and own.category is not None and dtype.category not in (None, own.category):
            raise Mismatch(f"dtype is {dtype}, but {name} is {own}", kind="dtype", expected=own, got=dtype)
        if own is not None and own.is_concrete and dtype.is_concrete and dtype.bits < own.bits:
            raise Mismatch(
                f"dtype is {dtype}, which is narrower than {name}, {own}", kind="dtype", expected=own, got=dtype
            )
    return real_dtype(dtype_argument(dtype, tensor.dtype))


@rule("torch.linalg.vector_norm")
def vector_norm(
    x: TensorType, ord: Value = 2, dim: Value = None, keepdim: Value = False, *, dtype: Value = None
) -> TensorType:
    """``(*b, n) -> (*b)``; floating or complex only, the result is real"""
    if isinstance(ord, str):
        raise CannotTell
    return TensorType(reduced(x.shape, dim, keepdim), _norm_dtype("x", x, dtype))


def _need_matrix_dims(shape: Shape, dim: Value) -> None:
    """A matrix norm needs two dims."""
    if isinstance(dim, tuple) or is_dim(dim):
        count = len(dim) if isinstance(dim, tuple) else 1
        if count != 2:
            raise Mismatch(f"a matrix norm needs 2 dims, but dim names {count}", expected=2, got=count)
        need_axes(dim, shape)


@rule("torch.linalg.matrix_norm")
def matrix_norm(
    A: TensorType, ord: Value = "fro", dim: Value = (-2, -1), keepdim: Value = False, *, dtype: Value = None
) -> TensorType:
    """``(*b, n, m) -> (*b)``; floating or complex only, the result is real"""
    need_min_rank("A", A, 2)
    _need_matrix_dims(A.shape, dim)
    return TensorType(reduced(A.shape, dim, keepdim), _norm_dtype("A", A, dtype))


@rule("torch.linalg.norm")
def linalg_norm(
    A: TensorType, ord: Value = None, dim: Value = None, keepdim: Value = False, *, dtype: Value = None
) -> TensorType:
    """``(*b, n) -> (*b)``; of all dims without ``dim``; 2 dims with ``ord`` are a matrix norm"""
    if dim is None and ord is not None and ord is not ANYTHING and (A.shape.min_rank > 2 or A.shape.rank == 0):
        raise Mismatch(f"with ord and without dim, A must have 1 or 2 dims, but it is {A.shape}", got=A.shape.rank)
    if isinstance(ord, str) and dim is not None:
        _need_matrix_dims(A.shape, dim)
    if isinstance(dim, tuple) and len(dim) > 2:
        raise Mismatch(f"dim must name 1 or 2 dims, not {len(dim)}", expected=(1, 2), got=len(dim))
    return TensorType(reduced(A.shape, dim, keepdim), _norm_dtype("A", A, dtype))


@rule("torch.norm", "Tensor.norm")
def norm(
    input: TensorType, p: Value = "fro", dim: Value = None, keepdim: Value = False, dtype: Value = None
) -> TensorType:
    """``(*b, n) -> (*b)``; floating or complex only, the result is real"""
    if p == "nuc":
        if dim is None and input.shape.rank is not None:
            dim = tuple(range(input.shape.rank))
        _need_matrix_dims(input.shape, dim)
    return TensorType(reduced(input.shape, dim, keepdim), _norm_dtype("input", input, dtype))


@rule("torch.nuclear_norm")
def nuclear_norm(input: TensorType, dim: Value = None, keepdim: Value = False) -> TensorType:
    """``(n, m) -> ()``; ``dim`` names the two dims of matrices"""
    if isinstance(dim, bool):
        dim, keepdim = None, dim
    need_min_rank("input", input, 2)
    _need_matrix_dims(input.shape, dim)
    return TensorType(reduced(input.shape, dim, keepdim), _norm_dtype("input", input, None))


@rule("torch.frobenius_norm")
def frobenius_norm(input: TensorType, dim: Value, keepdim: Value = False) -> TensorType:
    """``(*b, n) -> (*b)``; floating or complex only, the result is real"""
    return TensorType(reduced(input.shape, dim, keepdim), _norm_dtype("input", input, None))


@rule("torch.linalg.cond")
def cond(A: TensorType, p: Value = None) -> TensorType:
    """``(*b, n, m) -> (*b)``; square but for the 2-norm"""
    need_min_rank("A", A, 2)
    need_float_or_complex("A", A)
    if p in (1, -1, "fro", "nuc") or (isinstance(p, float) and p in (1.0, -1.0, float("inf"), float("-inf"))):
        need_square("A", A.shape)
    return TensorType(A.shape.drop_last(2), real_dtype(A.dtype))


@rule("torch.dist", "Tensor.dist")
def dist(input: TensorType, other: TensorType, p: Value = 2) -> TensorType:
    """``(*b), (*b) -> ()``"""
    broadcast_shapes(("input", input.shape), ("other", other.shape))
    need_not_bool("input", input)
    need_not_bool("other", other)
    dtype = result_dtype(input, other)
    need_categories("the common dtype", dtype, "float", "complex")
    return TensorType(Shape(()), real_dtype(dtype))


@rule("torch.cdist")
def cdist(x1: TensorType, x2: TensorType, p: Value = 2.0, compute_mode: Value = None) -> TensorType:
    """``(*b, n, k), (*b, m, k) -> (*b, n, m)``; floats only"""
    for name, x in (("x1", x1), ("x2", x2)):
        need_categories(name, x.dtype, "float", hint=f"{name}.float()")
        need_min_rank(name, x, 2)
    dtype = same_dtype(("x1", x1), ("x2", x2))
    need_equal("x1", x1.shape.dim(-1), "x2", x2.shape.dim(-1), what="the last dims")
    batch = broadcast_shapes(("the batch of x1", x1.shape.drop_last(2)), ("the batch of x2", x2.shape.drop_last(2)))
    return TensorType(of(batch, x1.shape.dim(-2), x2.shape.dim(-2)), dtype)


@rule("torch.renorm", "Tensor.renorm", "Tensor.renorm_")
def renorm(input: TensorType, p: Value, dim: Value, maxnorm: Value) -> TensorType:
    """``(*b) -> (*b)``, of at least 2 dims; floating or complex only"""
    need_min_rank("input", input, 2)
    need_float_or_complex("input", input)
    need_axes(dim, input.shape)
    return TensorType(input.shape, input.dtype)


__all__ = [
    "cdist",
    "cond",
    "dist",
    "frobenius_norm",
    "linalg_norm",
    "matrix_norm",
    "norm",
    "nuclear_norm",
    "renorm",
    "vector_norm",
]
