"""The convolution layers of ``torch.nn``, their transposed and their lazy variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import ClassVar, Final

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_divisible,
    need_entries,
    need_float_or_complex,
    need_one_of,
)
from simpletorch.rules.common.parameters import flagged, parameter
from simpletorch.rules.common.spatial import need_reach, per_dim, split_spatial
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks.convolution import need_padding, slide, spread, window
from simpletorch.shapes import UNKNOWN, Dim, Shape, at_least

_PADDING_MODES: Final = ("zeros", "reflect", "replicate", "circular")


def _need_channels_and_groups(in_channels: Value, out_channels: Value, groups: Value, kernel_size: Value) -> None:
    need_at_least("groups", as_dim(groups), 1)
    for name, value in (("in_channels", in_channels), ("out_channels", out_channels)):
        need_at_least(name, as_dim(value), 0)
        need_divisible(name, as_dim(value), "groups", as_dim(groups))
    need_at_least("kernel_size", kernel_size, 0)


@record
class _Conv(ModuleRule):
    """``(N, in_channels, *spatial) -> (N, out_channels, *window(spatial))``"""

    takes_parameters_dtype = ("input",)
    spatial_dims: ClassVar[int]

    in_channels: Value
    out_channels: Value
    kernel_size: Value
    stride: Value = 1
    padding: Value = 0
    dilation: Value = 1
    groups: Value = 1
    bias: Value = True
    padding_mode: Value = "zeros"
    device: Value = None
    dtype: Value = None

    def check(self) -> None:
        _need_channels_and_groups(self.in_channels, self.out_channels, self.groups, self.kernel_size)
        need_one_of("padding_mode", self.padding_mode, *_PADDING_MODES)
        if isinstance(self.padding, str):
            need_padding(self.padding, self.stride, per_dim("stride", self.stride, self.spatial_dims))

    def forward(self, input: TensorType) -> TensorType:
        need_float_or_complex("input", input, why="the weights are floats")
        count = self.spatial_dims
        kernel = per_dim("kernel_size", self.kernel_size, count)
        slid = window(count, kernel, self.stride, self.padding, self.dilation)
        shape = slide(input, as_dim(self.in_channels), "the layer takes", as_dim(self.out_channels), slid)
        if slid.padding is not None and self.padding_mode in ("reflect", "circular"):
            _need_padding_room(self.padding_mode, slid.padding, input.shape.last(count))
        return TensorType(shape, input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        out = as_dim(self.out_channels)
        kernel = per_dim("kernel_size", self.kernel_size, self.spatial_dims)
        weight = (out, as_dim(self.in_channels) // as_dim(self.groups), *kernel)
        return {"weight": parameter(*weight), "bias": flagged(self.bias, parameter(out))}


def _need_padding_room(mode: Value, both_sides: tuple[Dim, ...], sizes: tuple[Dim, ...]) -> None:
    """Reflection needs more than the padding, wrapping around at least as much."""
    for total, size in zip(both_sides, sizes, strict=True):
        if at_least(2 * size, total + 2 * (mode == "reflect")) is False:
            raise Mismatch(
                f"padding_mode={mode!r} can't pad {total // 2} to a dim of size {size}", expected=total // 2, got=size
            )


@module("torch.nn.Conv1d")
@record
class Conv1d(_Conv):
    """``(N, in_channels, L) -> (N, out_channels, (L + 2p - d(k - 1) - 1)//s + 1)``"""

    spatial_dims = 1


@module("torch.nn.Conv2d")
@record
class Conv2d(_Conv):
    """``(N, in_channels, H, W) -> (N, out_channels, (H + 2p - d(k - 1) - 1)//s + 1, …)``"""

    spatial_dims = 2


@module("torch.nn.Conv3d")
@record
class Conv3d(_Conv):
    """``(N, in_channels, D, H, W) -> (N, out_channels, (D + 2p - d(k - 1) - 1)//s + 1, …)``"""

    spatial_dims = 3


@record
class _ConvTranspose(ModuleRule):
    """``(N, in_channels, *spatial) -> (N, out_channels, *larger)``"""

    takes_parameters_dtype = ("input",)
    spatial_dims: ClassVar[int]

    in_channels: Value
    out_channels: Value
    kernel_size: Value
    stride: Value = 1
    padding: Value = 0
    output_padding: Value = 0
    groups: Value = 1
    bias: Value = True
    dilation: Value = 1
    padding_mode: Value = "zeros"
    device: Value = None
    dtype: Value = None

    def check(self) -> None:
        _need_channels_and_groups(self.in_channels, self.out_channels, self.groups, self.kernel_size)
        need_one_of("padding_mode", self.padding_mode, "zeros")

    def forward(self, input: TensorType, output_size: Value = None) -> TensorType:
        need_float_or_complex("input", input, why="the weights are floats")
        count = self.spatial_dims
        kernel = per_dim("kernel_size", self.kernel_size, count)
        slid = window(count, kernel, self.stride, self.padding, self.dilation, strings=False)
        extra = per_dim("output_padding", self.output_padding, count)
        need_at_least("output_padding", self.output_padding, 0)
        wanted, out = as_dim(self.in_channels), as_dim(self.out_channels)
        if output_size is None:
            return TensorType(spread(input, wanted, "the layer takes", out, slid, extra), input.dtype)
        least = spread(input, wanted, "the layer takes", out, slid, (0,) * count)
        asked = _asked_sizes(output_size, least, slid.stride)
        return TensorType(Shape((*least.drop_last(count).items, *asked)), input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        out = as_dim(self.out_channels)
        kernel = per_dim("kernel_size", self.kernel_size, self.spatial_dims)
        weight = (as_dim(self.in_channels), out // as_dim(self.groups), *kernel)
        return {"weight": parameter(*weight), "bias": flagged(self.bias, parameter(out))}


def _asked_sizes(output_size: Value, least: Shape, stride: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The spatial sizes that ``output_size`` names: those, or those after N and C; each in reach of the stride."""
    count = len(stride)
    if not isinstance(output_size, tuple):
        return (UNKNOWN,) * count
    need_entries("output_size", output_size, count, count + 1, count + 2)
    asked = tuple(as_dim(v) for v in output_size[-count:])
    for size, low, step in zip(asked, least.last(count), stride, strict=True):
        need_reach(size, low, low + step - 1)
    return asked


@module("torch.nn.ConvTranspose1d")
@record
class ConvTranspose1d(_ConvTranspose):
    """``(N, in_channels, L) -> (N, out_channels, (L - 1)s - 2p + d(k - 1) + output_padding + 1)``"""

    spatial_dims = 1


@module("torch.nn.ConvTranspose2d")
@record
class ConvTranspose2d(_ConvTranspose):
    """``(N, in_channels, H, W) -> (N, out_channels, (H - 1)s - 2p + d(k - 1) + output_padding + 1, …)``"""

    spatial_dims = 2


@module("torch.nn.ConvTranspose3d")
@record
class ConvTranspose3d(_ConvTranspose):
    """``(N, in_channels, D, H, W) -> (N, out_channels, (D - 1)s - 2p + d(k - 1) + output_padding + 1, …)``"""

    spatial_dims = 3


class _Lazy(ModuleRule):
    """A layer that takes as many channels as its first input has."""

    takes_parameters_dtype = ("input",)
    eager: ClassVar[type[_Conv | _ConvTranspose]]

    def _built(self, channels: Dim = UNKNOWN) -> _Conv | _ConvTranspose:
        return self.eager(in_channels=channels, **{f.name: getattr(self, f.name) for f in fields(self)})

    def _fit(self, input: TensorType) -> _Conv | _ConvTranspose:
        """The layer that the first input makes of this one."""
        _, channels, _ = split_spatial(input, self.eager.spatial_dims)
        layer = self._built(channels)
        layer.check()
        return layer

    def check(self) -> None:
        # torch looks at the channels only when the first input is there
        self.eager(
            **{f.name: getattr(self, f.name) for f in fields(self)} | {"in_channels": 0, "out_channels": 0}
        ).check()

    def attributes(self) -> Mapping[str, Value]:
        return self._built().attributes()


@record
class _LazyConv(_Lazy):
    out_channels: Value
    kernel_size: Value
    stride: Value = 1
    padding: Value = 0
    dilation: Value = 1
    groups: Value = 1
    bias: Value = True
    padding_mode: Value = "zeros"
    device: Value = None
    dtype: Value = None

    def forward(self, input: TensorType) -> TensorType:
        return self._fit(input).forward(input)


@record
class _LazyConvTranspose(_Lazy):
    out_channels: Value
    kernel_size: Value
    stride: Value = 1
    padding: Value = 0
    output_padding: Value = 0
    groups: Value = 1
    bias: Value = True
    dilation: Value = 1
    padding_mode: Value = "zeros"
    device: Value = None
    dtype: Value = None

    def forward(self, input: TensorType, output_size: Value = None) -> TensorType:
        layer = self._fit(input)
        assert isinstance(layer, _ConvTranspose)
        return layer.forward(input, output_size)


@module("torch.nn.LazyConv1d")
@record
class LazyConv1d(_LazyConv):
    """``(N, C, L) -> (N, out_channels, …)`` as `Conv1d`, whatever C is"""

    eager = Conv1d


@module("torch.nn.LazyConv2d")
@record
class LazyConv2d(_LazyConv):
    """``(N, C, H, W) -> (N, out_channels, …)`` as `Conv2d`, whatever C is"""

    eager = Conv2d


@module("torch.nn.LazyConv3d")
@record
class LazyConv3d(_LazyConv):
    """``(N, C, D, H, W) -> (N, out_channels, …)`` as `Conv3d`, whatever C is"""

    eager = Conv3d


@module("torch.nn.LazyConvTranspose1d")
@record
class LazyConvTranspose1d(_LazyConvTranspose):
    """``(N, C, L) -> (N, out_channels, …)`` as `ConvTranspose1d`, whatever C is"""

    eager = ConvTranspose1d


@module("torch.nn.LazyConvTranspose2d")
@record
class LazyConvTranspose2d(_LazyConvTranspose):
    """``(N, C, H, W) -> (N, out_channels, …)`` as `ConvTranspose2d`, whatever C is"""

    eager = ConvTranspose2d


@module("torch.nn.LazyConvTranspose3d")
@record
class LazyConvTranspose3d(_LazyConvTranspose):
    """``(N, C, D, H, W) -> (N, out_channels, …)`` as `ConvTranspose3d`, whatever C is"""

    eager = ConvTranspose3d


__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]
