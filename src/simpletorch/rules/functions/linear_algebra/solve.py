"""Systems of linear equations: solvers for general, triangular and factored matrices."""

from __future__ import annotations

from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import (
    called,
    need_at_least,
    need_categories,
    need_dtype,
    need_equal,
    need_float_or_complex,
    need_min_rank,
    need_shape,
    need_square,
)
from simpletorch.rules.common.dtypes import real_dtype, same_dtype
from simpletorch.rules.common.matrices import matrices, need_full_precision, square_matrices
from simpletorch.rules.common.positions import axes, of
from simpletorch.rules.common.results import named
from simpletorch.rules.core.cards import SOME, Card
from simpletorch.rules.core.dtype import INT32, INT64
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Named, TensorType, Value
from simpletorch.rules.functions.linear_algebra.decompositions import EMPTY
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, at_least, minimum, same


def _solved(A: TensorType, B: TensorType, left: Value, names: tuple[str, str] = ("A", "B")) -> Shape:
    """The shape of X in ``AX = B``, or in ``XA = B`` where it isn't ``left``, with batch dims broadcast."""
    a_batch, n = square_matrices(names[0], A)
    b_batch, rows, columns = matrices(names[1], B)
    batch = broadcast_shapes((f"the batch of {names[0]}", a_batch), (f"the batch of {names[1]}", b_batch))
    if left is True:
        need_equal(names[0], n, names[1], rows, what="the numbers of rows")
        return of(batch, rows, columns)
    if left is False:
        need_equal(names[0], n, names[1], columns, what="the numbers of columns")
    return of(batch, rows, columns)


def _is_vector(A: Shape, B: Shape) -> bool | None:
    """Whether ``B`` is a batch of vectors, as `torch.linalg.solve` takes it: one dim, or all dims of A but the last."""
    if B.rank == 1:
        return True
    if A.rank is None or B.rank is None:
        return None
    if A.rank - 1 != B.rank:
        return False
    return same(Shape(A.items[:-1]), B)


def _solve(A: TensorType, B: TensorType, left: Value) -> TensorType:
    need_full_precision("A", A)
    dtype = same_dtype(("A", A), ("B", B))
    a_batch, n = square_matrices("A", A)
    vector = _is_vector(A.shape, B.shape)
    if vector is None:
        return TensorType(ANY_SHAPE if B.shape.rank is None else B.shape, dtype)
    if not vector:
        return TensorType(_solved(A, B, left), dtype)
    if left is False:
        raise Mismatch("B is a batch of vectors, which left=False does not take", got=B.shape)
    need_equal("A", n, "B", B.shape.dim(-1), what="the numbers of rows")
    return TensorType(of(a_batch, n), dtype)


@rule("torch.linalg.solve")
def solve(A: TensorType, B: TensorType, *, left: Value = True) -> TensorType:
    """``(*b, n, n), (*b, n, k) -> (*b, n, k)``; ``(*b, n, n), (*b, n) -> (*b, n)``"""
    return _solve(A, B, left)


@rule("torch.linalg.solve_ex")
def solve_ex(A: TensorType, B: TensorType, *, left: Value = True, check_errors: Value = False) -> Named:
    """``(*b, n, n), (*b, n, k) -> result (*b, n, k), info (*b)``"""
    result = _solve(A, B, left)
    vector = _is_vector(A.shape, B.shape)
    info = ANY_SHAPE if vector is None else result.shape.drop_last(1 if vector else 2)
    return named("linalg_solve_ex", result=result, info=TensorType(info, INT32))


@rule("torch.linalg.solve_triangular")
def solve_triangular(
    A: TensorType, B: TensorType, *, upper: Value, left: Value = True, unitriangular: Value = False
) -> TensorType:
    """``(*b, n, n), (*b, n, k) -> (*b, n, k)``"""
    return TensorType(_solved(A, B, left), A.dtype)


@rule("torch.triangular_solve", "Tensor.triangular_solve")
def triangular_solve(
    b: TensorType, A: TensorType, upper: Value = True, transpose: Value = False, unitriangular: Value = False
) -> Named:
    """``(*b, n, k), (*b, n, n) -> solution (*b, n, k), cloned_coefficient (*b, n, n)``"""
    dtype = same_dtype(("b", b), ("A", A))
    shape = _solved(A, b, True, ("A", "b"))
    n = need_square("A", A.shape)
    coefficient = TensorType(of(shape.drop_last(2), n, n), dtype)
    return named("triangular_solve", solution=TensorType(shape, dtype), cloned_coefficient=coefficient)


@rule("torch.cholesky_solve", "Tensor.cholesky_solve")
def cholesky_solve(B: TensorType, L: TensorType, upper: Value = False) -> TensorType:
    """``(*b, n, k), (*b, n, n) -> (*b, n, k)``"""
    dtype = same_dtype(("B", B), ("L", L))
    return TensorType(_solved(L, B, True, ("L", "B")), dtype)


def _need_pivots(LU: TensorType, pivots: TensorType) -> None:
    """One pivot for every row."""
    need_dtype("pivots", pivots, INT32)
    need_shape("pivots", pivots.shape, LU.shape.drop_last(1))


@rule("torch.linalg.lu_solve")
def linalg_lu_solve(
    LU: TensorType, pivots: TensorType, B: TensorType, *, left: Value = True, adjoint: Value = False
) -> TensorType:
    """``(*b, n, n), (*b, n), (*b, n, k) -> (*b, n, k)``"""
    need_float_or_complex("LU", LU)
    dtype = same_dtype(("LU", LU), ("B", B))
    shape = _solved(LU, B, left, ("LU", "B"))
    _need_pivots(LU, pivots)
    return TensorType(shape, dtype)


@rule("torch.lu_solve", "Tensor.lu_solve")
def lu_solve(b: TensorType, LU_data: TensorType, LU_pivots: TensorType) -> TensorType:
    """``(*b, n, k), (*b, n, n), (*b, n) -> (*b, n, k)``"""
    with called(LU="LU_data", pivots="LU_pivots", B="b"):
        return linalg_lu_solve(LU_data, LU_pivots, b)


@rule("torch.linalg.ldl_solve")
def ldl_solve(LD: TensorType, pivots: TensorType, B: TensorType, *, hermitian: Value = False) -> TensorType:
    """``(*b, n, n), (*b, n), (*b, n, k) -> (*b, n, k)``"""
    need_float_or_complex("LD", LD)
    dtype = same_dtype(("LD", LD), ("B", B))
    shape = _solved(LD, B, True, ("LD", "B"))
    need_shape("pivots", pivots.shape, LD.shape.drop_last(1))
    need_categories("pivots", pivots.dtype, "int")
    return TensorType(shape, dtype)


# -- least squares -----------------------------------------------------------------------------------------------------


def _least_squares(A: TensorType, B: TensorType) -> tuple[Shape, tuple[Dim, ...]] | None:
    """The batch dims and, unless B is a batch of vectors, the columns of B; None where it can't be told."""
    batch, m, _ = matrices("A", A)
    need_min_rank("B", B, 1)
    if A.shape.rank is None or B.shape.rank is None:
        return None
    difference = A.shape.rank - B.shape.rank
    if difference not in (0, 1):
        raise Mismatch(f"B {B.shape} must have as many dims as A {A.shape}, or one less", got=B.shape)
    if difference == 1 and same(Shape(A.shape.items[:-1]), B.shape):
        return batch, ()
    if difference == 0:
        need_equal("A", m, "B", B.shape.dim(-2), what="the numbers of rows")
        both = ("the batch of A", batch), ("the batch of B", B.shape.drop_last(2))
        return broadcast_shapes(*both), (B.shape.dim(-1),)
    return None


def _driver(driver: Value, A: TensorType) -> str | None:
    """The method that is used; where none is given it depends on the device."""
    if driver is None and A.device is not None:
        return {"cpu": "gelsy", "cuda": "gels"}.get(A.device.type)
    return driver if isinstance(driver, str) else None


@rule("torch.linalg.lstsq", card=Card(gradient=SOME))
def lstsq(A: TensorType, B: TensorType, rcond: Value = None, *, driver: Value = None) -> Named:
    """``(*b, m, n), (*b, m, k) -> solution (*b, n, k), residuals, rank (*b), singular_values``"""
    need_full_precision("A", A)
    dtype = same_dtype(("A", A), ("B", B))
    found = _least_squares(A, B)
    m, n = A.shape.last(2) if A.shape.min_rank >= 2 else (UNKNOWN, UNKNOWN)
    batch, columns = (ANY_SHAPE, ()) if found is None else found
    method = _driver(driver, A)
    residuals, rank = ANY_SHAPE, EMPTY if method == "gels" else ANY_SHAPE if method is None else batch
    if at_least(n, m) or method == "gelsy":
        residuals = EMPTY
    elif method == "gels" and isinstance(m, int) and isinstance(n, int):
        # gelsd and gelss give residuals only of matrices of full rank, which the shapes don't tell
        residuals = of(batch, *columns)
    values = {"gelsd": of(batch, minimum(m, n)), "gelss": of(batch, minimum(m, n))}.get(method or "", EMPTY)
    return named(
        "linalg_lstsq",
        solution=TensorType(ANY_SHAPE if found is None else of(batch, n, *columns), dtype),
        residuals=TensorType(residuals, real_dtype(dtype)),
        rank=TensorType(rank, INT64),
        singular_values=TensorType(ANY_SHAPE if driver is ANYTHING else values, real_dtype(dtype)),
    )


# -- tensors as operators ----------------------------------------------------------------------------------------------


@rule("torch.linalg.tensorinv")
def tensorinv(A: TensorType, ind: Value = 2) -> TensorType:
    """``(*n, *m) -> (*m, *n)`` with ``ind`` dims in n, and as many elements in n as in m"""
    need_full_precision("A", A)
    if not isinstance(ind, int) or A.shape.rank is None:
        raise CannotTell
    need_at_least("ind", ind, 1)
    left, right = Shape(A.shape.items[:ind]), Shape(A.shape.items[ind:])
    first, others = f"the first {ind} of A's dims", "the others"
    need_equal(first, left.numel(), others, right.numel(), what="the numbers of elements")
    return TensorType(of(right, *left.items), A.dtype)


def _moved_to_end(shape: Shape, dims: Value) -> Shape | None:
    """The dims of ``A`` with those that ``dims`` names at the end, in its order; None where it can't be told."""
    if shape.rank is None:
        return None
    try:
        found = axes(dims, shape, name="dims") or ()
    except CannotTell:
        return None
    return Shape((*(d for i, d in enumerate(shape.dims) if i not in found), *(shape.dims[i] for i in found)))


@rule("torch.linalg.tensorsolve")
def tensorsolve(A: TensorType, B: TensorType, dims: Value = None) -> TensorType:
    """``(*n, *m), (*n) -> (*m)`` with as many elements in n as in m"""
    dtype = same_dtype(("A", A), ("B", B))
    moved = _moved_to_end(A.shape, dims)
    if moved is None or B.shape.rank is None:
        return TensorType(ANY_SHAPE, dtype)
    head, result = moved.dims[: B.shape.rank], moved.dims[B.shape.rank :]
    for name, other in ((f"the first {B.shape.rank} of them", Shape(head).numel()), ("B", B.shape.numel())):
        need_equal("the rest of A's dims", Shape(result).numel(), name, other, what="the numbers of elements")
    return TensorType(Shape(result), dtype)


__all__ = [
    "cholesky_solve",
    "ldl_solve",
    "linalg_lu_solve",
    "lstsq",
    "lu_solve",
    "solve",
    "solve_ex",
    "solve_triangular",
    "tensorinv",
    "tensorsolve",
    "triangular_solve",
]
