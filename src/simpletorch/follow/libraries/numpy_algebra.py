"""``numpy.linalg``, statistics of several variables, counts and sets of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow.libraries import by_name, native
from simpletorch.follow.libraries.arrays import ANY, array, as_array
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
