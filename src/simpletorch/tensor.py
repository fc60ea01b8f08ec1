"""The phantom tensors: types that say dtype, shape and device of plain `torch.Tensor`s, and are never instantiated.

``Tensor[Float32, B, 784]`` is a jaxtyping annotation of `torch.Tensor`, ``isinstance(x, Tensor)`` asks torch, and
``Tensor.zeros(2, 3)`` is `torch.zeros`. Type checkers read ``tensor.pyi`` instead.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import nn

from simpletorch._annotation import Phantom
from simpletorch.dtypes import Shaped
from simpletorch.errors.context import function_of_torch

__all__ = [
    "CPUTensor",
    "CUDATensor",
    "MPSTensor",
    "Parameter",
    "Tensor",
    "TensorShape",
    "from_array",
    "one_hot",
    "tensor",
]

tensor = function_of_torch("tensor", torch.tensor)  # as `simpletorch.tensor`, even once this module is imported
one_hot = function_of_torch("one_hot", F.one_hot)
TensorShape = torch.Size


def from_array(
    array: Any,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | int | None = None,
    requires_grad: bool = False,
    shape: Sequence[int] | None = None,
) -> torch.Tensor:
    """A tensor over anything array-like: NumPy, DLPack (JAX, CuPy), the buffer protocol, nested sequences.

    Memory is shared where dtype and device allow it; `torch.tensor` always copies.

    Args:
        array: a NumPy array, an object with ``__dlpack__`` or the buffer protocol, a tensor, a number, or nested
            sequences of numbers.
        dtype: of the result; None keeps that of ``array`` (Python floats get torch's default dtype).
        device: of the result; None is torch's default device if one is set, else that of ``array`` (or the CPU).
        requires_grad: whether autograd records operations on the result; only for floating and complex dtypes.
        shape: the shape of the result, by default that of the array; it has as many elements.

    Returns:
        A tensor; it shares memory with ``array`` where it can.

    Examples:
        >>> import numpy as np
        >>> from simpletorch import from_array
        >>> from_array(np.arange(3))
        tensor([0, 1, 2])

    Source: https://docs.pytorch.org/docs/stable/generated/torch.asarray.html
    """
    if shape is None:
        return torch.asarray(array, dtype=dtype, device=device, requires_grad=requires_grad)
    return torch.asarray(array, dtype=dtype, device=device).reshape(tuple(shape)).requires_grad_(requires_grad)


def _from_dlpack(
    array: Any, *, device: torch.device | str | int | None = None, copy: bool | None = None
) -> torch.Tensor:
    """A tensor in the memory of an array of another library: `simpletorch.interop.from_dlpack`.

    Args:
        array, device, copy: as for `simpletorch.interop.from_dlpack`.
    """
    from simpletorch.interop import from_dlpack  # here because annotations need this module, and hardly ever that one

    return from_dlpack(array, device=device, copy=copy)


_FACTORIES: Final[dict[str, Callable[..., torch.Tensor]]] = {
    "zeros": torch.zeros,
    "ones": torch.ones,
    "full": torch.full,
    "empty": torch.empty,
    "rand": torch.rand,
    "randn": torch.randn,
    "randint": torch.randint,
    "arange": torch.arange,
    "linspace": torch.linspace,
    "logspace": torch.logspace,
    "eye": torch.eye,
    "tensor": torch.tensor,
    "from_array": from_array,
    "from_numpy": torch.from_numpy,
    "from_dlpack": _from_dlpack,
    "zeros_like": torch.zeros_like,
    "ones_like": torch.ones_like,
    "full_like": torch.full_like,
    "empty_like": torch.empty_like,
    "rand_like": torch.rand_like,
    "randn_like": torch.randn_like,
    "tril_indices": torch.tril_indices,
    "one_hot": F.one_hot,
}
_WITHOUT_DEVICE: Final = frozenset(("from_numpy", "one_hot"))
_WITHOUT_DTYPE: Final = _WITHOUT_DEVICE | {"from_dlpack"}


_OURS: Final = frozenset(("from_array", "from_dlpack"))
_FACES: Final = {name: make if name in _OURS else function_of_torch(name, make) for name, make in _FACTORIES.items()}


def _on(device: str, name: str, make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The factory ``make`` that makes its tensor on ``device``."""

    @functools.wraps(make)
    def factory(*args: Any, **kwargs: Any) -> torch.Tensor:
        wanted = kwargs.pop("device", None)
        place = torch.device(device if wanted is None else wanted)
        if place.type != device:
            raise ValueError(
                f"{device.upper()}Tensor.{name} makes tensors on {device}, not on {place}; "
                f"write Tensor.{name}(..., device={str(place)!r})"
            )
        if name in _WITHOUT_DEVICE:
            return make(*args, **kwargs).to(place)
        return make(*args, device=place, **kwargs)

    return factory


def _of(dtype: type[Shaped], name: str, make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The factory ``make`` that makes tensors of ``dtype``."""

    @functools.wraps(make)
    def factory(*args: Any, **kwargs: Any) -> torch.Tensor:
        if name in _WITHOUT_DTYPE:
            return make(*args, **kwargs).to(dtype.dtype)
        wanted = kwargs.pop("dtype", None)
        if wanted not in (None, dtype, dtype.dtype):
            raise ValueError(
                f"Tensor[{dtype.__name__}].{name} makes tensors of {dtype.__name__}, not of {wanted}; "
                f"write Tensor.{name}(..., dtype={wanted})"
            )
        return make(*args, dtype=dtype.dtype, **kwargs)

    return factory


class _Face(Phantom):
    """The class of the phantom tensors, with factories: ``Tensor[Float32].zeros(3, 4)`` makes a float32 tensor.

    torch's methods are functions there too: ``Tensor.sum(t)`` is ``torch.Tensor.sum(t)``.
    """

    def __getattr__(cls, name: str) -> Any:
        method = None if name.startswith("_") else getattr(cls.base, name, None)
        if callable(method):
            return method
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}", name=name, obj=cls)

    def __getitem__(cls, item: object) -> Any:
        made = super().__getitem__(item)
        concrete = isinstance(item, type) and issubclass(item, Shaped) and item.torch_name is not None
        if concrete and not hasattr(made, "zeros"):  # the annotation is made once
            for name in _FACTORIES:
                setattr(made, name, staticmethod(_of(item, name, getattr(cls, name))))
        return made


class Tensor(metaclass=_Face):
    """A tensor of a dtype and a shape: ``Tensor[Float32, B, 784]``. Every tensor is one.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, Tensor
        >>> from simpletorch.dims import B
        >>> images: Tensor[Float32, B, 784] = torch.zeros(64, 784)
        >>> isinstance(images, Tensor)
        True
    """


class CPUTensor(Tensor):
    """A tensor in the CPU's memory.

    Examples:
        >>> import torch
        >>> from simpletorch import CPUTensor, Float32
        >>> isinstance(torch.zeros(3), CPUTensor)
        True
    """

    device_type = "cpu"


class CUDATensor(Tensor):
    """A tensor on a CUDA device.

    Examples:
        >>> import torch
        >>> from simpletorch import CUDATensor, Float32
        >>> isinstance(torch.zeros(3), CUDATensor)
        False
    """

    device_type = "cuda"


class MPSTensor(Tensor):
    """A tensor on Apple's GPU.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, MPSTensor
        >>> isinstance(torch.zeros(3), MPSTensor)
        False
    """

    device_type = "mps"


class _ParameterType(_Face):
    """`Parameter` can be called: it makes torch's."""

    def __call__(cls, data: torch.Tensor | None = None, requires_grad: bool = True) -> nn.Parameter:
        return nn.Parameter(data, requires_grad)


class Parameter(Tensor, metaclass=_ParameterType):
    """A trainable tensor; ``Parameter(data)`` makes a `torch.nn.Parameter`.

    Examples:
        >>> import torch
        >>> from simpletorch import Parameter
        >>> Parameter(torch.zeros(3))
        Parameter containing:
        tensor([0., 0., 0.], requires_grad=True)
    """

    base = nn.Parameter


def _as_parameter(make: Callable[..., torch.Tensor]) -> Callable[..., nn.Parameter]:
    @functools.wraps(make)
    def factory(*args: Any, requires_grad: bool = True, **kwargs: Any) -> nn.Parameter:
        return nn.Parameter(make(*args, **kwargs), requires_grad)

    return factory


for _name, _make in _FACES.items():
    setattr(Tensor, _name, staticmethod(_make))
    setattr(Parameter, _name, staticmethod(_as_parameter(_make)))
    for _face in (CPUTensor, CUDATensor, MPSTensor):
        setattr(_face, _name, staticmethod(_on(_face.device_type, _name, _make)))
