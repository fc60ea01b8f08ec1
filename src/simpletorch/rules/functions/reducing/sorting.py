"""Order: sorting, the largest few, search in sorted sequences, distinct values, histograms."""

from __future__ import annotations

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_categories,
    need_dtype,
    need_equal,
    need_min_rank,
    need_not_complex,
    need_ordered,
    need_rank,
    need_same_shape,
    need_size,
)
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.common.positions import axis, item_at, need_axes, position, replaced, unknown_dims
from simpletorch.rules.common.reduced import reduced
from simpletorch.rules.common.results import named, values_and_indices
from simpletorch.rules.core.cards import MAYBE, MOVED, NEVER, SOME, Card
from simpletorch.rules.core.dtype import FLOAT32, FLOAT64, INT32, INT64
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Named, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, at_least


@rule("torch.sort", "Tensor.sort")
def sort(input: TensorType, dim: Value = -1, descending: Value = False, *, stable: Value = None) -> Named:
    """``(*b, n) -> values (*b, n), indices (*b, n)``"""
    need_not_complex("input", input)
    need_axes(dim, input.shape)
    return values_and_indices("sort", TensorType(input.shape, input.dtype))


@rule("torch.argsort", "Tensor.argsort")
def argsort(input: TensorType, dim: Value = -1, descending: Value = False, *, stable: Value = False) -> TensorType:
    """``(*b, n) -> (*b, n)`` in Int64"""
    need_not_complex("input", input)
    need_axes(dim, input.shape)
    return TensorType(input.shape, INT64)


@rule("torch.msort", "Tensor.msort", card=Card(numbers=MOVED))
def msort(input: TensorType) -> TensorType:
    """``(n, *b) -> (n, *b)``"""
    need_not_complex("input", input)
    return TensorType(input.shape, input.dtype)


def _count(name: str, value: Value) -> Dim:
    need_at_least(name, value, 0)
    return as_dim(value)


def _need_enough(k: Dim, input: TensorType, dim: Value) -> None:
    """A dim must have at least ``k`` elements to choose from."""
    try:
        found = axis(dim, input.shape)
    except CannotTell:
        return
    size = input.shape.dim(found) if input.shape.rank != 0 else 1
    if at_least(size, k) is False:
        raise Mismatch(f"k is {k}, but dim {found} of input {input.shape} has only {size}", expected=size, got=k)


@rule("torch.topk", "Tensor.topk")
def topk(input: TensorType, k: Value, dim: Value = -1, largest: Value = True, sorted: Value = True) -> Named:
    """``(*b, n) -> values (*b, k), indices (*b, k)``"""
    need_ordered("input", input)
    count = _count("k", k)
    _need_enough(count, input, dim)
    return values_and_indices("topk", TensorType(_with_count(input.shape, dim, count), input.dtype))


def _with_count(shape: Shape, dim: Value, count: Dim) -> Shape:
    """``shape`` with ``count`` elements at ``dim``; a 0-dim one stays 0-dim."""
    if shape.min_rank == 0:
        return shape if shape.rank == 0 else ANY_SHAPE
    try:
        visible, at = position(dim, shape)
    except CannotTell:
        return unknown_dims(shape)
    return replaced(visible, at, count)


@rule("torch.kthvalue", "Tensor.kthvalue")
def kthvalue(input: TensorType, k: Value, dim: Value = -1, keepdim: Value = False) -> Named:
    """``(*b, n) -> values (*b), indices (*b)``"""
    if input.shape.min_rank > 0:
        need_ordered("input", input)
    count = _count("k", k)
    if count == 0:
        raise Mismatch("k is 0, but it counts from 1", got=0)
    _need_enough(count, input, dim)
    return values_and_indices("kthvalue", TensorType(reduced(input.shape, dim, keepdim), input.dtype))


# -- searching -------------------------------------------------------------------------------------------------------


def _index_dtype(out_int32: Value) -> TensorType:
    """The index dtype as a 0-dim tensor, ready for a shape."""
    return TensorType(Shape(()), INT32 if out_int32 is True else INT64 if out_int32 is False else None)


def _need_same_rows(sequence: Shape, input: Shape) -> None:
    """A sequence of several dims needs the same leading dims in the input."""
    if sequence.min_rank < 2:
        return
    rows = input.drop_last(1) if input.rank != 0 else input
    need_same_shape("the batch of sorted_sequence", sequence.drop_last(1), "that of input", rows)


@rule("torch.searchsorted")
def searchsorted(
    sorted_sequence: TensorType,
    input: Value,
    *,
    out_int32: Value = False,
    right: Value = False,
    side: Value = None,
    sorter: Value = None,
) -> TensorType:
    """``(n,), (*b) -> (*b)`` or ``(*b, n), (*b, m) -> (*b, m)`` of indices"""
    need_min_rank("sorted_sequence", sorted_sequence, 1)
    if isinstance(sorter, TensorType):
        need_dtype("sorter", sorter, INT64)
        need_same_shape("sorter", sorter.shape, "sorted_sequence", sorted_sequence.shape)
    found = _index_dtype(out_int32)
    if input is ANYTHING:
        return TensorType(ANY_SHAPE, found.dtype)
    if not isinstance(input, TensorType):
        need_rank("sorted_sequence", sorted_sequence, 1)
        return found
    _need_same_rows(sorted_sequence.shape, input.shape)
    return TensorType(input.shape, found.dtype)


@rule("torch.bucketize")
def bucketize(input: Value, boundaries: TensorType, *, out_int32: Value = False, right: Value = False) -> TensorType:
    """``(*b), boundaries (n,) -> (*b)`` of indices"""
    need_rank("boundaries", boundaries, 1)
    found = _index_dtype(out_int32)
    if isinstance(input, TensorType):
        return TensorType(input.shape, found.dtype)
    return TensorType(ANY_SHAPE, found.dtype) if input is ANYTHING else found


# -- distinct values -------------------------------------------------------------------------------------------------


def _unique(input: TensorType, dim: Value, inverse: Value, counts: Value) -> Value:
    """How many there are depends on the values; where they were does not."""
    if not isinstance(inverse, bool) or not isinstance(counts, bool):
        raise CannotTell
    places: Shape
    if dim is None:
        values, places = Shape.of(UNKNOWN), input.shape
    else:
        need_min_rank("input", input, 1)
        try:
            shape, at = position(dim, input.shape)
            values, places = replaced(shape, at, UNKNOWN), Shape.of(item_at(shape, at))
        except CannotTell:
            values, places = ANY_SHAPE, ANY_SHAPE if dim is ANYTHING else Shape.of(UNKNOWN)
    out: list[Value] = [TensorType(values, input.dtype)]
    if inverse:
        out.append(TensorType(places, INT64))
    if counts:
        out.append(TensorType(Shape.of(UNKNOWN), INT64))
    return tuple(out) if len(out) > 1 else out[0]


@rule("torch.unique", "Tensor.unique", card=Card(gradient=SOME))
def unique(
    input: TensorType,
    sorted: Value = True,
    return_inverse: Value = False,
    return_counts: Value = False,
    dim: Value = None,
) -> Value:
    """``(*b) -> (?,)``; with a dim ``(*b, n) -> (*b, ?)``; inverse ``(*b)``, counts ``(?,)``"""
    need_not_complex("input", input)
    return _unique(input, dim, return_inverse, return_counts)


@rule("torch.unique_consecutive", "Tensor.unique_consecutive", card=Card(gradient=SOME))
def unique_consecutive(
    input: TensorType, return_inverse: Value = False, return_counts: Value = False, dim: Value = None
) -> Value:
    """``(*b) -> (?,)``; with a dim ``(*b, n) -> (*b, ?)``; inverse ``(*b)``, counts ``(?,)``"""
    return _unique(input, dim, return_inverse, return_counts)


# -- histograms ------------------------------------------------------------------------------------------------------


@rule("torch.histc", "Tensor.histc", card=Card(gradient=NEVER))
def histc(input: TensorType, bins: Value = 100, min: Value = 0, max: Value = 0) -> TensorType:
    """``(*b) -> (bins,)``"""
    need_not_complex("input", input)
    return TensorType(Shape.of(_count("bins", bins)), input.dtype)


def _need_weight(input: TensorType, expected: Shape, weight: Value) -> None:
    """Every element, or every point, has one weight of the input's dtype."""
    if isinstance(weight, TensorType):
        same_dtype(("input", input), ("weight", weight))
        need_equal("input", expected.numel(), "weight", weight.shape.numel(), what="the numbers of elements")


def _edges(input: TensorType, bins: Value) -> tuple[Dim, Dim]:
    """How many bins and how many edges."""
    if isinstance(bins, TensorType):
        need_rank("bins", bins, 1)
        same_dtype(("input", input), ("bins", bins))
        size = bins.shape.dim(-1)
        return size - 1, size
    count = _count("bins", bins)
    return count, count + 1


@rule("torch.histogram", "Tensor.histogram", card=Card(gradient=SOME))
def histogram(
    input: TensorType, bins: Value = 100, *, range: Value = None, weight: Value = None, density: Value = False
) -> Named:
    """``(*b) -> hist (bins,), bin_edges (bins + 1,)``; floats only"""
    need_categories("input", input.dtype, "float", hint="input.float()")
    _need_weight(input, input.shape, weight)
    count, edges = _edges(input, bins)
    hist, bin_edges = TensorType(Shape.of(count), input.dtype), TensorType(Shape.of(edges), input.dtype)
    return named("histogram", hist=hist, bin_edges=bin_edges)


@rule("torch.histogramdd", card=Card(MAYBE, gradient=SOME))
def histogramdd(
    input: TensorType, bins: Value, range: Value = None, weight: Value = None, density: Value = False
) -> Named:
    """``(*b, n) -> hist (*bins), bin_edges`` a tuple of n vectors; floats only"""
    need_categories("input", input.dtype, "float", hint="input.float()")
    need_min_rank("input", input, 2)
    _need_weight(input, input.shape.drop_last(1), weight)
    size = input.shape.dim(-1)
    if not isinstance(bins, tuple):
        if not isinstance(size, int):
            raise CannotTell
        bins = (bins,) * size
    need_size("bins has", len(bins), "the last dim of input is", size)
    counts = [_edges(input, b) for b in bins]
    hist = TensorType(Shape(tuple(n for n, _ in counts)), input.dtype)
    return named("histogramdd", hist=hist, bin_edges=tuple(TensorType(Shape.of(e), input.dtype) for _, e in counts))


@rule("torch.bincount", "Tensor.bincount")
def bincount(input: TensorType, weights: Value = None, minlength: Value = 0) -> TensorType:
    """``(n,) -> (?,)``; Int64, with weights their float dtype"""
    need_rank("input", input, 1)
    need_categories("input", input.dtype, "int")
    dtype = INT64 if weights is None else None
    if isinstance(weights, TensorType):
        need_rank("weights", weights, 1)
        need_equal("input", input.shape.dim(-1), "weights", weights.shape.dim(-1), what="the sizes")
        if weights.dtype is not None and weights.dtype.is_concrete:
            dtype = FLOAT32 if weights.dtype == FLOAT32 else FLOAT64
    return TensorType(Shape.of(UNKNOWN), dtype)


__all__ = [
    "argsort",
    "bincount",
    "bucketize",
    "histc",
    "histogram",
    "histogramdd",
    "kthvalue",
    "msort",
    "searchsorted",
    "sort",
    "topk",
    "unique",
    "unique_consecutive",
]
