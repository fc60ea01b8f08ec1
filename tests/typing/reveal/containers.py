"""Containers of modules know what they hold."""

from typing import Generic

import torch
from torch import nn

from simpletorch import Float32, Tensor
from simpletorch.dims import B, D, Dim


class Layer(nn.Module, Generic[D]):
    def __init__(self, dim: Dim[D]) -> None:
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x: Tensor[Float32, B, D]) -> Tensor[Float32, B, D]:
        return self.fc(x)


class Stack(nn.Module, Generic[D]):
    def __init__(self, dim: Dim[D], depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(dim) for _ in range(depth)])
        self.grown = nn.ModuleList([nn.Linear(3, 5)])
        self.grown.append(nn.Linear(5, 7))
        self.mixed = nn.ModuleList([nn.Linear(3, 5), nn.Linear(5, 7)])

    def forward(self, x: Tensor[Float32, B, D]) -> Tensor[Float32, B, D]:
        for layer in self.layers:
            reveal_type(layer)  # R: reveal.containers.Layer[D]
            x = layer(x)
        for _, layer in enumerate(self.layers):
            x = layer(x)
        for layer, other in zip(self.layers, self.grown, strict=False):
            reveal_type(other)  # R: torch.nn.modules.module.Module
            x = layer(x)
        reveal_type(x)  # R: Tensor[Float32, B, D]
        reveal_type(self.layers[0](x))  # R: Tensor[Float32, B, D]
        return x


reveal_type(Stack(3, 2)(torch.zeros(7, 3)))  # R: Tensor[Float32, 7, 3]
mixed = torch.zeros(7, 3)
for linear in nn.ModuleList([nn.Linear(3, 5), nn.Linear(5, 7)]):
    mixed = linear(mixed)
q, k = torch.zeros(3, 2, 5).permute(1, 0, 2)
reveal_type(q)  # R: Tensor[Float32, 3, 5]
