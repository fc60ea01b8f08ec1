"""Reductions: sums, means, extrema, order statistics, and truth over dims."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dtype_argument, is_dim
from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import (
    need_categories,
    need_dtype,
    need_float_or_complex,
    need_max_rank,
    need_nonempty,
    need_not_complex,
    need_ordered,
)
from simpletorch.rules.common.dtypes import float_dtype, real_dtype, result_dtype, same_dtype, summed_dtype
from simpletorch.rules.common.positions import axes
from simpletorch.rules.common.reduced import reduced
from simpletorch.rules.common.results import named, values_and_indices
from simpletorch.rules.core.dtype import BOOL, FLOAT32, FLOAT64, INT64, UINT8, UINT64, DType
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Named, Scalar, TensorType, Value
from simpletorch.shapes import Dim, Shape


def _need_elements(shape: Shape, dim: Value) -> None:
    """An operation that picks an element needs one in every dim that it reduces."""
    if dim is not ANYTHING and shape.rank is not None and shape.rank > 0:
        try:
            need_nonempty("input", shape, axes(None if dim == () else dim, shape))
        except CannotTell:
            return


@rule("torch.sum", "Tensor.sum", "torch.nansum", "Tensor.nansum")
def sum(input: TensorType, dim: Value = None, keepdim: Value = False, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b)``; ints are summed in Int64"""
    return TensorType(reduced(input.shape, dim, keepdim), dtype_argument(dtype, summed_dtype(input.dtype)))


@rule("torch.prod", "Tensor.prod")
def prod(input: TensorType, dim: Value = None, keepdim: Value = False, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b)``; ints are multiplied in Int64"""
    if isinstance(dim, tuple):
        raise CannotTell
    return TensorType(reduced(input.shape, dim, keepdim), dtype_argument(dtype, summed_dtype(input.dtype)))


def _mean(input: TensorType, dim: Value, keepdim: Value, dtype: Value) -> TensorType:
    result = dtype_argument(dtype, input.dtype)
    if dtype is None:
        need_float_or_complex("input", input)
    elif isinstance(dtype, DType):
        need_categories("dtype", dtype, "float", "complex")
    return TensorType(reduced(input.shape, dim, keepdim), result)


@rule("torch.mean", "Tensor.mean")
def mean(input: TensorType, dim: Value = None, keepdim: Value = False, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b)``; floating or complex only"""
    return _mean(input, dim, keepdim, dtype)


@rule("torch.nanmean", "Tensor.nanmean")
def nanmean(input: TensorType, dim: Value = None, keepdim: Value = False, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b)``; floating or complex only"""
    need_float_or_complex("input", input)
    return TensorType(reduced(input.shape, dim, keepdim), dtype_argument(dtype, input.dtype))


@rule("torch.amax", "Tensor.amax", "torch.amin", "Tensor.amin")
def amax(input: TensorType, dim: Value = (), keepdim: Value = False) -> TensorType:
    """``(*b, n) -> (*b)``"""
    need_not_complex("input", input)
    _need_elements(input.shape, dim)
    return TensorType(reduced(input.shape, dim, keepdim), input.dtype)


@rule("torch.aminmax", "Tensor.aminmax")
def aminmax(input: TensorType, *, dim: Value = None, keepdim: Value = False) -> Named:
    """``(*b, n) -> min (*b), max (*b)``"""
    need_not_complex("input", input)
    _need_elements(input.shape, dim)
    found = TensorType(reduced(input.shape, dim, keepdim), input.dtype)
    return named("aminmax", min=found, max=found)


def _along(op: str, input: TensorType, dim: Value, keepdim: Value) -> Named:
    """The values along one dim and where they were."""
    if isinstance(dim, tuple):
        raise CannotTell
    _need_elements(input.shape, dim)
    return values_and_indices(op, TensorType(reduced(input.shape, dim, keepdim), input.dtype))


def _extremum(op: str, input: TensorType, dim: Value, keepdim: Value, other: Value) -> Value:
    """The three forms of `torch.max`: of all, along a dim, of two tensors. The second argument is a dim or a tensor."""
    need_not_complex("input", input)
    if isinstance(other, TensorType) and dim is None:
        need_not_complex("other", other)
        shape = broadcast_shapes(("input", input.shape), ("other", other.shape))
        return TensorType(shape, result_dtype(input, other))
    if dim is None and other is None:
        _need_elements(input.shape, None)
        return TensorType(Shape(()), input.dtype)
    dim = dim if other is None else other
    if not is_dim(dim):
        raise CannotTell
    return _along(op, input, dim, keepdim)


@rule("torch.max", "Tensor.max")
def max(input: TensorType, other: Value = None, keepdim: Value = False, *, dim: Value = None) -> Value:
    """``(*b, n) -> ()``; with a dim ``-> values (*b), indices (*b)``; with a tensor the larger of each two"""
    return _extremum("max", input, dim, keepdim, other)


@rule("torch.min", "Tensor.min")
def min(input: TensorType, other: Value = None, keepdim: Value = False, *, dim: Value = None) -> Value:
    """``(*b, n) -> ()``; with a dim ``-> values (*b), indices (*b)``; with a tensor the smaller of each two"""
    return _extremum("min", input, dim, keepdim, other)


@rule("torch.argmax", "Tensor.argmax", "torch.argmin", "Tensor.argmin")
def argmax(input: TensorType, dim: Value = None, keepdim: Value = False) -> TensorType:
    """``(*b, n) -> (*b)`` in Int64; without a dim the index into the flattened input"""
    need_ordered("input", input)
    if isinstance(dim, tuple):
        raise CannotTell
    _need_elements(input.shape, dim)
    return TensorType(reduced(input.shape, dim, keepdim), INT64)


def _median(op: str, input: TensorType, dim: Value, keepdim: Value) -> Value:
    need_ordered("input", input)
    if dim is None:
        return TensorType(Shape(()), input.dtype)
    if not is_dim(dim):
        raise CannotTell
    return _along(op, input, dim, keepdim)


@rule("torch.median", "Tensor.median")
def median(input: TensorType, dim: Value = None, keepdim: Value = False) -> Value:
    """``(*b, n) -> ()``; with a dim ``-> values (*b), indices (*b)``"""
    return _median("median", input, dim, keepdim)


@rule("torch.nanmedian", "Tensor.nanmedian")
def nanmedian(input: TensorType, dim: Value = None, keepdim: Value = False) -> Value:
    """``(*b, n) -> ()``; with a dim ``-> values (*b), indices (*b)``"""
    return _median("nanmedian", input, dim, keepdim)


@rule("torch.mode", "Tensor.mode")
def mode(input: TensorType, dim: Value = -1, keepdim: Value = False) -> Named:
    """``(*b, n) -> values (*b), indices (*b)``"""
    need_not_complex("input", input)
    return _along("mode", input, dim, keepdim)


def _moments(input: TensorType, dim: Value, unbiased: Value, keepdim: Value) -> Shape:
    """The result's shape of `std` and `var`; ``std(x, True)`` means ``unbiased``."""
    need_float_or_complex("input", input)
    if isinstance(dim, bool) or dim == Scalar("bool"):
        dim = None
    return reduced(input.shape, dim, keepdim)


@rule("torch.std", "Tensor.std", "torch.var", "Tensor.var")
def std(
    input: TensorType, dim: Value = None, unbiased: Value = True, keepdim: Value = False, *, correction: Value = None
) -> TensorType:
    """``(*b, n) -> (*b)``; floating or complex only, the result is real"""
    return TensorType(_moments(input, dim, unbiased, keepdim), real_dtype(input.dtype))


@rule("torch.std_mean", "torch.var_mean")
def std_mean(
    input: TensorType, dim: Value = None, unbiased: Value = True, keepdim: Value = False, *, correction: Value = None
) -> Value:
    """``(*b, n) -> (*b), (*b)``; floating or complex only"""
    shape = _moments(input, dim, unbiased, keepdim)
    return TensorType(shape, real_dtype(input.dtype)), TensorType(shape, input.dtype)


@rule("torch.any", "Tensor.any", "torch.all", "Tensor.all")
def any(input: TensorType, dim: Value = None, keepdim: Value = False) -> TensorType:
    """``(*b, n) -> (*b)`` in Bool (UInt8 stays)"""
    dtype = UINT8 if input.dtype == UINT8 else BOOL
    may_be_uint8 = input.dtype is None or (not input.dtype.is_concrete and input.dtype.category in ("int", None))
    # unlike torch.sum, torch.any and torch.all take dim=() for no dim
    return TensorType(reduced(input.shape, dim, keepdim, empty_is_all=False), None if may_be_uint8 else dtype)


@rule("torch.logsumexp", "Tensor.logsumexp", "torch.special.logsumexp")
def logsumexp(input: TensorType, dim: Value, keepdim: Value = False) -> TensorType:
    """``(*b, n) -> (*b)``; ints become floats"""
    if dim is None or dim == ():
        raise CannotTell
    return TensorType(reduced(input.shape, dim, keepdim), float_dtype(input))


@rule("torch.count_nonzero", "Tensor.count_nonzero")
def count_nonzero(input: TensorType, dim: Value = None) -> TensorType:
    """``(*b, n) -> (*b)`` in Int64"""
    return TensorType(reduced(input.shape, dim), INT64)


@rule("torch.hash_tensor", "Tensor.hash_tensor")
def hash_tensor(input: TensorType, dim: Value = (), *, keepdim: Value = False, mode: Value = 0) -> TensorType:
    """``(*b, n) -> (*b)`` in UInt64; not of complex numbers"""
    need_categories("input", input.dtype, "bool", "int", "float", hint="torch.view_as_real(input)")
    return TensorType(reduced(input.shape, dim, keepdim), UINT64)


def _quantile_count(q: Value, input: TensorType) -> tuple[Dim, ...]:
    """The leading dim that ``q`` gives the result: none for a number, its size for a vector."""
    if not isinstance(q, TensorType):
        if q is ANYTHING:
            raise CannotTell
        return ()
    need_max_rank("q", q, 1)
    same_dtype(("input", input), ("q", q))
    if q.shape.rank is None:
        raise CannotTell
    return q.shape.dims


@rule("torch.quantile", "Tensor.quantile", "torch.nanquantile", "Tensor.nanquantile")
def quantile(
    input: TensorType, q: Value, dim: Value = None, keepdim: Value = False, *, interpolation: Value = "linear"
) -> TensorType:
    """``(*b, n), q (k,) -> (k, *b)``; a number as q gives ``(*b)``; Float32 or Float64 only"""
    need_dtype("input", input, FLOAT32, FLOAT64)
    if isinstance(dim, tuple):
        raise CannotTell
    need_nonempty("input", input.shape, None)
    count = _quantile_count(q, input)
    return TensorType(Shape((*count, *reduced(input.shape, dim, keepdim).items)), input.dtype)


__all__ = [
    "amax",
    "aminmax",
    "any",
    "argmax",
    "count_nonzero",
    "hash_tensor",
    "logsumexp",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "nanmean",
    "nanmedian",
    "prod",
    "quantile",
    "std",
    "std_mean",
    "sum",
]
