"""Pooling and its layers against torch."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import FLOAT32, INT32, INT64
from simpletorch.shapes import ANY_REST
from tests import oracle
from tests.rules.symbolic import GOOD, C, D, H, L, N, W, differs, f32, module_differs, module_report, ones, report

F = "torch.nn.functional."
SPATIAL = {1: (11,), 2: (11, 13), 3: (7, 11, 13)}
KERNELS: list[Any] = [1, 2, 3, 5, 12, 0]
STRIDES = [None, 1, 2, 4, 0]


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("kind", ["max", "avg", "lp"])
def test_windows(kind: str, n: int, ceil_mode: bool) -> None:
    x = ones(2, 3, *SPATIAL[n])
    wrong = []
    for kernel, stride, padding, dilation in product(KERNELS, STRIDES, (0, 1, 2), (1, 2, 3)):
        if (kind != "max" and dilation > 1) or (kind == "lp" and padding > 0) or (n == 3 and padding + dilation > 3):
            continue
        args: dict[str, Any] = {"kernel_size": kernel, "stride": stride, "ceil_mode": ceil_mode}
        args |= {
            "max": {"padding": padding, "dilation": dilation},
            "avg": {"padding": padding},
            "lp": {"norm_type": 2.0},
        }[kind]
        found = oracle.examine(f"{F}{kind}_pool{n}d", (x,), args)
        if found.verdict not in GOOD:
            wrong.append(f"{args}: {found}")
    assert wrong == []


@pytest.mark.parametrize("shape", [(11,), (3, 11), (2, 3, 11), (2, 3, 11, 13), (2, 3, 7, 11, 13), (1, 2, 3, 5, 7, 11)])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_ranks(n: int, shape: tuple[int, ...]) -> None:
    for name in (f"max_pool{n}d", f"avg_pool{n}d", f"adaptive_avg_pool{n}d", f"adaptive_max_pool{n}d"):
        found = oracle.examine(F + name, (ones(*shape), 2))
        assert found.verdict in GOOD, (name, found)


@pytest.mark.parametrize("size", [(2, 2, 2), (2,), (2, 3), ()], ids=str)
@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
def test_kernels_of_any_length(name: str, size: tuple[int, ...]) -> None:
    if size == ():
        return
    assert oracle.judge(F + name, (ones(2, 3, 11, 13), size)) in GOOD
    assert oracle.judge(F + name, (ones(2, 3, 11, 13), 2, size)) in GOOD


@pytest.mark.parametrize("size", [5, 1, 0, -1, (5,), (5, 7), (None, 7), (5, None), (5, 7, 2), None], ids=str)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_adaptive(n: int, size: Any) -> None:
    x = ones(2, 3, *SPATIAL[n])
    for name in (f"adaptive_avg_pool{n}d", f"adaptive_max_pool{n}d"):
        found = oracle.examine(F + name, (x, size))
        assert found.verdict in (*GOOD, *(("missed",) if size is None or (n == 1 and size == (None,)) else ())), (
            name,
            found,
        )


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_the_mean_of_ints(dtype: torch.dtype) -> None:
    assert oracle.judge(f"{F}adaptive_avg_pool2d", (ones(2, 3, 11, 13, dtype=dtype), 1)) == "both_refuse"


@pytest.mark.parametrize("n", [1, 2, 3])
def test_indices(n: int) -> None:
    x = ones(2, 3, *SPATIAL[n])
    for name in ("max_pool{}d_with_indices", "adaptive_max_pool{}d_with_indices"):
        assert oracle.judge(F + name.format(n), (x, 2)) == "exact"
    assert oracle.judge(f"{F}max_pool{n}d", (x, 2), {"return_indices": True}) == "exact"
    assert oracle.judge(f"{F}adaptive_max_pool{n}d", (x, 2, True)) == "exact"


@pytest.mark.parametrize("arguments", [
    {"output_size": 5}, {"output_size": (5, 3)}, {"output_size": (3,)}, {"output_size": 10}, {"output_size": 11},
    {"output_ratio": (0.5, 0.7)}, {"output_ratio": (0.5, 0.7, 0.9)}, {}, {"output_size": 5, "return_indices": True},
], ids=str)  # fmt: skip
def test_fractional(arguments: dict[str, Any]) -> None:
    for shape in ((2, 3, 11, 13), (3, 11, 13), (11, 13)):
        found = oracle.examine(f"{F}fractional_max_pool2d", (ones(*shape), 2), arguments)
        assert found.verdict in GOOD, found


@pytest.mark.parametrize("output_size", [None, (9, 10), (8, 11), (10, 10), (6, 10), (2, 3, 9, 10), (3, 9, 10)], ids=str)
def test_unpool(output_size: tuple[int, ...] | None) -> None:
    x, indices = ones(2, 3, 4, 5), torch.zeros(2, 3, 4, 5, dtype=torch.int64)
    assert oracle.judge(f"{F}max_unpool2d", (x, indices, 2), {"output_size": output_size}) in GOOD
    assert oracle.judge(f"{F}max_unpool2d", (x, indices[:, :, :3], 2)) == "both_refuse"
    assert oracle.judge(f"{F}max_unpool2d", (x, indices.int(), 2)) == "both_refuse"
    for n, shape in ((1, (3, 5)), (3, (2, 3, 4, 5, 6))):
        zeros = torch.zeros(shape, dtype=torch.int64)
        assert oracle.judge(f"{F}max_unpool{n}d", (ones(*shape), zeros, 3, 2, 1)) == "exact"


# -- symbols -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("kernel", [2, 3, 5])
@pytest.mark.parametrize("stride", [None, 1, 2, 3, 7])
@pytest.mark.parametrize("padding", [0, 1])
def test_symbolic(kernel: int, stride: int | None, padding: int, ceil_mode: bool) -> None:
    options = {"kernel_size": kernel, "stride": stride, "padding": padding, "ceil_mode": ceil_mode}
    for n, shape in enumerate((f32(N, C, L), f32(N, C, H, W), f32(C, D, H, W)), start=1):
        for kind in ("max", "avg"):
            assert differs(f"{F}{kind}_pool{n}d", shape, **options) == ""


def test_symbolic_sizes_read_well() -> None:
    assert str(infer(f"{F}max_pool2d", [tensor(N, C, H, 32), 2])) == "Tensor[N, C, H//2, 16]"
    ceiled = infer(f"{F}max_pool2d", [tensor(N, C, H, 33), 2], {"ceil_mode": True})
    assert str(ceiled) == "Tensor[N, C, (H + 1)//2, 17]"
    assert str(infer(f"{F}adaptive_avg_pool2d", [tensor(N, C, H, W), (None, 1)])) == "Tensor[N, C, H, 1]"


@pytest.mark.parametrize(("name", "arguments", "input"), [
    ("MaxPool1d", {"kernel_size": 3, "stride": 2, "padding": 1}, f32(N, C, L)),
    ("MaxPool2d", {"kernel_size": 2, "return_indices": True}, f32(N, C, H, W)),
    ("MaxPool3d", {"kernel_size": 2, "dilation": 2}, f32(C, D, H, W)),
    ("AvgPool1d", {"kernel_size": 3}, f32(C, L)),
    ("AvgPool2d", {"kernel_size": (2, 3), "stride": (2, 1)}, f32(N, C, H, W)),
    ("AvgPool3d", {"kernel_size": 2}, f32(N, C, D, H, W)),
    ("LPPool1d", {"norm_type": 2, "kernel_size": 3}, f32(N, C, L)),
    ("LPPool2d", {"norm_type": 2, "kernel_size": (3, 2), "stride": 2}, f32(N, C, H, W)),
    ("AdaptiveAvgPool2d", {"output_size": (5, None)}, f32(N, C, H, W)),
    ("AdaptiveMaxPool3d", {"output_size": 3, "return_indices": True}, f32(N, C, D, H, W)),
    ("FractionalMaxPool2d", {"kernel_size": 2, "output_size": 5}, f32(N, C, H, W)),
    ("FractionalMaxPool3d", {"kernel_size": 2, "output_ratio": 0.5}, f32(N, C, D, H, W)),
])  # fmt: skip
def test_layers(name: str, arguments: dict[str, Any], input: Any) -> None:
    assert module_differs(name, arguments, input) == ""


def test_unpool_undoes_pool() -> None:
    pooled, indices = f32(N, C, L), tensor(N, C, L, dtype=INT64)
    found = infer_module(new_module("torch.nn.MaxUnpool1d", {"kernel_size": 2}), [pooled, indices])  # type: ignore[arg-type]
    assert str(found) == "Float32[N, C, 2*L]"


# -- partly known ------------------------------------------------------------------------------------------------------


def test_partly_known() -> None:
    assert str(infer(f"{F}max_pool2d", [ANYTHING, 2])) == "Tensor[..., ?, ?, ?]"
    assert str(infer(f"{F}max_pool2d", [tensor(ANY_REST, C, 32, 32, dtype=FLOAT32), 2])) == "Float32[..., C, 16, 16]"
    assert str(infer(f"{F}avg_pool1d", [tensor(N, C, 32), ANYTHING])) == "Tensor[N, C, ?]"
    assert str(infer(f"{F}adaptive_avg_pool2d", [ANYTHING, 1])) == "Tensor[..., ?, 1, 1]"
    assert infer(f"{F}max_pool2d", [tensor(N, C, H, W), 2], {"return_indices": ANYTHING}) is ANYTHING
    assert str(infer(f"{F}max_pool1d", [tensor(N, C, 32), 2], {"ceil_mode": ANYTHING})) == "Tensor[N, C, 16]"
    assert str(infer(f"{F}max_pool1d", [tensor(N, C, 33), 2], {"ceil_mode": ANYTHING})) == "Tensor[N, C, ?]"


# -- messages ----------------------------------------------------------------------------------------------------------


def test_messages() -> None:
    assert report(f"{F}max_pool2d", f32(2, 3, 11, 13), 12).text == (
        "max_pool2d: the window spans 12, but the padded input is only 11 [input: Float32[2, 3, 11, 13]]"
    )
    assert report(f"{F}max_pool2d", f32(2, 3, 11, 13), 3, padding=2).reason == (
        "padding 2 is more than half of kernel_size 3"
    )
    assert report(f"{F}avg_pool2d", f32(2, 3, 11, 13), (2, 2, 2)).reason == (
        "kernel_size has 3 entries, but it must be one int or a tuple of 2"
    )
    assert module_report("MaxPool2d", {"kernel_size": 2}, f32(11, 13)).text == (
        "MaxPool2d(2): input must have 4 or 3 dims (N, C, H, W) or (C, H, W), but it is (11, 13)"
        " [input: Float32[11, 13]]"
    )
    indices = tensor(2, 3, 4, 5, dtype=INT32)
    assert report(f"{F}max_unpool2d", f32(2, 3, 4, 5), indices, 2).reason == "indices is Int32, but it must be Int64"
    assert module_report("FractionalMaxPool2d", {"kernel_size": 2}).text == (
        "FractionalMaxPool2d: neither output_size nor output_ratio is given"
    )
