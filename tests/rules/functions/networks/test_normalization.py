"""Normalisation and its layers against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import FLOAT32, INT64
from simpletorch.rules.core.values import ANY_TENSOR
from simpletorch.shapes import ANY_REST, Shape
from tests import oracle
from tests.rules.symbolic import GOOD, B, C, D, H, L, N, T, W, differs, f32, module_differs, module_report, ones, report

F = "torch.nn.functional."
SHAPES = [(6,), (5, 6), (5, 6, 7), (2, 6, 7, 11), (1, 6), (1, 6, 1), (2, 6, 1)]
DTYPES = [torch.float32, torch.float64, torch.float16, torch.int64, torch.bool]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_norm(shape: tuple[int, ...]) -> None:
    for size in (6, 5, 1):
        stats = (ones(size), ones(size))
        for args in ((*stats,), (*stats, ones(6)), (*stats, None, ones(5))):
            for training in (False, True):
                found = oracle.examine(f"{F}batch_norm", (ones(*shape), *args), {"training": training})
                assert found.verdict in GOOD, found
    for training in (False, True):
        assert oracle.judge(f"{F}batch_norm", (ones(*shape), None, None), {"training": training}) in GOOD or shape == (
            6,
        )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_instance_norm(shape: tuple[int, ...]) -> None:
    for size in (6, 5):
        args = (ones(*shape), ones(size), ones(size), ones(6))
        for use in (False, True):
            found = oracle.examine(f"{F}instance_norm", args, {"use_input_stats": use})
            assert found.verdict in GOOD, found
    assert oracle.judge(f"{F}instance_norm", (ones(*shape),)) in GOOD


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("groups", [1, 2, 3, 6, 4, 0, -3])
def test_group_norm(shape: tuple[int, ...], groups: int) -> None:
    for args in ((), (ones(6),), (ones(6), ones(5)), (ones(groups or 1) if groups > 0 else None,)):
        found = oracle.examine(f"{F}group_norm", (ones(*shape), groups, *args))
        assert found.verdict in (*GOOD, "missed"), found
        # in a group of one value there is no variance
        assert found.verdict != "missed" or "more than 1 value" in str(found.truth), found


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("normalized", [(7,), (6, 7), (5, 6, 7), (6,), (2, 5, 6, 7), ()], ids=str)
def test_trailing(name: str, normalized: tuple[int, ...]) -> None:
    for weight in (None, ones(*normalized), ones(7), ones(6, 7)):
        found = oracle.examine(F + name, (ones(5, 6, 7), normalized, weight))
        assert found.verdict in GOOD, found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(dtype: torch.dtype) -> None:
    x = ones(5, 6, 7, dtype=dtype)
    stats = (ones(6), ones(6))
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("layer_norm", (x, (7,), ones(7))),
        ("rms_norm", (x, (7,), ones(7))),
        ("group_norm", (x, 3, *stats)),
        ("instance_norm", (x,)),
        ("normalize", (x,)),
        ("local_response_norm", (x, 2)),
    ]
    if dtype.is_floating_point:
        calls.append(("batch_norm", (x, *stats)))
    for name, args in calls:
        found = oracle.examine(F + name, args)
        # a kernel that lacks bools says nothing about the others
        assert found.verdict in GOOD or "not implemented" in str(found.truth), found


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -3, None, (0, 1), (0, 0), (0, 2)], ids=str)
def test_normalize(dim: Any) -> None:
    assert oracle.judge(f"{F}normalize", (ones(5, 6),), {"dim": dim}) in GOOD


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("size", [1, 3, 0])
def test_local_response_norm(shape: tuple[int, ...], size: int) -> None:
    assert oracle.judge(f"{F}local_response_norm", (ones(*shape), size)) in GOOD


# -- symbols -----------------------------------------------------------------------------------------------------------


def test_symbolic() -> None:
    assert differs(f"{F}batch_norm", f32(N, C, H, W), f32(C), f32(C)) == ""
    assert differs(f"{F}layer_norm", f32(B, T, D), (D,), f32(D), f32(D)) == ""
    assert differs(f"{F}rms_norm", f32(B, T, D), (T, D)) == ""
    assert differs(f"{F}group_norm", f32(N, 6, L), 3) == ""
    assert differs(f"{F}normalize", f32(N, D), dim=-1) == ""


@pytest.mark.parametrize(("name", "arguments", "input"), [
    ("BatchNorm1d", {"num_features": C}, f32(N, C)),
    ("BatchNorm1d", {"num_features": C}, f32(N, C, L)),
    ("BatchNorm2d", {"num_features": C}, f32(N, C, H, W)),
    ("BatchNorm3d", {"num_features": 3, "affine": False}, f32(N, 3, D, H, W)),
    ("BatchNorm2d", {"num_features": 3, "affine": False, "track_running_stats": False}, f32(N, 5, H, W)),
    ("InstanceNorm1d", {"num_features": 3}, f32(5, L)),
    ("InstanceNorm2d", {"num_features": 3, "affine": True}, f32(N, 3, H, W)),
    ("InstanceNorm2d", {"num_features": 3, "affine": True}, f32(N, 5, H, W)),
    ("LayerNorm", {"normalized_shape": D}, f32(B, T, D)),
    ("LayerNorm", {"normalized_shape": (T, D)}, f32(B, T, D)),
    ("RMSNorm", {"normalized_shape": D}, f32(B, T, D)),
    ("GroupNorm", {"num_groups": 3, "num_channels": 6}, f32(N, 6, H, W)),
    ("GroupNorm", {"num_groups": 3, "num_channels": 6, "affine": False}, f32(N, 9, H, W)),
    ("GroupNorm", {"num_groups": 3, "num_channels": 6, "affine": False}, f32(N, 8, H, W)),
    ("LazyBatchNorm2d", {}, f32(N, C, H, W)),
    ("LazyInstanceNorm1d", {}, f32(N, C, L)),
    ("LocalResponseNorm", {"size": 2}, f32(N, C, L)),
    ("CrossMapLRN2d", {"size": 2}, f32(2, 3, 5, 7)),
])  # fmt: skip
def test_layers(name: str, arguments: dict[str, Any], input: Any) -> None:
    assert module_differs(name, arguments, input) == ""


@pytest.mark.parametrize("name", ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d"])
def test_ranks(name: str) -> None:
    for rank in range(1, 7):
        assert module_differs(name, {"num_features": 3}, f32(*(3 for _ in range(rank)))) == ""


# -- partly known ------------------------------------------------------------------------------------------------------


def test_partly_known() -> None:
    norm = new_module("torch.nn.BatchNorm2d", {"num_features": 3})
    assert norm is not None
    assert str(infer_module(norm, [ANYTHING])) == "Tensor[?, 3, ?, ?]"  # type: ignore[arg-type]
    assert str(infer_module(norm, [tensor(ANY_REST, 32, 32)])) == "Tensor[?, 3, 32, 32]"  # type: ignore[arg-type]
    layer = new_module("torch.nn.LayerNorm", {"normalized_shape": D})
    assert str(infer_module(layer, [ANYTHING])) == "Tensor[..., D]"  # type: ignore[arg-type]
    unknown = new_module("torch.nn.LayerNorm", {"normalized_shape": ANYTHING})
    assert infer_module(unknown, [f32(B, T, D)]) == f32(B, T, D)  # type: ignore[arg-type]
    assert unknown.attributes()["weight"].shape == Shape.of(ANY_REST)  # type: ignore[union-attr]
    assert infer(f"{F}batch_norm", [ANY_TENSOR, ANYTHING, ANYTHING]) == ANY_TENSOR
    assert infer(f"{F}group_norm", [tensor(N, C, L), ANYTHING]) == tensor(N, C, L)


def test_halves_with_float_parameters() -> None:
    x = tensor(5, 6, 7, dtype=oracle.lift_dtype(torch.bfloat16))
    assert infer(f"{F}layer_norm", [x, (7,), tensor(7, dtype=FLOAT32)]) == x


# -- messages ----------------------------------------------------------------------------------------------------------


def test_messages() -> None:
    assert module_report("BatchNorm2d", {"num_features": 3}, f32(N, 8, H, W)).text == (
        "BatchNorm2d(3): input has 8 channels at dim 1, but the layer takes 3 [input: Float32[N, 8, H, W]]"
    )
    assert module_report("BatchNorm2d", {"num_features": 3}, f32(N, 3)).reason == (
        "input must have 4 dims (N, C, H, W), but it is (N, 3)"
    )
    assert module_report("LayerNorm", {"normalized_shape": 128}, f32(B, T, 64)).text == (
        "LayerNorm(128): the last dim of input is 64, but normalized_shape is 128 [input: Float32[B, T, 64]]"
    )
    assert module_report("LayerNorm", {"normalized_shape": (4, 128)}, f32(B, 5, 128)).reason == (
        "dim -2 of input is 5, but normalized_shape is (4, 128)"
    )
    assert module_report("GroupNorm", {"num_groups": 3, "num_channels": 10}).text == (
        "GroupNorm: num_channels is 10, which is not divisible by num_groups=3"
    )
    assert report(f"{F}batch_norm", f32(5, 6), f32(5), f32(6)).reason == (
        "running_mean has 5, but the channels of input are 6"
    )
    found = report(f"{F}layer_norm", tensor(5, 7, dtype=INT64), (7,))
    assert (found.kind, found.reason, found.hint) == (
        "dtype",
        "input is Int64, but it must be floating",
        "input.float()",
    )
