"""What a type checker sees of `simpletorch.tensor`; mypy takes a name's first definition, the others its last."""

# ruff: noqa: F811
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch

from simpletorch._tensor import CPUTensor as CPUTensor
from simpletorch._tensor import CUDATensor as CUDATensor
from simpletorch._tensor import MPSTensor as MPSTensor
from simpletorch._tensor import Parameter as Parameter
from simpletorch._tensor import Tensor as Tensor
from simpletorch.device import DeviceLike

# isort: split
from simpletorch._plain import CPUTensor as CPUTensor  # type: ignore[assignment]
from simpletorch._plain import CUDATensor as CUDATensor  # type: ignore[assignment]
from simpletorch._plain import MPSTensor as MPSTensor  # type: ignore[assignment]
from simpletorch._plain import Parameter as Parameter  # type: ignore[assignment]
from simpletorch._plain import Tensor as Tensor  # type: ignore[assignment]

TensorShape: TypeAlias = torch.Size

def from_array(
    array: Any,
    *,
    dtype: torch.dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    shape: Sequence[int] | None = None,
) -> torch.Tensor: ...
def one_hot(input: torch.Tensor, num_classes: int = -1) -> torch.Tensor: ...
