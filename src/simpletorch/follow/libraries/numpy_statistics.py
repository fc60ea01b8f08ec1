"""NumPy's statistics, histograms, differences and filters, and the methods of its ufuncs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import NATIVES, Work, model, native
from simpletorch.follow.libraries.arrays import (
    ANY,
    array,
    as_array,
    as_dtype,
    by_rule,
    is_hidden,
    only_float,
    promote,
    reduced,
    with_size,
    write_into,
)
from simpletorch.follow.numbers import sizes
from simpletorch.follow.values import MISSING, List, Tensor, Value, is_int
from simpletorch.rules.core.dtype import FLOAT64, INT64, DType
from simpletorch.shapes import UNKNOWN, Item, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


def _double(dtype: DType | None) -> DType | None:
    """What versions agree on: ints and doubles give doubles."""
    return FLOAT64 if dtype == FLOAT64 or (dtype is not None and dtype.category in ("int", "bool")) else None


# -- reductions ------------------------------------------------------------------------------------------------------


@model("numpy.average")
def _average(
    run: Interpreter,
    a: Value,
    axis: Value = None,
    weights: Value = None,
    returned: Value = False,
    *,
    keepdims: Value = False,
) -> Value:
    """``(*a, n, *b) -> (*a, *b)``"""
    if is_hidden(a) or returned is not False:
        return run.unknown("an average")
    one = as_array(run, a)
    return reduced(run, one, axis, keepdims, _double(one.type.dtype))


@model("numpy.percentile", "numpy.quantile", "numpy.nanpercentile", "numpy.nanquantile")
def _quantile(
    run: Interpreter,
    a: Value,
    q: Value,
    axis: Value = None,
    out: Value = None,
    overwrite_input: Value = False,
    method: Value = "linear",
    keepdims: Value = False,
    *,
    weights: Value = None,
    interpolation: Value = None,
) -> Value:
    """``(*a, n, *b), q () -> (*a, *b)``; for several q ``(*q, *a, *b)``"""
    if is_hidden(a) or is_hidden(q) or out is not None:
        return run.unknown("a quantile")
    one, several = as_array(run, a), as_array(run, q).type.shape
    found = reduced(run, one, axis, keepdims, _double(one.type.dtype))
    if not isinstance(found, Tensor) or several.rank is None:
        return found if several.rank == 0 else run.unknown("quantiles")
    return array(Shape((*several.dims, *found.type.shape.items)), found.type.dtype)


@model("numpy.trapezoid", "numpy.trapz")
def _area(run: Interpreter, y: Value, x: Value = None, dx: Value = 1.0, axis: Value = -1) -> Value:
    """``(*a, n, *b) -> (*a, *b)``"""
    if is_hidden(y):
        return run.unknown("an area")
    one = as_array(run, y)
    return reduced(run, one, axis, False, _double(one.type.dtype))


# -- histograms ------------------------------------------------------------------------------------------------------


def _edges(run: Interpreter, bins: Value) -> Item:
    """How many edges bins have."""
    if is_int(bins):
        return sizes.named_dim(run, run.operate("__add__", bins, 1))
    if isinstance(bins, str) or is_hidden(bins):
        return UNKNOWN
    shape = as_array(run, bins).type.shape
    return shape.dims[0] if shape.rank == 1 else UNKNOWN


def _between(edges: Item) -> Item:
    return UNKNOWN if edges is UNKNOWN else edges - 1  # type: ignore[operator]


@model("numpy.histogram")
def _histogram(
    run: Interpreter,
    a: Value,
    bins: Value = 10,
    range: Value = None,
    density: Value = None,
    weights: Value = None,
) -> Value:
    """``(*n), bins -> (bins), (bins + 1)``"""
    edges = _edges(run, bins)
    plain = density is None and weights is None
    return array(Shape((_between(edges),)), INT64 if plain else None), array(Shape((edges,)), None)


@model("numpy.histogram_bin_edges")
def _bin_edges(run: Interpreter, a: Value, bins: Value = 10, range: Value = None, weights: Value = None) -> Value:
    """``(*n), bins -> (bins + 1)``"""
    return array(Shape((_edges(run, bins),)), None)


@model("numpy.histogram2d")
def _histogram2d(run: Interpreter, x: Value, y: Value, bins: Value = 10, *more: Value, **rest: Value) -> Value:
    """``(n), (n), bins -> (bins, bins), (bins + 1), (bins + 1)``"""
    pair = run.items(bins) if isinstance(bins, tuple | List) else None
    both = [run.resolve(v) for v in pair] if pair is not None and len(pair) == 2 else [bins, bins]
    edges = [_edges(run, v) if is_int(v) or not isinstance(bins, tuple | List) else UNKNOWN for v in both]
    counts = array(Shape(tuple(map(_between, edges))), FLOAT64)
    return (counts, *(array(Shape((e,)), None) for e in edges))


# -- filters and differences -----------------------------------------------------------------------------------------


def _filtered(run: Interpreter, a: Value, v: Value, mode: Value) -> Value:
    """``(m), (n) -> (m + n - 1)``, as long as the longer one, or where they overlap wholly."""
    if is_hidden(a) or is_hidden(v):
        return array(Shape((UNKNOWN,)), None)
    arrays = [as_array(run, a), as_array(run, v)]
    one, other = (a.type.shape.dim(0) if a.type.shape.rank == 1 else UNKNOWN for a in arrays)
    size: Item = UNKNOWN
    if one is not UNKNOWN and other is not UNKNOWN and mode == "full":
        size = one + other - 1
    elif isinstance(one, int) and isinstance(other, int) and mode in ("same", "valid"):
        size = max(one, other) if mode == "same" else max(one, other) - min(one, other) + 1
    return array(Shape((size,)), promote(arrays))


@model("numpy.convolve")
def _convolved(run: Interpreter, a: Value, v: Value, mode: Value = "full") -> Value:
    return _filtered(run, a, v, mode)


@model("numpy.correlate")
def _correlated(run: Interpreter, a: Value, v: Value, mode: Value = "valid") -> Value:
    return _filtered(run, a, v, mode)


@model("numpy.interp")
def _interpolated(run: Interpreter, x: Value, xp: Value, fp: Value, *more: Value, **rest: Value) -> Value:
    """``(*n), (k), (k) -> (*n)``"""
    return run.unknown("what lies between") if is_hidden(x) else array(as_array(run, x).type.shape, FLOAT64)


@model("numpy.gradient")
def _slopes(run: Interpreter, f: Value, *varargs: Value, axis: Value = None, edge_order: Value = 1) -> Value:
    """``(*n) -> (*n)`` for each axis."""
    if is_hidden(f):
        return run.unknown("slopes")
    kind = as_array(run, f).type
    rank = kind.shape.rank
    if type(axis) is not int and (axis is not None or not rank):
        return run.unknown("slopes along several axes")
    along = tuple(array(kind.shape, _double(kind.dtype)) for _ in range(1 if type(axis) is int else rank or 1))
    return along[0] if len(along) == 1 else along


@model("numpy.diff")
def _differences(
    run: Interpreter, a: Value, n: Value = 1, axis: Value = -1, prepend: Value = MISSING, append: Value = MISSING
) -> Value:
    """``(*a, n, *b) -> (*a, n - 1, *b)``"""
    if is_hidden(a) or type(n) is not int or type(axis) is not int:
        return run.unknown("differences")
    whole: Value = as_array(run, a)
    dtype = whole.type.dtype
    for more, front in ((prepend, True), (append, False)):
        if more is MISSING or not isinstance(whole, Tensor):
            continue
        shape = whole.type.shape
        if is_hidden(more) or shape.rank is None or not -shape.rank <= axis < shape.rank:
            return run.unknown("differences")
        added = as_array(run, more)
        if added.type.shape.rank == 0:
            added = array(with_size(whole, axis, 1).type.shape, added.type.dtype)
        dtype = promote((whole, added))
        whole = by_rule(run, "torch.cat", ((added, whole) if front else (whole, added), axis), {}, dtype)
    if not isinstance(whole, Tensor):
        return whole
    return by_rule(run, "torch.diff", (whole,), {"n": n, "dim": axis}, dtype)


@model("numpy.ediff1d")
def _flat_differences(run: Interpreter, ary: Value, to_end: Value = None, to_begin: Value = None) -> Value:
    """``(*n) -> (∏n - 1)``"""
    if to_end is not None or to_begin is not None or is_hidden(ary):
        return array(Shape((UNKNOWN,)), None)
    given = as_array(run, ary)
    flat = by_rule(run, "torch.flatten", (given,), {}, given.type.dtype)
    return by_rule(run, "torch.diff", (flat,), {}, given.type.dtype)


# -- methods of ufuncs -----------------------------------------------------------------------------------------------

_ADDING: Final = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or")
_OF_PAIRS: Final = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "less", "greater")


def _accumulated(run: Interpreter, array: Value, /, axis: Value = 0, dtype: Value = None, out: Value = None) -> Value:
    """``(*n) -> (*n)``"""
    if is_hidden(array):
        return run.unknown("accumulated numbers")
    return _shaped_as(as_array(run, array), dtype)


def _shaped_as(one: Tensor, dtype: Value) -> Tensor:
    return array(one.type.shape, as_dtype(dtype, only_float(one.type.dtype)))


def _reduce(
    run: Interpreter,
    array: Value,
    /,
    axis: Value = 0,
    dtype: Value = None,
    out: Value = None,
    keepdims: Value = False,
    initial: Value = None,
    where: Value = True,
) -> Value:
    """``(*a, n, *b) -> (*a, *b)``, along the first dim unless told."""
    if is_hidden(array) or out is not None:
        return run.unknown("reduced numbers")
    one = as_array(run, array)
    return reduced(run, one, axis, keepdims, as_dtype(dtype, only_float(one.type.dtype)))


def _reduce_at(
    run: Interpreter, array: Value, indices: Value, /, axis: Value = 0, dtype: Value = None, out: Value = None
) -> Value:
    """``(*a, n, *b), (k) -> (*a, k, *b)``, along the first dim unless told."""
    if is_hidden(array) or is_hidden(indices) or type(axis) is not int:
        return run.unknown("reduced numbers")
    one, cuts = as_array(run, array), as_array(run, indices).type.shape
    rank = one.type.shape.rank or 0
    if cuts.rank != 1 or not -rank <= axis < rank:
        return run.unknown("reduced numbers")
    return _shaped_as(with_size(one, axis, cuts.dims[0]), dtype)


def _outer(name: str) -> Work:
    """``(*m), (*n) -> (*m, *n)``"""

    def work(run: Interpreter, A: Value, B: Value, /, **rest: Value) -> Value:
        if rest or is_hidden(A) or is_hidden(B):
            return run.unknown("what all pairs give")
        left, right = as_array(run, A), as_array(run, B)
        if left.type.shape.rank is None or right.type.shape.rank is None:
            return array(ANY, None)
        spread = array(Shape((*left.type.shape.dims, *(1,) * right.type.shape.rank)), left.type.dtype)
        return NATIVES[f"numpy.{name}"].work(run, (spread, right), {})

    return work


for _name in (*_ADDING, "subtract", "divide"):
    native(f"numpy.{_name}.at")(write_into)
for _name in _ADDING:
    native(f"numpy.{_name}.accumulate")(_accumulated)
    native(f"numpy.{_name}.reduce")(_reduce)
    native(f"numpy.{_name}.reduceat")(_reduce_at)
for _name in _OF_PAIRS:
    native(f"numpy.{_name}.outer")(_outer(_name))


# -- polynomials -----------------------------------------------------------------------------------------------------


@model("numpy.polyval")
def _at_points(run: Interpreter, p: Value, x: Value) -> Value:
    """``(k), (*n) -> (*n)``"""
    return run.unknown("values of a polynomial") if is_hidden(x) else array(as_array(run, x).type.shape, None)


@model("numpy.vander")
def _powers(run: Interpreter, x: Value, N: Value = None, increasing: Value = False) -> Value:
    """``(n), k -> (n, k)``"""
    if is_hidden(x):
        return run.unknown("powers of numbers")
    shape = as_array(run, x).type.shape
    size = shape.dims[0] if shape.rank == 1 else UNKNOWN
    return array(Shape((size, size if N is None else N if is_int(N) else UNKNOWN)), None)
