"""``numpy.linalg``, statistics of several variables, counts and sets of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow.libraries import method, model, native
from simpletorch.follow.libraries.arrays import ANY, array, as_array, by_rule, is_vague
from simpletorch.follow.values import Value, is_int
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import FLOAT32, FLOAT64, INT64, DType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


def _float(kind: TensorType) -> DType | None:
    """What NumPy computes with: in single precision where all is."""
    if kind.dtype is None or kind.dtype.category == "complex":
        return kind.dtype
    return FLOAT32 if kind.dtype == FLOAT32 else FLOAT64


def _inverse_of(run: Interpreter, source: Value) -> Value:
    """``(*b, n, m) -> (*b, m, n)``"""
    kind = as_array(run, source).type
    if not kind.shape.is_exact or len(kind.shape.dims) < 2:
        return array(ANY, _float(kind))
    *front, rows, columns = kind.shape.dims
    return array(Shape((*front, columns, rows)), _float(kind))


@model("numpy.linalg.inv")
def _inverse(run: Interpreter, a: Value) -> Value:
    return _inverse_of(run, a)


@model("numpy.linalg.pinv")
def _pseudo_inverse(
    run: Interpreter, a: Value, rcond: Value = None, hermitian: Value = False, *, rtol: Value = None
) -> Value:
    return _inverse_of(run, a)


@model("numpy.linalg.cholesky")
def _triangle(run: Interpreter, a: Value, /, *, upper: Value = False, **rest: Value) -> Value:
    return _inverse_of(run, a)


@model("numpy.linalg.solve")
def _solve(run: Interpreter, a: Value, b: Value) -> Value:
    """``(n, n), (n, *k) -> (n, *k)``"""
    left, right = as_array(run, a).type, as_array(run, b).type
    plain = left.shape.rank == 2 and right.shape.rank in (1, 2)
    kinds = {_float(left), _float(right)}
    return array(right.shape if plain else ANY, kinds.pop() if len(kinds) == 1 else None)


@model("numpy.linalg.lstsq")
def _least_squares(run: Interpreter, a: Value, b: Value, rcond: Value = None) -> Value:
    """``(m, n), (m, *k) -> (n, *k), (?), rank, (?)``"""
    left, right = as_array(run, a).type, as_array(run, b).type
    kinds = {_float(left), _float(right)}
    dtype = kinds.pop() if len(kinds) == 1 else None
    known = left.shape.rank == 2 and right.shape.rank in (1, 2)
    found = Shape((left.shape.dims[1], *right.shape.dims[1:])) if known else ANY
    rank = run.unknown("the rank of a matrix", "int", "data")
    return array(found, dtype), array(Shape((UNKNOWN,)), dtype), rank, array(Shape((UNKNOWN,)), dtype)


@model("numpy.linalg.svd")
def _singular(
    run: Interpreter, a: Value, full_matrices: Value = True, compute_uv: Value = True, hermitian: Value = False
) -> Value:
    """``(*b, m, n) -> (*b, m, m), (*b, k), (*b, n, n)``; not full ``(*b, m, k), (*b, k), (*b, k, n)``"""
    source = as_array(run, a)
    if not isinstance(full_matrices, bool) or not isinstance(compute_uv, bool):
        return run.unknown("singular values")
    dtype = _float(source.type) if source.type.dtype is not None and source.type.dtype.category != "complex" else None
    found = by_rule(run, "torch.linalg.svd", (source,), {"full_matrices": full_matrices}, dtype)
    return found if compute_uv or not isinstance(found, tuple) else found[1]


def _eigen_of(run: Interpreter, source: Value) -> Value:
    """``(*b, n, n) -> (*b, n), (*b, n, n)``"""
    return by_rule(run, "torch.linalg.eigh", (as_array(run, source),), {}, None)  # of real numbers they may be complex


def _values_of(run: Interpreter, source: Value) -> Value:
    """``(*b, n, n) -> (*b, n)``"""
    found = _eigen_of(run, source)
    return found[0] if isinstance(found, tuple) else found


@model("numpy.linalg.eigh")
def _symmetric(run: Interpreter, a: Value, UPLO: Value = "L") -> Value:
    return _eigen_of(run, a)


@model("numpy.linalg.eig")
def _eigen(run: Interpreter, a: Value) -> Value:
    return _eigen_of(run, a)


@model("numpy.linalg.eigvalsh")
def _symmetric_values(run: Interpreter, a: Value, UPLO: Value = "L") -> Value:
    return _values_of(run, a)


@model("numpy.linalg.eigvals")
def _eigenvalues(run: Interpreter, a: Value) -> Value:
    return _values_of(run, a)


@model("numpy.linalg.qr")
def _orthogonal(run: Interpreter, a: Value, mode: Value = "reduced") -> Value:
    """``(*b, m, n) -> (*b, m, k), (*b, k, n)``"""
    source = as_array(run, a)
    if mode not in ("reduced", "complete"):
        return run.unknown("a decomposition")
    return by_rule(run, "torch.linalg.qr", (source,), {"mode": mode}, _float(source.type))


@model("numpy.linalg.matrix_power")
def _power(run: Interpreter, a: Value, n: Value) -> Value:
    """``(*b, n, n) -> (*b, n, n)``"""
    kind = as_array(run, a).type
    return array(kind.shape, kind.dtype if kind.dtype == FLOAT64 else None)


@model("numpy.linalg.multi_dot")
def _chained(run: Interpreter, arrays: Value, *, out: Value = None) -> Value:
    """``(a, b), (b, c), (c, d) -> (a, d)``"""
    rows = run.items(arrays)
    if not rows:
        return run.unknown("a product of matrices")
    whole: Value = as_array(run, rows[0])
    for one in rows[1:]:
        whole = run.operate("__matmul__", whole, as_array(run, one))
    return whole


@model("numpy.ravel_multi_index")
def _flat_index(run: Interpreter, multi_index: Value, dims: Value, mode: Value = "raise", order: Value = "C") -> Value:
    """``k indexes (*n), k sizes -> (*n)``"""
    rows = run.items(multi_index)
    return array(as_array(run, rows[0]).type.shape, INT64) if rows else array(ANY, INT64)


@model("numpy.unravel_index")
def _indexes(run: Interpreter, indices: Value, shape: Value, order: Value = "C") -> Value:
    """``(*n), k sizes -> k indexes (*n)``"""
    sizes = run.items(shape)
    if sizes is None or is_vague(indices):
        return run.unknown("indexes")
    shape = as_array(run, indices).type.shape
    return tuple(array(shape, INT64) for _ in sizes)


def _between_variables(run: Interpreter, source: Value, by_row: Value) -> Value:
    """``(n, m) -> (n, n)``; with ``rowvar=False`` ``(m, m)``; of one variable ``()``"""
    kind = as_array(run, source).type
    if not isinstance(by_row, bool):
        return array(ANY, None)
    if not kind.shape.is_exact or len(kind.shape.dims) != 2:
        return array(Shape(()) if kind.shape.rank == 1 else ANY, FLOAT64)
    size = kind.shape.dims[0 if by_row else 1]
    return array(ANY if size == 1 or size is UNKNOWN else Shape((size, size)), FLOAT64)


@model("numpy.cov")
def _covariance(
    run: Interpreter,
    m: Value,
    y: Value = None,
    rowvar: Value = True,
    bias: Value = False,
    ddof: Value = None,
    fweights: Value = None,
    aweights: Value = None,
    *,
    dtype: Value = None,
) -> Value:
    plain = (y, fweights, aweights, dtype) == (None,) * 4
    return _between_variables(run, m, rowvar) if plain else array(ANY, None)


@model("numpy.corrcoef")
def _correlation(
    run: Interpreter,
    x: Value,
    y: Value = None,
    rowvar: Value = True,
    bias: Value = None,
    ddof: Value = None,
    *,
    dtype: Value = None,
) -> Value:
    return _between_variables(run, x, rowvar) if y is None and dtype is None else array(ANY, None)


@model("numpy.polyfit")
def _polynomial(
    run: Interpreter,
    x: Value,
    y: Value,
    deg: Value,
    rcond: Value = None,
    full: Value = False,
    w: Value = None,
    cov: Value = False,
) -> Value:
    """``(n), (n), degree -> (degree + 1)``"""
    known = as_array(run, y).type.shape.rank == 1 and is_int(deg) and full is False and cov is False
    return array(Shape((deg + 1,)), FLOAT64) if known else run.unknown("the coefficients of a polynomial")


@model("numpy.bincount")
def _counts(run: Interpreter, x: Value, /, weights: Value = None, minlength: Value = 0, **rest: Value) -> Value:
    """``(n) -> (k)``"""
    return array(Shape((UNKNOWN,)), INT64 if weights is None else FLOAT64)


def _set_of(run: Interpreter, *parts: Value) -> Value:
    """``(n), (m) -> (k)``"""
    kinds = {as_array(run, a).type.dtype for a in parts}
    return array(Shape((UNKNOWN,)), kinds.pop() if len(kinds) == 1 else None)


@model("numpy.setdiff1d")
def _difference(run: Interpreter, ar1: Value, ar2: Value, assume_unique: Value = False) -> Value:
    return _set_of(run, ar1, ar2)


@model("numpy.intersect1d")
def _common(
    run: Interpreter, ar1: Value, ar2: Value, assume_unique: Value = False, return_indices: Value = False
) -> Value:
    return _set_of(run, ar1, ar2) if return_indices is False else run.unknown("what two arrays have in common")


@model("numpy.union1d")
def _union(run: Interpreter, ar1: Value, ar2: Value) -> Value:
    return _set_of(run, ar1, ar2)


@method("array", "take")
@native("numpy.take")
def _take(
    run: Interpreter, a: Value, indices: Value, axis: Value = None, out: Value = None, mode: Value = "raise"
) -> Value:
    """``(*a, n, *b), (*k) -> (*a, *k, *b)``; without an axis ``(*k)``"""
    source, taken = as_array(run, a).type, as_array(run, indices).type.shape
    if axis is None:
        return array(taken, source.dtype)
    exact = source.shape.is_exact and taken.is_exact and type(axis) is int
    if not exact or not -len(source.shape.dims) <= axis < len(source.shape.dims):
        return array(ANY, source.dtype)
    dims, place = source.shape.dims, axis % len(source.shape.dims)
    return array(Shape((*dims[:place], *taken.dims, *dims[place + 1 :])), source.dtype)
