"""Determinants, inverses, powers and ranks of matrices."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown
from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_categories,
    need_float_or_complex,
    need_rank,
    need_square,
)
from simpletorch.rules.common.dtypes import real_dtype, summed_dtype
from simpletorch.rules.common.matrices import matrices, need_full_precision, square_matrices
from simpletorch.rules.common.positions import of
from simpletorch.rules.common.results import named
from simpletorch.rules.core.dtype import INT32, INT64
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import Named, TensorType, Value
from simpletorch.shapes import Dim, Shape


@rule("torch.linalg.det", "torch.det", "Tensor.det")
def det(A: TensorType) -> TensorType:
    """``(*b, n, n) -> (*b)``"""
    need_float_or_complex("A", A)
    return TensorType(square_matrices("A", A)[0], A.dtype)


@rule("torch.logdet", "Tensor.logdet")
def logdet(input: TensorType) -> TensorType:
    """``(*b, n, n) -> (*b)``"""
    need_full_precision("input", input)
    return TensorType(square_matrices("input", input)[0], input.dtype)


def _slogdet(op: str, A: TensorType) -> Named:
    need_full_precision("A", A)
    batch, _ = square_matrices("A", A)
    return named(op, sign=TensorType(batch, A.dtype), logabsdet=TensorType(batch, real_dtype(A.dtype)))


@rule("torch.linalg.slogdet")
def linalg_slogdet(A: TensorType) -> Named:
    """``(*b, n, n) -> sign (*b), logabsdet (*b)``"""
    return _slogdet("linalg_slogdet", A)


@rule("torch.slogdet", "Tensor.slogdet")
def slogdet(input: TensorType) -> Named:
    """``(*b, n, n) -> sign (*b), logabsdet (*b)``"""
    return _slogdet("slogdet", input)


@rule("torch.linalg.inv", "torch.inverse", "Tensor.inverse")
def inv(A: TensorType) -> TensorType:
    """``(*b, n, n) -> (*b, n, n)``"""
    need_full_precision("A", A)
    batch, n = square_matrices("A", A)
    return TensorType(of(batch, n, n), A.dtype)


@rule("torch.linalg.inv_ex")
def inv_ex(A: TensorType, *, check_errors: Value = False) -> Named:
    """``(*b, n, n) -> inverse (*b, n, n), info (*b)``"""
    found = inv(A)
    return named("linalg_inv_ex", inverse=found, info=TensorType(found.shape.drop_last(2), INT32))


@rule("torch.linalg.pinv")
def pinv(
    A: TensorType, rcond: Value = None, hermitian: Value = False, *, atol: Value = None, rtol: Value = None
) -> TensorType:
    """``(*b, n, m) -> (*b, m, n)``"""
    need_full_precision("A", A)
    batch, n, m = matrices("A", A)
    if hermitian is True:
        need_square("A", A.shape)
    return TensorType(of(batch, m, n), A.dtype)


@rule("torch.pinverse", "Tensor.pinverse")
def pinverse(input: TensorType, rcond: Value = 1e-15) -> TensorType:
    """``(*b, n, m) -> (*b, m, n)``"""
    need_full_precision("input", input)
    batch, n, m = matrices("input", input)
    return TensorType(of(batch, m, n), input.dtype)


# -- functions of matrices ---------------------------------------------------------------------------------------------


@rule("torch.linalg.matrix_rank")
def matrix_rank(
    A: TensorType, tol: Value = None, hermitian: Value = False, *, atol: Value = None, rtol: Value = None
) -> TensorType:
    """``(*b, n, m) -> (*b)`` in Int64"""
    need_full_precision("A", A)
    batch = matrices("A", A)[0]
    if hermitian is True:
        need_square("A", A.shape)
    for name, limit in (("tol", tol), ("atol", atol), ("rtol", rtol)):
        if isinstance(limit, TensorType):
            batch = broadcast_shapes(("the batch of A", batch), (name, limit.shape))
    return TensorType(batch, INT64)


@rule("torch.linalg.matrix_power", "torch.matrix_power", "Tensor.matrix_power")
def matrix_power(A: TensorType, n: Value) -> TensorType:
    """``(*b, n, n) -> (*b, n, n)``; negative powers need floats"""
    batch, size = square_matrices("A", A)
    if isinstance(n, int) and n < 0:
        need_full_precision("A", A)
    return TensorType(of(batch, size, size), A.dtype)


@rule("torch.linalg.matrix_exp", "torch.matrix_exp", "Tensor.matrix_exp")
def matrix_exp(A: TensorType) -> TensorType:
    """``(*b, n, n) -> (*b, n, n)``"""
    need_float_or_complex("A", A)
    batch, n = square_matrices("A", A)
    return TensorType(of(batch, n, n), A.dtype)


@rule("torch.vander")
def vander(x: TensorType, N: Value = None, increasing: Value = False) -> TensorType:
    """``(n,) -> (n, N)``, N is n where it isn't given; ints in Int64"""
    need_rank("x", x, 1)
    size = x.shape.dim(-1)
    return TensorType(Shape.of(size, size if N is None else dim_or_unknown(N)), summed_dtype(x.dtype))


@rule("torch.linalg.vander")
def linalg_vander(x: TensorType, *, N: Value = None) -> TensorType:
    """``(*b, n) -> (*b, n, N)``, N is n where it isn't given; ints in Int64"""
    need_categories("x", x.dtype, "int", "float", "complex", hint="x.int()")
    size: Dim = 1 if x.shape.rank == 0 else x.shape.dim(-1)
    powers = size if N is None else dim_or_unknown(N)
    need_at_least("N", powers, 2)
    batch = Shape(()) if x.shape.rank == 0 else x.shape.drop_last(1)
    return TensorType(of(batch, size, powers), summed_dtype(x.dtype))


__all__ = [
    "det",
    "inv",
    "inv_ex",
    "linalg_slogdet",
    "linalg_vander",
    "logdet",
    "matrix_exp",
    "matrix_power",
    "matrix_rank",
    "pinv",
    "pinverse",
    "slogdet",
    "vander",
]
