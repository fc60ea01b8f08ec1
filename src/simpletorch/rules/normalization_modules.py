"""The normalisation layers of ``torch.nn``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from simpletorch.rules import normalization
from simpletorch.rules.dtype import INT64
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.normalization import check_group_count, normalized_dims
from simpletorch.rules.registry import ModuleRule, module, record
from simpletorch.rules.spatial import as_dim, check_at_least, check_channels, need_float, need_ranks
from simpletorch.rules.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Shape

_LETTERS = ("", "L", "H, W", "D, H, W")


def _vector(size: Dim, present: Value, *, is_parameter: bool = True) -> Value:
    """A parameter or buffer of one number per channel, None where a flag left it out, unknown if the flag is."""
    if not isinstance(present, bool):
        return ANYTHING
    return TensorType(Shape.of(size), is_parameter=is_parameter) if present else None


def _both(a: Value, b: Value) -> Value:
    """``a and b`` of flags that may be unknown."""
    if a is False or b is False:
        return False
    return True if a is True and b is True else ANYTHING


def _statistics(size: Dim, affine: Value, bias: Value, tracked: Value) -> Mapping[str, Value]:
    count = TensorType(Shape(()), INT64)
    return {
        "weight": _vector(size, affine),
        "bias": _vector(size, _both(affine, bias)),
        "running_mean": _vector(size, tracked, is_parameter=False),
        "running_var": _vector(size, tracked, is_parameter=False),
        "num_batches_tracked": (count if tracked else None) if isinstance(tracked, bool) else ANYTHING,
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
        check_at_least("num_features", (as_dim(self.num_features),), 0)

    def forward(self, input: TensorType) -> TensorType:
        need_ranks("input", input.shape, *self.ranks, meaning=self.meaning)
        if self.affine is True or self.track_running_stats is True:
            need_float(input)
            count = self.spatial_dims if input.shape.rank != 2 else 0
            check_channels(input, input.shape.dim(1), as_dim(self.num_features), "the layer takes", count)
        shape = input.shape
        if len(self.ranks) == 1 and not shape.is_exact:
            shape = _of_rank(shape, self.ranks[0])
        return TensorType(_with_channels(shape, as_dim(self.num_features)), input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        return _statistics(as_dim(self.num_features), self.affine, self.bias, self.track_running_stats)


def _of_rank(shape: Shape, rank: int) -> Shape:
    """The exact shape that a shape of unknown rank must be, given the rank."""
    dims = [UNKNOWN if i < rank - len(shape.tail) else shape.dim(i - rank) for i in range(rank)]
    return Shape((*shape.head, *dims[len(shape.head) :]))


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
        check_at_least("num_features", (as_dim(self.num_features),), 0)

    def forward(self, input: TensorType) -> TensorType:
        if input.shape.rank is not None and input.shape.rank < 2:
            raise Mismatch(f"input must have at least 2 dims (N, C, ...), but it is {input.shape}")
        need_float(input)
        if self.affine is True or self.track_running_stats is True:
            count = max((input.shape.rank or 2) - 2, 0)
            check_channels(input, input.shape.dim(1), as_dim(self.num_features), "the layer takes", min(count, 3))
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
        check_at_least("num_features", (as_dim(self.num_features),), 0)

    def forward(self, input: TensorType) -> TensorType:
        count = self.spatial_dims
        letters = _LETTERS[count]
        need_ranks("input", input.shape, count + 1, count + 2, meaning=f"(N, C, {letters}) or (C, {letters})")
        need_float(input, of="the statistics are floats")
        if self.affine is True or self.track_running_stats is True:  # else torch only warns
            channels = input.shape.dim(-count - 1)
            check_channels(input, channels, as_dim(self.num_features), "the layer takes", count)
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


def _check_normalized_shape(normalized_shape: Value) -> None:
    check_at_least("normalized_shape", normalized_dims(normalized_shape), 0, normalized_shape)


def _affine_parameter(normalized_shape: Value, present: Value) -> Value:
    if not isinstance(present, bool):
        return ANYTHING
    return TensorType(_affine_shape(normalized_shape), is_parameter=True) if present else None


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
        _check_normalized_shape(self.normalized_shape)

    def forward(self, input: TensorType) -> TensorType:
        need_float(input, of="the layer takes floats")
        return normalization.over_trailing(input, self.normalized_shape)

    def attributes(self) -> Mapping[str, Value]:
        return {
            "weight": _affine_parameter(self.normalized_shape, self.elementwise_affine),
            "bias": _affine_parameter(self.normalized_shape, _both(self.elementwise_affine, self.bias)),
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
        _check_normalized_shape(self.normalized_shape)

    def forward(self, x: TensorType) -> TensorType:
        need_float(x, name="x", of="the layer takes floats")
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
        check_at_least("num_channels", (as_dim(self.num_channels),), 0)
        check_group_count(as_dim(self.num_channels), as_dim(self.num_groups), "num_channels")

    def forward(self, input: TensorType) -> TensorType:
        need_float(input, of="the layer takes floats")
        if self.affine is True and input.shape.min_rank >= 2:
            count = min(max((input.shape.rank or 2) - 2, 0), 3)
            check_channels(input, input.shape.dim(1), as_dim(self.num_channels), "the layer takes", count)
        return normalization.group_norm(input, self.num_groups)

    def attributes(self) -> Mapping[str, Value]:
        size = as_dim(self.num_channels)
        return {"weight": _vector(size, self.affine), "bias": _vector(size, _both(self.affine, self.bias))}


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
        need_ranks("input", input.shape, 4, meaning="(N, C, H, W)")
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
