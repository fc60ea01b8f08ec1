"""Arrays of any library that supports DLPack as tensors, and tensors as arrays of JAX: the same memory on both sides.

Source: https://dmlc.github.io/dlpack/latest/, https://data-apis.org/array-api/latest/design_topics/data_interchange.html
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, NoReturn

import numpy as np
import torch

from simpletorch.errors import BackendError, DTypeMismatch, TypeMismatch
from simpletorch.interop._numpy import from_numpy
from simpletorch.interop._sharing import REFUSALS, explain_tensor, first_line, named, refuse, refuse_backwards, shown

__all__ = ["from_dlpack", "to_jax"]

_NARROWED: Final = {
    torch.int64: torch.int32, torch.float64: torch.float32, torch.uint64: torch.uint32,
    torch.complex128: torch.complex64,
}  # fmt: skip
"""What JAX makes of dtypes of 64 bits unless it is told to keep them."""


def from_dlpack(
    array: Any, *, device: torch.device | str | int | None = None, copy: bool | None = None
) -> torch.Tensor:
    """A tensor in the memory of an array of JAX, CuPy, NumPy, or any other library with DLPack: ``(*s) -> (*s)``.

    Args:
        array: an object with ``__dlpack__``, or a capsule of `simpletorch.to_dlpack`; it lives as long as the tensor.
        device: where the tensor shall be; moving is the one copy that needn't be asked for.
        copy: into new memory; None (and False) shares.

    Returns:
        A tensor on the array's device.

    Raises:
        TypeMismatch: (also TypeError) the object has no ``__dlpack__``.
        TorchError: (also ValueError) a negative stride, read-only memory of NumPy, or an error of its library.
        DTypeMismatch: (also TypeError) torch, or DLPack, has no such dtype.

    Examples:
        >>> import numpy as np
        >>> import torch
        >>> from simpletorch import interop
        >>> interop.from_dlpack(np.arange(3))
        tensor([0, 1, 2])

    Source: https://docs.pytorch.org/docs/stable/dlpack.html
    """
    if isinstance(array, np.ndarray):  # NumPy's own; torch's way over the protocol takes longer
        shared = from_numpy(array, copy=bool(copy))
        return shared if device is None else shared.to(device)
    strides = getattr(array, "strides", None)
    if isinstance(strides, tuple) and strides and min(strides) < 0 and not copy:
        refuse_backwards("from_dlpack", shown(array.shape))  # torch would end the process
    try:
        return torch.from_dlpack(array, device=device, copy=copy)  # type: ignore[attr-defined]
    except REFUSALS as error:
        _explain_dlpack(array, error)


def _explain_dlpack(array: Any, error: BaseException) -> NoReturn:
    if isinstance(array, torch.Tensor):
        explain_tensor("from_dlpack", array, error)
    if not hasattr(array, "__dlpack__") and type(array).__name__ != "PyCapsule":
        refuse(
            "from_dlpack",
            f"{named(array)} has no __dlpack__, by which libraries share memory",
            "from_array(...) takes lists and numbers, from_arrow(...) columns of Arrow",
            also=TypeError,
            kind=TypeMismatch,
            cause=error,
        )
    refuse(
        "from_dlpack",
        f"{named(array)} of dtype {getattr(array, 'dtype', 'unknown')} can't be shared: {first_line(error)}",
        "convert it on its side first, to a dtype and a device that both have",
        also=next((kind for kind in REFUSALS if type(error) is kind), ValueError),
        cause=error,
    )


def to_jax(tensor: torch.Tensor) -> Any:
    """A `jax.Array` in the memory of a tensor: ``(*s) -> (*s)``, of the same dtype.

    `jax.dlpack.from_dlpack` does the work; it would make 32 bits of 64 without a word.

    Args:
        tensor: dense, in any order of its dims. JAX takes its arrays for constants: don't write to it any more.

    Raises:
        DTypeMismatch: (also TypeError) 64 bits, which JAX has only if ``jax_enable_x64`` is set.
        TorchError: (also ValueError) the elements don't lie side by side, as in ``x[:, ::2]`` and ``x.expand(3, 5)``.
        TorchError: (also RuntimeError) the tensor requires a gradient, or is lazy, or isn't strided.
        BackendError: JAX isn't installed, or has no such device.

    Source: https://docs.jax.dev/en/latest/jax.dlpack.html

    Examples:
        >>> import torch
        >>> from simpletorch import interop
        >>> interop.to_jax(torch.ones(2, 3)).shape
        (2, 3)
    """
    try:
        jax: Any = import_module("jax")  # by name, or mypy would read it with simpletorch
    except ImportError as error:
        raise BackendError("to_jax needs the package jax, which is not installed: pip install jax") from error
    narrow = _NARROWED.get(tensor.dtype)
    if narrow is not None and not jax.config.jax_enable_x64:
        refuse(
            "to_jax",
            f"JAX would make {narrow} of {tensor.dtype}",
            f"tensor.to({narrow}), or before all else jax.config.update('jax_enable_x64', True)",
            also=TypeError,
            kind=DTypeMismatch,
        )
    try:
        return jax.dlpack.from_dlpack(tensor)
    except REFUSALS as error:
        if tensor.requires_grad or tensor.layout != torch.strided or tensor.is_conj() or tensor.is_neg():
            explain_tensor("to_jax", tensor, error)
        if not _is_dense(tensor):
            refuse(
                "to_jax",
                f"the elements of the tensor of shape {shown(tensor.shape)} and strides {tensor.stride()} don't lie "
                "side by side, and JAX knows no gaps",
                "tensor.contiguous()",
                cause=error,
            )
        raise BackendError(f"JAX can't take the tensor on {tensor.device}: {first_line(error)}") from error


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill their memory, in some order of the dims."""
    size = 1
    for stride, length in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if length != 1 and stride != size:
            return False
        size *= length
    return True
