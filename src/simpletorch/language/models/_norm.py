"""RMS normalization as Llama and T5 compute it: in float32, whatever the dtype of the input.

Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import torch
from torch import nn

from simpletorch.dims import Batch, D, Dim
from simpletorch.dtypes import Float
from simpletorch.nn import Module
from simpletorch.tensor import Tensor

__all__ = ["RMSNorm"]

DT = TypeVar("DT", bound=Float)


class RMSNorm(Module, Generic[D]):
    """Divides by the root of the mean square; no mean is subtracted: ``(*, D) -> (*, D)``."""

    def __init__(self, dim: Dim[D], eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor[DT, *Batch, D]) -> Tensor[DT, *Batch, D]:
        """The same directions, of length about ``sqrt(D)``."""
        wide = x.float()
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * normed.to(x.dtype)

    def extra_repr(self) -> str:
        """The part shown in torch's repr."""
        return f"{len(self.weight)}, eps={self.eps}"
