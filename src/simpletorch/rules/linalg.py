"""Determinants, inverses, powers and ranks of matrices."""

from __future__ import annotations

from simpletorch.rules.arguments import broadcast_shapes, is_dim
from simpletorch.rules.conditions import need_float_or_complex, need_min_rank, need_rank, need_square
from simpletorch.rules.dtype import BFLOAT16, BOOL, FLOAT16, INT32, INT64, DType
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.reduction import named, real_dtype
from simpletorch.rules.registry import rule
from simpletorch.rules.values import Named, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Shape, Unknown


def need_full_precision(name: str, tensor: TensorType) -> None:
    """Float16 and BFloat16 are refused, and what is no float."""
    need_float_or_complex(name, tensor)
    if tensor.dtype in (FLOAT16, BFLOAT16):
        raise Mismatch(
            f"{name} is {tensor.dtype}, but it must be at least Float32",
            kind="dtype",
            hint=f"{name}.float()",
            got=tensor.dtype,
        )


def matrices(name: str, tensor: TensorType) -> tuple[Shape, Dim, Dim]:
    """The batch dims, rows and columns of a tensor of matrices."""
    need_min_rank(name, tensor, 2)
    return (tensor.shape.drop_last(2), *tensor.shape.last(2))  # type: ignore[return-value]


def square_matrices(name: str, tensor: TensorType) -> tuple[Shape, Dim]:
    """The batch dims and the size of a tensor of square matrices."""
    need_min_rank(name, tensor, 2)
    return tensor.shape.drop_last(2), need_square(name, tensor.shape)


def of(batch: Shape, *dims: Dim) -> Shape:
    """The batch dims and then these."""
    return Shape((*batch.items, *dims))


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


def _powers(N: Value, size: Dim) -> Dim:
    if N is None:
        return size
    return N if is_dim(N) and isinstance(N, int | Expr | Unknown) else UNKNOWN


def _vander_dtype(dtype: DType | None) -> DType | None:
    return INT64 if dtype is not None and dtype.category in ("bool", "int") else dtype


@rule("torch.vander")
def vander(x: TensorType, N: Value = None, increasing: Value = False) -> TensorType:
    """``(n,) -> (n, N)``, N is n where it isn't given; ints in Int64"""
    need_rank("x", x, 1)
    size = x.shape.dim(-1)
    return TensorType(Shape.of(size, _powers(N, size)), _vander_dtype(x.dtype))


@rule("torch.linalg.vander")
def linalg_vander(x: TensorType, *, N: Value = None) -> TensorType:
    """``(*b, n) -> (*b, n, N)``, N is n where it isn't given; ints in Int64"""
    if x.dtype == BOOL:
        raise Mismatch("x is Bool, but it must be integer, floating or complex", kind="dtype", hint="x.int()", got=BOOL)
    size: Dim = 1 if x.shape.rank == 0 else x.shape.dim(-1)
    powers = _powers(N, size)
    if isinstance(powers, int) and powers <= 1:
        raise Mismatch(f"N is {powers}, but it must be greater than 1", got=powers)
    batch = Shape(()) if x.shape.rank == 0 else x.shape.drop_last(1)
    return TensorType(of(batch, size, powers), _vander_dtype(x.dtype))


__all__ = [
    "det",
    "inv",
    "inv_ex",
    "linalg_slogdet",
    "linalg_vander",
    "logdet",
    "matrices",
    "matrix_exp",
    "matrix_power",
    "matrix_rank",
    "need_full_precision",
    "of",
    "pinv",
    "pinverse",
    "slogdet",
    "square_matrices",
    "vander",
]
