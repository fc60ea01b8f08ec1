"""The classes of `simpletorch.tensor`, as mypy sees them; with our plugin ``Tensor[...]`` is `torch.Tensor` itself.

The factories are class methods here so that ``CPUTensor.zeros(2)`` is a `CPUTensor`. They are in a class of their own
because with the plugin `CPUTensor` derives from `torch.Tensor`.
"""

from collections.abc import Sequence
from typing import Any, Generic, Never, Self, SupportsIndex, TypeAlias, overload

import numpy as np
import torch
from numpy.typing import NDArray
from typing_extensions import TypeVar, TypeVarTuple, Unpack

from simpletorch.device import DeviceLike
from simpletorch.dtypes import Shaped

__all__ = ["CPUTensor", "CUDATensor", "MPSTensor", "Parameter", "Tensor"]

DT = TypeVar("DT", covariant=True, default=Any)
Shape = TypeVarTuple("Shape", default=Unpack[tuple[Any, ...]])

_Size: TypeAlias = SupportsIndex | Sequence[int]
_DType: TypeAlias = torch.dtype | type[Shaped] | None
_Number: TypeAlias = int | float | complex

class _Factories:
    """What makes tensors: ``Tensor.zeros(3, 4)``, ``CPUTensor.zeros(3, 4)``."""

    @classmethod
    def zeros(
        cls,
        *size: _Size,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def ones(
        cls,
        *size: _Size,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def empty(
        cls,
        *size: _Size,
        dtype: _DType = None,
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
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def rand(
        cls,
        *size: _Size,
        generator: torch.Generator | None = None,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def randn(
        cls,
        *size: _Size,
        generator: torch.Generator | None = None,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @overload
    @classmethod
    def randint(
        cls,
        high: int,
        size: Sequence[int],
        *,
        generator: torch.Generator | None = None,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @overload
    @classmethod
    def randint(
        cls,
        low: int,
        high: int,
        size: Sequence[int],
        *,
        generator: torch.Generator | None = None,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @overload
    @classmethod
    def arange(
        cls,
        end: float,
        *,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @overload
    @classmethod
    def arange(
        cls,
        start: float,
        end: float,
        step: float = 1,
        *,
        dtype: _DType = None,
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
        dtype: _DType = None,
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
        dtype: _DType = None,
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
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def tensor(
        cls,
        data: Any,
        *,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Self: ...
    @classmethod
    def from_array(
        cls,
        array: Any,
        *,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        shape: Sequence[int] | None = None,
    ) -> Self: ...
    @classmethod
    def from_numpy(cls, array: NDArray[np.generic], /) -> Self: ...
    @classmethod
    def from_dlpack(cls, array: Any, *, device: DeviceLike = None, copy: bool | None = None) -> Self: ...
    @classmethod
    def zeros_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def ones_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: _DType = None,
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
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def empty_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def rand_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def randn_like(
        cls,
        input: torch.Tensor,
        *,
        dtype: _DType = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Self: ...
    @classmethod
    def tril_indices(
        cls, row: int, col: int, offset: int = 0, *, dtype: _DType = None, device: DeviceLike = None
    ) -> Self: ...
    @classmethod
    def one_hot(cls, input: torch.Tensor, num_classes: int = -1) -> Self: ...

class Tensor(_Factories, torch.Tensor, Generic[DT, *Shape]):
    """A tensor of dtype ``DT`` whose shape is ``Shape``; at run time a plain `torch.Tensor`."""

    def __new__(cls, never: Never, /) -> Self: ...  # it is no constructor

class CPUTensor(Tensor[DT, *Shape], _Factories):
    """A tensor in the CPU's memory."""

    def __new__(cls, never: Never, /) -> Self: ...

class CUDATensor(Tensor[DT, *Shape], _Factories):
    """A tensor on a CUDA device."""

    def __new__(cls, never: Never, /) -> Self: ...

class CUDATensor0(CUDATensor[DT, *Shape]): ...  # on cuda:0; an annotation doesn't say which of several GPUs it means
class CUDATensor1(CUDATensor[DT, *Shape]): ...
class CUDATensor2(CUDATensor[DT, *Shape]): ...
class CUDATensor3(CUDATensor[DT, *Shape]): ...
class CUDATensor4(CUDATensor[DT, *Shape]): ...
class CUDATensor5(CUDATensor[DT, *Shape]): ...
class CUDATensor6(CUDATensor[DT, *Shape]): ...
class CUDATensor7(CUDATensor[DT, *Shape]): ...

class MPSTensor(Tensor[DT, *Shape], _Factories):
    """A tensor on Apple's GPU."""

    def __new__(cls, never: Never, /) -> Self: ...

class Parameter(torch.nn.Parameter, Tensor[DT, *Shape], _Factories):
    """A trainable tensor; ``Parameter(data)`` makes a `torch.nn.Parameter`."""

    def __new__(cls, data: torch.Tensor = ..., requires_grad: bool = True) -> Self: ...
