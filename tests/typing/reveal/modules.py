"""Modules: constructors keep their sizes, calls follow forward."""

from typing import Any, Generic, TypeVar

import torch
from torch import nn

from simpletorch import Float32, Tensor
from simpletorch.dims import B, Dim, H, M, N

x = torch.zeros(7, 11)
linear = nn.Linear(11, 13)
reveal_type(linear)  # R: torch.nn.modules.linear.Linear[11, 13]
reveal_type(linear(x))  # R: Tensor[Float32, 7, 13]
reveal_type(linear.weight)  # R: Parameter[Float32, 13, 11]
reveal_type(nn.Linear(in_features=11, out_features=5)(x))  # R: Tensor[Float32, 7, 5]

mlp = nn.Sequential(nn.Linear(11, 13), nn.ReLU(), nn.Linear(13, 3))
reveal_type(mlp(x))  # R: Tensor[Float32, 7, 3]

images = torch.zeros(2, 3, 17, 19)
conv = nn.Conv2d(3, 5, kernel_size=3, padding=1, stride=2)
reveal_type(conv(images))  # R: Tensor[Float32, 2, 5, 9, 10]
reveal_type(nn.MaxPool2d(2)(conv(images)))  # R: Tensor[Float32, 2, 5, 4, 5]
reveal_type(nn.Flatten()(conv(images)))  # R: Tensor[Float32, 2, 450]
reveal_type(nn.Embedding(31, 7)(torch.zeros(3, 5, dtype=torch.int64)))  # R: Tensor[Float32, 3, 5, 7]
reveal_type(nn.LayerNorm(11)(x))  # R: Tensor[Float32, 7, 11]
reveal_type(nn.BatchNorm2d(3)(images))  # R: Tensor[Float32, 2, 3, 17, 19]
reveal_type(nn.Dropout(0.5)(x))  # R: Tensor[Float32, 7, 11]


class MLP(nn.Module, Generic[N, M]):
    def __init__(self, n: Dim[N], m: Dim[M], hidden: Dim[H]) -> None:
        super().__init__()
        self.fc1 = nn.Linear(n, hidden)
        self.fc2 = nn.Linear(hidden, m)

    def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, M]:
        x = self.fc1(x)
        x = self.fc2(x)
        return x


reveal_type(MLP(11, 2, 64))  # R: reveal.modules.MLP[11, 2]
reveal_type(MLP(11, 2, 64)(x))  # R: Tensor[Float32, 7, 2]
hidden = 64
reveal_type(MLP(11, 5, hidden)(x))  # R: Tensor[Float32, 7, 5]


def build(size: int) -> Tensor[Float32, 7, Any]:
    model = MLP(11, size, 64)
    reveal_type(model)  # R: reveal.modules.MLP[11, Any]
    reveal_type(model(x))  # R: Tensor[Float32, 7, Any]
    return model(x)


build(3)

T_co = TypeVar("T_co", covariant=True)


class Wrapper(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.inner(x)
        return out


reveal_type(Wrapper(linear)(x))  # R: Tensor

with torch.autocast("cpu", dtype=torch.bfloat16):
    reveal_type(linear(x))  # R: Tensor[BFloat16, 7, 13]


class Cross(nn.Module):
    def forward(self, q: Tensor[Float32, B, N], k: Tensor[Float32, B, M], scale: float = 1.0) -> Tensor[Float32, N, M]:
        return q.mT @ k * scale


reveal_type(Cross()(torch.zeros(2, 3), k=torch.zeros(2, 5)))  # R: Tensor[Float32, 3, 5]
