"""Sizes that are computed: literals, constants assigned once, arithmetic of dims."""

import math
from typing import Generic, NamedTuple

import torch
from torch import nn

import simpletorch as st
from simpletorch import Float32, Tensor
from simpletorch.dims import B, D, Dim, S, T

HIDDEN = 4 * 17
width = HIDDEN // 2
changing = 3
changing = 5
x = torch.zeros(7, 11)

reveal_type(nn.Linear(11, HIDDEN)(x))  # R: Tensor[Float32, 7, 68]
reveal_type(nn.Linear(11, width + 1)(x))  # R: Tensor[Float32, 7, 35]
reveal_type(nn.Linear(11, 2**5 * 3)(x))  # R: Tensor[Float32, 7, 96]
reveal_type(nn.Linear(11, changing)(x))  # R: Tensor[Float32, 7, Any]
reveal_type(x.view(width // 34, -1))  # R: Tensor[Float32, 1, 77]


def local(n: int) -> None:
    size = 3 * 5
    for size2 in (2, 3):
        reveal_type(torch.zeros(size, size2))  # R: Tensor[Float32, 15, 2] | Tensor[Float32, 15, 3]
    reveal_type(torch.zeros(size, n))  # R: Tensor[Float32, 15, Any]


def attention(q: Tensor[Float32, B, T, D]) -> Tensor[Float32, B, T, D]:
    scale = q.shape[-1] ** -0.5
    reveal_type(q * scale)  # R: Tensor[Float32, B, T, D]
    reveal_type(q / math.sqrt(q.size(-1)))  # R: Tensor[Float32, B, T, D]
    reveal_type(len(q))  # R: Dim[B]
    scores = (q @ q.transpose(-2, -1) * scale).softmax(dim=-1)
    reveal_type(scores)  # R: Tensor[Float32, B, T, T]
    return scores @ q


class Head(nn.Module):
    fc: st.nn.Linear[11, 13]
    net: st.nn.Sequential

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(11, 13)
        self.seq = st.nn.Sequential(st.nn.Linear(13, 5), st.nn.ReLU())

    def forward(self, x: Tensor[Float32, B, 11]) -> Tensor[Float32, B, 5]:
        reveal_type(self.fc)  # R: torch.nn.modules.linear.Linear[11, 13]
        x = self.seq(self.fc(x))
        reveal_type(x)  # R: Tensor[Float32, B, 5]
        return x


Head()(x)
attention(torch.zeros(2, 3, 5))
local(2)


class Norm(nn.Module, Generic[D]):
    def __init__(self, dim: Dim[D] = 11) -> None:
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x: Tensor[Float32, B, D]) -> Tensor[Float32, B, D]:
        return self.fc(x)


class Cache(NamedTuple, Generic[B, T, D]):
    keys: Tensor[Float32, B, T, D]


def extend(cache: Cache[B, T, D], new: Tensor[Float32, B, S, D]) -> Cache[B, "S + T", D]:
    return Cache(torch.cat([cache.keys, new], dim=1))


reveal_type(Norm())  # R: reveal.sizes.Norm[11]
reveal_type(Norm()(x))  # R: Tensor[Float32, 7, 11]
reveal_type(Norm(13))  # R: reveal.sizes.Norm[13]
cache: "Cache[2, 3, 5]" = Cache(torch.zeros(2, 3, 5))
reveal_type(cache.keys)  # R: Tensor[Float32, 2, 3, 5]


def shaped(x: Tensor[Float32, B, D], y: Tensor[Float32, T, S]) -> None:
    reveal_type(torch.zeros(x.shape[:1] + y.shape))  # R: Tensor[Float32, B, T, S]
    reveal_type(torch.zeros([2] + list(x.shape)))  # noqa: RUF005  # R: Tensor[Float32, 2, B, D]
    reveal_type(torch.zeros(tuple(x.shape)))  # R: Tensor[Float32, B, D]
    reveal_type(torch.zeros(torch.Size([2, x.shape[0]])))  # R: Tensor[Float32, 2, B]
    reveal_type(torch.arange(3).view([3] + [1] * y.ndim) * y)  # R: Tensor[Float32, 3, T, S]
    reveal_type(len(x.shape))  # R: Dim[2]
    reveal_type(x.ndim)  # R: Dim[2]


shaped(torch.zeros(7, 5), torch.zeros(3, 11))
reveal_type(torch.tensor([0] * 5 + [1] * 3))  # R: Tensor[Int64, 8]
reveal_type(torch.cat([torch.zeros(2, 3)] * 2))  # R: Tensor[Float32, 4, 3]
reveal_type(torch.zeros(2, 3).expand(*([5] + [-1] * 2)))  # R: Tensor[Float32, 5, 2, 3]
