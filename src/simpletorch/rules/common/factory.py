"""Shared by rules that make tensors: sizes, ``dtype=``, ``device=`` and ``requires_grad=``."""

from __future__ import annotations

from simpletorch.rules.common.arguments import sizes
from simpletorch.rules.common.conditions import need_at_least, need_differentiable
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.values import Device, TensorType, Value, as_device
from simpletorch.shapes import ANY_SHAPE, Shape

__all__ = ["device_argument", "made", "size_argument"]


def device_argument(value: Value, default: Device | None = None) -> Device | None:
    """The argument ``device=``: a device, ``"cuda:0"``, or the index of a CUDA device; None where it isn't known."""
    match value:
        case None:
            return default
        case Device():
            return value if value.type else None  # Device("") is some device
        case str():
            return as_device(value)
        case bool():  # before int: to `match` True is one
            return None
        case int():
            return Device("cuda", value)
        case _:
            return None


def size_argument(args: tuple[Value, ...], size: Value = None) -> Shape:
    """The shape given as ``zeros(2, 3)``, ``zeros((2, 3))`` or ``zeros(size=(2, 3))``; any shape if not known."""
    try:
        dims = sizes(args if size is None else (size,))
    except CannotTell:
        return ANY_SHAPE
    for i, d in enumerate(dims):
        need_at_least(f"dim {i} of size", d, 0)
    return Shape(dims)


def made(shape: Shape, dtype: DType | None, device: Device | None, requires_grad: Value = False) -> TensorType:
    """The new tensor.

    Raises:
        Mismatch: it shall have gradients, but can't.
    """
    if requires_grad is True:
        need_differentiable("the tensor", dtype, hint="dtype=torch.float32, or .float() first")
    return TensorType(shape, dtype, device)
