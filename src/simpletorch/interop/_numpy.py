"""Arrays of NumPy as tensors, and tensors as arrays of NumPy: the same memory on both sides."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, NoReturn

import numpy as np
import torch

from simpletorch.errors import BackendError, DTypeMismatch, TypeMismatch
from simpletorch.interop._sharing import (
    BY_BITS,
    REFUSALS,
    explain_tensor,
    named,
    refuse,
    refuse_backwards,
    refuse_other,
    shown,
)

__all__ = ["from_numpy", "to_numpy"]

_BITS: Final = {1: torch.uint8, 2: torch.int16}
_torch_from_numpy: Final = torch.from_numpy  # a look-up in torch is a twelfth of a call

# Most of a call's cost beyond torch's is asking whether the array may be written to, and there is no cheaper way to
# ask. DLPack would refuse such an array by itself and is a tenth quicker, but ends the process at a negative
# stride, and gives a real tensor under FakeTensorMode.
# ``copy`` could be a keyword only, but Python calls functions that have one in a slower way, by a twentieth of a call


def from_numpy(array: np.ndarray[Any, Any], copy: bool = False) -> torch.Tensor:  # noqa: RET503  # refuse raises
    """A tensor in the memory of an array of NumPy: ``(*s) -> (*s)``, of the same dtype.

    bfloat16 and float8 of the package ml_dtypes are shared too, which `torch.from_numpy` can't.

    Args:
        array: the array; it lives as long as the tensor.
        copy: into new memory. This also takes arrays that can't be shared: read-only ones, views that run backwards,
            fields of records, the other byte order.

    Returns:
        A tensor on the CPU.

    Raises:
        TorchError: (also ValueError) the array is read-only, has a negative stride, a stride that is no multiple of the
            item size, or another byte order.
        DTypeMismatch: (also TypeError) torch has no such dtype: strings, objects, dates, records.
        TypeMismatch: (also TypeError) it is no array.

    Examples:
        >>> import numpy as np
        >>> import torch
        >>> from simpletorch import interop
        >>> interop.from_numpy(np.arange(6.0).reshape(2, 3)).shape
        torch.Size([2, 3])
    """
    try:
        if copy:
            return _from_bits(_copied(array))
        if array.flags.writeable:
            return _torch_from_numpy(array)
    except REFUSALS as error:
        if isinstance(array, np.ndarray):
            if array.dtype.name in BY_BITS:
                return _from_bits(array)
            _explain_numpy(array, error)
        refuse(
            "from_numpy",
            f"expected an array of NumPy, but got {named(array)}",
            "from_array(...) takes lists and numbers, from_dlpack(...) the arrays of other libraries",
            also=TypeError,
            kind=TypeMismatch,
            cause=error,
        )
    refuse(
        "from_numpy",
        f"the array of shape {shown(array.shape)} is read-only, and a tensor over it could be written to",
        "from_numpy(array, copy=True)",
    )


def _copied(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array in memory of its own that torch can use: forwards, in the machine's byte order."""
    return array.astype(array.dtype.newbyteorder("="), order="C", copy=True)


def _from_bits(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """The tensor over an array, also of a dtype that torch knows and NumPy's own names don't."""
    dtype = BY_BITS.get(array.dtype.name)
    if dtype is None:
        return torch.from_numpy(array)
    bits = from_numpy(array.view(f"i{array.dtype.itemsize}"))
    return bits.view(dtype)


def _explain_numpy(array: np.ndarray[Any, Any], error: BaseException) -> NoReturn:
    """Why torch can't use the memory of an array."""
    shape, dtype = shown(array.shape), array.dtype
    if not dtype.isnative:
        refuse(
            "from_numpy",
            f"the array of dtype {dtype.str!r} has the byte order of other machines",
            "from_numpy(array, copy=True)",
            cause=error,
        )
    if dtype.kind not in "biufc" or isinstance(error, TypeError):
        refuse(
            "from_numpy",
            f"torch has no dtype for NumPy's {dtype}",
            _instead_of(dtype),
            also=TypeError,
            kind=DTypeMismatch,
            cause=error,
        )
    if any(stride < 0 for stride in array.strides):
        refuse_backwards("from_numpy", shape, cause=error)
    refuse(
        "from_numpy",
        f"the strides {array.strides} of the array of shape {shape} are no multiples of its item size {dtype.itemsize}",
        "from_numpy(array, copy=True)",
        cause=error,
    )


def _instead_of(dtype: np.dtype[Any]) -> str:
    """A remedy for values that torch has no dtype for."""
    if dtype.kind == "V" and dtype.names is None:  # int4 and float6 of ml_dtypes have no kind of their own
        return "array.astype(np.int8), or np.float32 of those with a fraction"
    return {
        "U": "numbers for the strings: np.unique(array, return_inverse=True)[1]",
        "S": "numbers for the strings: np.unique(array, return_inverse=True)[1]",
        "T": "numbers for the strings: np.unique(array, return_inverse=True)[1]",
        "O": "array.astype(np.float32), if every object is a number",
        "M": "the time as a number: array.view(np.int64)",
        "m": "the time as a number: array.view(np.int64)",
        "V": "one field at a time: from_numpy(array['field'], copy=True)",
    }.get(dtype.kind, "array.astype(np.float64)")


def to_numpy(tensor: torch.Tensor, copy: bool = False) -> np.ndarray[Any, Any]:
    """An array of NumPy in the memory of a tensor: ``(*s) -> (*s)``, of the same dtype.

    bfloat16 and float8 are given in the dtypes of the package ml_dtypes (JAX brings it), which `Tensor.numpy` can't.

    Args:
        tensor: the tensor, on the CPU; its memory lives as long as the array.
        copy: into new memory, from any device, and without the gradient's graph.

    Returns:
        An array of the tensor's shape.

    Raises:
        TorchError: (also RuntimeError) the tensor requires a gradient, is a lazy conjugate, or isn't strided.
        DeviceMismatch: it isn't on the CPU.
        DTypeMismatch: (also TypeError) NumPy has no such dtype.
        TypeMismatch: (also TypeError) it isn't a tensor.
        BackendError: the package ml_dtypes isn't installed.

    Examples:
        >>> import numpy as np
        >>> import torch
        >>> from simpletorch import interop
        >>> interop.to_numpy(torch.zeros(2, 3)).shape
        (2, 3)
    """
    try:
        if copy:
            tensor = tensor.detach().cpu().resolve_conj().resolve_neg().clone()
        return tensor.numpy()
    except (TypeError, RuntimeError, AttributeError) as error:
        refuse_other("to_numpy", tensor, error)
        if tensor.dtype not in BY_BITS.values() or tensor.requires_grad or not tensor.is_cpu:
            explain_tensor("to_numpy", tensor, error)
    return _bits_of(tensor)


def _bits_of(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    try:
        ml_dtypes: Any = import_module("ml_dtypes")
    except ImportError as error:
        raise BackendError(
            f"NumPy has {tensor.dtype} from the package ml_dtypes, which is not installed: pip install ml_dtypes; "
            "tensor.float().numpy() is a copy in float32"
        ) from error
    name = str(tensor.dtype).removeprefix("torch.")
    array: np.ndarray[Any, Any] = tensor.view(_BITS[tensor.itemsize]).numpy().view(getattr(ml_dtypes, name))
    return array
