"""The same values as another dtype, on another device, or as another view of the same storage."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from simpletorch.rules.common.arguments import dtype_argument
from simpletorch.rules.common.broadcasting import common_shape
from simpletorch.rules.common.conditions import need_differentiable
from simpletorch.rules.common.factory import device_argument
from simpletorch.rules.common.pointwise import operand, updated
from simpletorch.rules.core.cards import FIRST, KEPT, MAYBE, MOVED, NEVER, OTHER, VIEW, Card
from simpletorch.rules.core.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    DType,
)
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Device, TensorType, Value

_CASTS: Final[dict[str, DType | None]] = {
    "half": FLOAT16,
    "bfloat16": BFLOAT16,
    "float": FLOAT32,
    "double": FLOAT64,
    "bool": BOOL,
    "byte": UINT8,
    "char": INT8,
    "short": INT16,
    "int": INT32,
    "long": INT64,
    "cfloat": COMPLEX64,
    "cdouble": COMPLEX128,
    "chalf": None,  # Complex32 is no dtype of ours
}
TENSOR_NAMES: Final = {
    "HalfTensor": FLOAT16,
    "BFloat16Tensor": BFLOAT16,
    "FloatTensor": FLOAT32,
    "DoubleTensor": FLOAT64,
    "BoolTensor": BOOL,
    "ByteTensor": UINT8,
    "CharTensor": INT8,
    "ShortTensor": INT16,
    "IntTensor": INT32,
    "LongTensor": INT64,
}


def _register_cast(name: str, dtype: DType | None) -> None:
    # a Bool holds no other numbers than 0 and 1
    @rule(f"Tensor.{name}", card=Card(MAYBE, OTHER if name == "bool" else KEPT))
    def cast(input: TensorType, memory_format: Value = None) -> TensorType:
        """``(*b) -> (*b)``"""
        return input.with_dtype(dtype)


for _name, _dtype in _CASTS.items():
    _register_cast(_name, _dtype)


def _destination(
    input: TensorType, args: tuple[Value, ...], dtype: Value, device: Value
) -> tuple[DType | None, Device | None]:
    """Dtype and device of ``to(dtype)``, ``to(device, dtype)``, ``to(other)`` and their keywords."""
    first = args[0] if args else None
    second = args[1] if len(args) > 1 else None
    if isinstance(first, TensorType):
        return first.dtype, first.device
    if first is ANYTHING:  # a dtype, a device or a tensor
        return second if isinstance(second, DType) else None, None
    if isinstance(first, DType):
        return first, device_argument(device, input.device)
    given = dtype if second is None or isinstance(second, bool) else second
    return dtype_argument(given, input.dtype), device_argument(device if first is None else first, input.device)


@rule("Tensor.to", moves=True, card=Card(MAYBE, KEPT, FIRST))
def to(
    input: TensorType,
    *args: Value,
    dtype: Value = None,
    device: Value = None,
    non_blocking: Value = False,
    copy: Value = False,
    memory_format: Value = None,
) -> TensorType:
    """``(*b) -> (*b)``, with another dtype, on another device, or as another tensor is"""
    found, place = _destination(input, args, dtype, device)
    return TensorType(input.shape, found, place)


@rule("Tensor.type", card=Card(MAYBE, KEPT))
def cast_to_type(input: TensorType, dtype: Value = None, non_blocking: Value = False) -> Value:
    """``(*b) -> (*b)``; without a dtype, its name"""
    if dtype is None:
        raise CannotTell
    if isinstance(dtype, str):
        return input.with_dtype(TENSOR_NAMES.get(dtype.rpartition(".")[2]))
    return input.with_dtype(dtype if isinstance(dtype, DType) else None)


@rule("Tensor.type_as", moves=True, card=Card(MAYBE, KEPT, FIRST))
def type_as(input: TensorType, other: TensorType) -> TensorType:
    """``(*b), (*c) -> (*b)``, with the dtype and device of the other"""
    return TensorType(input.shape, other.dtype, other.device)


@rule("Tensor.cpu", moves=True, card=Card(MAYBE, KEPT))
def cpu(input: TensorType, memory_format: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    return TensorType(input.shape, input.dtype, Device("cpu"))


@rule("Tensor.cuda", moves=True, card=Card(MAYBE, KEPT))
def cuda(
    input: TensorType, device: Value = None, non_blocking: Value = False, memory_format: Value = None
) -> TensorType:
    """``(*b) -> (*b)``"""
    return TensorType(input.shape, input.dtype, device_argument(device, Device("cuda")) or Device("cuda"))


@rule("Tensor.xpu", moves=True, card=Card(MAYBE, KEPT))
def xpu(
    input: TensorType, device: Value = None, non_blocking: Value = False, memory_format: Value = None
) -> TensorType:
    """``(*b) -> (*b)``"""
    return TensorType(input.shape, input.dtype, device_argument(device, Device("xpu")) or Device("xpu"))


@rule("Tensor.to_dense", card=Card(MAYBE, KEPT))
def to_dense(input: TensorType, dtype: Value = None, *, masked_grad: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    return TensorType(input.shape, dtype_argument(dtype, input.dtype))


@rule("torch.clone", "Tensor.clone", "torch.detach_copy", "torch.alias_copy", card=Card(numbers=KEPT))
@rule("torch.detach", "Tensor.detach", "torch.detach_", "Tensor.detach_", "Tensor.data", card=Card(VIEW, KEPT, NEVER))
@rule("Tensor.contiguous", "Tensor.pin_memory", "Tensor.share_memory_", "Tensor.coalesce", card=Card(MAYBE, KEPT))
@rule("Tensor.__reversed__", card=Card(numbers=MOVED))
def same(input: TensorType, *args: Value, **options: Value) -> TensorType:
    """``(*b) -> (*b)``"""
    return input


@rule("Tensor.apply_", "Tensor.map_", "Tensor.map2_")
def changed_by_python(input: TensorType, *args: Value) -> TensorType:
    """``(*b) -> (*b)``, in place, by a Python function of numbers"""
    return input


@rule("Tensor.requires_grad_", card=Card(MAYBE, KEPT))
def requires_grad_(input: TensorType, requires_grad: Value = True) -> TensorType:
    """``(*b) -> (*b)``"""
    if requires_grad is True:
        need_differentiable("the tensor", input.dtype, hint="dtype=torch.float32, or .float() first")
    return input


@rule("Tensor.copy_", moves=True)
def copy_(input: TensorType, src: Value, non_blocking: Value = False) -> TensorType:
    """``(*a), (*b) -> (*a)``, in place: b must broadcast to a; any dtype, from any device"""
    source = operand(src)
    shape = common_shape(input=input, src=source)
    return replace(updated(input, TensorType(shape, input.dtype)), device=input.device)
