"""Resampling images: interpolation, sampling at a grid, pixel and channel shuffles."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_divisible,
    need_entries,
    need_float_or_complex,
    need_min_rank,
    need_one_given,
    need_one_of,
    need_rank,
    need_size,
)
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.common.spatial import scaled
from simpletorch.rules.core.cards import MOVED, Card
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Item, Shape, at_least

_PLAIN_MODES: Final = ("nearest", "nearest-exact", "area")
_MODE_DIMS: Final[Mapping[str, tuple[int, ...]]] = MappingProxyType(
    dict.fromkeys(_PLAIN_MODES, (3, 4, 5))
    | {"linear": (3,), "bilinear": (4,), "bicubic": (4,), "lanczos": (4,), "trilinear": (5,)}
)
_MEANING: Final = {3: "(N, C, L)", 4: "(N, C, H, W)", 5: "(N, C, D, H, W)"}


def _given(value: Value) -> bool:
    """Whether an optional argument is surely given."""
    return value is not None and value is not ANYTHING


def _need_modes(size: Value, scale_factor: Value, mode: Value, align_corners: Value, recompute: Value) -> None:
    need_one_given(size=size, scale_factor=scale_factor)
    need_one_of("mode", mode, *_MODE_DIMS)
    if isinstance(mode, str) and mode in _PLAIN_MODES and _given(align_corners):
        raise Mismatch(f"mode={mode!r} takes no align_corners", hint="leave align_corners out", got=align_corners)
    if recompute is True and _given(size):
        raise Mismatch("recompute_scale_factor=True needs scale_factor, but size is given")


def _new_sizes(size: Value, scale_factor: Value, spatial: tuple[Dim, ...], least: int) -> tuple[Dim, ...]:
    name, value = ("size", size) if size is not None else ("scale_factor", scale_factor)
    if value is ANYTHING or (_given(size) is False and _given(scale_factor) is False):
        return (UNKNOWN,) * len(spatial)
    entries = value if isinstance(value, tuple) else (value,) * len(spatial)
    need_entries(name, entries, len(spatial))
    if name == "size":
        out = tuple(as_dim(v) for v in entries)
    else:
        out = tuple(scaled(own, v) for own, v in zip(spatial, entries, strict=True))
    for own, new in zip(spatial, out, strict=True):
        if at_least(new, least) is False:
            raise Mismatch(f"a dim of size {own} would become {new}; it must be at least {least}", got=new)
    return out


def _rank_told(size: Value, scale_factor: Value, mode: Value) -> int | None:
    """The number of dims that the arguments imply, for an input of unknown rank."""
    for value in (size, scale_factor):
        if isinstance(value, tuple):
            return len(value) + 2
    ranks = _MODE_DIMS.get(mode, ()) if isinstance(mode, str) else ()
    return ranks[0] if len(ranks) == 1 else None


@rule("torch.nn.functional.interpolate")
def interpolate(
    input: TensorType,
    size: Value = None,
    scale_factor: Value = None,
    mode: Value = "nearest",
    align_corners: Value = None,
    recompute_scale_factor: Value = None,
    antialias: Value = False,
) -> TensorType:
    """``(N, C, *spatial) -> (N, C, *size) or (N, C, *(scale_factor*spatial))``"""
    _need_modes(size, scale_factor, mode, align_corners, recompute_scale_factor)
    ranks = _MODE_DIMS[mode] if isinstance(mode, str) else (3, 4, 5)
    need_rank("input", input, *ranks, meaning=", ".join(_MEANING[r] for r in ranks))
    _need_antialias_mode(antialias, mode, align_corners, input.shape.rank)
    rank = input.shape.rank or _rank_told(size, scale_factor, mode)
    if rank is None:
        return TensorType(Shape((*input.shape.head[:2], ANY_REST)), input.dtype)
    known = input.shape.is_exact
    lead: tuple[Item, ...] = tuple(
        input.shape.dim(i) if known or i < len(input.shape.head) else UNKNOWN for i in (0, 1)
    )
    if not known:
        spatial = tuple(input.shape.dim(i - rank) for i in range(2, rank))
    else:
        spatial = input.shape.dims[2:]
    # area is adaptive pooling, which may give an empty result
    least = 1 if isinstance(mode, str) and mode != "area" else 0
    return TensorType(Shape((*lead, *_new_sizes(size, scale_factor, spatial, least))), input.dtype)


def _need_antialias_mode(antialias: Value, mode: Value, align_corners: Value, rank: int | None) -> None:
    if not isinstance(mode, str):
        return
    if antialias is True and (mode not in ("bilinear", "bicubic", "lanczos") or rank not in (None, 4)):
        raise Mismatch("antialias needs a 4-dim input and mode 'bilinear', 'bicubic' or 'lanczos'", got=mode)
    if mode == "lanczos" and (antialias is False or align_corners is True):
        raise Mismatch("mode='lanczos' needs antialias=True and no align_corners", got=antialias)


@rule("torch.nn.functional.upsample")
def upsample(
    input: TensorType,
    size: Value = None,
    scale_factor: Value = None,
    mode: Value = "nearest",
    align_corners: Value = None,
) -> TensorType:
    """``(N, C, *spatial) -> (N, C, *size) or (N, C, *(scale_factor*spatial))``"""
    return interpolate(input, size, scale_factor, mode, align_corners)


@rule("torch.nn.functional.upsample_nearest")
def upsample_nearest(input: TensorType, size: Value = None, scale_factor: Value = None) -> TensorType:
    """``(N, C, *spatial) -> (N, C, *size) or (N, C, *(scale_factor*spatial))``"""
    return interpolate(input, size, scale_factor, "nearest")


@rule("torch.nn.functional.upsample_bilinear")
def upsample_bilinear(input: TensorType, size: Value = None, scale_factor: Value = None) -> TensorType:
    """``(N, C, H, W) -> (N, C, *size) or (N, C, scale_factor*H, scale_factor*W)``"""
    return interpolate(input, size, scale_factor, "bilinear", True)


@rule("torch.nn.functional.pixel_shuffle", "torch.pixel_shuffle", card=Card(numbers=MOVED))
def pixel_shuffle(input: TensorType, upscale_factor: Value) -> TensorType:
    """``(*, C*r**2, H, W) -> (*, C, H*r, W*r)``"""
    need_min_rank("input", input, 3, meaning="(*, C, H, W)")
    r = as_dim(upscale_factor)
    need_at_least("upscale_factor", r, 1)
    c, h, w = input.shape.last(3)
    need_divisible("the number of channels", c, "upscale_factor**2", r * r)
    return TensorType(Shape((*input.shape.drop_last(3).items, c // (r * r), h * r, w * r)), input.dtype)


@rule("torch.nn.functional.pixel_unshuffle", "torch.pixel_unshuffle", card=Card(numbers=MOVED))
def pixel_unshuffle(input: TensorType, downscale_factor: Value) -> TensorType:
    """``(*, C, H*r, W*r) -> (*, C*r**2, H, W)``"""
    need_min_rank("input", input, 3, meaning="(*, C, H, W)")
    r = as_dim(downscale_factor)
    need_at_least("downscale_factor", r, 1)
    c, h, w = input.shape.last(3)
    need_divisible("the height", h, "downscale_factor", r)
    need_divisible("the width", w, "downscale_factor", r)
    return TensorType(Shape((*input.shape.drop_last(3).items, c * r * r, h // r, w // r)), input.dtype)


@rule("torch.nn.functional.channel_shuffle", "torch.channel_shuffle", card=Card(numbers=MOVED))
@rule("torch.nn.functional.native_channel_shuffle", "torch.native_channel_shuffle")
def channel_shuffle(input: TensorType, groups: Value) -> TensorType:
    """``(N, C, *) -> (N, C, *)``"""
    need_min_rank("input", input, 3, meaning="(N, C, *)")
    need_at_least("groups", as_dim(groups), 1)
    need_divisible("the number of channels", input.shape.dim(1), "groups", as_dim(groups))
    return TensorType(input.shape, input.dtype)


def _sampled(input: TensorType, grid: TensorType, ranks: tuple[int, ...]) -> TensorType:
    dtype = same_dtype(("input", input), ("grid", grid))
    need_rank("input", input, *ranks, meaning=", ".join(_MEANING[r] for r in ranks))
    need_rank("grid", grid, *ranks)
    rank = input.shape.rank or grid.shape.rank
    if rank is None:
        raise CannotTell
    need_rank("input", input, rank)
    need_rank("grid", grid, rank)
    need_size("the last dim of grid is", grid.shape.dim(-1), "the spatial dims of input are", rank - 2)
    need_size("the batch of grid is", grid.shape.dim(0), "that of input is", input.shape.dim(0))
    batch = input.shape.dim(0) if input.shape.dim(0) is not UNKNOWN else grid.shape.dim(0)
    spatial = [grid.shape.dim(i) if grid.shape.is_exact else grid.shape.dim(i - rank) for i in range(1, rank - 1)]
    return TensorType(Shape((batch, input.shape.dim(1), *spatial)), dtype)


@rule("torch.nn.functional.grid_sample")
def grid_sample(
    input: TensorType,
    grid: TensorType,
    mode: Value = "bilinear",
    padding_mode: Value = "zeros",
    align_corners: Value = None,
) -> TensorType:
    """``(N, C, H, W), grid (N, h, w, 2) -> (N, C, h, w)``; with D likewise"""
    need_one_of("mode", mode, "bilinear", "nearest", "bicubic")
    need_one_of("padding_mode", padding_mode, "zeros", "border", "reflection")
    return _sampled(input, grid, (4,) if mode == "bicubic" else (4, 5))


@rule("torch.grid_sampler")
def grid_sampler(
    input: TensorType, grid: TensorType, interpolation_mode: Value, padding_mode: Value, align_corners: Value
) -> TensorType:
    """``(N, C, H, W), grid (N, h, w, 2) -> (N, C, h, w)``; with D likewise"""
    return _sampled(input, grid, (4, 5))


@rule("torch.grid_sampler_2d")
def grid_sampler_2d(
    input: TensorType, grid: TensorType, interpolation_mode: Value, padding_mode: Value, align_corners: Value
) -> TensorType:
    """``(N, C, H, W), grid (N, h, w, 2) -> (N, C, h, w)``"""
    return _sampled(input, grid, (4,))


@rule("torch.grid_sampler_3d")
def grid_sampler_3d(
    input: TensorType, grid: TensorType, interpolation_mode: Value, padding_mode: Value, align_corners: Value
) -> TensorType:
    """``(N, C, D, H, W), grid (N, d, h, w, 3) -> (N, C, d, h, w)``"""
    return _sampled(input, grid, (5,))


@rule("torch.nn.functional.affine_grid", "torch.affine_grid_generator")
def affine_grid(theta: TensorType, size: Value, align_corners: Value = None) -> TensorType:
    """``theta (N, 2, 3), size (N, C, H, W) -> (N, H, W, 2)``; ``(N, 3, 4), (N, C, D, H, W) -> (N, D, H, W, 3)``"""
    need_float_or_complex("theta", theta)
    if not isinstance(size, tuple):
        raise CannotTell
    need_entries("size", size, 4, 5)
    batch, _, *spatial = (as_dim(v) for v in size)
    need_at_least("size", size, 1)
    count = len(spatial)
    need_rank("theta", theta, 3, meaning=f"(N, {count}, {count + 1})")
    need_size("dim 1 of theta is", theta.shape.dim(-2), "the spatial dims of size are", count)
    need_size("the last dim of theta is", theta.shape.dim(-1), "one more than the spatial dims is", count + 1)
    need_size("the batch of theta is", theta.shape.dim(0), "that of size is", batch)
    return TensorType(Shape.of(batch, *spatial, count), theta.dtype)


__all__ = [
    "affine_grid",
    "channel_shuffle",
    "grid_sample",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "interpolate",
    "pixel_shuffle",
    "pixel_unshuffle",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
