"""Resampling images: interpolation, sampling at a grid, pixel and channel shuffles."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from simpletorch.rules.arguments import same_dtype
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.registry import ModuleRule, module, record, rule
from simpletorch.rules.spatial import as_dim, check_at_least, check_equal, need_ranks, scaled
from simpletorch.rules.values import ANYTHING, TensorType, Value
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


def _check_modes(size: Value, scale_factor: Value, mode: Value, align_corners: Value, recompute: Value) -> None:
    if _given(size) and _given(scale_factor):
        raise Mismatch("both size and scale_factor are given; give one")
    if size is None and scale_factor is None:
        raise Mismatch("neither size nor scale_factor is given")
    if isinstance(mode, str) and mode not in _MODE_DIMS:
        raise Mismatch(f"mode is {mode!r}, but it must be one of {', '.join(map(repr, _MODE_DIMS))}", got=mode)
    if isinstance(mode, str) and mode in _PLAIN_MODES and _given(align_corners):
        raise Mismatch(f"mode={mode!r} takes no align_corners", hint="leave align_corners out", got=align_corners)
    if recompute is True and _given(size):
        raise Mismatch("recompute_scale_factor=True needs scale_factor, but size is given")


def _new_sizes(size: Value, scale_factor: Value, spatial: tuple[Dim, ...], least: int) -> tuple[Dim, ...]:
    name, value = ("size", size) if size is not None else ("scale_factor", scale_factor)
    if value is ANYTHING or (_given(size) is False and _given(scale_factor) is False):
        return (UNKNOWN,) * len(spatial)
    entries = value if isinstance(value, tuple) else (value,) * len(spatial)
    if len(entries) != len(spatial):
        raise Mismatch(
            f"{name} has {len(entries)} entries, but input has {len(spatial)} spatial dims",
            expected=len(spatial),
            got=len(entries),
        )
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
    _check_modes(size, scale_factor, mode, align_corners, recompute_scale_factor)
    ranks = _MODE_DIMS[mode] if isinstance(mode, str) else (3, 4, 5)
    need_ranks("input", input.shape, *ranks, meaning=", ".join(_MEANING[r] for r in ranks))
    _check_antialias(antialias, mode, align_corners, input.shape.rank)
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
    least = 1 if isinstance(mode, str) and mode != "area" else 0
    return TensorType(Shape((*lead, *_new_sizes(size, scale_factor, spatial, least))), input.dtype)


def _check_antialias(antialias: Value, mode: Value, align_corners: Value, rank: int | None) -> None:
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


def _need_image(input: TensorType) -> None:
    if input.shape.rank is not None and input.shape.rank < 3:
        raise Mismatch(f"input must have at least 3 dims (*, C, H, W), but it is {input.shape}", got=input.shape.rank)


def _check_divisible(name: str, size: Dim, divisor: Dim, what: str) -> None:
    if isinstance(size, int) and isinstance(divisor, int) and size % divisor:
        raise Mismatch(f"{name} {size} is not divisible by {what} {divisor}", expected=divisor, got=size)


@rule("torch.nn.functional.pixel_shuffle", "torch.pixel_shuffle")
def pixel_shuffle(input: TensorType, upscale_factor: Value) -> TensorType:
    """``(*, C*r**2, H, W) -> (*, C, H*r, W*r)``"""
    _need_image(input)
    r = as_dim(upscale_factor)
    check_at_least("upscale_factor", (r,), 1)
    c, h, w = input.shape.last(3)
    _check_divisible("the number of channels", c, r * r, "the square of upscale_factor,")
    return TensorType(Shape((*input.shape.drop_last(3).items, c // (r * r), h * r, w * r)), input.dtype)


@rule("torch.nn.functional.pixel_unshuffle", "torch.pixel_unshuffle")
def pixel_unshuffle(input: TensorType, downscale_factor: Value) -> TensorType:
    """``(*, C, H*r, W*r) -> (*, C*r**2, H, W)``"""
    _need_image(input)
    r = as_dim(downscale_factor)
    check_at_least("downscale_factor", (r,), 1)
    c, h, w = input.shape.last(3)
    _check_divisible("the height", h, r, "downscale_factor")
    _check_divisible("the width", w, r, "downscale_factor")
    return TensorType(Shape((*input.shape.drop_last(3).items, c * r * r, h // r, w // r)), input.dtype)


@rule(
    "torch.nn.functional.channel_shuffle",
    "torch.channel_shuffle",
    "torch.nn.functional.native_channel_shuffle",
    "torch.native_channel_shuffle",
)
def channel_shuffle(input: TensorType, groups: Value) -> TensorType:
    """``(N, C, *) -> (N, C, *)``"""
    if input.shape.rank is not None and input.shape.rank < 3:
        raise Mismatch(f"input must have at least 3 dims (N, C, *), but it is {input.shape}", got=input.shape.rank)
    check_at_least("groups", (as_dim(groups),), 1)
    _check_divisible("the number of channels", input.shape.dim(1), as_dim(groups), "groups")
    return TensorType(input.shape, input.dtype)


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


def _sampled(input: TensorType, grid: TensorType, ranks: tuple[int, ...]) -> TensorType:
    dtype = same_dtype(("input", input), ("grid", grid))
    need_ranks("input", input.shape, *ranks, meaning=", ".join(_MEANING[r] for r in ranks))
    need_ranks("grid", grid.shape, *ranks)
    rank = input.shape.rank or grid.shape.rank
    if rank is None:
        raise CannotTell
    need_ranks("input", input.shape, rank)
    need_ranks("grid", grid.shape, rank)
    check_equal("the last dim of grid is", grid.shape.dim(-1), "the spatial dims of input are", rank - 2)
    check_equal("the batch of grid is", grid.shape.dim(0), "that of input is", input.shape.dim(0))
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
    if isinstance(mode, str) and mode not in ("bilinear", "nearest", "bicubic"):
        raise Mismatch(f"mode is {mode!r}, but it must be 'bilinear', 'nearest' or 'bicubic'", got=mode)
    if isinstance(padding_mode, str) and padding_mode not in ("zeros", "border", "reflection"):
        raise Mismatch(f"padding_mode is {padding_mode!r}, but it must be 'zeros', 'border' or 'reflection'")
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
    if theta.dtype is not None and theta.dtype.category in ("bool", "int"):
        raise Mismatch(f"theta is {theta.dtype}, but it must be a float", kind="dtype", hint="theta.float()")
    if not isinstance(size, tuple):
        raise CannotTell
    if len(size) not in (4, 5):
        raise Mismatch(f"size has {len(size)} entries, but it must have 4 or 5", got=len(size))
    batch, _, *spatial = (as_dim(v) for v in size)
    check_at_least("size", (batch, *spatial), 1, size)
    count = len(spatial)
    need_ranks("theta", theta.shape, 3, meaning=f"(N, {count}, {count + 1})")
    check_equal("dim 1 of theta is", theta.shape.dim(-2), "the spatial dims of size are", count)
    check_equal("the last dim of theta is", theta.shape.dim(-1), "one more than the spatial dims is", count + 1)
    check_equal("the batch of theta is", theta.shape.dim(0), "that of size is", batch)
    return TensorType(Shape.of(batch, *spatial, count), theta.dtype)


__all__ = [
    "ChannelShuffle",
    "PixelShuffle",
    "PixelUnshuffle",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
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
