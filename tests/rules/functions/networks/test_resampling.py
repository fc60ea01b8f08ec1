"""Interpolation, grids, shuffles, fold and unfold against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, infer, tensor
from simpletorch.rules.core.dtype import FLOAT32
from simpletorch.shapes import ANY_REST, var
from tests import oracle
from tests.rules.symbolic import GOOD, C, D, H, L, N, W, differs, f32, module_differs, module_report, ones, report

F = "torch.nn.functional."
R = var("R")
SHAPES = [(3, 5), (2, 3, 5), (2, 3, 5, 7), (2, 3, 5, 7, 11), (1, 2, 3, 5, 7, 11)]
MODES = ["nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear", "other"]
SIZES: list[dict[str, Any]] = [
    {"size": 4}, {"size": (4,)}, {"size": (4, 6)}, {"size": (4, 6, 9)}, {"size": 0}, {},
    {"scale_factor": 2}, {"scale_factor": 2.5}, {"scale_factor": 0.3}, {"scale_factor": (2, 1.5)},
    {"scale_factor": 0.1}, {"size": 4, "scale_factor": 2}, {"scale_factor": 1.7, "recompute_scale_factor": True},
    {"size": 4, "recompute_scale_factor": True}, {"size": 4, "align_corners": True}, {"size": 4, "antialias": True},
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", SIZES, ids=str)
def test_interpolate(options: dict[str, Any], mode: str) -> None:
    for shape in SHAPES:
        found = oracle.examine(f"{F}interpolate", (ones(*shape),), options | {"mode": mode})
        assert found.verdict in GOOD, (shape, found)


@pytest.mark.parametrize("name", ["upsample", "upsample_nearest", "upsample_bilinear"])
def test_upsample(name: str) -> None:
    for shape in SHAPES:
        for options in SIZES[:3] + SIZES[5:8]:
            assert oracle.judge(F + name, (ones(*shape),), options) in GOOD


@pytest.mark.parametrize("shape", [(12, 3, 5), (2, 12, 3, 5), (2, 7, 8, 3, 5), (2, 9, 4, 6), (12, 3)], ids=str)
@pytest.mark.parametrize("factor", [1, 2, 3, 0, -1])
def test_pixel_shuffles(shape: tuple[int, ...], factor: int) -> None:
    assert oracle.judge(f"{F}pixel_shuffle", (ones(*shape), factor)) in GOOD
    assert oracle.judge(f"{F}pixel_unshuffle", (ones(*shape), factor)) in GOOD


@pytest.mark.parametrize("groups", [1, 2, 4, 0])
def test_channel_shuffle(groups: int) -> None:
    for shape in ((2, 6), (2, 6, 5), (2, 6, 5, 7)):
        assert oracle.judge(f"{F}channel_shuffle", (ones(*shape), groups)) in GOOD


@pytest.mark.parametrize(("input", "grid"), [
    ((2, 3, 5, 7), (2, 11, 13, 2)), ((2, 3, 5, 7), (1, 11, 13, 2)), ((2, 3, 5, 7), (2, 11, 13, 3)),
    ((2, 3, 5, 7, 5), (2, 11, 13, 5, 3)), ((2, 3, 5, 7), (2, 11, 13, 5, 3)), ((2, 3, 5), (2, 11, 1)),
], ids=str)  # fmt: skip
def test_grid_sample(input: tuple[int, ...], grid: tuple[int, ...]) -> None:
    for mode in ("bilinear", "nearest", "bicubic", "other"):
        assert oracle.judge(f"{F}grid_sample", (ones(*input), ones(*grid), mode)) in GOOD
    assert oracle.judge(f"{F}grid_sample", (ones(*input), ones(*grid, dtype=torch.float64))) in GOOD


@pytest.mark.parametrize("theta", [(2, 2, 3), (1, 2, 3), (2, 3, 4), (2, 3)], ids=str)
@pytest.mark.parametrize("size", [(2, 3, 5, 7), (2, 3, 5, 7, 11), (2, 3, 5), (2, 3, 0, 5)], ids=str)
def test_affine_grid(theta: tuple[int, ...], size: tuple[int, ...]) -> None:
    assert oracle.judge(f"{F}affine_grid", (ones(*theta), size)) in GOOD
    assert oracle.judge(f"{F}affine_grid", (ones(*theta, dtype=torch.int64), size)) in GOOD


BLOCKS: list[dict[str, Any]] = [
    {"kernel_size": 2}, {"kernel_size": (2, 3), "stride": 2}, {"kernel_size": 3, "padding": 1, "dilation": 2},
    {"kernel_size": 7}, {"kernel_size": (2,)}, {"kernel_size": 2, "stride": 0}, {"kernel_size": 2, "padding": -1},
]  # fmt: skip


@pytest.mark.parametrize("options", BLOCKS, ids=str)
def test_unfold(options: dict[str, Any]) -> None:
    for shape in ((2, 3, 5, 6), (3, 5, 6), (5, 6)):
        assert oracle.judge(f"{F}unfold", (ones(*shape),), options) in GOOD


@pytest.mark.parametrize("shape", [(2, 12, 6), (12, 6), (13, 6), (12, 5), (12,)], ids=str)
@pytest.mark.parametrize("size", [(3, 4), (1, 1), 3, (3, 4, 5), (3,)], ids=str)
def test_fold(shape: tuple[int, ...], size: Any) -> None:
    assert oracle.judge(f"{F}fold", (ones(*shape), size, 2)) in GOOD


# -- symbols -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1, 2, 3, 2.0, 0.5, 1.5, 0.75, 1.125])
def test_symbolic_scale(factor: float) -> None:
    assert differs(f"{F}interpolate", f32(N, C, H, W), scale_factor=factor) == ""
    assert module_differs("Upsample", {"scale_factor": factor}, f32(N, C, L)) == ""


def test_symbolic() -> None:
    assert differs(f"{F}interpolate", f32(N, C, H, W), size=(W, H)) == ""
    assert differs(f"{F}unfold", f32(N, C, H, W), 3, 1, 1, 2) == ""
    assert differs(f"{F}fold", f32(N, 4 * C, (H - 1) * (W - 1)), (H, W), 2) == ""
    assert differs(f"{F}pixel_shuffle", f32(N, 9 * C, H, W), 3) == ""
    assert differs(f"{F}pixel_unshuffle", f32(N, C, 3 * H, 3 * W), 3) == ""
    assert differs(f"{F}grid_sample", f32(N, C, H, W), f32(N, D, L, 2)) == ""
    assert differs(f"{F}affine_grid", f32(N, 2, 3), (N, C, H, W)) == ""
    shuffled = infer(f"{F}pixel_shuffle", [tensor(N, C * R * R, H, W), R])
    assert str(shuffled) == "Tensor[N, C, H*R, R*W]"


@pytest.mark.parametrize(("name", "arguments", "input"), [
    ("Upsample", {"size": (5, 7), "mode": "bilinear"}, f32(N, C, H, W)),
    ("UpsamplingNearest2d", {"scale_factor": 2}, f32(N, C, H, W)),
    ("UpsamplingBilinear2d", {"size": 9}, f32(N, C, H, W)),
    ("PixelShuffle", {"upscale_factor": 2}, f32(N, 4 * C, H, W)),
    ("PixelUnshuffle", {"downscale_factor": 2}, f32(2 * H, 2 * W, 6, 8)),
    ("ChannelShuffle", {"groups": 2}, f32(N, 6, H, W)),
    ("Unfold", {"kernel_size": 3, "stride": 2}, f32(N, C, H, W)),
    ("Fold", {"output_size": (5, 7), "kernel_size": 2}, f32(N, 4 * C, 24)),
])  # fmt: skip
def test_layers(name: str, arguments: dict[str, Any], input: Any) -> None:
    assert module_differs(name, arguments, input) == ""


# -- partly known ------------------------------------------------------------------------------------------------------


def test_partly_known() -> None:
    assert str(infer(f"{F}interpolate", [ANYTHING], {"size": (5, 7)})) == "Tensor[?, ?, 5, 7]"
    assert str(infer(f"{F}interpolate", [tensor(N, C, ANY_REST)], {"size": 5})) == "Tensor[N, C, ...]"
    assert str(infer(f"{F}interpolate", [tensor(N, C, 5)], {"scale_factor": ANYTHING})) == "Tensor[N, C, ?]"
    assert str(infer(f"{F}interpolate", [ANYTHING], {"scale_factor": 2, "mode": "bilinear"})) == "Tensor[?, ?, ?, ?]"
    assert str(infer(f"{F}pixel_shuffle", [ANYTHING, 2])) == "Tensor[..., ?, ?, ?]"
    assert str(infer(f"{F}pixel_shuffle", [tensor(ANY_REST, 12, 5, 7), 2])) == "Tensor[..., 3, 10, 14]"
    assert str(infer(f"{F}grid_sample", [tensor(N, C, H, W, dtype=FLOAT32), ANYTHING])) == "Float32[N, C, ?, ?]"
    assert str(infer(f"{F}unfold", [ANYTHING, 2])) == "Tensor[..., ?, ?]"
    assert str(infer(f"{F}fold", [ANYTHING, (5, 7), 2])) == "Tensor[..., ?, 5, 7]"


# -- messages ----------------------------------------------------------------------------------------------------------


def test_messages() -> None:
    assert report(f"{F}interpolate", f32(2, 3, 5, 7), size=(4, 5, 6)).text == (
        "interpolate: size has 3 entries, but it must have 2 [input: Float32[2, 3, 5, 7]]"
    )
    assert report(f"{F}interpolate", f32(2, 3, 5), 4, mode="bilinear").reason == (
        "input must have 4 dims (N, C, H, W), but it is (2, 3, 5)"
    )
    assert report(f"{F}pixel_shuffle", f32(2, 10, 5, 7), 2).reason == (
        "the number of channels is 10, which is not divisible by upscale_factor**2=4"
    )
    assert report(f"{F}grid_sample", f32(2, 3, 5, 7), f32(2, 4, 4, 3)).reason == (
        "the last dim of grid is 3, but the spatial dims of input are 2"
    )
    assert module_report("Fold", {"output_size": (5, 7), "kernel_size": 2}, f32(2, 12, 20)).text == (
        "Fold((5, 7), 2): the last dim of input is 20, but the number of blocks is 24 [input: Float32[2, 12, 20]]"
    )
