"""What a type checker sees of `simpletorch.tensor`; with the mypy plugin ``Tensor[...]`` is `torch.Tensor` itself.

The factories are class methods here so that ``CPUTensor.zeros(2)`` is a `CPUTensor`.
"""

from collections.abc import Sequence
from typing import Any, Generic, Self, SupportsIndex, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from typing_extensions import TypeVar, TypeVarTuple, Unpack

from simpletorch.device import DeviceLike

__all__ = ["CPUTensor", "CUDATensor", "MPSTensor", "Parameter", "Tensor", "from_array", "one_hot"]

DT = TypeVar("DT", covariant=True, default=Any)
Shape = TypeVarTuple("Shape", default=Unpack[tuple[Any, ...]])

_Size: TypeAlias = SupportsIndex | Sequence[int]
_Number: TypeAlias = int | float | complex

class Tensor(torch.Tensor, Generic[DT, *Shape]):
    """A tensor of dtype ``DT`` whose shape is ``Shape``; at run time a plain `torch.Tensor`."""

    @classmethod
    def zeros(
        cls,
        *size: _Size,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def ones(
        cls,
        *size: _Size,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def empty(
        cls,
        *size: _Size,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def full(
        cls,
        size: Sequence[int],
        fill_value: _Number,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def rand(
        cls,
        *size: _Size,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def randn(
        cls,
        *size: _Size,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def randint(
        cls,
        low: int,
        high: int,
        size: Sequence[int],
        *,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def arange(
        cls,
        start: float,
        end: float = ...,
        step: float = 1,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def linspace(
        cls,
        start: float,
        end: float,
        steps: int,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def logspace(
        cls,
        start: float,
        end: float,
        steps: int,
        base: float = 10.0,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def eye(
        cls,
        n: int,
        m: int = ...,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def tensor(
        cls,
        data: Any,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def from_array(
        cls, array: Any, *, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Self: ...
    @classmethod
    def from_numpy(cls, array: NDArray[np.generic], /) -> Self: ...
    @classmethod
    def zeros_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def ones_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def full_like(
        cls,
        input: torch.Tensor,
        fill_value: _Number,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def empty_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def rand_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def randn_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def tril_indices(
        cls, row: int, col: int, offset: int = 0, *, dtype: torch.dtype | None = None, device: DeviceLike = None
    ) -> Self: ...
    @classmethod
    def one_hot(cls, input: torch.Tensor, num_classes: int = -1) -> Self: ...

class CPUTensor(Tensor[DT, *Shape]):
    """A tensor in the CPU's memory."""

class CUDATensor(Tensor[DT, *Shape]):
    """A tensor on a CUDA device."""

class MPSTensor(Tensor[DT, *Shape]):
    """A tensor on Apple's GPU."""

class Parameter(torch.nn.Parameter, Tensor[DT, *Shape]):
    """A trainable tensor; ``Parameter(data)`` makes a `torch.nn.Parameter`."""

    def __new__(cls, data: torch.Tensor = ..., requires_grad: bool = True) -> Self: ...

def from_array(
    array: Any, *, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
) -> torch.Tensor: ...
def one_hot(input: torch.Tensor, num_classes: int = -1) -> torch.Tensor: ...
