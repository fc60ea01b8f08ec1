"""What a variable, an attribute or a list holds later need not be what it held first."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def new(w: Tensor) -> Tensor:
    w3 = w.view(2, 3, 5)
    return w3.data.new([1]).expand(7, 7) + w3.new(7, 7)


def in_place(n: int) -> Tensor:
    i = torch.zeros(3, 1)
    i.squeeze_(1)
    j = torch.zeros(3, 5)
    j.t_()
    g = torch.zeros(3)
    for _ in range(n):
        g.unsqueeze_(0)
    k = torch.zeros(3)
    k.unsqueeze_(0).unsqueeze_(0)
    m = torch.zeros(0)
    m.resize_(2, 3)
    q: Tensor = torch.zeros(2, 3, 5)
    q.transpose_(0, 2)
    return i.expand(4, 3) + j[4] + g[0, 0] + k[0, 0] + m[1, 2] + q[4, 2, 1]


class Lazy(nn.Module):
    anchors = torch.empty(0)
    strides = torch.empty(0)
    size: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.factor = None
        self.cache = torch.empty(0)

    def setup(self, xs: list[Tensor]) -> None:
        self.size = (3, 5)
        self.anchors, self.strides = (a.transpose(0, 1) for a in xs)
        self.cache.resize_(3, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = F.interpolate(x, size=self.size, scale_factor=self.factor)
        return y + self.anchors[0] + self.cache[2, 4]


class Scaled(Lazy):
    def run(self, x: Tensor) -> Tensor:
        return F.interpolate(x, size=self.size) if self.size else F.interpolate(x, scale_factor=self.factor)


def skips(x: Tensor, down: nn.ModuleList) -> Tensor:
    x = x.view(2, 8, 16, 16)
    kept = [x]
    for m in down:
        x = m(x)
        kept.append(x)
    x = x[:, :, :4, :4]
    return torch.cat((x.view(2, 8, 4, 4), kept.pop()), 1)


def keys(by_name: dict[str, Tensor]) -> None:
    by_name["a"]["b"]  # type: ignore[index]
    by_name["a"]["b", 0]  # type: ignore[index]
    by_name["a"]["b"] = torch.zeros(3)  # type: ignore[index]


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.to_out = nn.ModuleList([nn.Linear(3, 3), nn.Dropout(0.1)])
        self.fc = nn.Linear(3, 5)
        self.norm = nn.Sequential(nn.LayerNorm(3), nn.ReLU())
        if self.fc.bias is None:
            self.norm = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.norm:
            x = layer(x)
        y: Tensor = self.to_out[1](self.to_out[0](x))
        return y


def strip(attention: Attention) -> None:
    attention.to_out = nn.Identity()
    attention.fc = nn.Identity()
    attention.norm[0] = nn.Identity()


class Block(nn.Module):
    def __init__(self, attention: Attention) -> None:
        super().__init__()
        self.attention = attention
        self.attention.to_out = nn.Identity()


def use(attention: Attention, x: Tensor) -> Tensor:
    attention.to_out.append(nn.ReLU())
    attention.fc(x).view(3, 11)
    y: Tensor = attention.to_out[0](x) + attention.norm[0](x)
    return y


new(torch.zeros(30))
in_place(2)
skips(torch.zeros(2, 8, 16, 16), nn.ModuleList([nn.MaxPool2d(2), nn.MaxPool2d(2)]))
Attention()(torch.zeros(2, 3))
strip(Attention())
Block(Attention())
