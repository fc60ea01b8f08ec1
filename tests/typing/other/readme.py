"""What the README teaches, for type checkers without the plugin: tests/typing/test_other_checkers.py."""

from typing import Any, Generic, assert_type

import torch

import simpletorch as st
from simpletorch import Dim, Float32, Int64, Tensor, nn
from simpletorch.dims import B, D, M, N, S, T


def attend(q: Tensor[Float32, B, T, D], k: Tensor[Float32, B, S, D]) -> Tensor[Float32, B, T, S]:
    return (q @ k.mT).softmax(dim=-1)


def halves(x: Tensor[Float32, ..., "2*N"], index: Tensor[Int64, Any]) -> st.Tensor[st.Float32, ..., "N"]:
    return x[..., ::2][index]


def loss(x: Tensor[Float32, B, 784]) -> Tensor[Float32, ""]:
    return x.mean()


class MLP(nn.Module, Generic[N, M]):
    def __init__(self, n: Dim[N], m: Dim[M] = 10, hidden: int = 64) -> None:
        super().__init__()
        self.fc1 = nn.Linear(n, hidden)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(hidden, m))

    def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, M]:
        x = self.fc1(x)
        return self.rest(x)


model = MLP(784)
assert_type(nn.Linear(3, 4)(torch.zeros(5, 3)), torch.Tensor)
assert_type(nn.Sequential(nn.Linear(3, 4), nn.ReLU())(torch.zeros(5, 3)), torch.Tensor)
assert_type(nn.Conv2d(3, 4, 3)(torch.zeros(5, 3, 7, 7)), torch.Tensor)
assert_type(attend(torch.zeros(2, 3, 5), torch.zeros(2, 7, 5)), torch.Tensor)
assert_type(loss(torch.zeros(2, 784)), torch.Tensor)
