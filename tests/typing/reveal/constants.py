"""Constants as dims, and no dims at all."""

from typing import Final

import torch
from torch import nn

from simpletorch import Float32, Tensor
from simpletorch import nn as snn
from simpletorch.dims import B

LATENT: Final = 7
TWICE: Final[int] = 2 * LATENT
CHANCE: Final = int(torch.zeros(()).item())
Loss = Tensor[Float32, ""]
Pair = Tensor[Float32, LATENT, TWICE]


class Sizes:
    HEAD: Final = 5


class Encoder(snn.Module[Tensor[Float32, B, 11], Tensor[Float32, B, LATENT]]):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(11, LATENT)

    def forward(self, x: Tensor[Float32, B, 11]) -> Tensor[Float32, B, LATENT]:
        reveal_type(self.fc(x))  # R: Tensor[Float32, B, 7]
        return self.fc(x)


def attributes(
    x: Tensor[Float32, B, Sizes.HEAD], y: Pair, z: Tensor[Float32, CHANCE], w: "Tensor[Float32, LATER]"
) -> None:
    reveal_type(x)  # R: Tensor[Float32, B, 5]
    reveal_type(y)  # R: Tensor[Float32, 7, 14]
    reveal_type(z)  # R: Tensor[Float32, Any]
    reveal_type(w)  # R: Tensor[Float32, 13]


def scalar(x: Tensor[Float32, ""], y: Loss) -> None:
    reveal_type(x)  # R: Tensor[Float32]
    reveal_type(y)  # R: Tensor[Float32]


LATER: Final = 13
scalar(torch.tensor(2.0), torch.tensor(3.0))
latent: Tensor[Float32, LATENT] = torch.zeros(7)
attributes(torch.zeros(3, 5), torch.zeros(7, 14), torch.zeros(0), torch.zeros(13))
reveal_type(Encoder()(torch.zeros(3, 11)))  # R: Tensor[Float32, 3, 7]


def bound_again(k: int) -> None:
    n = 3
    if (n := k) > 2:
        reveal_type(torch.zeros(n))  # R: Tensor[Float32, Any]
    m = 5
    match k:
        case 1:
            m = 7
        case _:
            pass
    reveal_type(torch.zeros(m))  # R: Tensor[Float32, Any]
    j = 11
    match k:
        case j:
            pass
    reveal_type(torch.zeros(j))  # R: Tensor[Float32, Any]
    i = 13
    reveal_type(torch.zeros(i))  # R: Tensor[Float32, 13]
