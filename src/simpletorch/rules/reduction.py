"""Reductions: sums, means, extrema, order statistics, and truth over dims."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.arguments import axes, broadcast_shapes, is_dim, result_dtype, same_dtype
from simpletorch.rules.conditions import (
    dtype_or,
    need_categories,
    need_float_or_complex,
    need_nonempty,
    need_not_complex,
)
from simpletorch.rules.dtype import BOOL, DEFAULT_FLOAT, FLOAT32, FLOAT64, INT64, UINT8, UINT64, DType, to_real
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.reduced import reduced
from simpletorch.rules.registry import rule
from simpletorch.rules.values import ANYTHING, Named, Scalar, TensorType, Value
from simpletorch.shapes import Dim, Shape

RETURN_TYPES: Final = "torch.return_types."


def named(op: str, **fields: Value) -> Named:
    """The named tuple that torch gives: ``torch.return_types.max(values=…, indices=…)``."""
    return Named(RETURN_TYPES + op, tuple(fields.items()))


def summed_dtype(dtype: DType | None) -> DType | None:
    """Sums and products of ints and bools are Int64."""
    return INT64 if dtype is not None and dtype.category in ("bool", "int") else dtype


def real_dtype(dtype: DType | None) -> DType | None:
    """The dtype of an absolute value, also where only the family is known."""
    if dtype is None or dtype.category in ("bool", "int", "float"):
        return dtype
    return to_real(dtype) if dtype.is_concrete else None


def _refuse_empty(shape: Shape, dim: Value) -> None:
    """What picks an element needs one in every dim that it reduces."""
    if dim is not ANYTHING and shape.rank is not None and shape.rank > 0:
        try:
            need_nonempty("input", shape, axes(None if dim == () else dim, shape))
        except CannotTell:
            return


@rule("torch.sum", "Tensor.sum", "torch.nansum", "Tensor.nansum")
def sum(input: TensorType, dim: Value = None, keepdim: Value = False, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b)``; ints are summed in Int64"""
    return TensorType(reduced(input.shape, dim, keepdim), dtype_or(dtype, summed_dtype(input.dtype)))


@rule("torch.prod", "Tensor.prod")
def prod(input: TensorType, dim: Value = None, keepdim: Value = False, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b)``; ints are multiplied in Int64"""
    if isinstance(dim, tuple):
        raise CannotTell
    return TensorType(reduced(input.shape, dim, keepdim), dtype_or(dtype, summed_dtype(input.dtype)))


def _mean(input: TensorType, dim: Value, keepdim: Value, dtype: Value) -> TensorType:
    result = dtype_or(dtype, input.dtype)
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
    return TensorType(reduced(input.shape, dim, keepdim), dtype_or(dtype, input.dtype))


@rule("torch.amax", "Tensor.amax", "torch.amin", "Tensor.amin")
def amax(input: TensorType, dim: Value = (), keepdim: Value = False) -> TensorType:
    """``(*b, n) -> (*b)``"""
    need_not_complex("input", input)
    _refuse_empty(input.shape, dim)
    return TensorType(reduced(input.shape, dim, keepdim), input.dtype)


@rule("torch.aminmax", "Tensor.aminmax")
def aminmax(input: TensorType, *, dim: Value = None, keepdim: Value = False) -> Named:
    """``(*b, n) -> min (*b), max (*b)``"""
    need_not_complex("input", input)
    _refuse_empty(input.shape, dim)
    found = TensorType(reduced(input.shape, dim, keepdim), input.dtype)
    return named("aminmax", min=found, max=found)


def _with_indices(op: str, input: TensorType, dim: Value, keepdim: Value) -> Named:
    """The values along one dim and where they were."""
    if isinstance(dim, tuple):
        raise CannotTell
    _refuse_empty(input.shape, dim)
    shape = reduced(input.shape, dim, keepdim)
    return named(op, values=TensorType(shape, input.dtype), indices=TensorType(shape, INT64))


def _extremum(op: str, input: TensorType, dim: Value, keepdim: Value, other: Value) -> Value:
    """The three forms of `torch.max`: of all, along a dim, of two tensors. The second argument is a dim or a tensor."""
    need_not_complex("input", input)
    if isinstance(other, TensorType) and dim is None:
        need_not_complex("other", other)
        shape = broadcast_shapes(("input", input.shape), ("other", other.shape))
        return TensorType(shape, result_dtype(input, other))
    if dim is None and other is None:
        _refuse_empty(input.shape, None)
        return TensorType(Shape(()), input.dtype)
    dim = dim if other is None else other
    if not is_dim(dim):
        raise CannotTell
    return _with_indices(op, input, dim, keepdim)


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
    need_not_complex("input", input)
    if input.dtype == BOOL:
        raise Mismatch("input is Bool, which is not ordered here", kind="dtype", hint="input.int()", got=BOOL)
    if isinstance(dim, tuple):
        raise CannotTell
    _refuse_empty(input.shape, dim)
    return TensorType(reduced(input.shape, dim, keepdim), INT64)


def _median(op: str, input: TensorType, dim: Value, keepdim: Value) -> Value:
    need_not_complex("input", input)
    if input.dtype == BOOL:
        raise Mismatch("input is Bool, which has no median", kind="dtype", hint="input.int()", got=BOOL)
    if dim is None:
        return TensorType(Shape(()), input.dtype)
    if not is_dim(dim):
        raise CannotTell
    return _with_indices(op, input, dim, keepdim)


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
    return _with_indices("mode", input, dim, keepdim)


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
    return TensorType(reduced(input.shape, dim, keepdim, empty_is_all=False), None if may_be_uint8 else dtype)


@rule("torch.logsumexp", "Tensor.logsumexp", "torch.special.logsumexp")
def logsumexp(input: TensorType, dim: Value, keepdim: Value = False) -> TensorType:
    """``(*b, n) -> (*b)``; ints become floats"""
    if dim is None or dim == ():
        raise CannotTell
    category = None if input.dtype is None else input.dtype.category
    dtype = DEFAULT_FLOAT if category in ("bool", "int") else input.dtype
    return TensorType(reduced(input.shape, dim, keepdim), dtype)


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
    if q.shape.min_rank > 1:
        raise Mismatch(f"q must be a number or have 1 dim, but it is {q.shape}", expected=1, got=q.shape.rank)
    same_dtype(("input", input), ("q", q))
    if q.shape.rank is None:
        raise CannotTell
    return q.shape.dims


@rule("torch.quantile", "Tensor.quantile", "torch.nanquantile", "Tensor.nanquantile")
def quantile(
    input: TensorType, q: Value, dim: Value = None, keepdim: Value = False, *, interpolation: Value = "linear"
) -> TensorType:
    """``(*b, n), q (k,) -> (k, *b)``; a number as q gives ``(*b)``; Float32 or Float64 only"""
    need_categories("input", input.dtype, "float", hint="input.float()")
    if input.dtype is not None and input.dtype.is_concrete and input.dtype not in (FLOAT32, FLOAT64):
        raise Mismatch(
            f"input is {input.dtype}, but it must be Float32 or Float64",
            kind="dtype",
            hint="input.float()",
            expected=(FLOAT32, FLOAT64),
            got=input.dtype,
        )
    if isinstance(dim, tuple):
        raise CannotTell
    need_nonempty("input", input.shape, None)
    count = _quantile_count(q, input)
    return TensorType(Shape((*count, *reduced(input.shape, dim, keepdim).items)), input.dtype)


__all__ = [
    "RETURN_TYPES",
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
    "named",
    "nanmean",
    "nanmedian",
    "prod",
    "quantile",
    "real_dtype",
    "std",
    "std_mean",
    "sum",
    "summed_dtype",
]
