"""The pooling layers of ``torch.nn``."""

from __future__ import annotations

from typing import ClassVar

from simpletorch.rules.common.results import flagged_indices
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks import pooling
from simpletorch.rules.functions.networks.pooling import pool


@record
class _MaxPool(ModuleRule):
    spatial_dims: ClassVar[int]

    kernel_size: Value
    stride: Value = None
    padding: Value = 0
    dilation: Value = 1
    return_indices: Value = False
    ceil_mode: Value = False

    def forward(self, input: TensorType) -> Value:
        shape = pool(
            self.spatial_dims, input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode
        )
        return flagged_indices(TensorType(shape, input.dtype), self.return_indices)


@module("torch.nn.MaxPool1d")
@record
class MaxPool1d(_MaxPool):
    """``(N, C, L) -> (N, C, (L + 2p - d(k - 1) - 1)//s + 1)``"""

    spatial_dims = 1


@module("torch.nn.MaxPool2d")
@record
class MaxPool2d(_MaxPool):
    """``(N, C, H, W) -> (N, C, (H + 2p - d(k - 1) - 1)//s + 1, …)``"""

    spatial_dims = 2


@module("torch.nn.MaxPool3d")
@record
class MaxPool3d(_MaxPool):
    """``(N, C, D, H, W) -> (N, C, (D + 2p - d(k - 1) - 1)//s + 1, …)``"""

    spatial_dims = 3


@module("torch.nn.AvgPool1d")
@record
class AvgPool1d(ModuleRule):
    """``(N, C, L) -> (N, C, (L + 2p - k)//s + 1)``"""

    kernel_size: Value
    stride: Value = None
    padding: Value = 0
    ceil_mode: Value = False
    count_include_pad: Value = True

    def forward(self, input: TensorType) -> TensorType:
        return pooling.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, True)


@module("torch.nn.AvgPool2d")
@record
class AvgPool2d(ModuleRule):
    """``(N, C, H, W) -> (N, C, (H + 2p - k)//s + 1, …)``"""

    kernel_size: Value
    stride: Value = None
    padding: Value = 0
    ceil_mode: Value = False
    count_include_pad: Value = True
    divisor_override: Value = None

    def forward(self, input: TensorType) -> TensorType:
        return pooling.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, True, self.divisor_override
        )


@module("torch.nn.AvgPool3d")
@record
class AvgPool3d(ModuleRule):
    """``(N, C, D, H, W) -> (N, C, (D + 2p - k)//s + 1, …)``"""

    kernel_size: Value
    stride: Value = None
    padding: Value = 0
    ceil_mode: Value = False
    count_include_pad: Value = True
    divisor_override: Value = None

    def forward(self, input: TensorType) -> TensorType:
        return pooling.avg_pool3d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, True, self.divisor_override
        )


@module("torch.nn.LPPool1d")
@record
class LPPool1d(ModuleRule):
    """``(N, C, L) -> (N, C, (L - k)//s + 1)``"""

    norm_type: Value
    kernel_size: Value
    stride: Value = None
    ceil_mode: Value = False

    def forward(self, input: TensorType) -> TensorType:
        return pooling.lp_pool1d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


@module("torch.nn.LPPool2d")
@record
class LPPool2d(ModuleRule):
    """``(N, C, H, W) -> (N, C, (H - k)//s + 1, …)``"""

    norm_type: Value
    kernel_size: Value
    stride: Value = None
    ceil_mode: Value = False

    def forward(self, input: TensorType) -> TensorType:
        return pooling.lp_pool2d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


@module("torch.nn.LPPool3d")
@record
class LPPool3d(ModuleRule):
    """``(N, C, D, H, W) -> (N, C, (D - k)//s + 1, …)``"""

    norm_type: Value
    kernel_size: Value
    stride: Value = None
    ceil_mode: Value = False

    def forward(self, input: TensorType) -> TensorType:
        return pooling.lp_pool3d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]
