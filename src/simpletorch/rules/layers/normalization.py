"""The normalisation layers of ``torch.nn``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_divisible,
    need_float_or_complex,
    need_min_rank,
    need_rank,
)
from simpletorch.rules.common.parameters import both, flagged, parameter
from simpletorch.rules.common.positions import of_rank
from simpletorch.rules.common.spatial import LETTERS, need_channels
from simpletorch.rules.core.dtype import INT64
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks import normalization
from simpletorch.rules.functions.networks.normalization import normalized_dims
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Shape


def _statistics(size: Dim, affine: Value, bias: Value, tracked: Value) -> Mapping[str, Value]:
    return {
        "weight": flagged(affine, parameter(size)),
        "bias": flagged(both(affine, bias), parameter(size)),
        "running_mean": flagged(tracked, TensorType(Shape.of(size))),
        "running_var": flagged(tracked, TensorType(Shape.of(size))),
        "num_batches_tracked": flagged(tracked, TensorType(Shape(()), INT64)),
    }


@record
class _BatchNorm(ModuleRule):
    ranks: ClassVar[tuple[int, ...]]
    meaning: ClassVar[str]
    spatial_dims: ClassVar[int]

    num_features: Value
    affine: Value = True
    track_running_stats: Value = True
    device: Value = None
    dtype: Value = None
    bias: Value = True

    def check(self) -> None:
        need_at_least("num_features", as_dim(self.num_features), 0)

    def forward(self, input: TensorType) -> TensorType:
        hint = ("input.unsqueeze(0) adds the batch dim", "input.unsqueeze(1) adds the channel dim")
        need_rank("input", input, *self.ranks, meaning=self.meaning, hint=hint)
        if self.affine is True or self.track_running_stats is True:
            need_float_or_complex("input", input, why="the weights are floats")
            count = self.spatial_dims if input.shape.rank != 2 else 0
            need_channels(input, input.shape.dim(1), as_dim(self.num_features), "the layer takes", count)
        shape = input.shape
        if len(self.ranks) == 1 and not shape.is_exact:
            shape = of_rank(shape, self.ranks[0])
        return TensorType(_with_channels(shape, as_dim(self.num_features)), input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        return _statistics(as_dim(self.num_features), self.affine, self.bias, self.track_running_stats)


def _with_channels(shape: Shape, channels: Dim) -> Shape:
    """The shape with dim 1 filled in where it is unknown."""
    if shape.is_exact and len(shape.items) > 1 and shape.items[1] is UNKNOWN:
        return Shape((shape.items[0], channels, *shape.items[2:]))
    return shape


@module("torch.nn.BatchNorm1d")
@record
class BatchNorm1d(_BatchNorm):
    """``(N, num_features) or (N, num_features, L) -> the same``"""

    ranks = (2, 3)
    meaning = "(N, C) or (N, C, L)"
    spatial_dims = 1


@module("torch.nn.BatchNorm2d")
@record
class BatchNorm2d(_BatchNorm):
    """``(N, num_features, H, W) -> (N, num_features, H, W)``"""

    ranks = (4,)
    meaning = "(N, C, H, W)"
    spatial_dims = 2


@module("torch.nn.BatchNorm3d")
@record
class BatchNorm3d(_BatchNorm):
    """``(N, num_features, D, H, W) -> (N, num_features, D, H, W)``"""

    ranks = (5,)
    meaning = "(N, C, D, H, W)"
    spatial_dims = 3


@module("torch.nn.SyncBatchNorm")
@record
class SyncBatchNorm(ModuleRule):
    """``(N, num_features, *) -> (N, num_features, *)``"""

    num_features: Value
    affine: Value = True
    track_running_stats: Value = True
    device: Value = None
    dtype: Value = None
    bias: Value = True

    def check(self) -> None:
        need_at_least("num_features", as_dim(self.num_features), 0)

    def forward(self, input: TensorType) -> TensorType:
        need_min_rank("input", input, 2, meaning="(N, C, ...)")
        need_float_or_complex("input", input, why="the weights are floats")
        if self.affine is True or self.track_running_stats is True:
            count = max((input.shape.rank or 2) - 2, 0)
            need_channels(input, input.shape.dim(1), as_dim(self.num_features), "the layer takes", min(count, 3))
        return TensorType(_with_channels(input.shape, as_dim(self.num_features)), input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        return _statistics(as_dim(self.num_features), self.affine, self.bias, self.track_running_stats)


@record
class _InstanceNorm(ModuleRule):
    spatial_dims: ClassVar[int]

    num_features: Value
    affine: Value = False
    track_running_stats: Value = False
    device: Value = None
    dtype: Value = None
    bias: Value = True

    def check(self) -> None:
        need_at_least("num_features", as_dim(self.num_features), 0)

    def forward(self, input: TensorType) -> TensorType:
        count = self.spatial_dims
        letters = LETTERS[count]
        need_rank("input", input, count + 1, count + 2, meaning=f"(N, C, {letters}) or (C, {letters})")
        need_float_or_complex("input", input, why="the statistics are floats")
        if self.affine is True or self.track_running_stats is True:  # else torch only warns
            channels = input.shape.dim(-count - 1)
            need_channels(input, channels, as_dim(self.num_features), "the layer takes", count)
        return TensorType(input.shape, input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        return _statistics(as_dim(self.num_features), self.affine, self.bias, self.track_running_stats)


@module("torch.nn.InstanceNorm1d")
@record
class InstanceNorm1d(_InstanceNorm):
    """``(N, num_features, L) or (num_features, L) -> the same``"""

    spatial_dims = 1


@module("torch.nn.InstanceNorm2d")
@record
class InstanceNorm2d(_InstanceNorm):
    """``(N, num_features, H, W) or (num_features, H, W) -> the same``"""

    spatial_dims = 2


@module("torch.nn.InstanceNorm3d")
@record
class InstanceNorm3d(_InstanceNorm):
    """``(N, num_features, D, H, W) or (num_features, D, H, W) -> the same``"""

    spatial_dims = 3


@record
class _LazyNorm(ModuleRule):
    eager: ClassVar[type[_BatchNorm | _InstanceNorm]]

    affine: Value = True
    track_running_stats: Value = True
    device: Value = None
    dtype: Value = None
    bias: Value = True

    def forward(self, input: TensorType) -> TensorType:
        return self.eager(UNKNOWN, self.affine, self.track_running_stats, bias=self.bias).forward(input)

    def attributes(self) -> Mapping[str, Value]:
        return _statistics(UNKNOWN, self.affine, self.bias, self.track_running_stats)


@module("torch.nn.LazyBatchNorm1d")
@record
class LazyBatchNorm1d(_LazyNorm):
    """``(N, C) or (N, C, L) -> the same``, whatever C is"""

    eager = BatchNorm1d


@module("torch.nn.LazyBatchNorm2d")
@record
class LazyBatchNorm2d(_LazyNorm):
    """``(N, C, H, W) -> (N, C, H, W)``, whatever C is"""

    eager = BatchNorm2d


@module("torch.nn.LazyBatchNorm3d")
@record
class LazyBatchNorm3d(_LazyNorm):
    """``(N, C, D, H, W) -> (N, C, D, H, W)``, whatever C is"""

    eager = BatchNorm3d


@module("torch.nn.LazyInstanceNorm1d")
@record
class LazyInstanceNorm1d(_LazyNorm):
    """``(N, C, L) or (C, L) -> the same``, whatever C is"""

    eager = InstanceNorm1d


@module("torch.nn.LazyInstanceNorm2d")
@record
class LazyInstanceNorm2d(_LazyNorm):
    """``(N, C, H, W) or (C, H, W) -> the same``, whatever C is"""

    eager = InstanceNorm2d


@module("torch.nn.LazyInstanceNorm3d")
@record
class LazyInstanceNorm3d(_LazyNorm):
    """``(N, C, D, H, W) or (C, D, H, W) -> the same``, whatever C is"""

    eager = InstanceNorm3d


def _affine_shape(normalized_shape: Value) -> Shape:
    try:
        return Shape(normalized_dims(normalized_shape))
    except CannotTell:
        return Shape.of(ANY_REST)


def _affine_parameter(normalized_shape: Value, present: Value) -> Value:
    return flagged(present, parameter(*_affine_shape(normalized_shape).items))


@module("torch.nn.LayerNorm")
@record
class LayerNorm(ModuleRule):
    """``(*, *normalized_shape) -> (*, *normalized_shape)``"""

    normalized_shape: Value
    elementwise_affine: Value = True
    bias: Value = True
    device: Value = None
    dtype: Value = None

    def check(self) -> None:
        need_at_least("normalized_shape", self.normalized_shape, 0)

    def forward(self, input: TensorType) -> TensorType:
        need_float_or_complex("input", input, why="the layer takes floats")
        return normalization.over_trailing(input, self.normalized_shape)

    def attributes(self) -> Mapping[str, Value]:
        return {
            "weight": _affine_parameter(self.normalized_shape, self.elementwise_affine),
            "bias": _affine_parameter(self.normalized_shape, both(self.elementwise_affine, self.bias)),
        }


@module("torch.nn.RMSNorm")
@record
class RMSNorm(ModuleRule):
    """``(*, *normalized_shape) -> (*, *normalized_shape)``"""

    normalized_shape: Value
    elementwise_affine: Value = True
    device: Value = None
    dtype: Value = None

    def check(self) -> None:
        need_at_least("normalized_shape", self.normalized_shape, 0)

    def forward(self, x: TensorType) -> TensorType:
        need_float_or_complex("x", x, why="the layer takes floats")
        return normalization.over_trailing(x, self.normalized_shape)

    def attributes(self) -> Mapping[str, Value]:
        return {"weight": _affine_parameter(self.normalized_shape, self.elementwise_affine)}


@module("torch.nn.GroupNorm")
@record
class GroupNorm(ModuleRule):
    """``(N, num_channels, *) -> (N, num_channels, *)``, the channels in num_groups groups"""

    num_groups: Value
    num_channels: Value
    affine: Value = True
    device: Value = None
    dtype: Value = None
    bias: Value = True

    def check(self) -> None:
        need_at_least("num_channels", as_dim(self.num_channels), 0)
        need_divisible("num_channels", as_dim(self.num_channels), "num_groups", as_dim(self.num_groups))

    def forward(self, input: TensorType) -> TensorType:
        need_float_or_complex("input", input, why="the layer takes floats")
        if self.affine is True and input.shape.min_rank >= 2:
            count = min(max((input.shape.rank or 2) - 2, 0), 3)
            need_channels(input, input.shape.dim(1), as_dim(self.num_channels), "the layer takes", count)
        return normalization.group_norm(input, self.num_groups)

    def attributes(self) -> Mapping[str, Value]:
        size = as_dim(self.num_channels)
        return {
            "weight": flagged(self.affine, parameter(size)),
            "bias": flagged(both(self.affine, self.bias), parameter(size)),
        }


@module("torch.nn.LocalResponseNorm")
@record
class LocalResponseNorm(ModuleRule):
    """``(N, C, *) -> (N, C, *)``"""

    size: Value

    def forward(self, input: TensorType) -> TensorType:
        return normalization.local_response_norm(input, self.size)


@module("torch.nn.CrossMapLRN2d")
@record
class CrossMapLRN2d(ModuleRule):
    """``(N, C, H, W) -> (N, C, H, W)``"""

    size: Value

    def forward(self, input: TensorType) -> TensorType:
        need_rank("input", input, 4, meaning="(N, C, H, W)")
        return TensorType(input.shape, input.dtype)


__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "CrossMapLRN2d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LocalResponseNorm",
    "RMSNorm",
    "SyncBatchNorm",
]
