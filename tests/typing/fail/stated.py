"""A module that is called otherwise is no ``Module[In, Out]``."""

import torch
from torch import nn

from simpletorch import Float32, K, Tensor
from simpletorch import nn as snn
from simpletorch.dims import B, N


class Decoder(snn.Module):
    def forward(self, x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 11]:
        return x.repeat(1, 2)[:, :11]


def run(model: snn.Module[Tensor[Float32, B, 11], Tensor[Float32, B, 7]]) -> None:
    model(torch.zeros(3, 11)) + torch.zeros(3, 7)


def width(model: snn.Module[Tensor[Float32, B, N], Tensor[Float32, B, K]], x: Tensor[Float32, B, N]) -> Tensor[Float32, B, K]:
    return model(x)


def fail_takes() -> None:
    run(nn.Linear(13, 7))  # E: tensor-shape


def fail_gives() -> None:
    run(nn.Linear(11, 5))  # E: tensor-shape


def fail_of_the_user() -> None:
    run(Decoder())  # E: tensor-shape


def fail_chain() -> None:
    run(nn.Sequential(nn.Linear(11, 3), nn.Linear(3, 5)))  # E: tensor-shape


def fail_result() -> None:
    width(nn.Linear(11, 13), torch.zeros(3, 11)) + torch.zeros(3, 7)  # E: tensor-shape


Stated = snn.Module[Tensor[Float32, 3, 11], Tensor[Float32, 3, 7]]


def use(model: Stated) -> None:
    model(torch.zeros(3, 11)) + torch.zeros(3, 7)


def fail_assigned() -> None:
    layer: Stated = snn.Linear(11, 5)  # E: tensor-shape
    use(layer)


def fail_in_a_list() -> None:
    layers: list[Stated] = [snn.Linear(11, 5)]  # E: tensor-shape
    use(layers[0])


def fail_in_a_dict() -> None:
    layers: dict[str, Stated] = {"first": snn.Linear(11, 5)}  # E: tensor-shape
    use(layers["first"])
