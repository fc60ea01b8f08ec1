"""The padding layers of ``torch.nn``."""

from __future__ import annotations

from typing import ClassVar

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks.padding import need_padded_dims, pad_by_mode


@record
class _Pad(ModuleRule):
    spatial_dims: ClassVar[int]
    mode: ClassVar[str]

    padding: Value

    def forward(self, input: TensorType) -> TensorType:
        amounts = self.padding
        if not isinstance(amounts, tuple):
            amounts = (as_dim(amounts),) * (2 * self.spatial_dims)
        if self.mode == "circular":
            need_padded_dims(input, self.spatial_dims, "circular")
        return pad_by_mode(input, amounts, self.mode)


@module("torch.nn.ConstantPad1d")
@record
class ConstantPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "constant"


@module("torch.nn.ConstantPad2d")
@record
class ConstantPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "constant"


@module("torch.nn.ConstantPad3d")
@record
class ConstantPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "constant"


@module("torch.nn.ZeroPad1d")
@record
class ZeroPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "constant"


@module("torch.nn.ZeroPad2d")
@record
class ZeroPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "constant"


@module("torch.nn.ZeroPad3d")
@record
class ZeroPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "constant"


@module("torch.nn.ReflectionPad1d")
@record
class ReflectionPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "reflect"


@module("torch.nn.ReflectionPad2d")
@record
class ReflectionPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "reflect"


@module("torch.nn.ReflectionPad3d")
@record
class ReflectionPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "reflect"


@module("torch.nn.ReplicationPad1d")
@record
class ReplicationPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "replicate"


@module("torch.nn.ReplicationPad2d")
@record
class ReplicationPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "replicate"


@module("torch.nn.ReplicationPad3d")
@record
class ReplicationPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "replicate"


@module("torch.nn.CircularPad1d")
@record
class CircularPad1d(_Pad):
    """``(*, W) -> (*, left + W + right)``"""

    spatial_dims = 1
    mode = "circular"


@module("torch.nn.CircularPad2d")
@record
class CircularPad2d(_Pad):
    """``(*, H, W) -> (*, top + H + bottom, left + W + right)``"""

    spatial_dims = 2
    mode = "circular"


@module("torch.nn.CircularPad3d")
@record
class CircularPad3d(_Pad):
    """``(*, D, H, W) -> (*, front + D + back, top + H + bottom, left + W + right)``"""

    spatial_dims = 3
    mode = "circular"


__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]
