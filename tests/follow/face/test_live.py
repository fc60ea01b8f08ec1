"""What is ours and alive in a notebook is followed as what a program makes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from simpletorch import data, metrics, optim, train
from simpletorch import nn as ours
from simpletorch.notebook._following import follow_cell

_MODEL = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
_ALIVE: dict[str, Any] = {
    "torch": torch,
    "loader": data.DataLoader(data.Digits(), batch_size=13),
    "right": _MODEL,
    "wrong": nn.Sequential(nn.Flatten(), nn.Linear(63, 10)),
    "mlp": ours.MLP(7, 5, 3),
    "accuracy": metrics.Accuracy(),
    "step": train.Step(_MODEL, cross_entropy, optim.SGD(_MODEL.parameters(), lr=0.1)),
    "trainer": train.Trainer(loss=cross_entropy, optimizer=optim.SGD(_MODEL.parameters(), lr=0.1)),
}


def _errors(cell: str) -> list[str]:
    seen = follow_cell(cell, {"__name__": "__main__", **_ALIVE}, "Cell In[7]")
    assert seen is not None
    assert seen.followed.faults == ()
    return [f.code for f in seen.followed.errors]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("for x, y in loader:\n    right(x)", "for x, y in loader:\n    wrong(x)"),
        ("mlp(torch.ones(3, 7))", "mlp(torch.ones(3, 5))"),
        ("accuracy.update(torch.ones(5, 3), torch.arange(5))", "accuracy.update(torch.ones(5, 3), torch.arange(7))"),
        ("step(torch.ones(5, 64), torch.ones(5).long())", "step(torch.ones(5, 63), torch.ones(5).long())"),
        ("trainer.test(right, loader)", "trainer.test(wrong, loader)"),
    ],
)  # fmt: skip
def test_a_cell_is_followed_from_what_is_alive(right: str, wrong: str) -> None:
    """A loader, a block, a metric, a step, and what a trainer tests."""
    assert _errors(right) == []
    assert _errors(wrong) in (["tensor-shape"], ["tensor-shape", "tensor-shape"])
