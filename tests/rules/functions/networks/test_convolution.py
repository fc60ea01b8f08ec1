"""Convolutions and their layers against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import FLOAT32, INT64
from simpletorch.rules.core.values import ANY_TENSOR
from simpletorch.shapes import ANY_REST, UNKNOWN, Shape
from tests import oracle
from tests.rules.symbolic import GOOD, B, C, D, H, K, L, N, W, differs, f32, module_differs, module_report, ones, report

F = "torch.nn.functional."
SPATIAL = {1: (11,), 2: (11, 13), 3: (7, 11, 13)}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 2},
    {"padding": 3},
    {"dilation": 2},
    {"stride": 3, "padding": 2, "dilation": 2},
    {"stride": 0},
    {"dilation": 0},
    {"padding": -1},
    {"stride": (1, 2, 3, 4)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("batch", [(2,), ()], ids=["batched", "unbatched"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_conv(n: int, batch: tuple[int, ...], groups: int, options: dict[str, Any]) -> None:
    x = ones(*batch, 6, *SPATIAL[n])
    weight = ones(9, 6 // groups, *(2, 3, 5)[:n])
    for bias in (None, ones(9)):
        found = oracle.examine(f"{F}conv{n}d", (x, weight, bias), {"groups": groups} | options)
        assert found.verdict in GOOD, found


@pytest.mark.parametrize("options", [*OPTIONS, {"output_padding": 1, "stride": 2}, {"output_padding": 2}], ids=str)
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_conv_transpose(n: int, groups: int, options: dict[str, Any]) -> None:
    x = ones(2, 6, *SPATIAL[n])
    weight = ones(6, 5, *(2, 3, 5)[:n])
    for bias in (None, ones(5 * groups)):
        found = oracle.examine(f"{F}conv_transpose{n}d", (x, weight, bias), {"groups": groups} | options)
        assert found.verdict in GOOD, found


@pytest.mark.parametrize("padding", ["same", "valid", "other"])
@pytest.mark.parametrize("stride", [1, 2, (1, 2)])
@pytest.mark.parametrize("kernel", [(3, 5), (2, 4), (20, 3)])
def test_padding_by_name(padding: str, stride: Any, kernel: tuple[int, int]) -> None:
    found = oracle.examine(
        f"{F}conv2d", (ones(2, 3, 11, 13), ones(5, 3, *kernel)), {"padding": padding, "stride": stride}
    )
    assert found.verdict in GOOD, found


@pytest.mark.parametrize(
    ("x", "weight", "bias"),
    [
        ((2, 4, 11, 13), (5, 3, 3, 3), None),  # channels
        ((2, 11, 13, 3), (5, 3, 3, 3), None),  # channels last
        ((2, 3, 11, 13), (5, 3, 12, 3), None),  # kernel too large
        ((2, 3, 11, 13), (5, 3, 3), None),  # a weight for 1d
        ((11, 13), (5, 3, 3, 3), None),
        ((1, 2, 3, 11, 13), (5, 3, 3, 3), None),
        ((2, 3, 11, 13), (5, 3, 3, 3), (3,)),
        ((2, 3, 11, 13), (5, 3, 3, 3), (1,)),
        ((2, 3, 11, 13), (5, 3, 3, 3), (5, 1)),
    ],
)
def test_both_refuse(x: tuple[int, ...], weight: tuple[int, ...], bias: tuple[int, ...] | None) -> None:
    args = (ones(*x), ones(*weight), ones(*bias) if bias else None)
    assert oracle.judge(f"{F}conv2d", args) == "both_refuse"


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_dtypes_must_agree(dtype: torch.dtype) -> None:
    assert oracle.judge(f"{F}conv2d", (ones(2, 3, 11, 13), ones(5, 3, 3, 3, dtype=dtype))) == "both_refuse"


def test_conv_tbc() -> None:
    for shapes in [((7, 2, 3), (3, 3, 5), (5,)), ((7, 2, 4), (3, 3, 5), (5,)), ((7, 2, 3), (3, 3, 5), (4,))]:
        assert oracle.judge("torch.conv_tbc", [ones(*s) for s in shapes], {"pad": 1}) in GOOD


# -- symbols -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [o for o in OPTIONS if 0 not in o.values() and -1 not in o.values()], ids=str)
def test_symbolic(options: dict[str, Any]) -> None:
    if isinstance(options.get("stride"), tuple):
        return
    assert differs(f"{F}conv1d", f32(N, C, L), f32(K, C, 3), **options) == ""
    assert differs(f"{F}conv2d", f32(N, C, H, W), f32(5, C, 3, K), f32(5), **options) == ""
    assert differs(f"{F}conv3d", f32(B, 3, D, H, W), f32(5, 3, 2, 3, 2), **options) == ""
    assert differs(f"{F}conv_transpose2d", f32(N, C, H, W), f32(C, K, 3, 2), **options) == ""


def test_symbolic_sizes_read_well() -> None:
    half = infer(f"{F}conv2d", [tensor(N, 3, H, W), tensor(8, 3, 3, 3)], {"stride": 2, "padding": 1})
    assert str(half) == "Tensor[N, 8, (H + 1)//2, (W + 1)//2]"
    same = infer(f"{F}conv2d", [tensor(N, 3, H, W), tensor(8, 3, 3, 3)], {"padding": 1})
    assert str(same) == "Tensor[N, 8, H, W]"
    patches = new_module("torch.nn.Conv2d", {"in_channels": 3, "out_channels": D, "kernel_size": 16, "stride": 16})
    assert str(infer_module(patches, [tensor(B, 3, 224, 224)])) == "Tensor[B, D, 14, 14]"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "arguments", "input"),
    [
        ("Conv1d", {"in_channels": C, "out_channels": K, "kernel_size": 3, "padding": 1}, f32(N, C, L)),
        ("Conv2d", {"in_channels": C, "out_channels": C, "kernel_size": 3, "groups": C}, f32(N, C, H, W)),
        ("Conv2d", {"in_channels": 3, "out_channels": 8, "kernel_size": (3, 5), "padding": "same"}, f32(N, 3, H, W)),
        ("Conv2d", {"in_channels": 3, "out_channels": 8, "kernel_size": 3, "padding_mode": "circular"}, f32(3, H, W)),
        ("Conv3d", {"in_channels": 3, "out_channels": 8, "kernel_size": 2, "stride": (1, 2, 3)}, f32(N, 3, D, H, W)),
        ("ConvTranspose2d", {"in_channels": C, "out_channels": 8, "kernel_size": 4, "stride": 2}, f32(N, C, H, W)),
        ("LazyConv2d", {"out_channels": 8, "kernel_size": 3}, f32(N, C, H, W)),
        ("LazyConvTranspose1d", {"out_channels": 8, "kernel_size": 3}, f32(C, L)),
    ],
)
def test_layers(name: str, arguments: dict[str, Any], input: Any) -> None:
    assert module_differs(name, arguments, input) == ""


@pytest.mark.parametrize("size", [17, 18, 19, (17, 18), (1, 2, 17, 19), 16, 20])
def test_output_size(size: Any) -> None:
    layer = {"in_channels": 3, "out_channels": 5, "kernel_size": 3, "stride": 2}
    asked = size if isinstance(size, tuple) else (size, size)
    assert module_differs("ConvTranspose2d", layer, f32(1, 3, 8, 8), output_size=asked) == ""


@pytest.mark.parametrize("mode", ["reflect", "circular", "replicate", "zeros"])
@pytest.mark.parametrize("padding", [2, 3, 4])
def test_padding_modes(mode: str, padding: int) -> None:
    layer = {"in_channels": 3, "out_channels": 5, "kernel_size": 3, "padding": padding, "padding_mode": mode}
    assert module_differs("Conv1d", layer, f32(2, 3, 3)) == ""


# -- partly known ------------------------------------------------------------------------------------------------------


def test_unknown_rank() -> None:
    layer = new_module("torch.nn.Conv2d", {"in_channels": 3, "out_channels": 8, "kernel_size": 3})
    assert str(infer_module(layer, [ANYTHING])) == "Tensor[..., 8, ?, ?]"  # type: ignore[arg-type]
    known = tensor(ANY_REST, 3, 11, 13, dtype=FLOAT32)
    assert str(infer_module(layer, [known])) == "Float32[..., 8, 9, 11]"  # type: ignore[arg-type]


def test_unknown_arguments() -> None:
    layer = new_module("torch.nn.Conv2d", {"in_channels": 3, "out_channels": ANYTHING, "kernel_size": ANYTHING})
    assert str(infer_module(layer, [tensor(N, 3, 11, 13)])) == "Tensor[N, ?, ?, ?]"  # type: ignore[arg-type]
    assert infer(f"{F}conv2d", [ANY_TENSOR, ANY_TENSOR]) == tensor(ANY_REST, UNKNOWN, UNKNOWN, UNKNOWN)
    strides = infer(f"{F}conv1d", [tensor(N, 3, 11), tensor(5, 3, 3)], {"stride": ANYTHING, "padding": UNKNOWN})
    assert strides == tensor(N, 5, UNKNOWN)


def test_lazy_takes_any_channels() -> None:
    layer = new_module("torch.nn.LazyConv2d", {"out_channels": 8, "kernel_size": 3})
    assert layer is not None
    assert layer.attributes()["weight"].shape == Shape.of(8, UNKNOWN, 3, 3)  # type: ignore[union-attr]


# -- messages ----------------------------------------------------------------------------------------------------------

CONV2D = {"in_channels": 3, "out_channels": 8, "kernel_size": 3}


def test_messages() -> None:
    found = module_report("Conv2d", CONV2D, f32(2, 4, 11, 13))
    assert found.text == (
        "Conv2d(3, 8, 3): input has 4 channels at dim 1, but the layer takes 3 [input: Float32[2, 4, 11, 13]]"
    )
    found = module_report("Conv2d", CONV2D, f32(2, 11, 13, 3))
    assert found.reason == "input has 11 channels at dim 1, but the layer takes 3"
    assert found.hint == "the last dim is 3: channels come before H, W, as in input.permute(0, 3, 1, 2)"
    assert module_report("Conv2d", CONV2D, f32(N, C, H, W)).reason == (
        "input has C channels at dim 1, but the layer takes 3; they are not equal for all sizes"
    )
    assert module_report("Conv2d", CONV2D, f32(2, 3, 2, 13)).reason == (
        "the kernel spans 3 x 3, but the padded input is only 2 x 13"
    )
    found = module_report("Conv2d", CONV2D, f32(11, 13))
    assert found.reason == "input must have 4 or 3 dims (N, C, H, W) or (C, H, W), but it is (11, 13)"
    assert found.hint is None  # one channel wouldn't fit either
    swapped = module_report("Conv2d", CONV2D, f32(3, 7, 11, 13))
    assert swapped.hint == (
        "a layer for 7 channels would fit; or are batch and channels swapped? input.transpose(0, 1) has 3"
    )
    grey = module_report("Conv2d", {**CONV2D, "in_channels": 1}, f32(11, 13))
    assert grey.hint == "input.unsqueeze(0) adds the channel dim"
    found = module_report("Conv2d", CONV2D, tensor(2, 3, 11, 13, dtype=INT64))
    assert (found.kind, found.reason, found.hint) == (
        "dtype",
        "input is Int64, but the weights are floats",
        "input.float()",
    )
    assert (
        module_report("Conv2d", CONV2D | {"groups": 2}).text
        == "Conv2d: in_channels is 3, which is not divisible by groups=2"
    )
    assert report(f"{F}conv_transpose1d", f32(2, 3, 7), f32(3, 5, 3), output_padding=1).reason == (
        "output_padding is 1, but it must be smaller than stride (1) or dilation (1)"
    )
