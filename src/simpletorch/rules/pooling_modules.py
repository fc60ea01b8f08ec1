"""The pooling layers of ``torch.nn``."""

from __future__ import annotations

from typing import ClassVar

from simpletorch.rules import adaptive_pooling, pooling
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.pooling import pool, with_indices
from simpletorch.rules.registry import ModuleRule, module, record
from simpletorch.rules.spatial import as_dim, check_at_least
from simpletorch.rules.values import ANYTHING, Scalar, TensorType, Value


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
        return with_indices(TensorType(shape, input.dtype), self.return_indices)


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
        if self.output_size is None and self.output_ratio is None:
            raise Mismatch("neither output_size nor output_ratio is given")
        if not any(v is None or v is ANYTHING for v in (self.output_size, self.output_ratio)):
            raise Mismatch("both output_size and output_ratio are given; give one")
        for ratio in self.output_ratio if isinstance(self.output_ratio, tuple) else (self.output_ratio,):
            if isinstance(ratio, int | float) and not 0 < ratio < 1:
                raise Mismatch(f"output_ratio is {ratio}, but it must be between 0 and 1", got=ratio)

    def forward(self, input: TensorType) -> Value:
        ratio = self.output_ratio
        if isinstance(ratio, float | Scalar):
            ratio = (ratio,) * self.spatial_dims
        out = adaptive_pooling.fractional(self.spatial_dims, input, self.kernel_size, self.output_size, ratio)
        return with_indices(out, self.return_indices)


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
        sizes = self.kernel_size if isinstance(self.kernel_size, tuple) else (self.kernel_size,)
        check_at_least("kernel_size", tuple(as_dim(v) for v in sizes), 1, self.kernel_size)
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
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]
