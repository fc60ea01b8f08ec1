"""A class of the program's that is a tensor: its own methods are its own, the others are torch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Edges(torch.Tensor):
    """Pairs of nodes."""

    def sum(self, dim: Any = 0, *args: Any, **options: Any) -> tuple[Edges, torch.Tensor]:  # type: ignore[override]
        return self, super().sum(dim)

    def matmul(self, other: Any) -> Edges:
        return self

    def __getitem__(self, index: Any) -> Edges:
        return super().__getitem__(index).as_subclass(Edges)

    def as_tensor(self) -> Tensor:
        return self.as_subclass(torch.Tensor)


edges = torch.zeros(2, 3).as_subclass(Edges)
assert isinstance(edges, Edges)
reveal_type(edges.sum(1)[0])  # R: reveal.subclasses.Edges
reveal_type(edges.matmul(edges))  # R: reveal.subclasses.Edges
reveal_type(edges[0])  # R: reveal.subclasses.Edges
reveal_type(edges[0].as_tensor())  # R: Tensor
reveal_type(edges.as_tensor().mean())  # R: Tensor[Any]
