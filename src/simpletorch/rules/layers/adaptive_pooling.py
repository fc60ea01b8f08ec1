"""Pooling to a given size (adaptive, fractional), and the inverse of max pooling, as layers."""

from __future__ import annotations

from typing import ClassVar

from simpletorch.rules.common.conditions import need_at_least, need_one_given
from simpletorch.rules.common.results import flagged_indices
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import Scalar, TensorType, Value
from simpletorch.rules.functions.networks import adaptive_pooling


@module("torch.nn.AdaptiveAvgPool1d")
@record
class AdaptiveAvgPool1d(ModuleRule):
    """``(N, C, L) -> (N, C, *output_size)``"""

    output_size: Value

    def forward(self, input: TensorType) -> TensorType:
        return adaptive_pooling.adaptive_avg_pool1d(input, self.output_size)


@module("torch.nn.AdaptiveAvgPool2d")
@record
class AdaptiveAvgPool2d(ModuleRule):
    """``(N, C, H, W) -> (N, C, *output_size)``"""

    output_size: Value

    def forward(self, input: TensorType) -> TensorType:
        return adaptive_pooling.adaptive_avg_pool2d(input, self.output_size)


@module("torch.nn.AdaptiveAvgPool3d")
@record
class AdaptiveAvgPool3d(ModuleRule):
    """``(N, C, D, H, W) -> (N, C, *output_size)``"""

    output_size: Value

    def forward(self, input: TensorType) -> TensorType:
        return adaptive_pooling.adaptive_avg_pool3d(input, self.output_size)


@module("torch.nn.AdaptiveMaxPool1d")
@record
class AdaptiveMaxPool1d(ModuleRule):
    """``(N, C, L) -> (N, C, *output_size)``"""

    output_size: Value
    return_indices: Value = False

    def forward(self, input: TensorType) -> Value:
        return adaptive_pooling.adaptive_max_pool1d(input, self.output_size, self.return_indices)


@module("torch.nn.AdaptiveMaxPool2d")
@record
class AdaptiveMaxPool2d(ModuleRule):
    """``(N, C, H, W) -> (N, C, *output_size)``"""

    output_size: Value
    return_indices: Value = False

    def forward(self, input: TensorType) -> Value:
        return adaptive_pooling.adaptive_max_pool2d(input, self.output_size, self.return_indices)


@module("torch.nn.AdaptiveMaxPool3d")
@record
class AdaptiveMaxPool3d(ModuleRule):
    """``(N, C, D, H, W) -> (N, C, *output_size)``"""

    output_size: Value
    return_indices: Value = False

    def forward(self, input: TensorType) -> Value:
        return adaptive_pooling.adaptive_max_pool3d(input, self.output_size, self.return_indices)


@record
class _FractionalMaxPool(ModuleRule):
    spatial_dims: ClassVar[int]

    kernel_size: Value
    output_size: Value = None
    output_ratio: Value = None
    return_indices: Value = False

    def check(self) -> None:
        need_one_given(output_size=self.output_size, output_ratio=self.output_ratio)
        for ratio in self.output_ratio if isinstance(self.output_ratio, tuple) else (self.output_ratio,):
            if isinstance(ratio, int | float) and not 0 < ratio < 1:
                raise Mismatch(f"output_ratio is {ratio}, but it must be between 0 and 1", got=ratio)

    def forward(self, input: TensorType) -> Value:
        ratio = self.output_ratio
        if isinstance(ratio, float | Scalar):
            ratio = (ratio,) * self.spatial_dims
        out = adaptive_pooling.fractional(self.spatial_dims, input, self.kernel_size, self.output_size, ratio)
        return flagged_indices(out, self.return_indices)


@module("torch.nn.FractionalMaxPool2d")
@record
class FractionalMaxPool2d(_FractionalMaxPool):
    """``(N, C, H, W) -> (N, C, *output_size)``"""

    spatial_dims = 2


@module("torch.nn.FractionalMaxPool3d")
@record
class FractionalMaxPool3d(_FractionalMaxPool):
    """``(N, C, D, H, W) -> (N, C, *output_size)``"""

    spatial_dims = 3

    def check(self) -> None:
        need_at_least("kernel_size", self.kernel_size, 1)
        super().check()


@record
class _MaxUnpool(ModuleRule):
    spatial_dims: ClassVar[int]

    kernel_size: Value
    stride: Value = None
    padding: Value = 0

    def forward(  # type: ignore[override]  # a module rule declares its own operands
        self, input: TensorType, indices: TensorType, output_size: Value = None
    ) -> TensorType:
        return adaptive_pooling.unpool(
            self.spatial_dims, input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


@module("torch.nn.MaxUnpool1d")
@record
class MaxUnpool1d(_MaxUnpool):
    """``(N, C, L), indices (N, C, L) -> (N, C, (L - 1)s - 2p + k)``"""

    spatial_dims = 1


@module("torch.nn.MaxUnpool2d")
@record
class MaxUnpool2d(_MaxUnpool):
    """``(N, C, H, W), indices (N, C, H, W) -> (N, C, (H - 1)s - 2p + k, …)``"""

    spatial_dims = 2


@module("torch.nn.MaxUnpool3d")
@record
class MaxUnpool3d(_MaxUnpool):
    """``(N, C, D, H, W), indices (N, C, D, H, W) -> (N, C, (D - 1)s - 2p + k, …)``"""

    spatial_dims = 3


__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]
