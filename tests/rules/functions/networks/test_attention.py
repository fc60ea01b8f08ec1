"""Attention and the Transformer against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import BOOL, FLOAT32, INT64
from simpletorch.shapes import ANY_REST
from tests import oracle
from tests.rules.symbolic import GOOD, B, D, H, L, N, S, T, differs, f32, module_differs, module_report, ones, report

SDPA = "torch.nn.functional.scaled_dot_product_attention"
QKV = [
    ((2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 7)),
    ((4, 8), (5, 8), (5, 7)),
    ((2, 3, 4, 8), (2, 3, 5, 9), (2, 3, 5, 7)),
    ((2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 6, 7)),
    ((2, 3, 4, 8), (2, 1, 5, 8), (2, 1, 5, 7)),
    ((2, 3, 4, 8), (3, 5, 8), (3, 5, 7)),
    ((2, 1, 4, 8), (2, 3, 5, 8), (2, 3, 5, 7)),
    ((2, 3, 4, 8), (2, 2, 5, 8), (2, 2, 5, 7)),
    ((8,), (5, 8), (5, 8)),
    ((4, 8), (5, 8), (2, 5, 8)),
]
MASKS = [(4, 5), (4, 1), (1, 5), (5,), (2, 1, 1, 5), (2, 3, 4, 5), (4, 6), (7, 1, 1, 4, 5), (3, 4, 4, 5)]


@pytest.mark.parametrize("shapes", QKV, ids=str)
def test_scaled_dot_product(shapes: tuple[tuple[int, ...], ...]) -> None:
    found = oracle.examine(SDPA, [ones(*s) for s in shapes])
    assert found.verdict in GOOD, found


@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("dtype", [torch.bool, torch.float32, torch.float64, torch.int64], ids=str)
def test_masks(mask: tuple[int, ...], dtype: torch.dtype) -> None:
    q, k, v = (ones(*s) for s in QKV[0])
    found = oracle.examine(SDPA, (q, k, v, ones(*mask, dtype=dtype)))
    assert found.verdict in GOOD, found


@pytest.mark.parametrize("heads", [(6, 3, 3), (6, 2, 2), (6, 4, 4), (6, 6, 6), (3, 6, 6), (6, 1, 1)], ids=str)
@pytest.mark.parametrize("enable_gqa", [False, True])
def test_grouped_queries(heads: tuple[int, int, int], enable_gqa: bool) -> None:
    q, k, v = (ones(2, h, n, 8) for h, n in zip(heads, (4, 5, 5), strict=True))
    found = oracle.examine(SDPA, (q, k, v), {"enable_gqa": enable_gqa})
    assert found.verdict in GOOD, found


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.bool], ids=str)
def test_dtypes(dtype: torch.dtype) -> None:
    x = ones(2, 3, 4, 8)
    assert oracle.judge(SDPA, (x, x.to(dtype), x)) in GOOD
    assert oracle.judge(SDPA, (x.to(dtype), x.to(dtype), x.to(dtype))) in GOOD


LAYERS: list[dict[str, Any]] = [
    {"embed_dim": 8, "num_heads": 2},
    {"embed_dim": 8, "num_heads": 2, "batch_first": True},
    {"embed_dim": 8, "num_heads": 2, "add_bias_kv": True},
    {"embed_dim": 8, "num_heads": 2, "add_zero_attn": True, "add_bias_kv": True},
    {"embed_dim": 8, "num_heads": 4, "kdim": 5, "vdim": 7},
]
OPERANDS = [
    ((3, 2, 8), (5, 2, 8), (5, 2, 8)),
    ((3, 2, 8), (3, 5, 8), (3, 5, 8)),
    ((3, 8), (5, 8), (5, 8)),
    ((3, 2, 8), (5, 2, 5), (5, 2, 7)),
    ((3, 2, 8), (5, 2, 8), (6, 2, 8)),
    ((3, 2, 8), (5, 3, 8), (5, 3, 8)),
    ((3, 2, 7), (5, 2, 8), (5, 2, 8)),
    ((3, 2, 8), (5, 8), (5, 8)),
    ((1, 3, 2, 8), (5, 2, 8), (5, 2, 8)),
    ((8,), (8,), (8,)),
]


@pytest.mark.parametrize("layer", LAYERS, ids=str)
@pytest.mark.parametrize("shapes", OPERANDS, ids=str)
def test_multihead(layer: dict[str, Any], shapes: tuple[tuple[int, ...], ...]) -> None:
    operands = [f32(*s) for s in shapes]
    for options in ({}, {"need_weights": False}, {"average_attn_weights": False}):
        assert module_differs("MultiheadAttention", layer, *operands, **options) == ""


@pytest.mark.parametrize("mask", [
    {"attn_mask": f32(3, 5)}, {"attn_mask": tensor(3, 5, dtype=BOOL)}, {"attn_mask": f32(3, 6)},
    {"attn_mask": f32(4, 3, 5)}, {"attn_mask": f32(2, 3, 5)}, {"attn_mask": f32(2, 2, 3, 5)},
    {"attn_mask": tensor(3, 5, dtype=INT64)}, {"key_padding_mask": tensor(2, 5, dtype=BOOL)},
    {"key_padding_mask": tensor(5, 2, dtype=BOOL)}, {"key_padding_mask": tensor(5, dtype=BOOL)},
    {"key_padding_mask": tensor(2, 5, dtype=INT64)}, {"is_causal": True},
    {"is_causal": True, "attn_mask": f32(3, 5), "need_weights": False},
], ids=str)  # fmt: skip
def test_multihead_masks(mask: dict[str, Any]) -> None:
    layer = {"embed_dim": 8, "num_heads": 2}
    assert module_differs("MultiheadAttention", layer, f32(3, 2, 8), f32(5, 2, 8), f32(5, 2, 8), **mask) == ""
    assert module_differs("MultiheadAttention", layer, f32(3, 8), f32(5, 8), f32(5, 8), **mask) == ""


SMALL: dict[str, Any] = {"d_model": 8, "nhead": 2, "dim_feedforward": 3}


@pytest.mark.parametrize("src", [(5, 2, 8), (5, 8), (5, 2, 7), (1, 5, 2, 8), (8,)], ids=str)
@pytest.mark.parametrize("mask", [{}, {"src_mask": f32(5, 5)}, {"src_mask": f32(4, 5)}, {"is_causal": True},
                                  {"src_key_padding_mask": tensor(2, 5, dtype=BOOL)}], ids=str)  # fmt: skip
def test_encoder_layer(src: tuple[int, ...], mask: dict[str, Any]) -> None:
    assert module_differs("TransformerEncoderLayer", SMALL, f32(*src), **mask) == ""


@pytest.mark.parametrize("shapes", [((3, 2, 8), (5, 2, 8)), ((3, 8), (5, 8)), ((3, 2, 8), (5, 3, 8)),
                                    ((3, 2, 8), (5, 2, 7)), ((3, 2, 8), (5, 8))], ids=str)  # fmt: skip
@pytest.mark.parametrize("mask", [{}, {"tgt_mask": f32(3, 3)}, {"tgt_mask": f32(3, 5)}, {"memory_mask": f32(3, 5)},
                                  {"memory_mask": f32(5, 3)}], ids=str)  # fmt: skip
def test_decoder_layer(shapes: tuple[tuple[int, ...], ...], mask: dict[str, Any]) -> None:
    assert module_differs("TransformerDecoderLayer", SMALL, *(f32(*s) for s in shapes), **mask) == ""


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("shapes", [((5, 2, 8), (3, 2, 8)), ((2, 5, 8), (2, 3, 8)), ((5, 8), (3, 8)),
                                    ((5, 2, 8), (3, 8)), ((5, 2, 8), (3, 2, 7))], ids=str)  # fmt: skip
def test_transformer(shapes: tuple[tuple[int, ...], ...], batch_first: bool) -> None:
    layers = SMALL | {"num_encoder_layers": 1, "num_decoder_layers": 1, "batch_first": batch_first}
    assert module_differs("Transformer", layers, *(f32(*s) for s in shapes)) == ""


# -- symbols -----------------------------------------------------------------------------------------------------------


def test_symbolic() -> None:
    assert differs(SDPA, f32(B, H, T, D), f32(B, H, S, D), f32(B, H, S, L)) == ""
    assert differs(SDPA, f32(B, H, T, D), f32(B, H, T, D), f32(B, H, T, D), f32(T, T), is_causal=False) == ""
    layer = {"embed_dim": 8, "num_heads": 2, "batch_first": True}
    assert module_differs("MultiheadAttention", layer, f32(B, T, 8), f32(B, S, 8), f32(B, S, 8)) == ""
    assert module_differs("TransformerEncoderLayer", SMALL, f32(T, N, 8)) == ""
    assert module_differs("TransformerDecoderLayer", SMALL, f32(T, N, 8), f32(S, N, 8)) == ""


def test_symbolic_heads() -> None:
    layer = new_module("torch.nn.MultiheadAttention", {"embed_dim": D, "num_heads": H, "batch_first": True})
    x = f32(B, T, D)
    out, weights = infer_module(layer, [x, x, x], {"average_attn_weights": False})  # type: ignore[arg-type, misc]
    assert (str(out), str(weights)) == ("Float32[B, T, D]", "Float32[B, H, T, T]")


# -- partly known ------------------------------------------------------------------------------------------------------


def test_partly_known() -> None:
    assert str(infer(SDPA, [ANYTHING, ANYTHING, ANYTHING])) == "Tensor[..., ?, ?]"
    assert str(infer(SDPA, [tensor(B, H, T, D, dtype=FLOAT32), ANYTHING, ANYTHING])) == "Float32[..., B, H, T, ?]"
    layer = new_module("torch.nn.MultiheadAttention", {"embed_dim": D, "num_heads": 2})
    out, weights = infer_module(layer, [ANYTHING, ANYTHING, ANYTHING])  # type: ignore[arg-type, misc]
    assert (str(out), str(weights)) == ("Tensor[..., D]", "Tensor[...]")
    out, weights = infer_module(layer, [f32(L, N, D)] * 3, {"need_weights": ANYTHING})  # type: ignore[arg-type, misc]
    assert (str(out), weights) == ("Float32[L, N, D]", ANYTHING)
    encoder = new_module("torch.nn.TransformerEncoder", {"encoder_layer": ANYTHING, "num_layers": 2})
    assert str(infer_module(encoder, [tensor(ANY_REST, D)])) == "Tensor[..., D]"  # type: ignore[arg-type]


# -- messages ----------------------------------------------------------------------------------------------------------


def test_messages() -> None:
    assert report(SDPA, f32(B, H, T, 8), f32(B, H, S, 9), f32(B, H, S, 8)).reason == (
        "the last dim of key is 9, but that of query is 8"
    )
    assert report(SDPA, *(f32(2, 3, 4, 8) for _ in range(3)), f32(5, 5)).reason == (
        "attn_mask (5, 5) can't be expanded to the scores (2, 3, 4, 4): 5 is not 4 at dim -1"
    )
    assert report(SDPA, f32(2, 6, 4, 8), f32(2, 4, 5, 8), f32(2, 4, 5, 8), enable_gqa=True).reason == (
        "the number of heads of query is 6, which is not divisible by that of key=4"
    )
    assert module_report("MultiheadAttention", {"embed_dim": 10, "num_heads": 3}).text == (
        "MultiheadAttention: embed_dim is 10, which is not divisible by num_heads=3"
    )
    layer = {"embed_dim": 8, "num_heads": 2}
    assert module_report("MultiheadAttention", layer, f32(3, 2, 8), f32(5, 4, 8), f32(5, 4, 8)).reason == (
        "key has a batch of 4, but query has 2"
    )
    assert module_report("TransformerEncoderLayer", SMALL, f32(5, 2, 8), f32(4, 5)).text == (
        "TransformerEncoderLayer(8, 2, 3): src_mask is (4, 5), but it must be (5, 5)"
        " [src: Float32[5, 2, 8], src_mask: Float32[4, 5]]"
    )
