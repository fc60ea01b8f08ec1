"""Padding and its layers against torch."""

from __future__ import annotations

from typing import Any

import pytest

from simpletorch.rules import ANYTHING, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import FLOAT32
from simpletorch.shapes import ANY_REST, UNKNOWN
from tests import oracle
from tests.rules.symbolic import GOOD, C, D, H, L, N, W, differs, f32, module_differs, module_report, ones, report

F = "torch.nn.functional."
SHAPES = [(5,), (3, 5), (2, 3, 5), (2, 3, 5, 7), (2, 3, 5, 7, 11), (2, 2, 3, 5, 7, 11)]
PADS: list[tuple[int, ...]] = [
    (), (1, 2), (4, 3), (5, 5), (6, 1), (-1, 2), (-3, -2), (-3, -3), (1,), (1, 2, 3),
    (1, 2, 3, 1), (1, 1, 2, 2, 1, 1), (1, 1, 1, 1, 1, 1, 1, 1), (5, 7, 2, 2),
]  # fmt: skip


@pytest.mark.parametrize("pad", PADS, ids=str)
@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular", "other"])
def test_pad(mode: str, pad: tuple[int, ...]) -> None:
    for shape in SHAPES:
        found = oracle.examine(f"{F}pad", (ones(*shape), pad, mode))
        assert found.verdict in GOOD, (shape, found)


@pytest.mark.parametrize("value", [None, 0, 0.0, 2.5, 1])
@pytest.mark.parametrize("mode", ["constant", "reflect"])
def test_value(mode: str, value: Any) -> None:
    assert oracle.judge(f"{F}pad", (ones(2, 3, 5), (1, 1), mode, value)) in GOOD


def test_constant_pad_nd() -> None:
    assert oracle.judge("torch.constant_pad_nd", (ones(2, 3), (1, 2, 3, 4), 7)) == "exact"


LAYERS = [
    f"{kind}{n}d"
    for kind in ("ConstantPad", "ZeroPad", "ReflectionPad", "ReplicationPad", "CircularPad")
    for n in (1, 2, 3)
]


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    value = {"value": 1.5} if name.startswith("Constant") else {}
    for shape in SHAPES:
        for padding in (1, 2, 5, (1, 2), (2, 1, 1, 2), (1, 1, 1, 1, 2, 2)):
            found = module_differs_either(name, {"padding": padding} | value, shape)
            assert found == "", (shape, padding)


def module_differs_either(name: str, arguments: dict[str, Any], shape: tuple[int, ...]) -> str:
    return module_differs(name, arguments, f32(*shape))


# -- symbols -----------------------------------------------------------------------------------------------------------


def test_symbolic() -> None:
    assert differs(f"{F}pad", f32(N, C, H, W), (1, 2, 0, D)) == ""
    assert differs(f"{F}pad", f32(N, C, L), (1, 2), "reflect") == ""
    assert differs(f"{F}pad", f32(N, C, L), (-1, -2)) == ""
    assert module_differs("ReflectionPad2d", {"padding": 2}, f32(N, C, H, W)) == ""
    assert str(infer(f"{F}pad", [tensor(N, L), (0, 4)])) == "Tensor[N, L + 4]"


# -- partly known ------------------------------------------------------------------------------------------------------


def test_partly_known() -> None:
    assert str(infer(f"{F}pad", [ANYTHING, (1, 1)])) == "Tensor[..., ?]"
    assert str(infer(f"{F}pad", [tensor(ANY_REST, 5, dtype=FLOAT32), (1, 1)])) == "Float32[..., 7]"
    assert str(infer(f"{F}pad", [tensor(N, 5), ANYTHING])) == "Tensor[?, ?]"
    assert infer(f"{F}pad", [tensor(N, 5), (0, ANYTHING)]) == tensor(N, UNKNOWN)
    layer = new_module("torch.nn.ZeroPad2d", {"padding": ANYTHING})
    assert str(infer_module(layer, [tensor(N, C, 5, 7)])) == "Tensor[N, C, ?, ?]"  # type: ignore[arg-type]


# -- messages ----------------------------------------------------------------------------------------------------------


def test_messages() -> None:
    assert report(f"{F}pad", f32(2, 3, 5), (5, 1), "reflect").text == (
        "pad: 5 entries can't be reflected from a dim of size 5 [input: Float32[2, 3, 5]]"
    )
    assert report(f"{F}pad", f32(5), (1, 1, 1, 1)).reason == "input must have at least 2 dims, but it is (5,)"
    assert report(f"{F}pad", f32(5), (1, 1, 1)).reason == "pad has 3 entries, but it must have two for each padded dim"
    assert report(f"{F}pad", f32(5), (-3, -3)).reason == "cutting -3 and -3 from a dim of size 5 leaves nothing"
    assert module_report("CircularPad2d", {"padding": 1}, f32(5, 7)).reason == (
        "mode='circular' can't pad 2 dims of an input with 2 dims; it pads the last 1, 2 or 3 of an input that has"
        " one or two dims more"
    )
