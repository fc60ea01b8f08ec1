"""Rules that join and split, gather and scatter, against torch: literally, with symbols, and with little known."""

# ruff: noqa: E501 - the tables of calls are read across
from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Many, Report, TensorType, infer, tensor
from simpletorch.rules.core.dtype import BOOL, FLOAT32, FLOAT64, INT64
from simpletorch.shapes import ANY_REST, UNKNOWN, Rest, Shape, var
from tests.rules.hiding import check_call, check_less_known, f

B, T, D, N, M = map(var, "BTDNM")
BATCH = Rest("Batch")
F64, I64, I32, BO = torch.float64, torch.int64, torch.int32, torch.bool


def i(*sizes: int, dtype: torch.dtype = I64) -> torch.Tensor:
    """Index zeros."""
    return torch.zeros(sizes, dtype=dtype)


CALLS: dict[str, list[tuple[Any, ...]]] = {
    "torch.cat": [
        ([f(7, 11), f(13, 11)],), ([f(7, 11), f(7, 13)], 1), ([f(7, 11), f(7, 13)], -1), ([f(7, 11), f(7, 13)],), ([f(7), f(11)],),
        ([f(7, 11), f(7, 11, dtype=F64)],), ([f(7, 11), i(7, 11)],), ([f(0), f(7, 11)],), ([f(0), f(7, 11)], 1), ([f(0, dtype=F64), f(7, 11)],),
        ([f(7), f(7, 11)],), ([f(), f()],), ([],), ([f(7, 11)], 2), ([f(7, 11, 13), f(7, 17, 13), f(7, 19, 13)], 1),
    ],
    "torch.stack": [
        ([f(7, 11), f(7, 11)],), ([f(7, 11), f(7, 11)], 2), ([f(7, 11), f(7, 11), f(7, 11)], -1), ([f(7, 11), f(7, 13)],), ([f(7), f(7, 11)],),
        ([f(), f()],), ([f(7), i(7)],), ([f(7)], 2), ([],),
    ],
    "torch.hstack": [([f(7), f(11)],), ([f(7, 11), f(7, 13)],), ([f(), f()],), ([f(7), f(7, 11)],), ([f(7, 11), f(13, 11)],)],
    "torch.vstack": [([f(7), f(7)],), ([f(7), f(11)],), ([f(7, 11), f(13, 11)],), ([f(), f(1)],), ([f(11), f(7, 11)],)],
    "torch.dstack": [([f(7), f(7)],), ([f(7, 11), f(7, 11)],), ([f(7, 11, 13), f(7, 11, 17)],), ([f(7, 11), f(7, 13)],), ([f(7), f(1, 7)],)],
    "torch.column_stack": [([f(7), f(7)],), ([f(7), f(7, 11)],), ([f(), f()],), ([f(7), f(11)],)],
    "torch.block_diag": [(f(7, 11), f(13)), (f(), f(7)), (), (f(7, 11, 13),), (f(7), i(11))],
    "torch.split": [
        (f(10, 7), 3), (f(12, 7), 4), (f(10, 7), (4, 6)), (f(10, 7), (5, 6)), (f(10, 3), 2, 1), (f(12, 7), 5, 2), (f(0, 7), 5), (f(12, 7), 0),
        (f(12, 7), -1), (f(), 1), (f(77, 13), 11),
    ],
    "Tensor.split_with_sizes": [(f(7, 10), (4, 6), 1), (f(7, 10), (4, 8), 1)],
    "torch.chunk": [(f(12, 7), 3), (f(10, 7), 3), (f(7, 11), 0), (f(), 2), (f(0, 7), 3), (f(21, 11), 3)],
    "torch.tensor_split": [
        (f(13, 7), 3), (f(13, 7), (2, 5)), (f(10, 7), (5, 2, 30)), (f(13, 7), (-3,)), (f(7, 13), 4, 1), (f(7, 13), 0), (f(), 2), (f(7), ()),
    ],
    "torch.hsplit": [(f(12), 3), (f(7, 12), 3), (f(7, 12), 5), (f(7, 12), (2, 5)), (f(), 1)],
    "torch.vsplit": [(f(12, 7), 3), (f(12, 7), 5), (f(12), 3)],
    "torch.dsplit": [(f(7, 11, 12), 3), (f(7, 11, 12), (2,)), (f(7, 12), 3)],
    "torch.unbind": [(f(7, 11),), (f(7, 11), 1), (f(7, 11), 2), (f(),)],
    "torch.index_select": [
        (f(7, 11), 1, i(3)), (f(7, 11), 0, i()), (f(7, 11), 0, i(3, dtype=I32)), (f(7, 11), 0, f(3)), (f(7, 11), 0, i(3, 2)), (f(7, 11), 2, i(3)),
        (f(), 0, i(1)), (f(), 0, i(3)),
    ],
    "torch.gather": [
        (f(7, 11), 1, i(7, 13)), (f(7, 11), 1, i(5, 13)), (f(7, 11), 1, i(8, 3)), (f(7, 11), 1, i(7)), (f(7, 11), 1, f(7, 11)), (f(7), 0, i()), (f(), 0, i(3)),
        (f(7, 11), 0, i(13, 11)),
    ],
    "torch.take": [(f(7, 11), i(13, 3)), (f(7, 11), i(13, dtype=I32))],
    "torch.take_along_dim": [
        (f(7, 11), i(7, 13), 1), (f(7, 11), i(1, 13), 1), (f(7, 11), i(8, 13), 1), (f(7, 11), i(13, 3)), (f(7, 11), i(13), 0), (f(7, 11), i(7, 1, dtype=I32), 1),
    ],
    "torch.scatter": [
        (f(7, 11), 1, i(7, 5), f(7, 5)), (f(7, 11), 1, i(7, 5), f(7, 4)), (f(7, 11), 1, i(8, 5), f(8, 5)), (f(7, 11), 1, i(7, 13), f(7, 13)),
        (f(7, 11), 1, i(7, 5), f(7, 5, dtype=F64)), (f(7, 11), 1, i(7, 5), 1.5), (f(7, 11), 1, i(7), f(7)), (f(7, 11), 1, i(7, 5), 1j),
    ],
    "torch.scatter_add": [(f(7, 11), 0, i(3, 11), f(3, 11)), (f(7, 11), 0, i(3, 12), f(3, 12))],
    "torch.scatter_reduce": [(f(7, 11), 0, i(3, 11), f(3, 11), "sum"), (f(7, 11), 0, i(3, 12), f(3, 12), "sum")],
    "torch.index_add": [
        (f(7, 11), 1, i(3), f(7, 3)), (f(7, 11), 1, i(3), f(7, 4)), (f(7, 11), 1, i(3), f(8, 3)), (f(7, 11), 1, i(3), f(7, 3, dtype=F64)), (f(7, 11), 1, i(3), f(3)),
        (f(7), 0, i(3), f()),
    ],
    "torch.index_copy": [(f(7, 11), 1, i(3), f(7, 3)), (f(7, 11), 1, i(3), f(7, 4)), (f(7, 11), 1, i(3, dtype=I32), f(7, 3))],
    "torch.index_fill": [(f(7, 11), 1, i(3), 2), (f(7, 11), 1, i(3), f()), (f(7, 11), 1, i(3), f(1)), (f(7, 11), 1, i(3, 2), 2), (f(7, 11), 2, i(3), 2)],
    "torch.index_put": [
        (f(7, 11), (i(3),), f(3, 11)), (f(7, 11), (i(3),), f(11)), (f(7, 11), (i(3),), f(12)), (f(7, 11), (i(3), i(3)), f()), (f(7, 11), (f(3),), f()),
        (f(7, 11), (i(3),), f(11, dtype=F64)),
    ],
    "torch.masked_fill": [
        (f(7, 11), i(11, dtype=BO), 1.0), (f(7, 11), i(13, dtype=BO), 1.0), (f(7, 11), i(13, 7, 11, dtype=BO), 1.0), (f(7, 11), i(7, 11), 1.0),
        (f(7, 11), i(7, 11, dtype=BO), f()), (f(7, 11), i(7, 11, dtype=BO), f(11)),
    ],
    "Tensor.masked_fill_": [(f(7, 11), i(11, dtype=BO), 1.0), (f(7, 11), i(13, 7, 11, dtype=BO), 1.0), (f(7, 1), i(7, 11, dtype=BO), 1.0)],
    "torch.masked_scatter": [(f(7, 11), i(11, dtype=BO), f(11)), (f(7, 11), i(11, dtype=BO), f(11, dtype=F64))],
    "torch.select_scatter": [(f(7, 11), f(7), 1, 3), (f(7, 11), f(8), 1, 3), (f(7, 11), f(7), 1, 11)],
    "torch.slice_scatter": [(f(7, 11), f(7, 3), 1, 2, 5), (f(7, 11), f(7, 4), 1, 2, 5), (f(7, 10), f(7, 5), 1, None, None, 2)],
    "torch.argwhere": [(f(7, 11),), (f(),)],
    "torch.unravel_index": [(i(7), (11, 13)), (i(7, dtype=I32), (11, 13)), (f(7), (11, 13))],
    "torch.nonzero_static": [],
    "Tensor.__len__": [(f(7, 11),), (f(),)],
}  # fmt: skip
# what torch does for small sizes only is not what is said about symbols and unknown dims
LITERAL: list[tuple[str, tuple[Any, ...]]] = [
    ("torch.cat", ([f(0), f(0)], 1)),
    ("torch.chunk", (f(7, 2), 5, 1)),
    ("torch.chunk", (f(7, 11), 5)),
    ("torch.tensor_split", (f(7, 11), (5, 2, 30))),
    ("torch.diagonal_scatter", (f(7, 3), f(3))),
    ("torch.diagonal_scatter", (f(7, 11), f(8))),
    ("torch.diagonal_scatter", (f(7, 7), f(5), 2)),
]
# how many elements a mask or nonzero picks is in no type
VALUE_DEPENDENT = ("torch.argwhere",)


@pytest.mark.parametrize("name", CALLS)
def test_as_torch_says(name: str) -> None:
    for args in CALLS[name]:
        if name not in VALUE_DEPENDENT:
            check_call(name, args, {})
        check_less_known(name, args, {})


@pytest.mark.parametrize(("name", "args"), LITERAL)
def test_small_sizes(name: str, args: tuple[Any, ...]) -> None:
    check_call(name, args, {})


def test_what_depends_on_values_is_unknown_there() -> None:
    x, mask = f32(B, T), tensor(B, T, dtype=BOOL)
    assert infer("torch.nonzero", (x,)) == tensor(UNKNOWN, 2, dtype=INT64)
    assert infer("torch.nonzero", (x,), {"as_tuple": True}) == (tensor(UNKNOWN, dtype=INT64),) * 2
    assert infer("torch.argwhere", (f32(ANY_REST),)) == tensor(UNKNOWN, UNKNOWN, dtype=INT64)
    assert infer("torch.masked_select", (x, mask)) == f32(UNKNOWN)
    assert infer("torch.nonzero_static", (x,), {"size": 5}) == tensor(5, 2, dtype=INT64)


def f32(*items: Any) -> TensorType:
    return tensor(*items, dtype=FLOAT32)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("torch.cat", ((f32(B, T), f32(N, T)),), f32(B + N, T)),
        ("torch.cat", ((f32(B, T), f32(B, T)), -1), f32(B, 2 * T)),
        ("torch.cat", ((f32(BATCH, 5), f32(BATCH, 7)), -1), f32(BATCH, 12)),
        ("torch.cat", ((f32(B, UNKNOWN), f32(UNKNOWN, T)), 0), f32(UNKNOWN, T)),
        ("torch.cat", ((f32(B, T), ANYTHING), 0), tensor(UNKNOWN, T)),
        ("torch.cat", ((f32(B, T), f32(B, T)), UNKNOWN), f32(UNKNOWN, UNKNOWN)),
        ("torch.cat", ((f32(UNKNOWN), f32(B, T)), 0), f32(ANY_REST)),
        ("torch.stack", ((f32(B, T),) * 3, 1), f32(B, 3, T)),
        ("torch.stack", ((f32(BATCH, 5), f32(BATCH, 5)), -1), f32(BATCH, 5, 2)),
        ("torch.chunk", (f32(B, 3 * D), 3, -1), (f32(B, D),) * 3),
        ("torch.chunk", (f32(B, D), 2, -1), (f32(B, UNKNOWN),) * 2),
        ("torch.split", (f32(B, 3 * D), D, 1), (f32(B, D),) * 3),
        ("torch.split", (f32(B, D), N, 1), Many(f32(B, UNKNOWN))),
        ("torch.split", (f32(B, N + M), (N, M), 1), (f32(B, N), f32(B, M))),
        ("torch.split", (f32(B, 12), (UNKNOWN, 5), 1), (f32(B, 7), f32(B, 5))),
        ("torch.unbind", (f32(3, B, T),), (f32(B, T),) * 3),
        ("torch.unbind", (f32(B, T),), Many(f32(T))),
        ("torch.tensor_split", (f32(N), (2,)), (f32(2), f32(N - 2))),
        ("torch.gather", (f32(B, T), 1, tensor(B, N, dtype=INT64)), f32(B, N)),
        ("torch.index_select", (f32(BATCH, T), -1, tensor(N, dtype=INT64)), f32(BATCH, N)),
        ("torch.masked_fill", (f32(B, T, T), tensor(T, T, dtype=BOOL), float("-inf")), f32(B, T, T)),
    ],
)  # fmt: skip
def test_symbols_and_partial_knowledge(name: str, args: Any, expected: Any) -> None:
    assert infer(name, args) == expected


@pytest.mark.parametrize(
    ("name", "args", "reason"),
    [
        ("torch.cat", ((f32(3, 5), f32(3, 7)),), "the sizes of dim 1 differ: tensors[0] has 5, tensors[1] has 7"),
        ("torch.cat", ((f32(3), f32(3, 7)),), "tensors[0] is (3,), but tensors[1] is (3, 7); they must have the same number of dims"),
        ("torch.cat", ((f32(B, T), f32(B, N)),), "the sizes of dim 1 differ: tensors[0] has T, tensors[1] has N; they are not equal for all sizes"),
        ("torch.stack", ((f32(3), f32(5)),), "the sizes of dim 0 differ: tensors[0] has 3, tensors[1] has 5"),
        ("torch.cat", ((f32(), f32()),), "tensors[0] is 0-dim; it can't be concatenated"),
        ("torch.split", (f32(7, 12), (5, 6), 1), "the sum of split_sizes (5, 6) is 11, but dim 1 of input is 12"),
        ("torch.gather", (f32(7, 11), 1, tensor(8, 3, dtype=INT64)), "index has 8 at dim 0, which is larger than input's 7"),
        ("torch.gather", (f32(7, 11), 1, f32(7, 3)), "index is Float32, but it must be Int64 or Int32"),
        ("torch.scatter", (f32(7), 0, tensor(3, dtype=INT64), tensor(3, dtype=FLOAT64)), "input is Float32, but src is Float64; both must have one dtype"),
        ("torch.index_add", (f32(7, 11), 1, tensor(3, dtype=INT64), f32(7, 4)), "dim 1 of source is 4, but index has 3"),
        ("Tensor.masked_fill_", (f32(7, 1), tensor(7, 5, dtype=BOOL), 0), "mask (7, 5) can't be expanded to input (7, 1): 5 is not 1 at dim -1"),
        ("torch.masked_fill", (f32(7), f32(7), 0), "mask is Float32, but it must be Bool"),
    ],
)  # fmt: skip
def test_wording(name: str, args: Any, reason: str) -> None:
    report = infer(name, args)
    assert isinstance(report, Report)
    assert report.reason == reason


def test_stacked_are_a_known_rank_and_one_that_is_larger_for_sure():
    short, long = tensor(7, dtype=FLOAT32), TensorType(Shape((ANY_REST, 7, 11)), FLOAT32)
    assert isinstance(infer("torch.stack", ((short, long),)), TensorType | Report)
