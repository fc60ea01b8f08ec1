"""Calls that a stated signature refuses, in mypy and at run time."""

from typing import Any, Protocol

import torch
from torch import nn

from simpletorch import Float32, Int64, Tensor
from simpletorch.dims import B, T
from simpletorch.interop import typed


class Encoder(nn.Module):
    def forward(self, input_ids: Any, mask: Any = None) -> Any:
        return torch.zeros(*input_ids.shape, 21)


class Encodes(Protocol):
    def __call__(
        self, input_ids: Tensor[Int64, B, T], mask: Tensor[Int64, B, T] | None = None
    ) -> Tensor[Float32, B, T, 21]: ...


encoder = typed(Encoder(), Encodes)
ids = torch.zeros(2, 7, dtype=torch.int64)


def fail_dtype() -> None:
    encoder(torch.zeros(2, 7))  # E: tensor-dtype


def fail_sizes() -> None:
    encoder(ids, mask=ids[:, :3])  # E: tensor-shape


def fail_rank() -> None:
    encoder(ids[0])  # E: tensor-shape


def fail_result() -> Tensor[Float32, 2, 7, 5]:
    result = typed(Encoder(), Encodes)(ids)
    return nn.Linear(5, 3)(result)  # E: tensor-shape
