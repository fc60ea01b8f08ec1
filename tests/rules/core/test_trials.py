"""A hint is tried before it is said: what torch refuses goes through in torch with what the hint writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pytest
import torch
from torch import nn

from simpletorch.errors._lift import lift, rule_of
from simpletorch.rules import Mismatch, ModuleRule, Report, TensorType, infer, infer_module, try_hint
from simpletorch.rules.core.dtype import FLOAT32
from simpletorch.rules.core.registry import RULES, rule
from simpletorch.shapes import Shape

X, MASK, LONG = torch.randn(8, 5, 12), torch.zeros(8, 5, dtype=torch.bool), torch.zeros(3, 7, dtype=torch.int64)

# a layer, its operands by name, the hint
LAYERS: list[tuple[nn.Module, dict[str, torch.Tensor], str]] = [
    (nn.Linear(80, 3), {"input": torch.randn(4, 5, 16)}, "input.flatten(1) has 80 features"),
    (nn.Linear(30, 2), {"input": torch.randn(7, 11, 5, 6)}, "input.flatten(2) has 30 features"),
    (nn.Linear(1, 3), {"input": torch.randn(7)}, "input.unsqueeze(1) adds the feature dim: 7 samples of one number"),
    (nn.Linear(11, 3), {"input": torch.randn(7, 11, 5)}, "input.mT has 11 features in its last dim"),
    (nn.Linear(11, 3), {"input": torch.randn(7, 5)}, "Linear(5, 3) would fit"),
    (nn.Conv1d(1, 4, 3), {"input": torch.randn(8, 100)}, "input.unsqueeze(1) adds the channel dim"),
    (nn.Conv2d(1, 4, 3), {"input": torch.randn(28, 29)}, "input.unsqueeze(0) adds the channel dim"),
    (nn.Conv2d(1, 4, 3), {"input": torch.randn(4, 28, 29)}, "input.unsqueeze(1) adds the channel dim"),
    (nn.BatchNorm2d(4), {"input": torch.randn(4, 28, 29)}, "input.unsqueeze(0) adds the batch dim"),
    (nn.BatchNorm2d(1), {"input": torch.randn(4, 28, 29)}, "input.unsqueeze(1) adds the channel dim"),
    (nn.LSTM(10, 5), {"input": torch.randn(4, 7, 3)}, "LSTM(3, 5) would fit"),
    (nn.GRU(10, 5), {"input": torch.randn(4, 10, 7)}, "input.mT has 10 features in its last dim"),
    (nn.GRU(10, 5), {"input": torch.randn(4, 7, 10), "hx": torch.zeros(1, 4, 5)}, "batch_first=True would fit"),
    (
        nn.MultiheadAttention(12, 3),
        {"query": X, "key": X, "value": X, "key_padding_mask": MASK},
        "batch_first=True would fit",
    ),
    (
        nn.MultiheadAttention(12, 3, batch_first=True),
        {"query": X, "key": torch.randn(8, 7, 12), "value": torch.randn(8, 7, 12), "key_padding_mask": MASK.mT},
        "",  # neither order has 7 keys
    ),
    (nn.Embedding(9, 4), {"input": torch.ones(2, 3)}, "input.long()"),
    (nn.Linear(3, 4), {"input": torch.ones(2, 3, dtype=torch.float64)}, "input.to(torch.float32)"),
]

OPERATIONS: list[tuple[str, dict[str, Any], str]] = [
    ("torch.add", {"input": torch.randn(4, 5), "other": torch.randn(4)}, "other.unsqueeze(-1) would fit"),
    ("torch.add", {"input": torch.randn(4, 5, 3), "other": torch.randn(4, 3)}, "other.unsqueeze(1) would fit"),
    ("torch.add", {"input": torch.randn(4, 5), "other": torch.randn(5, 4)}, "other.T has the shape of input"),
    ("torch.matmul", {"input": torch.randn(4, 5), "other": torch.randn(7, 5)}, "other.mT would fit"),
    ("torch.scatter", {"input": X[0], "dim": 1, "index": X[0].abs() / 9, "src": X[0]}, "index.long()"),
    ("torch.gather", {"input": LONG, "dim": 1, "index": LONG.float()}, "index.long()"),
    ("torch.bitwise_and", {"input": X[0], "other": X[0]}, ""),  # other is a float too
    ("torch.bitwise_and", {"input": LONG.float(), "other": LONG}, "input.long()"),
    ("torch.mean", {"input": LONG}, "input.float()"),
]


def _made_new(layer: nn.Module, known: ModuleRule, *sizes: int, **named: Any) -> nn.Module:
    given = {f.name: getattr(known, f.name) for f in fields(known) if f.name not in ("device", "dtype")}
    return type(layer)(**{**given, **dict(zip(given, sizes, strict=False)), **named})


def _with(hint: str, operands: Mapping[str, Any]) -> dict[str, Any]:
    """The operands as the hint's code has them."""
    code = re.split(" has | adds | would ", hint)[0]
    return {**operands, code.partition(".")[0]: eval(code, {"torch": torch}, dict(operands))}


@pytest.mark.parametrize(("layer", "operands", "hint"), LAYERS, ids=[f"{type(c[0]).__name__}-{c[2]}" for c in LAYERS])
def test_a_layers_hint(layer: nn.Module, operands: dict[str, torch.Tensor], hint: str) -> None:
    with pytest.raises((RuntimeError, ValueError, AssertionError)):
        layer(**operands)
    known = rule_of(layer)
    assert known is not None
    found = infer_module(known, [], {name: lift(value) for name, value in operands.items()})
    assert isinstance(found, Report)
    assert (found.hint or "") == hint
    if hint.startswith("batch_first"):
        _made_new(layer, known, batch_first="True" in hint)(**operands)
    elif hint.endswith("would fit"):
        sizes = [int(size) for size in hint.partition("(")[2].partition(")")[0].split(",")]
        _made_new(layer, known, *sizes)(**operands)
    elif hint:
        layer(**_with(hint, operands))


@pytest.mark.parametrize(("name", "operands", "hint"), OPERATIONS, ids=[f"{c[0]}-{c[2]}" for c in OPERATIONS])
def test_an_operations_hint(name: str, operands: dict[str, Any], hint: str) -> None:
    function = getattr(torch, name.removeprefix("torch."))
    with pytest.raises((RuntimeError, IndexError)):
        function(**operands)
    found = infer(name, [], {key: lift(value) for key, value in operands.items()})
    assert isinstance(found, Report)
    assert (found.hint or "") == hint
    if hint:
        function(**_with(hint, operands))


def test_of_several_hints_the_first_that_helps_is_said() -> None:
    @rule("tests.needs_two_dims")
    def needs_two_dims(input: TensorType) -> TensorType:
        """``(m, 1) -> (m, 1)``"""
        if input.shape.rank != 2 or input.shape.dim(1) != 1:
            hints = (None, "input.unsqueeze(0) would fit", "input.flatten(5) would fit", "input.unsqueeze(1) would fit")
            raise Mismatch("it must be (m, 1)", hint=hints)
        return input

    try:
        found = infer("tests.needs_two_dims", [TensorType(Shape((7,)), FLOAT32)])
        assert isinstance(found, Report)
        assert found.hint == "input.unsqueeze(1) would fit"
    finally:
        del RULES["tests.needs_two_dims"]


@pytest.mark.parametrize(
    ("hint", "helps"),
    [
        ("other.mT would fit", True),
        ("input.T would fit", False),
        ("other.float()", False),
        ("make it smaller", None),
        ("nobody.T would fit", None),
        ("other.unknown_method()", None),
    ],
)
def test_a_hint_of_somebody_else_is_tried(hint: str, helps: bool | None) -> None:
    pair = [TensorType(Shape((4, 5)), FLOAT32), TensorType(Shape((7, 5)), FLOAT32)]
    assert try_hint("torch.matmul", pair, {}, "shape", hint) is helps


def test_what_fails_for_another_reason_is_mended_all_the_same() -> None:
    pair = [TensorType(Shape((4, 5)), FLOAT32), TensorType(Shape((7, 5)), None)]
    assert try_hint("torch.matmul", pair, {}, "dtype", "input.T") is True
    assert try_hint("torch.matmul", pair, {}, "shape", "input.T") is False
