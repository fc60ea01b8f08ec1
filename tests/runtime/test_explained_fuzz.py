"""Whatever fails, its explanation neither fails nor hides what torch said."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from simpletorch.errors import Err, TorchError, attempt

DTYPES = [torch.float32, torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64, torch.uint8]

OPERATIONS: list[Callable[..., Any]] = [
    lambda x, y, i: x @ y,
    lambda x, y, i: x + y,
    lambda x, y, i: x.view(y.shape),
    lambda x, y, i: x.sum(i),
    lambda x, y, i: x[i],
    lambda x, y, i: x[y],
    lambda x, y, i: x.add_(y),
    lambda x, y, i: ~x,
    lambda x, y, i: x.permute(*range(i)),
    lambda x, y, i: x.item(),
    lambda x, y, i: x.backward(),
    lambda x, y, i: x.unflatten(0, (i, 2)),
    lambda x, y, i: bool(x > y),
    lambda x, y, i: torch.cat([x, y], dim=i),
    lambda x, y, i: torch.stack((x, y)),
    lambda x, y, i: torch.bmm(x, y),
    lambda x, y, i: torch.where(x, y, x),
    lambda x, y, i: torch.einsum("ij,jk->ik", x, y),
    lambda x, y, i: torch.linalg.inv(x),
    lambda x, y, i: torch.gather(x, i, y),
    lambda x, y, i: F.linear(x, y),
    lambda x, y, i: F.cross_entropy(x, y),
    lambda x, y, i: F.binary_cross_entropy_with_logits(x, y),
    lambda x, y, i: F.embedding(x, y),
    lambda x, y, i: F.conv2d(x, y),
    lambda x, y, i: F.layer_norm(x, (i,)),
    lambda x, y, i: F.scaled_dot_product_attention(x, y, y),
    lambda x, y, i: torch.nn.Linear(3, i + 4)(x),
    lambda x, y, i: torch.nn.Conv1d(3, 2, 3)(x),
    lambda x, y, i: torch.nn.LSTM(3, 4)(x),
    lambda x, y, i: torch.nn.MultiheadAttention(4, 2)(x, y, y),
    lambda x, y, i: torch.nn.BatchNorm1d(3)(x),
]


def tensor(rng: random.Random) -> torch.Tensor:
    shape = [rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randint(0, 4))]
    return torch.zeros(shape, dtype=rng.choice(DTYPES), device=rng.choice(["cpu", "cpu", "cpu", "meta"]))


def first_line(error: BaseException | None) -> str:
    return str(error).partition("\n")[0]


@pytest.mark.filterwarnings("error:explaining:RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("number", range(len(OPERATIONS)))
def test_an_explanation_keeps_the_class_and_the_message(number: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SIMPLETORCH_DEBUG", "1")
    rng = random.Random(number)
    operation, explained = OPERATIONS[number], 0
    for _ in range(40):
        x, y, i = tensor(rng), tensor(rng), rng.randint(-2, 3)
        try:
            operation(x, y, i)
        except Exception as error:
            original = error
        else:
            continue
        result = attempt(operation, x, y, i)
        assert isinstance(result, Err)
        assert isinstance(result.error, type(original))
        if isinstance(result.error, TorchError):
            explained += 1
            assert first_line(result.error.__cause__) == first_line(original)  # some go on with a C++ stack
            assert result.error.reason
            assert pickle.loads(pickle.dumps(result.error)).to_dict() == result.error.to_dict()
        else:
            assert str(result.error) == str(original)
    assert explained, "none of these failures was explained"
