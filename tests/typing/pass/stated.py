"""``Module[In, Out]`` is any module that is called so, whatever class it is of."""

import torch
from torch import nn

from simpletorch import Float32, K, Tensor
from simpletorch import nn as snn
from simpletorch.dims import B, N


class Encoder(nn.Module):
    def forward(self, x: Tensor[Float32, B, 11]) -> Tensor[Float32, B, 7]:
        return x[:, :7]


class Anything(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def run(model: snn.Module[Tensor[Float32, B, 11], Tensor[Float32, B, 7]]) -> Tensor[Float32, 3, 7]:
    return model(torch.zeros(3, 11))


def perhaps(model: snn.Module[Tensor[Float32, B, 11], Tensor[Float32, B, 7]] | None = None) -> None: ...


def width(
    model: snn.Module[Tensor[Float32, B, N], Tensor[Float32, B, K]], x: Tensor[Float32, B, N]
) -> Tensor[Float32, B, K]:
    return model(x)


def pick(module: nn.Module) -> None:
    perhaps(module)


for model in (nn.Linear(11, 7), snn.Linear(11, 7)):
    run(model)
run(nn.Linear(11, 7))
run(nn.Sequential(nn.Linear(11, 5), nn.ReLU(), nn.Linear(5, 7)))
run(snn.Sequential(nn.Linear(11, 7)))
run(Encoder())
perhaps(Anything())
perhaps(nn.Linear(11, 7))
perhaps()
pick(Encoder())
found: Tensor[Float32, 3, 13] = width(nn.Linear(11, 13), torch.zeros(3, 11))


Stated = snn.Module[Tensor[Float32, 3, 11], Tensor[Float32, 3, 7]]
layer: Stated = snn.Linear(11, 7)
layers: list[snn.Module[Tensor[Float32, 3, 11], Tensor[Float32, 3, 7]]] = [snn.Linear(11, 7), Encoder()]
by_name: dict[str, Stated] = {"first": snn.Linear(11, 7)}


class Holder:
    def __init__(self) -> None:
        self.model: Stated = nn.Linear(11, 7)


def made() -> Stated:
    return snn.Linear(11, 7)


def given(model: snn.Module[Tensor[Float32, B, 11], Tensor[Float32, B, 7]] = snn.Linear(11, 7)) -> None: ...  # noqa: B008


def many(models: list[snn.Module[Tensor[Float32, B, 11], Tensor[Float32, B, 7]]]) -> None: ...


many([snn.Linear(11, 7), Encoder()])


class Cut(snn.Module[Tensor[Float32, B, 7], Tensor[Float32, B, 3]]):
    """No argument of the constructor says what B is: each call does."""

    def forward(self, x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 3]:
        return x[:, :3]


def cut_in_a_variable() -> Tensor[Float32, 5, 3]:
    cut = Cut()
    first = Cut()(Tensor.zeros([2, 7]))
    second: Tensor[Float32, 2, 3] = first
    print(second)
    return cut(Tensor.zeros([5, 7]))


class Cuts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cut = Cut()
        self.cuts = nn.ModuleList([Cut(), Cut()])

    def forward(self, x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 3]:
        return self.cut(x)
