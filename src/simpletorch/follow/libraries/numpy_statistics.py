"""NumPy's statistics, histograms, differences and filters, and the methods of its ufuncs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import NATIVES, Work, by_name, model, native
from simpletorch.follow.libraries.arrays import (
    ANY,
    argument,
    array,
    as_array,
    by_rule,
    is_hidden,
    only_float,
    promote,
    reduced,
    with_size,
    write_into,
)
from simpletorch.follow.numbers import sizes
from simpletorch.follow.values import List, Tensor, Value, is_int
from simpletorch.rules.core.dtype import FLOAT64, INT64, DType
from simpletorch.shapes import UNKNOWN, Item, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args = tuple[Value, ...]
Kwargs = dict[str, Value]


def _double(dtype: DType | None) -> DType | None:
    """What versions agree on: ints and doubles give doubles."""
    return FLOAT64 if dtype == FLOAT64 or (dtype is not None and dtype.category in ("int", "bool")) else None


# -- reductions ------------------------------------------------------------------------------------------------------


@native("numpy.average")
def _average(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*a, n, *b) -> (*a, *b)``"""
    given = by_name("a axis weights returned", args, kwargs)
    source = run.resolve(given.get("a"))
    if is_hidden(source) or "returned" in given:
        return run.unknown("an average")
    one = as_array(run, source)
    keep = run.resolve(kwargs.get("keepdims", False))
    return reduced(run, one, run.resolve(given.get("axis")), keep, _double(one.type.dtype))


@native("numpy.percentile", "numpy.quantile", "numpy.nanpercentile", "numpy.nanquantile")
def _quantile(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*a, n, *b), q () -> (*a, *b)``; for several q ``(*q, *a, *b)``"""
    given = by_name("a q axis", args, kwargs)
    source, which = run.resolve(given.get("a")), run.resolve(given.get("q"))
    if is_hidden(source) or is_hidden(which) or len(args) > 3:
        return run.unknown("a quantile")
    one, several = as_array(run, source), as_array(run, which).type.shape
    keep = run.resolve(kwargs.get("keepdims", False))
    found = reduced(run, one, run.resolve(given.get("axis")), keep, _double(one.type.dtype))
    if not isinstance(found, Tensor) or several.rank is None:
        return found if several.rank == 0 else run.unknown("quantiles")
    return array(Shape((*several.dims, *found.type.shape.items)), found.type.dtype)


@native("numpy.trapezoid", "numpy.trapz")
def _area(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*a, n, *b) -> (*a, *b)``"""
    given = by_name("y x dx axis", args, kwargs)
    source = run.resolve(given.get("y"))
    if is_hidden(source):
        return run.unknown("an area")
    one = as_array(run, source)
    return reduced(run, one, run.resolve(given.get("axis", -1)), False, _double(one.type.dtype))


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


@native("numpy.histogram")
def _histogram(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*n), bins -> (bins), (bins + 1)``"""
    given = by_name("a bins range density weights", args, kwargs)
    edges = _edges(run, run.resolve(given.get("bins", 10)))
    plain = not {"density", "weights"} & given.keys()
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


def _filtered(default: str) -> Work:
    """``(m), (n) -> (m + n - 1)``, as long as the longer one, or where they overlap wholly."""

    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        rows = [argument(run, args, kwargs, i, *n) for i, n in enumerate((("a",), ("v",)))]
        mode = argument(run, args, kwargs, 2, "mode")
        mode = default if mode is None else mode
        if any(map(is_hidden, rows)):
            return array(Shape((UNKNOWN,)), None)
        arrays = [as_array(run, v) for v in rows]
        one, other = (a.type.shape.dim(0) if a.type.shape.rank == 1 else UNKNOWN for a in arrays)
        size: Item = UNKNOWN
        if one is not UNKNOWN and other is not UNKNOWN and mode == "full":
            size = one + other - 1
        elif isinstance(one, int) and isinstance(other, int) and mode in ("same", "valid"):
            size = max(one, other) if mode == "same" else max(one, other) - min(one, other) + 1
        return array(Shape((size,)), promote(arrays))

    return work


native("numpy.convolve")(_filtered("full"))
native("numpy.correlate")(_filtered("valid"))


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


@native("numpy.diff")
def _differences(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*a, n, *b) -> (*a, n - 1, *b)``"""
    given = by_name("a n axis prepend append", args, kwargs)
    source, times = run.resolve(given.get("a")), run.resolve(given.get("n", 1))
    axis = run.resolve(given.get("axis", -1))
    if is_hidden(source) or type(times) is not int or type(axis) is not int:
        return run.unknown("differences")
    whole: Value = as_array(run, source)
    dtype = whole.type.dtype
    for name, front in (("prepend", True), ("append", False)):
        if name not in given or not isinstance(whole, Tensor):
            continue
        more = run.resolve(given[name])
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
    return by_rule(run, "torch.diff", (whole,), {"n": times, "dim": axis}, dtype)


@native("numpy.ediff1d")
def _flat_differences(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*n) -> (∏n - 1)``"""
    if len(args) != 1 or kwargs or is_hidden(run.resolve(args[0])):
        return array(Shape((UNKNOWN,)), None)
    given = as_array(run, args[0])
    flat = by_rule(run, "torch.flatten", (given,), {}, given.type.dtype)
    return by_rule(run, "torch.diff", (flat,), {}, given.type.dtype)


# -- methods of ufuncs -----------------------------------------------------------------------------------------------

_ADDING: Final = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or")
_OF_PAIRS: Final = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "less", "greater")


def _accumulated(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*n) -> (*n)``"""
    source = run.resolve(args[0]) if args else None
    if is_hidden(source):
        return run.unknown("accumulated numbers")
    kind = as_array(run, source).type
    return array(kind.shape, only_float(kind.dtype))


def _reduce(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*a, n, *b) -> (*a, *b)``, along the first dim unless told."""
    given = by_name("array axis", args, kwargs)
    source, axis = run.resolve(given.get("array")), run.resolve(given.get("axis", 0))
    if is_hidden(source) or len(args) > 2:
        return run.unknown("reduced numbers")
    one = as_array(run, source)
    return reduced(run, one, axis, run.resolve(kwargs.get("keepdims", False)), only_float(one.type.dtype))


def _reduce_at(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(*a, n, *b), (k) -> (*a, k, *b)``, along the first dim unless told."""
    given = by_name("array indices axis", args, kwargs)
    source, places, axis = (run.resolve(given.get(n, d)) for n, d in (("array", None), ("indices", None), ("axis", 0)))
    if is_hidden(source) or is_hidden(places) or type(axis) is not int:
        return run.unknown("reduced numbers")
    one, cuts = as_array(run, source), as_array(run, places).type.shape
    rank = one.type.shape.rank or 0
    if cuts.rank != 1 or not -rank <= axis < rank:
        return run.unknown("reduced numbers")
    return array(with_size(one, axis, cuts.dims[0]).type.shape, only_float(one.type.dtype))


def _outer(name: str) -> Work:
    """``(*m), (*n) -> (*m, *n)``"""

    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        rows = [run.resolve(a) for a in args]
        if len(rows) != 2 or any(map(is_hidden, rows)):
            return run.unknown("what all pairs give")
        left, right = (as_array(run, v) for v in rows)
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
