"""Pooling to a given size (adaptive, fractional), and the inverse of max pooling."""

from __future__ import annotations

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import need_at_least, need_dtype, need_entries, need_one_given, need_same_shape
from simpletorch.rules.common.results import flagged_indices
from simpletorch.rules.common.spatial import need_reach, per_dim, scaled, split_spatial
from simpletorch.rules.core.cards import DRAWS, Card
from simpletorch.rules.core.dtype import INT64
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Shape, at_least


def _asked(count: int, output_size: Value, spatial: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The sizes asked for; None keeps a dim (but not in 1-d, where torch takes an int)."""
    if isinstance(output_size, tuple):
        need_entries("output_size", output_size, count)
        pairs = zip(output_size, spatial, strict=True)
        sizes = tuple(own if v is None and count > 1 else as_dim(v) for v, own in pairs)
    else:
        sizes = (as_dim(output_size),) * count
    need_at_least("output_size", output_size, 0)
    return sizes


def _adaptive(count: int, input: TensorType, output_size: Value) -> TensorType:
    lead, channels, spatial = split_spatial(input, count)
    return TensorType(Shape((*lead, channels, *_asked(count, output_size, spatial))), input.dtype)


def _average(count: int, input: TensorType, output_size: Value) -> TensorType:
    out = _adaptive(count, input, output_size)
    to_one = out.shape.last(count) == (1,) * count  # torch takes the mean then, which refuses ints
    if to_one and input.dtype is not None and input.dtype.category in ("bool", "int"):
        raise Mismatch(f"the mean of {input.dtype} is not defined", kind="dtype", hint="input.float()", got=input.dtype)
    return out


@rule("torch.nn.functional.adaptive_avg_pool1d", "torch.adaptive_avg_pool1d")
def adaptive_avg_pool1d(input: TensorType, output_size: Value) -> TensorType:
    """``(N, C, L) -> (N, C, *output_size)``"""
    return _average(1, input, output_size)


@rule("torch.nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(input: TensorType, output_size: Value) -> TensorType:
    """``(N, C, H, W) -> (N, C, *output_size)``"""
    return _average(2, input, output_size)


@rule("torch.nn.functional.adaptive_avg_pool3d")
def adaptive_avg_pool3d(input: TensorType, output_size: Value) -> TensorType:
    """``(N, C, D, H, W) -> (N, C, *output_size)``"""
    return _average(3, input, output_size)


@rule("torch.nn.functional.adaptive_max_pool1d")
def adaptive_max_pool1d(input: TensorType, output_size: Value, return_indices: Value = False) -> Value:
    """``(N, C, L) -> (N, C, *output_size)``"""
    return flagged_indices(_adaptive(1, input, output_size), return_indices)


@rule("torch.nn.functional.adaptive_max_pool2d")
def adaptive_max_pool2d(input: TensorType, output_size: Value, return_indices: Value = False) -> Value:
    """``(N, C, H, W) -> (N, C, *output_size)``"""
    return flagged_indices(_adaptive(2, input, output_size), return_indices)


@rule("torch.nn.functional.adaptive_max_pool3d")
def adaptive_max_pool3d(input: TensorType, output_size: Value, return_indices: Value = False) -> Value:
    """``(N, C, D, H, W) -> (N, C, *output_size)``"""
    return flagged_indices(_adaptive(3, input, output_size), return_indices)


@rule("torch.nn.functional.adaptive_max_pool1d_with_indices", "torch.adaptive_max_pool1d")
def adaptive_max_pool1d_with_indices(input: TensorType, output_size: Value, return_indices: Value = True) -> Value:
    """as `adaptive_max_pool1d`, with the indices of the maxima"""
    return flagged_indices(_adaptive(1, input, output_size), True)


@rule("torch.nn.functional.adaptive_max_pool2d_with_indices")
def adaptive_max_pool2d_with_indices(input: TensorType, output_size: Value, return_indices: Value = True) -> Value:
    """as `adaptive_max_pool2d`, with the indices of the maxima"""
    return flagged_indices(_adaptive(2, input, output_size), True)


@rule("torch.nn.functional.adaptive_max_pool3d_with_indices")
def adaptive_max_pool3d_with_indices(input: TensorType, output_size: Value, return_indices: Value = True) -> Value:
    """as `adaptive_max_pool3d`, with the indices of the maxima"""
    return flagged_indices(_adaptive(3, input, output_size), True)


def fractional(
    count: int, input: TensorType, kernel_size: Value, output_size: Value, output_ratio: Value
) -> TensorType:
    """``(N, C, *spatial) -> (N, C, *output_size)``, the sizes given or as fractions"""
    lead, channels, spatial = split_spatial(input, count)
    kernel = per_dim("kernel_size", kernel_size, count, repeat=False)
    if output_size is None:
        need_one_given(output_size=output_size, output_ratio=output_ratio)
        sizes = _fractions(count, output_ratio, spatial)
    else:
        sizes = per_dim("output_size", output_size, count, repeat=False)
    for size, k, out in zip(spatial, kernel, sizes, strict=True):
        if at_least(size, out + k - 1) is False:
            raise Mismatch(
                f"windows of {k} can't give {out} outputs from a dim of size {size}", expected=out + k - 1, got=size
            )
    return TensorType(Shape((*lead, channels, *sizes)), input.dtype)


def _fractions(count: int, ratio: Value, spatial: tuple[Dim, ...]) -> tuple[Dim, ...]:
    if isinstance(ratio, tuple) and len(ratio) == count:
        return tuple(scaled(size, r) for size, r in zip(spatial, ratio, strict=True))
    if isinstance(ratio, tuple) and len(ratio) > count:
        need_entries("output_ratio", ratio, count)
    return (UNKNOWN,) * count


@rule("torch.nn.functional.fractional_max_pool2d", card=Card(random=DRAWS))
def fractional_max_pool2d(
    input: TensorType,
    kernel_size: Value,
    output_size: Value = None,
    output_ratio: Value = None,
    return_indices: Value = False,
    _random_samples: Value = None,
) -> Value:
    """``(N, C, H, W) -> (N, C, *output_size)``"""
    return flagged_indices(fractional(2, input, kernel_size, output_size, output_ratio), return_indices)


@rule("torch.nn.functional.fractional_max_pool3d", card=Card(random=DRAWS))
def fractional_max_pool3d(
    input: TensorType,
    kernel_size: Value,
    output_size: Value = None,
    output_ratio: Value = None,
    return_indices: Value = False,
    _random_samples: Value = None,
) -> Value:
    """``(N, C, D, H, W) -> (N, C, *output_size)``"""
    return flagged_indices(fractional(3, input, kernel_size, output_size, output_ratio), return_indices)


@rule("torch.nn.functional.fractional_max_pool2d_with_indices", card=Card(random=DRAWS))
def fractional_max_pool2d_with_indices(
    input: TensorType,
    kernel_size: Value,
    output_size: Value = None,
    output_ratio: Value = None,
    return_indices: Value = True,
    _random_samples: Value = None,
) -> Value:
    """as `fractional_max_pool2d`, with the indices of the maxima"""
    return flagged_indices(fractional(2, input, kernel_size, output_size, output_ratio), True)


@rule("torch.nn.functional.fractional_max_pool3d_with_indices", card=Card(random=DRAWS))
def fractional_max_pool3d_with_indices(
    input: TensorType,
    kernel_size: Value,
    output_size: Value = None,
    output_ratio: Value = None,
    return_indices: Value = True,
    _random_samples: Value = None,
) -> Value:
    """as `fractional_max_pool3d`, with the indices of the maxima"""
    return flagged_indices(fractional(3, input, kernel_size, output_size, output_ratio), True)


def unpool(
    count: int,
    input: TensorType,
    indices: TensorType,
    kernel_size: Value,
    stride: Value,
    padding: Value,
    output_size: Value,
) -> TensorType:
    """``(N, C, *spatial), indices of that shape -> (N, C, *larger)``"""
    need_dtype("indices", indices, INT64)
    need_same_shape("input", input.shape, "indices", indices.shape)
    lead, channels, spatial = split_spatial(input, count)
    kernel = per_dim("kernel_size", kernel_size, count)
    strides = kernel if stride is None else per_dim("stride", stride, count)
    pad = per_dim("padding", padding, count)
    usual = tuple((n - 1) * s - 2 * p + k for n, k, s, p in zip(spatial, kernel, strides, pad, strict=True))
    sizes = usual if output_size is None else _reachable(output_size, usual, strides)
    return TensorType(Shape((*lead, channels, *sizes)), input.dtype)


def _reachable(output_size: Value, usual: tuple[Dim, ...], stride: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The sizes asked for, each less than a stride from the usual one; N and C may stand before them."""
    count = len(usual)
    if not isinstance(output_size, tuple):
        return (UNKNOWN,) * count
    need_entries("output_size", output_size, count, count + 2)
    asked = tuple(as_dim(v) for v in output_size[-count:])
    for size, middle, step in zip(asked, usual, stride, strict=True):
        need_reach(size, middle - step + 1, middle + step - 1)
    return asked


@rule("torch.nn.functional.max_unpool1d")
def max_unpool1d(
    input: TensorType,
    indices: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    output_size: Value = None,
) -> TensorType:
    """``(N, C, L), indices (N, C, L) -> (N, C, (L - 1)s - 2p + k)``"""
    return unpool(1, input, indices, kernel_size, stride, padding, output_size)


@rule("torch.nn.functional.max_unpool2d")
def max_unpool2d(
    input: TensorType,
    indices: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    output_size: Value = None,
) -> TensorType:
    """``(N, C, H, W), indices (N, C, H, W) -> (N, C, (H - 1)s - 2p + k, …)``"""
    return unpool(2, input, indices, kernel_size, stride, padding, output_size)


@rule("torch.nn.functional.max_unpool3d")
def max_unpool3d(
    input: TensorType,
    indices: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    output_size: Value = None,
) -> TensorType:
    """``(N, C, D, H, W), indices (N, C, D, H, W) -> (N, C, (D - 1)s - 2p + k, …)``"""
    return unpool(3, input, indices, kernel_size, stride, padding, output_size)


__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "fractional",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "unpool",
]
