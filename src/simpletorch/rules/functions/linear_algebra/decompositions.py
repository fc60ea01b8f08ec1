"""Decompositions of matrices: singular values, eigenvalues, triangular factors."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.common.arguments import dim_or_unknown
from simpletorch.rules.common.conditions import (
    called,
    need_dtype,
    need_equal,
    need_float_or_complex,
    need_min_rank,
    need_same_shape,
)
from simpletorch.rules.common.dtypes import complex_dtype, real_dtype, same_dtype
from simpletorch.rules.common.matrices import matrices, square_matrices
from simpletorch.rules.common.positions import of
from simpletorch.rules.common.results import named
from simpletorch.rules.core.cards import DRAWS, SOME, Card
from simpletorch.rules.core.dtype import INT32, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import Named, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, at_least, minimum

EMPTY: Final = Shape.of(0)
"""What torch gives in place of a factor that wasn't asked for."""


# -- singular values and eigenvalues -----------------------------------------------------------------------------------


@rule("torch.linalg.svd")
def linalg_svd(A: TensorType, full_matrices: Value = True, *, driver: Value = None) -> Named:
    """``(*b, n, m) -> U (*b, n, n), S (*b, k), Vh (*b, m, m)``; not ``full_matrices``: U (*b, n, k), Vh (*b, k, m)"""
    need_float_or_complex("A", A)
    batch, n, m = matrices("A", A)
    k = minimum(n, m)
    left, right = (n, m) if full_matrices is True else (k, k) if full_matrices is False else (UNKNOWN, UNKNOWN)
    return named(
        "linalg_svd",
        U=TensorType(of(batch, n, left), A.dtype),
        S=TensorType(of(batch, k), real_dtype(A.dtype)),
        Vh=TensorType(of(batch, right, m), A.dtype),
    )


@rule("torch.svd", "Tensor.svd")
def svd(input: TensorType, some: Value = True, compute_uv: Value = True) -> Named:
    """``(*b, n, m) -> U (*b, n, k), S (*b, k), V (*b, m, k)``; without ``some`` U (*b, n, n), V (*b, m, m)"""
    need_float_or_complex("input", input)
    batch, n, m = matrices("input", input)
    k = minimum(n, m)
    small = some is True and compute_uv is True
    # without compute_uv torch gives zeros in their place, of the full sizes whatever ``some`` says
    full = some is False or compute_uv is False
    left, right = (k, k) if small else (n, m) if full else (UNKNOWN, UNKNOWN)
    return named(
        "svd",
        U=TensorType(of(batch, n, left), input.dtype),
        S=TensorType(of(batch, k), real_dtype(input.dtype)),
        V=TensorType(of(batch, m, right), input.dtype),
    )


@rule("torch.linalg.svdvals")
def svdvals(A: TensorType, *, driver: Value = None) -> TensorType:
    """``(*b, n, m) -> (*b, min(n, m))``"""
    need_float_or_complex("A", A)
    batch, n, m = matrices("A", A)
    return TensorType(of(batch, minimum(n, m)), real_dtype(A.dtype))


def _low_rank(A: TensorType, q: Value) -> Value:
    """``U, S, V`` of a randomized decomposition with ``q`` columns."""
    batch, n, m = matrices("A", A)
    k = dim_or_unknown(q)
    u, s, v = of(batch, n, k), of(batch, k), of(batch, m, k)
    return TensorType(u, A.dtype), TensorType(s, real_dtype(A.dtype)), TensorType(v, A.dtype)


@rule("torch.svd_lowrank", card=Card(random=DRAWS))
def svd_lowrank(A: TensorType, q: Value = 6, niter: Value = 2, M: Value = None) -> Value:
    """``(*b, n, m) -> U (*b, n, q), S (*b, q), V (*b, m, q)``"""
    return _low_rank(A, q)


@rule("torch.pca_lowrank", card=Card(random=DRAWS))
def pca_lowrank(A: TensorType, q: Value = None, center: Value = True, niter: Value = 2) -> Value:
    """``(*b, n, m) -> U (*b, n, q), S (*b, q), V (*b, m, q)``; q is at most 6 where it isn't given"""
    return _low_rank(A, minimum(6, *A.shape.last(2)) if q is None and A.shape.min_rank >= 2 else q)


@rule("torch.linalg.eig")
def eig(A: TensorType) -> Named:
    """``(*b, n, n) -> eigenvalues (*b, n), eigenvectors (*b, n, n)``, complex"""
    need_float_or_complex("A", A)
    batch, n = square_matrices("A", A)
    dtype = complex_dtype(A.dtype)
    values, vectors = TensorType(of(batch, n), dtype), TensorType(of(batch, n, n), dtype)
    return named("linalg_eig", eigenvalues=values, eigenvectors=vectors)


@rule("torch.linalg.eigvals")
def eigvals(A: TensorType) -> TensorType:
    """``(*b, n, n) -> (*b, n)``, complex"""
    need_float_or_complex("A", A)
    batch, n = square_matrices("A", A)
    return TensorType(of(batch, n), complex_dtype(A.dtype))


@rule("torch.linalg.eigh")
def eigh(A: TensorType, UPLO: Value = "L") -> Named:
    """``(*b, n, n) -> eigenvalues (*b, n), eigenvectors (*b, n, n)``; the values are real"""
    batch, n = square_matrices("A", A)
    values, vectors = TensorType(of(batch, n), real_dtype(A.dtype)), TensorType(of(batch, n, n), A.dtype)
    return named("linalg_eigh", eigenvalues=values, eigenvectors=vectors)


@rule("torch.linalg.eigvalsh")
def eigvalsh(A: TensorType, UPLO: Value = "L") -> TensorType:
    """``(*b, n, n) -> (*b, n)``, real"""
    batch, n = square_matrices("A", A)
    return TensorType(of(batch, n), real_dtype(A.dtype))


# -- factors -----------------------------------------------------------------------------------------------------------


def _qr(op: str, A: TensorType, mode: Value) -> Named:
    need_float_or_complex("A", A)
    batch, n, m = matrices("A", A)
    k = minimum(n, m)
    q, r = {
        "reduced": (of(batch, n, k), of(batch, k, m)),
        "complete": (of(batch, n, n), of(batch, n, m)),
        "r": (EMPTY, of(batch, k, m)),
    }.get(mode if isinstance(mode, str) else "", (ANY_SHAPE, of(batch, UNKNOWN, m)))
    return named(op, Q=TensorType(q, A.dtype), R=TensorType(r, A.dtype))


@rule("torch.linalg.qr")
def linalg_qr(A: TensorType, mode: Value = "reduced") -> Named:
    """``(*b, n, m) -> Q (*b, n, k), R (*b, k, m)`` with k = min(n, m); "complete": Q (*b, n, n), R (*b, n, m)"""
    return _qr("linalg_qr", A, mode)


@rule("torch.qr", "Tensor.qr")
def qr(input: TensorType, some: Value = True) -> Named:
    """``(*b, n, m) -> Q (*b, n, k), R (*b, k, m)`` with k = min(n, m); without ``some`` Q (*b, n, n), R (*b, n, m)"""
    with called(A="input"):
        return _qr("qr", input, "reduced" if some is True else "complete" if some is False else None)


@rule("torch.linalg.cholesky")
def linalg_cholesky(A: TensorType, *, upper: Value = False) -> TensorType:
    """``(*b, n, n) -> (*b, n, n)``"""
    need_float_or_complex("A", A)
    batch, n = square_matrices("A", A)
    return TensorType(of(batch, n, n), A.dtype)


@rule("torch.linalg.cholesky_ex")
def cholesky_ex(A: TensorType, *, upper: Value = False, check_errors: Value = False) -> Named:
    """``(*b, n, n) -> L (*b, n, n), info (*b)``"""
    found = linalg_cholesky(A)
    return named("linalg_cholesky_ex", L=found, info=TensorType(found.shape.drop_last(2), INT32))


@rule("torch.cholesky", "Tensor.cholesky", "torch.cholesky_inverse", "Tensor.cholesky_inverse")
def cholesky(input: TensorType, upper: Value = False) -> TensorType:
    """``(*b, n, n) -> (*b, n, n)``"""
    batch, n = square_matrices("input", input)
    return TensorType(of(batch, n, n), input.dtype)


def _lu(A: TensorType) -> tuple[TensorType, TensorType, TensorType]:
    batch, n, m = matrices("A", A)
    factors = TensorType(of(batch, n, m), A.dtype)
    return factors, TensorType(of(batch, minimum(n, m)), INT32), TensorType(batch, INT32)


@rule("torch.linalg.lu_factor")
def lu_factor(A: TensorType, *, pivot: Value = True) -> Named:
    """``(*b, n, m) -> LU (*b, n, m), pivots (*b, min(n, m))``"""
    lu, pivots, _ = _lu(A)
    return named("linalg_lu_factor", LU=lu, pivots=pivots)


@rule("torch.linalg.lu_factor_ex")
def lu_factor_ex(A: TensorType, *, pivot: Value = True, check_errors: Value = False) -> Named:
    """``(*b, n, m) -> LU (*b, n, m), pivots (*b, min(n, m)), info (*b)``"""
    lu, pivots, info = _lu(A)
    return named("linalg_lu_factor_ex", LU=lu, pivots=pivots, info=info)


@rule("torch.lu")
def lu(A: TensorType, pivot: Value = True, get_infos: Value = False) -> Value:
    """``(*b, n, m) -> LU (*b, n, m), pivots (*b, min(n, m))``; with ``get_infos`` also info (*b)"""
    factors, pivots, info = _lu(A)
    if get_infos is True:
        return named("_lu_with_info", LU=factors, pivots=pivots, info=info)
    if get_infos is not False:
        raise CannotTell
    return factors, pivots


@rule("Tensor.lu")
def tensor_lu(A: TensorType, pivot: Value = True, get_infos: Value = False) -> Value:
    """``(*b, n, m) -> LU (*b, n, m), pivots (*b, min(n, m))``; with ``get_infos`` also info (*b)"""
    if not isinstance(get_infos, bool):
        raise CannotTell
    return _lu(A) if get_infos else _lu(A)[:2]


def _triangles(batch: Shape, n: Dim, m: Dim, dtype: DType | None) -> tuple[TensorType, TensorType, TensorType]:
    k = minimum(n, m)
    shapes = of(batch, n, n), of(batch, n, k), of(batch, k, m)
    p, lower, upper = (TensorType(s, dtype) for s in shapes)
    return p, lower, upper


@rule("torch.linalg.lu", card=Card(gradient=SOME))
def linalg_lu(A: TensorType, *, pivot: Value = True) -> Named:
    """``(*b, n, m) -> P (*b, n, n), L (*b, n, k), U (*b, k, m)`` with k = min(n, m)"""
    p, lower, upper = _triangles(*matrices("A", A), A.dtype)
    if pivot is not True:
        p = TensorType(EMPTY if pivot is False else ANY_SHAPE, A.dtype)
    return named("linalg_lu", P=p, L=lower, U=upper)


@rule("torch.lu_unpack", card=Card(gradient=SOME))
def lu_unpack(
    LU_data: TensorType, LU_pivots: TensorType, unpack_data: Value = True, unpack_pivots: Value = True
) -> Named:
    """``(*b, n, m), (*b, k) -> P (*b, n, n), L (*b, n, k), U (*b, k, m)`` with k = min(n, m)"""
    need_dtype("LU_pivots", LU_pivots, INT32)
    p, lower, upper = _triangles(*matrices("LU_data", LU_data), LU_data.dtype)
    missing = TensorType(EMPTY, LU_data.dtype)
    if not isinstance(unpack_data, bool) or not isinstance(unpack_pivots, bool):
        raise CannotTell
    lower, upper = (lower, upper) if unpack_data else (missing, missing)
    return named("lu_unpack", P=p if unpack_pivots else missing, L=lower, U=upper)


@rule("torch.linalg.ldl_factor")
def ldl_factor(A: TensorType, *, hermitian: Value = False) -> Named:
    """``(*b, n, n) -> LD (*b, n, n), pivots (*b, n)``"""
    need_float_or_complex("A", A)
    batch, n = square_matrices("A", A)
    return named("linalg_ldl_factor", LD=TensorType(of(batch, n, n), A.dtype), pivots=TensorType(of(batch, n), INT32))


@rule("torch.linalg.ldl_factor_ex")
def ldl_factor_ex(A: TensorType, *, hermitian: Value = False, check_errors: Value = False) -> Named:
    """``(*b, n, n) -> LD (*b, n, n), pivots (*b, n), info (*b)``"""
    fields = dict(ldl_factor(A).fields)
    return named("linalg_ldl_factor_ex", **fields, info=TensorType(A.shape.drop_last(2), INT32))


@rule("torch.geqrf", "Tensor.geqrf")
def geqrf(input: TensorType) -> Named:
    """``(*b, n, m) -> a (*b, n, m), tau (*b, min(n, m))``"""
    need_float_or_complex("input", input)
    batch, n, m = matrices("input", input)
    tau = TensorType(of(batch, minimum(n, m)), input.dtype)
    return named("geqrf", a=TensorType(of(batch, n, m), input.dtype), tau=tau)


def _need_reflectors(name: str, reflectors: TensorType, tau: TensorType) -> None:
    """The scalar factors have the dtype and the batch dims of the reflectors."""
    same_dtype((name, reflectors), ("tau", tau))
    need_same_shape(f"the batch of {name}", reflectors.shape.drop_last(2), "that of tau", tau.shape.drop_last(1))


@rule("torch.linalg.householder_product", "torch.orgqr", "Tensor.orgqr")
def householder_product(A: TensorType, tau: TensorType) -> TensorType:
    """``(*b, n, m), (*b, k) -> (*b, n, m)`` with k <= m <= n"""
    batch, n, m = matrices("A", A)
    need_min_rank("tau", tau, 1)
    for less, more, what in ((m, n, "the rows of A"), (tau.shape.dim(-1), m, "the columns of A")):
        if at_least(more, less) is False:
            raise Mismatch(f"{what} are {more}, but there must be at least {less}", expected=less, got=more)
    _need_reflectors("A", A, tau)
    return TensorType(of(batch, n, m), A.dtype)


@rule("torch.ormqr", "Tensor.ormqr")
def ormqr(
    input: TensorType, tau: TensorType, other: TensorType, left: Value = True, transpose: Value = False
) -> TensorType:
    """``(*b, n, k), (*b, k), (*b, n, m) -> (*b, n, m)``"""
    batch = matrices("input", input)[0]
    other_batch = matrices("other", other)[0]
    need_min_rank("tau", tau, 1)
    if isinstance(left, bool):
        size = other.shape.dim(-2 if left else -1)
        need_equal("input", input.shape.dim(-2), "other", size, what="the sizes of the product")
        count, columns = tau.shape.dim(-1), input.shape.dim(-1)
        if isinstance(size, int) or isinstance(columns, int):  # of symbols it isn't known which is smaller
            need_equal("tau", count, "input", minimum(size, columns), what="the numbers of reflectors")
    same_dtype(("input", input), ("other", other))
    _need_reflectors("input", input, tau)
    need_same_shape("the batch of input", batch, "that of other", other_batch)
    return TensorType(other.shape, other.dtype)


__all__ = [
    "cholesky",
    "cholesky_ex",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "geqrf",
    "householder_product",
    "ldl_factor",
    "ldl_factor_ex",
    "linalg_cholesky",
    "linalg_lu",
    "linalg_qr",
    "linalg_svd",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_unpack",
    "ormqr",
    "pca_lowrank",
    "qr",
    "svd",
    "svd_lowrank",
    "svdvals",
    "tensor_lu",
]
