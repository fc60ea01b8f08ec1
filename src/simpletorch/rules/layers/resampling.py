"""Upsampling, and pixel and channel shuffles, as layers."""

from __future__ import annotations

from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks.resampling import channel_shuffle, interpolate, pixel_shuffle, pixel_unshuffle


@module("torch.nn.Upsample")
@record
class Upsample(ModuleRule):
    """``(N, C, *spatial) -> (N, C, *size) or (N, C, *(scale_factor*spatial))``"""

    size: Value = None
    scale_factor: Value = None
    mode: Value = "nearest"
    align_corners: Value = None
    recompute_scale_factor: Value = None

    def forward(self, input: TensorType) -> TensorType:
        return interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )


@module("torch.nn.UpsamplingNearest2d")
@record
class UpsamplingNearest2d(ModuleRule):
    """``(N, C, H, W) -> (N, C, *size) or (N, C, scale_factor*H, scale_factor*W)``"""

    size: Value = None
    scale_factor: Value = None

    def forward(self, input: TensorType) -> TensorType:
        return interpolate(input, self.size, self.scale_factor, "nearest")


@module("torch.nn.UpsamplingBilinear2d")
@record
class UpsamplingBilinear2d(ModuleRule):
    """``(N, C, H, W) -> (N, C, *size) or (N, C, scale_factor*H, scale_factor*W)``"""

    size: Value = None
    scale_factor: Value = None

    def forward(self, input: TensorType) -> TensorType:
        return interpolate(input, self.size, self.scale_factor, "bilinear", True)


@module("torch.nn.PixelShuffle")
@record
class PixelShuffle(ModuleRule):
    """``(*, C*r**2, H, W) -> (*, C, H*r, W*r)``"""

    upscale_factor: Value

    def forward(self, input: TensorType) -> TensorType:
        return pixel_shuffle(input, self.upscale_factor)


@module("torch.nn.PixelUnshuffle")
@record
class PixelUnshuffle(ModuleRule):
    """``(*, C, H*r, W*r) -> (*, C*r**2, H, W)``"""

    downscale_factor: Value

    def forward(self, input: TensorType) -> TensorType:
        return pixel_unshuffle(input, self.downscale_factor)


@module("torch.nn.ChannelShuffle")
@record
class ChannelShuffle(ModuleRule):
    """``(N, C, *) -> (N, C, *)``"""

    groups: Value

    def forward(self, input: TensorType) -> TensorType:
        return channel_shuffle(input, self.groups)


__all__ = [
    "ChannelShuffle",
    "PixelShuffle",
    "PixelUnshuffle",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]
