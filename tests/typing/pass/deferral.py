"""A forward reference makes mypy go over the top level of a file again; what an ``__init__`` defines stays defined."""

from __future__ import annotations

from typing import Union

import torch
from torch import nn

from simpletorch import Float32, Tensor
from simpletorch.dims import B, D


class Net(nn.Module):
    def __init__(self, depth: int, start: Start | None = None) -> None:
        super().__init__()
        width = 5

        def layer(n: int) -> nn.Module:
            size = n * 1
            return nn.Linear(size, n)

        class Settings:
            bias = width

        self.layers = nn.Sequential(*[layer(width) for _ in range(depth)])
        self.settings = Settings()
        for k, m in enumerate(self.layers):
            self.last = (k, m, start)


class Doubled(nn.Linear):
    def __init__(self) -> None:
        size = 3
        super().__init__(size, 2 * size)

    def forward(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 6]:
        once = super().forward(x)
        return once + once


class Stack(nn.Sequential):
    def __init__(self) -> None:
        size, *_ = 3, 5
        super().__init__(nn.Linear(size, size), nn.ReLU())
        self.register_buffer("mask", torch.ones(size))


class Queue(nn.Module):
    """Buffers that another method assigns, after it has read them."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.register_buffer("queue", None)
        self.register_buffer("mean", torch.zeros(dim))

    def forward(self, x: Tensor[Float32, B, D]) -> Tensor[Float32, B, D]:
        if self.queue is None:
            self.queue = x.detach()
        else:
            self.queue = torch.cat([self.queue, x.detach()])[-8:]
        self.mean = self.mean * 0.9 + x.mean(0) * 0.1
        return x - self.mean


Start = Union["Later", int]


class Later: ...


Net(2, Later()).layers(torch.ones(7, 5))
Doubled()(torch.ones(7, 3))
Stack()(torch.ones(7, 3))
Queue(3)(torch.ones(7, 3))
