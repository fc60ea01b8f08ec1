"""Small models to export: ours and torch's own, with annotations in both spellings."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float32 as F32
from jaxtyping import Int64 as I64
from torch import nn as torch_nn

from simpletorch import Float32, Tensor, nn
from simpletorch.dims import B, H, T, W


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(11, 7)
        self.fc2 = nn.Linear(7, 5)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: Tensor[Float32, B, 11]) -> Tensor[Float32, B, 5]:
        return self.fc2(self.dropout(torch.relu(self.fc1(x))))


class Plain(torch_nn.Module):
    """A module of torch's own, annotated with jaxtyping: words, their weights, and a fact about their number."""

    def __init__(self) -> None:
        super().__init__()
        self.words = torch_nn.Embedding(13, 8)
        self.fc = torch_nn.Linear(8, 3)

    def forward(
        self, tokens: I64[torch.Tensor, "batch time"], weights: F32[torch.Tensor, "batch time"]
    ) -> tuple[F32[torch.Tensor, "batch time 3"], F32[torch.Tensor, "batch time//4 3"]]:
        b, t = tokens.shape
        assert t % 4 == 0
        scores = self.fc(self.words(tokens)) * weights[..., None]
        pooled = scores.view(b, t // 4, 4, 3).sum(2)
        return scores, pooled


class Images(nn.Module):
    """Convolutions that take images from 9 pixels up."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 5, kernel_size=9)

    def forward(self, x: Tensor[Float32, B, 3, H, W]) -> Tensor[Float32, B, 5, "H - 8", "W - 8"]:
        return torch.relu(self.conv(x))


class Halves(nn.Module):
    """An expression in the annotation of an input."""

    def forward(self, x: Tensor[Float32, B, "2*T"]) -> Tensor[Float32, B, T]:
        return x[:, ::2] + x[:, 1::2]


class Memory(NamedTuple):
    """What was seen so far."""

    seen: Tensor[Float32, B, T]
    count: Tensor[Float32, B]


class Remembering(nn.Module):
    """Containers in, containers out."""

    def forward(self, x: Tensor[Float32, B], memories: list[Memory]) -> tuple[Tensor[Float32, B], list[Memory]]:
        grown = [Memory(torch.cat([m.seen, x[:, None]], dim=1), m.count + 1) for m in memories]
        return sum((m.seen.sum(dim=1) for m in grown), x), grown


class Unannotated(torch_nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch_nn.Linear(11, 5)

    def forward(self, x):
        return self.fc(x)
