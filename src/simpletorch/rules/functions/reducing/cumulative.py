"""Running sums, products and extrema along one dim."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dtype_argument
from simpletorch.rules.common.conditions import need_float_or_complex, need_not_complex
from simpletorch.rules.common.dtypes import summed_dtype
from simpletorch.rules.common.positions import need_axes
from simpletorch.rules.common.results import values_and_indices
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import Named, TensorType, Value


@rule("torch.cumsum", "Tensor.cumsum", "torch.cumprod", "Tensor.cumprod")
def cumsum(input: TensorType, dim: Value, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b, n)``; ints in Int64"""
    need_axes(dim, input.shape)
    return TensorType(input.shape, dtype_argument(dtype, summed_dtype(input.dtype)))


@rule("Tensor.cumsum_", "Tensor.cumprod_")
def cumsum_(input: TensorType, dim: Value, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b, n)``, in place: the dtype stays"""
    need_axes(dim, input.shape)
    if isinstance(dtype, DType) and input.dtype is not None and input.dtype.is_concrete and dtype != input.dtype:
        raise Mismatch(
            f"dtype is {dtype}, but input is {input.dtype} and is changed in place",
            kind="dtype",
            expected=input.dtype,
            got=dtype,
        )
    return input


@rule("torch.cummax", "Tensor.cummax")
def cummax(input: TensorType, dim: Value) -> Named:
    """``(*b, n) -> values (*b, n), indices (*b, n)``"""
    return _cumulative_extremum("cummax", input, dim)


@rule("torch.cummin", "Tensor.cummin")
def cummin(input: TensorType, dim: Value) -> Named:
    """``(*b, n) -> values (*b, n), indices (*b, n)``"""
    return _cumulative_extremum("cummin", input, dim)


def _cumulative_extremum(op: str, input: TensorType, dim: Value) -> Named:
    need_not_complex("input", input)
    need_axes(dim, input.shape)
    return values_and_indices(op, TensorType(input.shape, input.dtype))


@rule("torch.logcumsumexp", "Tensor.logcumsumexp")
def logcumsumexp(input: TensorType, dim: Value) -> TensorType:
    """``(*b, n) -> (*b, n)``; floating or complex only"""
    need_float_or_complex("input", input)
    need_axes(dim, input.shape)
    return TensorType(input.shape, input.dtype)


__all__ = ["cummax", "cummin", "cumsum", "cumsum_", "logcumsumexp"]
