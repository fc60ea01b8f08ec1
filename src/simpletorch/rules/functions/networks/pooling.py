"""Max, average and LP pooling over 1, 2 and 3 spatial dims."""

from __future__ import annotations

from simpletorch.rules.common.conditions import need_at_least
from simpletorch.rules.common.dtypes import float_dtype
from simpletorch.rules.common.results import flagged_indices
from simpletorch.rules.common.spatial import per_dim, split_spatial
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Item, Shape, at_least, equal, minimum


def _pooled(size: Dim, k: Dim, s: Dim, p: Dim, d: Dim, *, up: bool) -> Dim:
    """``(H + 2*padding - dilation*(kernel - 1) - 1) // stride + 1``; rounded ``up``, no window starts in the padding"""
    inner = size + 2 * p - d * (k - 1) - 1
    if not up:
        return inner // s + 1
    # a window that is longer than stride and padding together can't start in the padding: no minimum, which for symbols
    # would stay in the size
    if at_least(d * (k - 1) + 1, s + p) is True:
        return (inner + s - 1) // s + 1
    # `pooling_output_shape_pad_lr` of ATen/native/Pool.h: the last window is dropped if it starts beyond the input
    return minimum((inner + s - 1) // s, (size + p - 1) // s) + 1


def _either(size: Dim, k: Dim, s: Dim, p: Dim, d: Dim, ceil_mode: Value) -> Dim:
    if isinstance(ceil_mode, bool):
        return _pooled(size, k, s, p, d, up=ceil_mode)
    down, up = (_pooled(size, k, s, p, d, up=u) for u in (False, True))
    return down if equal(down, up) is True else UNKNOWN


def pool(
    count: int,
    input: TensorType,
    kernel_size: Value,
    stride: Value,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    *,
    inside: bool = False,
) -> Shape:
    """``(N, C, *spatial) -> (N, C, *windows)``; a window must fit ``inside`` the input without its padding"""
    kernel = per_dim("kernel_size", kernel_size, count)
    strides = kernel if stride is None or stride == () else per_dim("stride", stride, count)
    pad = per_dim("padding", padding, count)
    dilations = per_dim("dilation", dilation, count)
    need_at_least("kernel_size", kernel_size, 1)
    need_at_least("stride", stride, 1)
    need_at_least("dilation", dilation, 1)
    need_at_least("padding", padding, 0)
    for p, k in zip(pad, kernel, strict=True):
        if isinstance(p, int) and isinstance(k, int) and p > k // 2:
            raise Mismatch(
                f"padding {p} is more than half of kernel_size {k}", hint=f"padding={k // 2}", expected=k // 2, got=p
            )
    lead, channels, spatial = split_spatial(input, count)
    if 0 in (channels, *spatial):
        raise Mismatch(f"input is {input.shape}, but only the batch may be empty")
    out: list[Item] = []
    for size, k, s, p, d in zip(spatial, kernel, strides, pad, dilations, strict=True):
        found = _either(size, k, s, p, d, ceil_mode)
        if at_least(found, 1) is False or (inside and at_least(size, k) is False):
            raise Mismatch(
                f"the window spans {d * (k - 1) + 1}, but the padded input is only {size + 2 * p}",
                expected=d * (k - 1) + 1,
                got=size + 2 * p,
            )
        out.append(found)
    return Shape((*lead, channels, *out))


@rule("torch.nn.functional.max_pool1d", "torch.max_pool1d")
def max_pool1d(
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    return_indices: Value = False,
) -> Value:
    """``(N, C, L) -> (N, C, (L + 2p - d(k - 1) - 1)//s + 1)``"""
    shape = pool(1, input, kernel_size, stride, padding, dilation, ceil_mode)
    return flagged_indices(TensorType(shape, input.dtype), return_indices)


@rule("torch.nn.functional.max_pool2d", "torch.max_pool2d")
def max_pool2d(
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    return_indices: Value = False,
) -> Value:
    """``(N, C, H, W) -> (N, C, (H + 2p - d(k - 1) - 1)//s + 1, …)``"""
    shape = pool(2, input, kernel_size, stride, padding, dilation, ceil_mode)
    return flagged_indices(TensorType(shape, input.dtype), return_indices)


@rule("torch.nn.functional.max_pool3d", "torch.max_pool3d")
def max_pool3d(
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    return_indices: Value = False,
) -> Value:
    """``(N, C, D, H, W) -> (N, C, (D + 2p - d(k - 1) - 1)//s + 1, …)``"""
    shape = pool(3, input, kernel_size, stride, padding, dilation, ceil_mode)
    return flagged_indices(TensorType(shape, input.dtype), return_indices)


@rule("torch.nn.functional.max_pool1d_with_indices", "torch.max_pool1d_with_indices")
def max_pool1d_with_indices(
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    return_indices: Value = True,
) -> Value:
    """as `max_pool1d`, with the indices of the maxima"""
    shape = pool(1, input, kernel_size, stride, padding, dilation, ceil_mode)
    return flagged_indices(TensorType(shape, input.dtype), True)


@rule("torch.nn.functional.max_pool2d_with_indices")
def max_pool2d_with_indices(
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    return_indices: Value = True,
) -> Value:
    """as `max_pool2d`, with the indices of the maxima"""
    shape = pool(2, input, kernel_size, stride, padding, dilation, ceil_mode)
    return flagged_indices(TensorType(shape, input.dtype), True)


@rule("torch.nn.functional.max_pool3d_with_indices")
def max_pool3d_with_indices(
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    return_indices: Value = True,
) -> Value:
    """as `max_pool3d`, with the indices of the maxima"""
    shape = pool(3, input, kernel_size, stride, padding, dilation, ceil_mode)
    return flagged_indices(TensorType(shape, input.dtype), True)


@rule("torch.nn.functional.avg_pool1d", "torch.avg_pool1d")
def avg_pool1d(
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    ceil_mode: Value = False,
    count_include_pad: Value = True,
) -> TensorType:
    """``(N, C, L) -> (N, C, (L + 2p - k)//s + 1)``"""
    return TensorType(pool(1, input, kernel_size, stride, padding, 1, ceil_mode), input.dtype)


def _need_divisor(divisor_override: Value) -> None:
    if isinstance(divisor_override, int) and divisor_override == 0:
        raise Mismatch("divisor_override is 0", got=0)


@rule("torch.nn.functional.avg_pool2d")
def avg_pool2d(
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    ceil_mode: Value = False,
    count_include_pad: Value = True,
    divisor_override: Value = None,
) -> TensorType:
    """``(N, C, H, W) -> (N, C, (H + 2p - k)//s + 1, …)``"""
    _need_divisor(divisor_override)
    return TensorType(pool(2, input, kernel_size, stride, padding, 1, ceil_mode), input.dtype)


@rule("torch.nn.functional.avg_pool3d")
def avg_pool3d(
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    ceil_mode: Value = False,
    count_include_pad: Value = True,
    divisor_override: Value = None,
) -> TensorType:
    """``(N, C, D, H, W) -> (N, C, (D + 2p - k)//s + 1, …)``"""
    _need_divisor(divisor_override)
    # `check_input_size` of ATen/native/Pool.h, which only avg_pool3d asks for
    return TensorType(pool(3, input, kernel_size, stride, padding, 1, ceil_mode, inside=True), input.dtype)


def _lp_pool(
    count: int, input: TensorType, norm_type: Value, kernel_size: Value, stride: Value, ceil_mode: Value
) -> TensorType:
    shape = pool(count, input, kernel_size, stride, 0, 1, ceil_mode, inside=count == 3)
    if not isinstance(norm_type, int | float | Expr) and (input.dtype is None or input.dtype.category != "float"):
        return TensorType(shape)
    largest = isinstance(norm_type, float) and norm_type in (float("inf"), float("-inf"))
    return TensorType(shape, input.dtype if largest else float_dtype(input))


@rule("torch.nn.functional.lp_pool1d")
def lp_pool1d(
    input: TensorType, norm_type: Value, kernel_size: Value, stride: Value = None, ceil_mode: Value = False
) -> TensorType:
    """``(N, C, L) -> (N, C, (L - k)//s + 1)``"""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


@rule("torch.nn.functional.lp_pool2d")
def lp_pool2d(
    input: TensorType, norm_type: Value, kernel_size: Value, stride: Value = None, ceil_mode: Value = False
) -> TensorType:
    """``(N, C, H, W) -> (N, C, (H - k)//s + 1, …)``"""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


@rule("torch.nn.functional.lp_pool3d")
def lp_pool3d(
    input: TensorType, norm_type: Value, kernel_size: Value, stride: Value = None, ceil_mode: Value = False
) -> TensorType:
    """``(N, C, D, H, W) -> (N, C, (D - k)//s + 1, …)``"""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "pool",
]
