"""Embeddings, one-hot vectors, distances and the bilinear layer against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import FLOAT32, INT32, INT64
from simpletorch.shapes import ANY_REST, var
from tests import oracle
from tests.rules.symbolic import GOOD, B, D, K, L, N, T, differs, f32, module_differs, module_report, ones, report

F = "torch.nn.functional."
V = var("V")
DTYPES = [torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool, torch.float32]


def indices(*shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_indices(dtype: torch.dtype) -> None:
    for shape in ((), (5,), (2, 5), (2, 3, 5)):
        assert oracle.judge(f"{F}embedding", (indices(*shape, dtype=dtype), ones(11, 7))) in GOOD
        assert oracle.judge(f"{F}embedding_bag", (indices(*shape, dtype=dtype), ones(11, 7))) in GOOD
        assert oracle.judge(f"{F}one_hot", (indices(*shape, dtype=dtype), 13)) in GOOD
    assert oracle.judge("torch.embedding", (ones(11, 7), indices(2, 5, dtype=dtype))) in GOOD


@pytest.mark.parametrize("weight", [(11,), (11, 7), (11, 7, 5)], ids=str)
@pytest.mark.parametrize("padding_idx", [None, 0, 10, 11, -11, -12])
def test_weight(weight: tuple[int, ...], padding_idx: int | None) -> None:
    assert oracle.judge(f"{F}embedding", (indices(2, 5), ones(*weight)), {"padding_idx": padding_idx}) in GOOD


@pytest.mark.parametrize("options", [
    {}, {"mode": "sum"}, {"mode": "max"}, {"mode": "other"}, {"include_last_offset": True},
    {"mode": "max", "sparse": True}, {"mode": "max", "scale_grad_by_freq": True},
], ids=str)  # fmt: skip
def test_bags(options: dict[str, Any]) -> None:
    for shape, offsets in (
        ((2, 5), None),
        ((6,), torch.tensor([0, 2, 3])),
        ((6,), None),
        ((2, 5), torch.tensor([0, 2])),
    ):
        assert oracle.judge(f"{F}embedding_bag", (indices(*shape), ones(11, 7), offsets), options) in GOOD
    for weights in (ones(2, 5), ones(2, 6), ones(2, 5, dtype=torch.float64)):
        options = options | {"per_sample_weights": weights}
        assert oracle.judge(f"{F}embedding_bag", (indices(2, 5), ones(11, 7)), options) in GOOD


@pytest.mark.parametrize("x2", [(2, 5), (1, 5), (5,), (3, 1, 5), (2, 4), (3, 5)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64], ids=str)
def test_distances(x2: tuple[int, ...], dtype: torch.dtype) -> None:
    for dim in (0, 1, -1, 2):
        found = oracle.examine(f"{F}cosine_similarity", (ones(2, 5), ones(*x2, dtype=dtype)), {"dim": dim})
        assert found.verdict in GOOD, found
    for keepdim in (False, True):
        found = oracle.examine(f"{F}pairwise_distance", (ones(2, 5), ones(*x2, dtype=dtype)), {"keepdim": keepdim})
        assert found.verdict in GOOD, found
    assert oracle.judge(f"{F}pdist", (ones(*x2, dtype=dtype),)) in GOOD


# -- symbols -----------------------------------------------------------------------------------------------------------


def test_symbolic() -> None:
    ids = tensor(B, T, dtype=INT64)
    assert differs(f"{F}one_hot", ids, K) == ""
    assert str(infer(f"{F}embedding", [ids, f32(V, D)])) == "Float32[B, T, D]"
    assert str(infer(f"{F}embedding_bag", [ids, f32(V, D)])) == "Float32[B, D]"
    assert differs(f"{F}cosine_similarity", f32(N, D), f32(N, D)) == ""
    assert differs(f"{F}pairwise_distance", f32(N, D), f32(D), keepdim=True) == ""
    assert differs(f"{F}pdist", f32(N, D)) == ""


@pytest.mark.parametrize(("name", "arguments", "inputs"), [
    ("LazyLinear", {"out_features": 7}, [f32(B, T, D)]),
    ("Bilinear", {"in1_features": D, "in2_features": L, "out_features": K}, [f32(B, T, D), f32(B, T, L)]),
    ("Bilinear", {"in1_features": 5, "in2_features": 7, "out_features": 3}, [f32(2, 5), f32(3, 7)]),
    ("CosineSimilarity", {"dim": -1}, [f32(B, T, D), f32(T, D)]),
    ("PairwiseDistance", {"keepdim": True}, [f32(B, D), f32(B, D)]),
])  # fmt: skip
def test_layers(name: str, arguments: dict[str, Any], inputs: list[Any]) -> None:
    assert module_differs(name, arguments, *inputs) == ""


# -- partly known ------------------------------------------------------------------------------------------------------


def test_partly_known() -> None:
    layer = new_module("torch.nn.Embedding", {"num_embeddings": V, "embedding_dim": D})
    assert str(infer_module(layer, [ANYTHING])) == "Float32[..., D]"  # type: ignore[arg-type]
    assert str(infer_module(layer, [tensor(B, T, dtype=INT32)])) == "Float32[B, T, D]"  # type: ignore[arg-type]
    bag = new_module("torch.nn.EmbeddingBag", {"num_embeddings": 11, "embedding_dim": 7})
    assert str(infer_module(bag, [ANYTHING, ANYTHING])) == "Float32[?, 7]"  # type: ignore[arg-type]
    assert str(infer(f"{F}one_hot", [tensor(ANY_REST, T)])) == "Int64[..., T, ?]"
    assert str(infer(f"{F}cosine_similarity", [ANYTHING, tensor(N, D)])) == "Tensor[?, ...]"
    assert str(infer(f"{F}pairwise_distance", [ANYTHING, ANYTHING])) == "Tensor[...]"


# -- messages ----------------------------------------------------------------------------------------------------------


def test_messages() -> None:
    found = module_report("Embedding", {"num_embeddings": 11, "embedding_dim": 7}, f32(B, T))
    assert (found.kind, found.hint) == ("dtype", "input.long()")
    assert found.text == (
        "Embedding(11, 7): input is Float32, but indices must be Int64 or Int32 [input: Float32[B, T]]"
    )
    assert module_report("Embedding", {"num_embeddings": 11, "embedding_dim": 7, "padding_idx": 11}).text == (
        "Embedding: padding_idx is 11, but there are 11 embeddings"
    )
    ids = tensor(6, dtype=INT64)
    assert report(f"{F}embedding_bag", ids, f32(11, 7)).reason == (
        "input is 1-dim, so offsets must say where each bag starts"
    )
    assert report(f"{F}one_hot", tensor(6, dtype=FLOAT32), 5).reason == "tensor is Float32, but indices must be Int64"
    assert report(f"{F}cosine_similarity", f32(2, 5), f32(2, 4)).reason == (
        "x1 (2, 5) and x2 (2, 4) can't be broadcast: 5 and 4 differ and neither is 1 at dim -1"
    )
