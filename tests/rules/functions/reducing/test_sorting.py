"""Sorting, searching, distinct values and histograms against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Named, Report, TensorType, infer, tensor
from simpletorch.rules.core.dtype import BOOL, COMPLEX64, FLOAT32, INT64
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Shape
from tests import oracle
from tests.rules.symbolic import GOOD, B, N, T, case, differs

x = torch.ones(3, 5)
i = torch.ones(3, 5, dtype=torch.int64)
v = torch.arange(7.0)
one = torch.tensor(2.5)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        case("torch.sort", x, 0, True),
        case("torch.sort", x, stable=True, dim=0),
        case("torch.sort", x, 2),
        case("torch.sort", one),
        case("torch.argsort", i, descending=True),
        case("torch.argsort", x, -3),
        case("torch.msort", x),
        case("torch.sort", x.to(torch.complex64)),
        case("torch.topk", x, 2),
        case("torch.topk", x, 2, 0),
        case("torch.topk", x, 0),
        case("torch.topk", x, 7),
        case("torch.topk", x, -1),
        case("torch.topk", one, 1),
        case("torch.topk", one, 2),
        case("torch.topk", x > 0, 2),
        case("torch.kthvalue", x, 2, 0, True),
        case("torch.kthvalue", x, 6),
        case("torch.kthvalue", x, 0),
        case("torch.searchsorted", v, x),
        case("torch.searchsorted", x, torch.ones(3, 11), out_int32=True),
        case("torch.searchsorted", x, torch.ones(2, 11)),
        case("torch.searchsorted", x, v),
        case("torch.searchsorted", v, 2.0),
        case("torch.searchsorted", x, 2.0),
        case("torch.searchsorted", v, x, sorter=torch.arange(7)),
        case("torch.searchsorted", v, x, sorter=torch.arange(7, dtype=torch.int32)),
        case("torch.bucketize", x, v),
        case("torch.bucketize", 2.0, v, out_int32=True),
        case("torch.bucketize", x, x),
        case("torch.unique", x),
        case("torch.unique", x, return_inverse=True, return_counts=True, dim=1),
        case("Tensor.unique", x, True, True),
        case("torch.unique_consecutive", x, return_inverse=True, dim=0),
        case("torch.histc", x, bins=11, min=0, max=1),
        case("torch.histogram", x, 11, range=(0.0, 1.0)),
        case("torch.histogram", x, v),
        case("torch.histogram", x, 11, weight=torch.ones(3)),
        case("torch.histogram", i, 11),
        case("torch.histogramdd", torch.ones(11, 2), [3, 5]),
        case("torch.histogramdd", torch.ones(11, 2), 3),
        case("torch.histogramdd", torch.ones(11, 2), [3, 5, 7]),
        case("torch.bincount", i[0]),
        case("torch.bincount", i[0], torch.ones(5), 7),
        case("torch.bincount", i[0], torch.ones(3)),
        case("torch.bincount", i),
    ],
)
def test_agrees_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    judgement = oracle.examine(name, args, kwargs)
    assert judgement.verdict in GOOD, judgement


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        case("torch.sort", tensor(B, N, dtype=FLOAT32)),
        case("torch.topk", tensor(B, N + 1, dtype=FLOAT32), N),
        case("torch.topk", tensor(B, T, N, dtype=FLOAT32), B, 1),
        case("torch.kthvalue", tensor(B, N, dtype=FLOAT32), 1, 0),
        case("torch.searchsorted", tensor(B, T, dtype=FLOAT32), tensor(B, N, dtype=FLOAT32)),
        case("torch.searchsorted", tensor(B, T, dtype=FLOAT32), tensor(T, N, dtype=FLOAT32)),
        case("torch.histogram", tensor(B, dtype=FLOAT32), N),
    ],
)
def test_symbols_agree_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert differs(name, *args, **kwargs) == ""


def test_topk_of_unknown_rank_knows_its_last_dim() -> None:
    found = infer("torch.topk", (tensor(ANY_REST, N, dtype=FLOAT32), 5))
    shape = Shape.of(ANY_REST, 5)
    indices = ("indices", TensorType(shape, INT64))
    assert found == Named("torch.return_types.topk", (("values", TensorType(shape, FLOAT32)), indices))
    found = infer("torch.topk", (tensor(ANY_REST, dtype=FLOAT32), 5))
    assert isinstance(found, Named)
    assert dict(found.fields)["values"] == TensorType(ANY_SHAPE, FLOAT32)


def test_an_unknown_k_is_an_unknown_dim() -> None:
    found = infer("torch.topk", (tensor(3, 5), UNKNOWN, 0))
    assert isinstance(found, Named)
    assert dict(found.fields)["values"] == tensor(UNKNOWN, 5)


def test_how_many_distinct_values_there_are_is_not_known() -> None:
    assert infer("torch.unique", (tensor(3, 5, dtype=INT64), True, True), {"dim": 1}) == (
        tensor(3, UNKNOWN, dtype=INT64),
        tensor(5, dtype=INT64),
    )
    assert infer("torch.unique", (tensor(3), True, ANYTHING)) is ANYTHING


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        (
            "torch.topk",
            (tensor(3, 5, dtype=FLOAT32), 7),
            "topk: k is 7, but dim 1 of input (3, 5) has only 5 [input: Float32[3, 5]]",
        ),
        (
            "torch.topk",
            (tensor(3, dtype=BOOL), 1),
            "topk: input is Bool, which is not ordered here [input: Bool[3]]",
        ),
        (
            "torch.sort",
            (tensor(3, dtype=COMPLEX64),),
            "sort: input is Complex64, but complex numbers have no order [input: Complex64[3]]",
        ),
        (
            "torch.searchsorted",
            (tensor(B, T), tensor(N, T)),
            "searchsorted: the batch of sorted_sequence is (B,), but that of input is (N,); "
            "they must be equal for all sizes "
            "[sorted_sequence: Tensor[B, T], input: Tensor[N, T]]",
        ),
    ],
)
def test_message(name: str, args: tuple[Any, ...], text: str) -> None:
    report = infer(name, args)
    assert isinstance(report, Report)
    assert report.text == text
