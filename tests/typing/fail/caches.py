"""Tensors in a list of named tuples that belong to another call."""

from typing import Generic, NamedTuple

import torch

from simpletorch import Float32, Tensor, checked
from simpletorch.dims import B, S, T


class Seen(NamedTuple, Generic[B, S]):
    keys: Tensor[Float32, B, S]


@checked
def step(x: Tensor[Float32, B, T], past: list[Seen[B, S]]) -> list[Seen[B, "S+T"]]:
    return [Seen(torch.cat([old.keys, x], 1)) for old in past]


def fail_another_batch() -> None:
    step(torch.zeros(3, 5), [Seen(torch.zeros(2, 7))])  # E: list-item
