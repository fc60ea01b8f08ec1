"""``interop.typed``: another library's module has the call that is stated, and its own attributes."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
from torch import nn

from simpletorch import Float32, Int64, Tensor
from simpletorch import nn as snn
from simpletorch.dims import B, T
from simpletorch.interop import typed


class Output(NamedTuple):
    states: torch.Tensor
    text: torch.Tensor


class Encoder(nn.Module):
    """As in a library that says nothing of shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(53, 21)

    def forward(self, input_ids: Any, mask: Any = None, **more: Any) -> Any:
        states = self.embedding(input_ids)
        return Output(states, states.mean(1))


class States(Protocol[B, T]):
    states: Tensor[Float32, B, T, 21]
    text: Tensor[Float32, B, 21]


class Encodes(Protocol):
    def __call__(self, input_ids: Tensor[Int64, B, T], mask: Tensor[Int64, B, T] | None = None) -> States[B, T]: ...


def encodes(input_ids: Tensor[Int64, B, T], mask: Tensor[Int64, B, T] | None = None) -> States[B, T]:
    raise NotImplementedError


Layer = Callable[[Tensor[Float32, B, 3]], Tensor[Float32, B, 5]]

ids = torch.zeros(2, 7, dtype=torch.int64)
encoder = typed(Encoder(), Encodes)
reveal_type(encoder(ids).states)  # R: Tensor[Float32, 2, 7, 21]
reveal_type(encoder(ids, mask=ids).text)  # R: Tensor[Float32, 2, 21]
reveal_type(encoder.embedding(ids))  # R: Tensor[Float32, 2, 7, 21]
reveal_type(encoder.to("cpu")(ids).text)  # R: Tensor[Float32, 2, 21]
reveal_type(encoder.eval().state_dict())  # R: dict[str, Any]
reveal_type(typed(Encoder(), encodes)(ids).states)  # R: Tensor[Float32, 2, 7, 21]
reveal_type(typed(nn.Linear(3, 5), Layer)(torch.zeros(7, 3)))  # R: Tensor[Float32, 7, 5]


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


print(count(encoder))


class Model(snn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = typed(Encoder(), encodes)
        self.head = nn.Linear(21, 5)

    def forward(self, ids: Tensor[Int64, B, T]) -> Tensor[Float32, B, 5]:
        reveal_type(self.encoder(ids).text)  # R: Tensor[Float32, B, 21]
        return self.head(self.encoder(ids).text)


reveal_type(Model()(ids))  # R: Tensor[Float32, 2, 5]
