"""Rules that move elements, against torch: literally, with symbols, and with little known."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Report, TensorType, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import COMPLEX64, FLOAT32, INT16
from simpletorch.shapes import ANY_REST, UNKNOWN, Rest, var
from tests.rules.hiding import check_call, check_less_known, f

# ruff: noqa: E501 - the tables of calls are read across
B, T, H, D, N = map(var, "BTHDN")
BATCH = Rest("Batch")
C64, F64, I32 = torch.complex64, torch.float64, torch.int32

CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    (name, args, kwargs)
    for name, argument_lists in {
        "Tensor.view": [
            (f(7, 11, 13), 77, 13), (f(7, 11, 13), -1), (f(7, 11, 13), (7, -1)), (f(7, 11, 13), -1, 11, 13),
            (f(7, 11, 13), 7, 11, 13, 1), (f(7, 11, 13), 7, -1, -1), (f(7, 11, 13), 10, -1), (f(7, 11, 13), 7, 12, 13),
            (f(7, 11, 13), 7, -2), (f(1, 1), ()), (f(0, 7), 7, -1), (f(0, 7), 0, -1), (f(0, 7), -1),
            (f(7, 12), torch.float64), (f(7, 13), torch.float64), (f(7, 13), torch.int16), (f(7, 13), I32), (f(), F64),
        ],
        "torch.reshape": [(f(7, 11), (11, 7)), (f(7, 11), (-1,)), (f(7, 11), (7, 12)), (f(7, 11), (1, 7, 1, 11))],
        "Tensor.reshape": [(f(7, 11), 11, -1), (f(7, 11), (77,)), (f(), 1, 1)],
        "Tensor.view_as": [(f(7, 11), f(77)), (f(7, 11), f(7, 13)), (f(7, 11), f(11, 7, 1, dtype=I32))],
        "Tensor.reshape_as": [(f(7, 11), f(77)), (f(7, 11), f(7, 13))],
        "torch.flatten": [
            (f(7, 11, 13),), (f(7, 11, 13), 1), (f(7, 11, 13), 0, 1), (f(7, 11, 13), -2), (f(7, 11, 13), 1, -2), (f(),),
            (f(7, 11, 13), 2, 1), (f(7, 11, 13), 3), (f(7, 11, 13, 17), 1, 2), (f(7, 11, 13, 17), -3, -2), (f(7), 0, 0),
        ],
        "torch.unflatten": [
            (f(7, 12), 1, (3, -1)), (f(7, 12), -1, (3, 4)), (f(7, 12), 1, (5, -1)), (f(7, 12), 1, (3, 5)), (f(77, 13), 0, (7, 11)),
        ],
        "torch.ravel": [(f(7, 11),), (f(),)],
        "torch.permute": [
            (f(7, 11, 13), (2, 0, 1)), (f(7, 11, 13), (0, -1, 1)), (f(7, 11, 13), (0, 1)), (f(7, 11, 13), (0, 0, 1)),
            (f(7, 11, 13), (0, 1, 3)), (f(), ()),
        ],
        "Tensor.permute": [(f(7, 11, 13), 2, 0, 1), (f(7, 11, 13), (1, 2, 0))],
        "torch.transpose": [
            (f(7, 11, 13), 0, 1), (f(7, 11, 13), -1, -2), (f(7, 11, 13), 0, -1), (f(7, 11, 13), 1, 3), (f(), 0, -1),
            (f(7, 11, 13), 1, 1), (f(7, 11, 13, 17), 1, 2),
        ],
        "Tensor.swapaxes": [(f(7, 11, 13), 0, 2)],
        "Tensor.t": [(f(7, 11),), (f(7),), (f(),), (f(7, 11, 13),)],
        "Tensor.T": [(f(7, 11),), (f(7, 11, 13),), (f(7),)],
        "Tensor.mT": [(f(7, 11, 13),), (f(7, 11),), (f(7),)],
        "Tensor.H": [(f(7, 11),), (f(7, 11, 13),)],
        "Tensor.mH": [(f(7, 11, 13),), (f(7),)],
        "torch.movedim": [
            (f(7, 11, 13, 17), 0, 2), (f(7, 11, 13, 17), -1, 1), (f(7, 11, 13, 17), 1, -1), (f(7, 11, 13, 17), (0, 1), (-1, -2)),
            (f(7, 11, 13, 17), (3, 0), (0, 3)), (f(7, 11), (0, 1), (0,)), (f(7, 11), (0, 0), (0, 1)), (f(7, 11), 2, 0), (f(), 0, 0),
        ],
        "torch.squeeze": [
            (f(7, 1, 11, 1),), (f(7, 1, 11), 1), (f(7, 1, 11), 0), (f(1, 7, 1), (0, 2)), (f(7, 1), -1), (f(7, 1), 2), (f(), 0),
            (f(7, 1), (0, 0)),
        ],
        "torch.unsqueeze": [(f(7, 11), 0), (f(7, 11), -1), (f(7, 11), 2), (f(7, 11), -3), (f(7, 11), 3), (f(), 0)],
        "Tensor.expand": [
            (f(7, 1), 7, 11), (f(7, 1), -1, 11), (f(7, 1), 13, 7, 11), (f(7, 1), (13, -1, -1)), (f(7, 1), 11, 13), (f(7, 1), -1, 7, 11),
            (f(7, 11), 11), (f(), 7, 11),
        ],
        "torch.broadcast_to": [(f(7, 1), (13, 7, 11)), (f(7), (7, 11)), (f(7, 11), (7, 11))],
        "Tensor.expand_as": [(f(7, 1), f(13, 7, 11)), (f(7), f(7, 11))],
        "torch.broadcast_tensors": [(f(7, 1), f(11), f(13, 1, 1)), (f(7), f(11))],
        "torch.broadcast_shapes": [((7, 1), (11,)), ((7,), (11,)), (7, (11, 1))],
        "Tensor.repeat": [(f(7, 11), 2, 3), (f(7, 11), (2, 1, 3)), (f(7, 11), 2), (f(), 7), (f(7, 11), 2, -1)],
        "torch.tile": [(f(7, 11), (2,)), (f(7, 11), (2, 3)), (f(7, 11), (5, 2, 3)), (f(), (7,))],
        "torch.repeat_interleave": [
            (f(7, 11), 2), (f(7, 11), 2, 1), (f(7, 11), 2, 2), (f(7, 11), -1), (f(), 3), (f(7, 11), f(3), 1),
        ],
        "Tensor.sum_to_size": [(f(7, 11), 1, 11), (f(7, 11), 11), (f(7, 11), 7, 13), (f(7, 11), 1, 7, 11)],
        "torch.flip": [(f(7, 11), (0, 1)), (f(7, 11), (0, 0)), (f(7, 11), (2,)), (f(7, 11), (-1,))],
        "Tensor.flip": [(f(7, 11), 0), (f(7, 11), 0, 1)],
        "torch.fliplr": [(f(7, 11),), (f(7),)],
        "torch.flipud": [(f(7),), (f(),)],
        "torch.roll": [(f(7, 11), 1), (f(7, 11), (1, 2), (0, 1)), (f(7, 11), 1, 2), (f(7, 11), (1, 2), (0,)), (f(7, 11), (1, 2))],
        "torch.rot90": [(f(7, 11),), (f(7, 11, 13), 1, (1, 2)), (f(7, 11, 13), 2, (1, 2)), (f(7),), (f(7, 11), 1, (0, 0)), (f(7, 11), 1, (0,))],
        "Tensor.unfold": [
            (f(7, 11), 1, 3, 2), (f(7, 11), 0, 7, 1), (f(7, 11), 0, 8, 1), (f(7, 11), 1, 3, 0), (f(7, 11), -1, 11, 5), (f(), 0, 1, 1),
        ],
        "torch.narrow": [
            (f(7, 11), 1, 2, 5), (f(7, 11), -1, -3, 3), (f(7, 11), 1, 8, 4), (f(7, 11), 2, 0, 1), (f(), 0, 0, 1), (f(7, 11), 0, 0, -1),
        ],
        "torch.select": [(f(7, 11), 1, 3), (f(7, 11), -1, -11), (f(7, 11), 0, 7), (f(7, 11), 2, 0), (f(), 0, 0)],
        "torch.atleast_1d": [(f(),), (f(7),), (f(), f(7, 11))],
        "torch.atleast_2d": [(f(),), (f(7),), (f(7, 11),), ((f(), f(7)),)],
        "torch.atleast_3d": [(f(),), (f(7),), (f(7, 11),), (f(7, 11, 13),)],
        "torch.view_as_real": [(f(7, dtype=C64),), (f(7),)],
        "torch.view_as_complex": [(f(7, 2),), (f(7, 2, dtype=F64),), (f(7, 11),), (f(7, 2, dtype=I32),), (f(),)],
        "torch.as_strided": [(f(7, 11), (3, 2), (2, 1)), (f(7, 11), (3, 2), (1,)), (f(7, 11), (-3,), (1,))],
    }.items()
    for args in argument_lists
    for kwargs in ({},)
]  # fmt: skip
KEYWORDS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("torch.flatten", (f(7, 11, 13),), {"start_dim": 1, "end_dim": 2}),
    ("Tensor.flip", (f(7, 11),), {"dims": (0,)}),
    ("Tensor.permute", (f(7, 11),), {"dims": (1, 0)}),
    ("torch.squeeze", (f(7, 1),), {"dim": 1}),
    ("torch.repeat_interleave", (f(7, 11), torch.tensor([1] * 7)), {"dim": 0, "output_size": 7}),
    ("torch.rot90", (f(7, 11),), {"k": 3, "dims": (1, 0)}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS + KEYWORDS, ids=lambda v: v if isinstance(v, str) else "")
def test_as_torch_says(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_call(name, args, kwargs)
    check_less_known(name, args, kwargs)


def f32(*items: Any) -> TensorType:
    return tensor(*items, dtype=FLOAT32)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("Tensor.view", (f32(B, T, H * D), B, T, H, D), (B, T, H, D)),
        ("Tensor.view", (f32(B, T, D), B, T, H, D // H), (B, T, H, D // H)),
        ("Tensor.view", (f32(B, 3, 4, 5), B, -1), (B, 60)),
        ("Tensor.view", (f32(B, T, D), -1, D), (B * T, D)),
        ("Tensor.view", (f32(B, T, D), B, UNKNOWN), (B, T * D)),
        ("Tensor.view", (f32(B, T), -1, 7), ((B * T) // 7, 7)),
        ("Tensor.view", (f32(UNKNOWN, 5), -1, 5), (UNKNOWN, 5)),
        ("Tensor.view", (f32(ANY_REST, 128), -1, 128), (UNKNOWN, 128)),
        ("Tensor.view", (f32(B, T), ANYTHING, T), (B, T)),
        ("torch.flatten", (f32(B, T, D), 1), (B, T * D)),
        ("torch.flatten", (f32(ANY_REST), 1), (UNKNOWN, UNKNOWN)),
        ("torch.flatten", (f32(B, ANY_REST), 1), (B, UNKNOWN)),
        ("torch.flatten", (f32(BATCH, T, D), -2), (BATCH, T * D)),
        ("torch.unflatten", (f32(B, H * D), 1, (H, -1)), (B, H, D)),
        ("torch.squeeze", (f32(B, 1, 3),), (ANY_REST, 3)),
        ("torch.squeeze", (f32(B + 1, 1, 3),), (B + 1, 3)),
        ("torch.squeeze", (f32(B, 1, 3), 0), (B, 1, 3)),
        ("torch.squeeze", (f32(UNKNOWN, 1, 3), 0), (ANY_REST, 1, 3)),
        ("torch.squeeze", (f32(BATCH, 1), -1), (BATCH,)),
        ("torch.unsqueeze", (f32(BATCH, T), -1), (BATCH, T, 1)),
        ("torch.unsqueeze", (f32(BATCH), 0), (1, BATCH)),
        ("Tensor.mT", (f32(BATCH, T, D),), (BATCH, D, T)),
        ("torch.transpose", (f32(ANY_REST), 1, 2), (UNKNOWN, UNKNOWN, UNKNOWN, ANY_REST)),
        ("torch.transpose", (f32(B, T, D), UNKNOWN, 1), (UNKNOWN, UNKNOWN, UNKNOWN)),
        ("torch.movedim", (f32(B, BATCH, D), -1, 1), (B, D, BATCH)),
        ("Tensor.expand", (f32(1, T), B, -1), (B, T)),
        ("Tensor.expand", (f32(T, 1), B, UNKNOWN, N), (B, T, N)),
        ("Tensor.repeat", (f32(B, T), 2, 1, N), (2, B, T * N)),
        ("Tensor.unfold", (f32(B, T), 1, 3, 2), (B, (T - 3) // 2 + 1, 3)),
        ("torch.narrow", (f32(B, T), 1, 0, N), (B, N)),
    ],
)
def test_symbols_and_partial_knowledge(name: str, args: Any, expected: Any) -> None:
    assert infer(name, args) == f32(*expected)


def test_an_unknown_dtype_stays_unknown() -> None:
    assert infer("Tensor.view", (tensor(4, 6), 24)) == tensor(24)
    assert infer("Tensor.view", (tensor(4, 6), INT16)) == tensor(4, UNKNOWN, dtype=INT16)
    assert infer("torch.view_as_real", (tensor(4, dtype=COMPLEX64),)) == f32(4, 2)


@pytest.mark.parametrize(
    ("name", "args", "reason"),
    [
        ("Tensor.view", (f32(2, 3, 20), 7, -1), "120 elements can't be viewed as (7, -1): 120 is not divisible by 7"),
        ("Tensor.view", (f32(2, 3, 20), 7, 5), "120 elements can't be viewed as (7, 5), which has 35"),
        (
            "Tensor.view",
            (f32(B, 784), 64, 784),
            "784*B elements can't be viewed as (64, 784): 784*B and 50176 are not equal for all sizes",
        ),
        (
            "Tensor.reshape",
            (f32(UNKNOWN, 7), 5, 3),
            "a multiple of 7 elements can't be reshaped to (5, 3), which has 15",
        ),
        (
            "torch.unflatten",
            (f32(7, 12), 1, (5, -1)),
            "dim 1 of size 12 can't be unflattened to (5, -1): 12 is not divisible by 5",
        ),
        (
            "Tensor.expand",
            (f32(7, 3), 7, 5),
            "input (7, 3) can't be expanded to (7, 5): dim -1 is 3, not 1 or 5",
        ),
        ("torch.permute", (f32(2, 3, 5), (0, 1)), "dims names 2 dims, but input is (2, 3, 5)"),
        ("torch.transpose", (f32(2, 3), 0, 2), "dim1=2 is out of range for 2 dims (2, 3); it must be in [-2, 1]"),
        ("Tensor.unfold", (f32(2, 3), 1, 4, 1), "size=4 is larger than dim 1, which is 3"),
        ("torch.select", (f32(2, 3), 1, 3), "index 3 is out of range for dim 1 of size 3"),
    ],
)
def test_wording(name: str, args: Any, reason: str) -> None:
    report = infer(name, args)
    assert isinstance(report, Report)
    assert report.reason == reason


def test_layers() -> None:
    flatten = new_module("torch.nn.Flatten", {})
    assert infer_module(flatten, (f32(B, 3, 5, 7),)) == f32(B, 105)
    unflatten = new_module("torch.nn.Unflatten", {"dim": 1, "unflattened_size": (3, 5, 7)})
    assert infer_module(unflatten, (f32(B, 105),)) == f32(B, 3, 5, 7)
    assert isinstance(infer_module(unflatten, (f32(B, 104),)), Report)
