"""Containers of modules know what they hold."""

from collections import OrderedDict
from typing import Generic

import torch
from torch import nn

import simpletorch as st
from simpletorch import Float32, Tensor
from simpletorch.dims import B, D, Dim

x = torch.zeros(7, 11)


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
        self.looped = nn.ModuleList()
        for _ in range(depth):
            self.looped.append(Layer(dim))
        self.chain = nn.Sequential(*[Layer(dim) for _ in range(depth)])
        self.several = nn.ModuleList()
        if depth > 1:
            self.several.append(nn.Linear(3, 5))
        self.several.append(nn.ReLU())

    def forward(self, x: Tensor[Float32, B, D]) -> Tensor[Float32, B, D]:
        for layer in self.layers:
            reveal_type(layer)  # R: reveal.containers.Layer[D]
            x = layer(x)
        for _, layer in enumerate(self.layers):
            x = layer(x)
        for layer in reversed(self.layers):
            x = layer(x)
        for layer, other in zip(self.layers, self.grown, strict=False):
            reveal_type(other)  # R: torch.nn.modules.linear.Linear
            x = layer(x)
        for looped in self.looped:
            x = looped(x)
        reveal_type(self.chain(x))  # R: Tensor[Float32, B, D]
        for layer in self.chain:
            x = layer(x)
        reveal_type(x)  # R: Tensor[Float32, B, D]
        reveal_type(self.layers[0](x))  # R: Tensor[Float32, B, D]
        reveal_type(self.grown[1])  # R: torch.nn.modules.linear.Linear[5, 7]
        reveal_type(self.mixed[-2])  # R: torch.nn.modules.linear.Linear[3, 5]
        reveal_type(self.mixed[1:][0])  # R: torch.nn.modules.linear.Linear[5, 7]
        reveal_type(self.several[0])  # R: torch.nn.modules.module.Module
        return x


reveal_type(Stack(3, 2)(torch.zeros(7, 3)))  # R: Tensor[Float32, 7, 3]
mixed = torch.zeros(7, 3)
for linear in nn.ModuleList([nn.Linear(3, 5), nn.Linear(5, 7)]):
    mixed = linear(mixed)
q, k = torch.zeros(3, 2, 5).permute(1, 0, 2)
reveal_type(q)  # R: Tensor[Float32, 3, 5]

# -- Sequential --------------------------------------------------------------------------------------------------------

layers = [nn.Linear(11, 13), nn.ReLU(), nn.Linear(13, 3)]
reveal_type(nn.Sequential(*layers)(x))  # R: Tensor[Float32, 7, 3]
built = []
built.append(nn.Linear(11, 13))
built.append(nn.ReLU())
built += [nn.Linear(13, 5)]
built.extend([nn.Linear(5, 2), nn.Tanh()])
reveal_type(nn.Sequential(*built)(x))  # R: Tensor[Float32, 7, 2]
reveal_type(nn.Sequential(*[nn.Linear(11, 11) for _ in range(3)], nn.Linear(11, 2))(x))  # R: Tensor[Float32, 7, 2]
named = nn.Sequential(OrderedDict([("hidden", nn.Linear(11, 13)), ("head", nn.Linear(13, 2))]))
reveal_type(named(x))  # R: Tensor[Float32, 7, 2]
net = nn.Sequential(nn.Linear(11, 13), nn.ReLU(), nn.Linear(13, 3))
reveal_type(net[0])  # R: torch.nn.modules.linear.Linear[11, 13]
reveal_type(net[-1])  # R: torch.nn.modules.linear.Linear[13, 3]
reveal_type(net[:2](x))  # R: Tensor[Float32, 7, 13]
reveal_type(net[1:](torch.zeros(7, 13)))  # R: Tensor[Float32, 7, 3]
grown = nn.Sequential()
grown.append(nn.Linear(11, 13))
grown.append(nn.Linear(13, 2))
reveal_type(grown(x))  # R: Tensor[Float32, 7, 2]
grown.insert(0, nn.Linear(5, 11))
reveal_type(grown(torch.zeros(7, 5)))  # R: Tensor[Float32, 7, 2]
reveal_type(nn.Sequential(nn.Linear(11, 13)).append(nn.Linear(13, 2))(x))  # R: Tensor[Float32, 7, 2]
fluent = st.nn.Sequential().add_layer(nn.Linear(11, 13)).add_layer(nn.Linear(13, 2))
reveal_type(fluent(x))  # R: Tensor[Float32, 7, 2]


class Block(nn.Sequential, Generic[D]):
    def __init__(self, dim: Dim[D]) -> None:
        super().__init__(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))


class Scaled(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.Linear(11, 13), nn.ReLU())

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        reveal_type(super().forward(input))  # R: Tensor[Any, ..., 13]
        return super().forward(input)


reveal_type(Block(11)(x))  # R: Tensor[Float32, 7, 11]
reveal_type(nn.Sequential(Block(11), nn.Sequential(nn.Linear(11, 5), nn.ReLU()))(x))  # R: Tensor[Float32, 7, 5]
Scaled()(x)


def unknown(depth: int, sizes: list[int]) -> None:
    deep = []
    for size in sizes:
        deep.append(nn.Linear(size, size))
    nn.Sequential(*deep)(torch.zeros(2, 3))
    branched = nn.Sequential(nn.Linear(3, 5))
    if depth > 1:
        branched.append(nn.Linear(5, 7))
    branched(torch.zeros(2, 3))


unknown(2, [3, 3])

# -- by name -----------------------------------------------------------------------------------------------------------


class Named(nn.Module):
    def __init__(self, wide: bool) -> None:
        super().__init__()
        self.heads = nn.ModuleDict({"a": nn.Linear(11, 2), "b": nn.Linear(11, 3)})
        self.parts = nn.ModuleDict(
            dict(  # noqa: C408 - as people write it
                embed=nn.Linear(11, 19), h=nn.ModuleList([nn.ReLU() for _ in range(3)])
            )
        )
        self.more = nn.ModuleDict()
        self.more["x"] = nn.Linear(11, 5)
        self.weights = nn.ParameterList([torch.zeros(3, 5), torch.zeros(5, 2)])
        self.by_name = nn.ParameterDict({"w": torch.zeros(3, 5)})
        self.proj = nn.Linear(11, 13) if wide else nn.Identity()
        if wide:
            self.skip = nn.Linear(11, 13)
        else:
            self.skip = nn.Identity()
        self.register_buffer("mask", torch.ones(11, dtype=torch.bool))
        self.register_parameter("scale", nn.Parameter(torch.ones(11)))
        self.add_module("extra", nn.Linear(11, 17))

    def forward(self, x: Tensor[Float32, B, 11], task: str) -> None:
        reveal_type(self.heads["a"](x))  # R: Tensor[Float32, B, 2]
        reveal_type(self.heads["b"](x))  # R: Tensor[Float32, B, 3]
        reveal_type(self.heads[task](x))  # R: Tensor[Float32, B, Any]
        reveal_type(self.heads.b(x))  # R: Tensor[Float32, B, 3]
        hidden = self.parts.embed(x)
        for layer in self.parts.h:
            hidden = layer(hidden)
        reveal_type(hidden)  # R: Tensor[Float32, B, 19]
        reveal_type(self.parts.embed.weight)  # R: Parameter[Float32, 19, 11]
        reveal_type(self.by_name.w)  # R: Parameter[Float32, 3, 5]
        reveal_type(self.more["x"](x))  # R: Tensor[Float32, B, 5]
        for _, head in self.heads.items():
            reveal_type(head)  # R: torch.nn.modules.linear.Linear[11, Any]
        reveal_type(self.weights[0])  # R: Parameter[Float32, 3, 5]
        reveal_type(self.weights[-1])  # R: Parameter[Float32, 5, 2]
        reveal_type(self.by_name["w"])  # R: Parameter[Float32, 3, 5]
        for weight in self.weights:
            reveal_type(weight)  # R: Parameter[Float32, Any, Any]
        reveal_type(self.proj(x))  # R: Tensor[Float32, B, 13] | Tensor[Float32, B, 11]
        reveal_type(self.skip)  # R: torch.nn.modules.linear.Linear[11, 13] | torch.nn.modules.linear.Identity
        reveal_type(self.mask)  # R: Tensor[Bool, 11]
        reveal_type(self.scale)  # R: Parameter[Float32, 11]
        reveal_type(self.extra(x))  # R: Tensor[Float32, B, 17]


Named(True)(x, "a")
