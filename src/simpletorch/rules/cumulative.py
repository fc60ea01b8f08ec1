"""Running sums, products and extrema along one dim."""

from __future__ import annotations

from simpletorch.rules.arguments import axis, is_dim
from simpletorch.rules.conditions import dtype_or, need_float_or_complex, need_not_complex
from simpletorch.rules.dtype import INT64, DType
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.reduction import named, summed_dtype
from simpletorch.rules.registry import rule
from simpletorch.rules.values import ANYTHING, Named, TensorType, Value


def check_dim(input: TensorType, dim: Value) -> None:
    """The dim must be in range, where that can be told."""
    if dim is not ANYTHING and not is_dim(dim):
        raise CannotTell
    try:
        axis(dim, input.shape)
    except CannotTell:
        return


@rule("torch.cumsum", "Tensor.cumsum", "torch.cumprod", "Tensor.cumprod")
def cumsum(input: TensorType, dim: Value, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b, n)``; ints in Int64"""
    check_dim(input, dim)
    return TensorType(input.shape, dtype_or(dtype, summed_dtype(input.dtype)))


@rule("Tensor.cumsum_", "Tensor.cumprod_")
def cumsum_(input: TensorType, dim: Value, *, dtype: Value = None) -> TensorType:
    """``(*b, n) -> (*b, n)``, in place: the dtype stays"""
    check_dim(input, dim)
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
    check_dim(input, dim)
    return named(op, values=TensorType(input.shape, input.dtype), indices=TensorType(input.shape, INT64))


@rule("torch.logcumsumexp", "Tensor.logcumsumexp")
def logcumsumexp(input: TensorType, dim: Value) -> TensorType:
    """``(*b, n) -> (*b, n)``; floating or complex only"""
    need_float_or_complex("input", input)
    check_dim(input, dim)
    return TensorType(input.shape, input.dtype)


__all__ = ["check_dim", "cummax", "cummin", "cumsum", "cumsum_", "logcumsumexp"]
