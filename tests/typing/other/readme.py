"""What the README teaches, for type checkers without the plugin: tests/mypy/test_other_checkers.py."""

from typing import Any, Generic, Literal, NamedTuple, assert_type

import torch

import simpletorch as st
from simpletorch import Dim, Float32, Int64, Tensor, nn
from simpletorch.data import Digits, TensorDataset
from simpletorch.dims import B, D, I, M, N, O, S, T


def attend(q: Tensor[Float32, B, T, D], k: Tensor[Float32, B, S, D]) -> Tensor[Float32, B, T, S]:
    return (q @ k.mT).softmax(dim=-1)


def halves(x: Tensor[Float32, ..., "2*N"], index: Tensor[Int64, Any]) -> st.Tensor[st.Float32, ..., "N"]:
    return x[..., ::2][index]


def loss(x: Tensor[Float32, B, 784]) -> Tensor[Float32, ""]:
    return x.mean()


def scaled(x: Tensor[Float32, "*Batch", D], by: Tensor[Float32, "*Batch"]) -> Tensor[Float32, "*Batch", D]:
    return x * by.unsqueeze(-1)


class Cache(NamedTuple, Generic[B, S, D]):
    keys: Tensor[Float32, B, S, D]


def extend(cache: Cache[B, S, D], new: Tensor[Float32, B, T, D]) -> Cache[B, Literal["S+T"], D]:
    return Cache(torch.cat([cache.keys, new], dim=1))


def start(new: Tensor[Float32, B, T, D]) -> Cache[B, Literal[0], D]:
    return Cache(new[:, :0])


def transposed(layer: nn.Linear[I, O]) -> nn.Linear[O, I]:
    return nn.Linear(layer.out_features, layer.in_features)


def largest(samples: TensorDataset[Tensor[Float32, 1, 8, 8], Tensor[Int64, ""]]) -> Tensor[Float32, ""]:
    return samples[0][0].max()


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
assert_type(extend(start(torch.zeros(2, 3, 5)), torch.zeros(2, 3, 5)).keys, torch.Tensor)
assert_type(transposed(nn.Linear(3, 4))(torch.zeros(5, 4)), torch.Tensor)
assert_type(largest(Digits()), torch.Tensor)
for layer in nn.ModuleList([nn.Linear(3, 4), nn.ReLU()]):
    assert_type(layer(torch.zeros(5, 3)), torch.Tensor)
