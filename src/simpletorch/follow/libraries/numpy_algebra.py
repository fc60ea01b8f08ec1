"""``numpy.linalg``, statistics of several variables, counts and sets of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow.libraries import by_name, method, model, native
from simpletorch.follow.libraries.arrays import ANY, array, as_array, by_rule, is_vague
from simpletorch.follow.values import Value, is_int
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import FLOAT32, FLOAT64, INT64, DType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args = tuple[Value, ...]
Kwargs = dict[str, Value]


def _float(kind: TensorType) -> DType | None:
    """What NumPy computes with: in single precision where all is."""
    if kind.dtype is None or kind.dtype.category == "complex":
        return kind.dtype
    return FLOAT32 if kind.dtype == FLOAT32 else FLOAT64


@native("numpy.linalg.inv", "numpy.linalg.pinv", "numpy.linalg.cholesky")
def _inverse(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*b, n, m) -> (*b, m, n)``"""
    kind = as_array(run, args[0]).type
    if len(args) > 1 or kwargs or not kind.shape.is_exact or len(kind.shape.dims) < 2:
        return array(ANY, _float(kind))
    *front, rows, columns = kind.shape.dims
    return array(Shape((*front, columns, rows)), _float(kind))


@native("numpy.linalg.solve")
def _solve(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(n, n), (n, *k) -> (n, *k)``"""
    given = by_name("a b", args, kwargs)
    left, right = (as_array(run, given[name]).type for name in ("a", "b"))
    plain = left.shape.rank == 2 and right.shape.rank in (1, 2)
    kinds = {_float(left), _float(right)}
    return array(right.shape if plain else ANY, kinds.pop() if len(kinds) == 1 else None)


@native("numpy.linalg.lstsq")
def _least_squares(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(m, n), (m, *k) -> (n, *k), (?), rank, (?)``"""
    given = by_name("a b", args, kwargs)
    left, right = (as_array(run, given.get(name)).type for name in ("a", "b"))
    kinds = {_float(left), _float(right)}
    dtype = kinds.pop() if len(kinds) == 1 else None
    known = left.shape.rank == 2 and right.shape.rank in (1, 2)
    found = Shape((left.shape.dims[1], *right.shape.dims[1:])) if known else ANY
    rank = run.unknown("the rank of a matrix", "int", "data")
    return array(found, dtype), array(Shape((UNKNOWN,)), dtype), rank, array(Shape((UNKNOWN,)), dtype)


@native("numpy.linalg.svd")
def _singular(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*b, m, n) -> (*b, m, m), (*b, k), (*b, n, n)``; not full ``(*b, m, k), (*b, k), (*b, k, n)``"""
    given = by_name("a full_matrices compute_uv", args, kwargs)
    source = as_array(run, given.get("a"))
    full, vectors = (run.resolve(given.get(name, True)) for name in ("full_matrices", "compute_uv"))
    if not isinstance(full, bool) or not isinstance(vectors, bool):
        return run.unknown("singular values")
    dtype = _float(source.type) if source.type.dtype is not None and source.type.dtype.category != "complex" else None
    found = by_rule(run, "torch.linalg.svd", (source,), {"full_matrices": full}, dtype)
    return found if vectors or not isinstance(found, tuple) else found[1]


@native("numpy.linalg.eigh", "numpy.linalg.eig")
def _eigen(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*b, n, n) -> (*b, n), (*b, n, n)``"""
    source = as_array(run, args[0]) if args else array(ANY, None)
    return by_rule(run, "torch.linalg.eigh", (source,), {}, None)  # of real numbers they may be complex


@native("numpy.linalg.eigvalsh", "numpy.linalg.eigvals")
def _eigenvalues(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*b, n, n) -> (*b, n)``"""
    found = _eigen(run, args, kwargs)
    return found[0] if isinstance(found, tuple) else found


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


@native("numpy.linalg.multi_dot")
def _chained(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(a, b), (b, c), (c, d) -> (a, d)``"""
    rows = run.items(run.resolve(args[0])) if args else None
    if not rows:
        return run.unknown("a product of matrices")
    whole: Value = as_array(run, rows[0])
    for one in rows[1:]:
        whole = run.operate("__matmul__", whole, as_array(run, one))
    return whole


@native("numpy.ravel_multi_index")
def _flat_index(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``k indexes (*n), k sizes -> (*n)``"""
    rows = run.items(run.resolve(args[0])) if args else None
    return array(as_array(run, rows[0]).type.shape, INT64) if rows else array(ANY, INT64)


@model("numpy.unravel_index")
def _indexes(run: Interpreter, indices: Value, shape: Value, order: Value = "C") -> Value:
    """``(*n), k sizes -> k indexes (*n)``"""
    sizes = run.items(shape)
    if sizes is None or is_vague(indices):
        return run.unknown("indexes")
    shape = as_array(run, indices).type.shape
    return tuple(array(shape, INT64) for _ in sizes)


@native("numpy.cov", "numpy.corrcoef")
def _covariance(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(n, m) -> (n, n)``; with ``rowvar=False`` ``(m, m)``; of one variable ``()``"""
    kind = as_array(run, args[0]).type
    by_row = run.resolve(kwargs.get("rowvar", True))
    if len(args) > 1 or not kwargs.keys() <= {"rowvar", "bias", "ddof"} or not isinstance(by_row, bool):
        return array(ANY, None)
    if not kind.shape.is_exact or len(kind.shape.dims) != 2:
        return array(Shape(()) if kind.shape.rank == 1 else ANY, FLOAT64)
    size = kind.shape.dims[0 if by_row else 1]
    return array(ANY if size == 1 or size is UNKNOWN else Shape((size, size)), FLOAT64)


@native("numpy.polyfit")
def _polynomial(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(n), (n), degree -> (degree + 1)``"""
    given = by_name("x y deg", args, kwargs)
    degree, of_one = run.resolve(given.get("deg")), as_array(run, given["y"]).type.shape.rank == 1
    known = of_one and is_int(degree) and given.keys() <= {"x", "y", "deg"}
    return array(Shape((degree + 1,)), FLOAT64) if known else run.unknown("the coefficients of a polynomial")


@native("numpy.bincount")
def _counts(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(n) -> (k)``"""
    weighted = len(args) > 1 or "weights" in kwargs
    return array(Shape((UNKNOWN,)), FLOAT64 if weighted else INT64)


@native("numpy.setdiff1d", "numpy.intersect1d", "numpy.union1d")
def _set(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(n), (m) -> (k)``"""
    if "return_indices" in kwargs:
        return run.unknown("what two arrays have in common")
    kinds = {as_array(run, a).type.dtype for a in args[:2]}
    return array(Shape((UNKNOWN,)), kinds.pop() if len(kinds) == 1 else None)


@method("array", "take")
@native("numpy.take")
def _take(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*a, n, *b), (*k) -> (*a, *k, *b)``; without an axis ``(*k)``"""
    given = by_name("a indices axis", args, kwargs)
    source, taken = as_array(run, given["a"]).type, as_array(run, given["indices"]).type.shape
    axis = run.resolve(given.get("axis"))
    if axis is None:
        return array(taken, source.dtype)
    exact = source.shape.is_exact and taken.is_exact and type(axis) is int
    if not exact or not -len(source.shape.dims) <= axis < len(source.shape.dims):
        return array(ANY, source.dtype)
    dims, place = source.shape.dims, axis % len(source.shape.dims)
    return array(Shape((*dims[:place], *taken.dims, *dims[place + 1 :])), source.dtype)
