"""What rules that make tensors share: sizes, ``dtype=``, ``device=`` and ``requires_grad=``."""

from __future__ import annotations

from simpletorch.rules.arguments import sizes
from simpletorch.rules.dtype import DType
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.values import Device, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, Dim, Shape, at_least

__all__ = ["check_differentiable", "check_not_negative", "device_argument", "made", "size_argument"]


def device_argument(value: Value, default: Device | None = None) -> Device | None:
    """The argument ``device=``: a device, ``"cuda:0"``, or the index of a CUDA device; None where it isn't known."""
    match value:
        case None:
            return default
        case Device():
            return value if value.type else None  # Device("") is some device
        case str():
            kind, _, index = value.partition(":")
            return Device(kind, int(index) if index.isdecimal() else None)
        case bool():
            return None
        case int():
            return Device("cuda", value)
        case _:
            return None


def check_not_negative(name: str, dim: Dim) -> None:
    """A size must not be below 0.

    Raises:
        Mismatch: it is.
    """
    if at_least(dim, 0) is False:
        raise Mismatch(f"{name} is {dim}, but a size can't be negative", expected=0, got=dim)


def size_argument(args: tuple[Value, ...], size: Value = None) -> Shape:
    """The shape given as ``zeros(2, 3)``, ``zeros((2, 3))`` or ``zeros(size=(2, 3))``; any shape if not known."""
    try:
        dims = sizes(args if size is None else (size,))
    except CannotTell:
        return ANY_SHAPE
    for i, d in enumerate(dims):
        check_not_negative(f"dim {i} of size", d)
    return Shape(dims)


def check_differentiable(dtype: DType | None) -> None:
    """Only floats and complex numbers can have gradients.

    Raises:
        Mismatch: the dtype is another.
    """
    if dtype is not None and dtype.category in ("bool", "int"):
        raise Mismatch(
            f"the tensor is {dtype}, but only floating and complex tensors can require gradients",
            kind="dtype",
            hint="dtype=torch.float32, or .float() first",
            got=dtype,
        )


def made(shape: Shape, dtype: DType | None, device: Device | None, requires_grad: Value = False) -> TensorType:
    """The new tensor.

    Raises:
        Mismatch: it shall have gradients, but can't.
    """
    if requires_grad is True:
        check_differentiable(dtype)
    return TensorType(shape, dtype, device)
