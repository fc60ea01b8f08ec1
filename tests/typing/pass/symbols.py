"""Symbols that must raise no false alarm: new names in bodies, facts, overloads, sizes that may be equal."""

from typing import TypeVar, overload

import torch
from jaxtyping import Float32 as JFloat32
from torch import nn

from simpletorch import Float32, Tensor
from simpletorch.dims import B, D, Dim, H, K, N, T

canvas: JFloat32[torch.Tensor, "3 h w"] = torch.zeros(3, 5, 7)
Row = JFloat32[torch.Tensor, "n"]


def fresh_names(x: JFloat32[torch.Tensor, "b n"]) -> JFloat32[torch.Tensor, "b"]:
    wide: JFloat32[torch.Tensor, "b k"] = torch.cat([x, x], 1)
    tall: JFloat32[torch.Tensor, "n b"] = x.T
    return wide.sum(1) + tall.sum(0)


def rows(x: Row, y: Row) -> Row:
    return x + y


@overload
def flat(x: Tensor[Float32, B, 3]) -> Tensor[Float32, B]: ...
@overload
def flat(x: Tensor[Float32, 3]) -> Tensor[Float32]: ...
def flat(x: torch.Tensor) -> torch.Tensor:
    return x.sum(-1)


def attention(x: Tensor[Float32, B, T, D], heads: Dim[H]) -> Tensor[Float32, B, T, D]:
    b, t, d = x.shape
    if d % heads:
        raise ValueError
    q = x.view(b, t, heads, d // heads)
    joined: Tensor[Float32, B, T, D] = q.flatten(2)
    return joined


def same_length(x: Tensor[Float32, B, N], y: Tensor[Float32, K, N]) -> Tensor[Float32, B, N]:
    for _ in range(2):
        if len(x) != len(y):
            continue
        x = x + y
    if not (x.shape[0] == y.shape[0] and x.shape[1] > 3):
        return x
    return x + y


class Decoder(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x: JFloat32[torch.Tensor, "b {self.fc.in_features}"]) -> torch.Tensor:
        out: torch.Tensor = self.fc(x)
        return out


fresh_names(torch.zeros(2, 3))
rows(torch.zeros(3), torch.zeros(3))
flat(torch.zeros(3)) + flat(torch.zeros(2, 3))
attention(torch.zeros(2, 3, 8), 2)
same_length(torch.zeros(2, 5), torch.zeros(2, 5))
Decoder(5)(torch.zeros(2, 5))
U = TypeVar("U", bound=torch.Tensor)


def halves(x: Tensor[Float32, B, T]) -> None:
    for piece in x.split(2, dim=1):
        piece + 1
    first, *others = x.unbind(0)
    torch.stack([first, *others])


halves(torch.zeros(3, 4))
