"""Tensors from data: nested lists of numbers, arrays, buffers, other tensors."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dtype_argument, is_dim
from simpletorch.rules.common.broadcasting import common_shape
from simpletorch.rules.common.dtypes import number_dtype, same_dtype
from simpletorch.rules.common.factory import device_argument, made, size_argument
from simpletorch.rules.common.pointwise import ALL_BUT_FLOAT, is_number, need_kernel
from simpletorch.rules.core.cards import KEPT, MAYBE, NEVER, SOME, Card
from simpletorch.rules.core.dtype import (
    DEFAULT_FLOAT,
    FLOAT16,
    DType,
    promote,
    to_complex,
)
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Sizes, TensorType, Value
from simpletorch.rules.functions.elementwise.casting import TENSOR_NAMES
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Shape, equal


def _read(data: Value) -> tuple[Shape, DType | None, bool]:
    """Shape and dtype of nested lists, and whether there is any number in them.

    Raises:
        Mismatch: the lists are ragged, or hold tensors of more than one element.
        CannotTell: there is something else in them.
    """
    if is_number(data):
        return Shape(()), number_dtype(data), True
    if isinstance(data, TensorType):
        return data.shape, data.dtype, True
    if data is ANYTHING:
        return ANY_SHAPE, None, True
    if not isinstance(data, tuple):
        raise CannotTell
    shape: Shape | None = None
    dtype: DType | None = None
    filled = False
    for i, item in enumerate(data):
        found, own, has = _read(item)
        if isinstance(item, TensorType):
            found = _element(item, i)
        shape = found if shape is None else _joined(shape, found, i)
        if has:
            dtype = promote(dtype, own) if filled else own
            filled = True
    return Shape((len(data), *(() if shape is None else shape.items))), dtype, filled


def _element(tensor: TensorType, index: int) -> Shape:
    """A tensor in a list counts as one number."""
    if equal(tensor.shape.numel(), 1) is False:
        raise Mismatch(
            f"item {index} of the list is a tensor of shape {tensor.shape}; only tensors of one element can be items",
            hint="torch.stack(...) joins tensors",
            got=tensor.shape,
        )
    return Shape(())


def _joined(first: Shape, other: Shape, index: int) -> Shape:
    """The shape that all items of a list have."""
    if not first.is_exact:
        return other
    if not other.is_exact:
        return first
    if first.rank != other.rank or any(equal(a, b) is False for a, b in zip(first.dims, other.dims, strict=True)):
        raise Mismatch(
            f"the list is ragged: item 0 has shape {first}, item {index} has {other}", expected=first, got=other
        )
    return first


def from_data(data: Value, default: DType | None = None) -> TensorType:
    """The tensor that holds the data; of ``default`` dtype if that is given."""
    shape, dtype, filled = _read(data)
    return TensorType(shape, default or (dtype if filled else DEFAULT_FLOAT))


@rule("torch.tensor", moves=True)
def tensor(
    data: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    pin_memory: Value = False,
) -> TensorType:
    """``nested numbers -> their shape``"""
    found = from_data(data)
    default = data.device if isinstance(data, TensorType) else None
    return made(found.shape, dtype_argument(dtype, found.dtype), device_argument(device, default), requires_grad)


@rule("torch.as_tensor", "torch.asarray", moves=True, card=Card(MAYBE, KEPT))
def as_tensor(
    data: Value, dtype: Value = None, device: Value = None, *, copy: Value = None, requires_grad: Value = False
) -> TensorType:
    """``tensor or nested numbers -> their shape``"""
    return tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


@rule("Tensor.new_tensor", moves=True, card=Card(gradient=NEVER))
def new_tensor(
    input: TensorType, data: Value, *, dtype: Value = None, device: Value = None, requires_grad: Value = False
) -> TensorType:
    """``(*a), nested numbers -> their shape``, with the dtype and device of the tensor"""
    found = from_data(data)
    return made(found.shape, dtype_argument(dtype, input.dtype), device_argument(device, input.device), requires_grad)


@rule("torch.from_numpy", moves=True)
@rule("torch.from_dlpack", "torch.utils.dlpack.from_dlpack", moves=True, card=Card(MAYBE, KEPT, SOME))
def from_array(ext_tensor: Value, **options: Value) -> TensorType:
    """``array -> its shape``"""
    return ext_tensor if isinstance(ext_tensor, TensorType) else TensorType()


@rule("torch.frombuffer", moves=True)
def frombuffer(
    buffer: Value, *, dtype: Value, count: Value = -1, offset: Value = 0, requires_grad: Value = False
) -> TensorType:
    """``buffer, count -> (count,)``"""
    size = count if is_dim(count) and not (isinstance(count, int) and count < 0) else UNKNOWN
    return made(size_argument((size,)), dtype_argument(dtype, None), None, requires_grad)


def _register_legacy(name: str, dtype: DType) -> None:
    @rule(f"torch.{name}", moves=True)
    def construct(*args: Value) -> TensorType:
        """``sizes -> (*sizes)``, or nested numbers -> their shape"""
        if not args:
            return TensorType(Shape.of(0), dtype)
        sizes: tuple[Value, ...] = args
        if len(args) == 1 and isinstance(args[0], tuple):
            if not isinstance(args[0], Sizes):
                return from_data(args[0], dtype)
            sizes = args[0]
        return TensorType(size_argument(sizes), dtype) if all(map(is_dim, sizes)) else TensorType(ANY_SHAPE, dtype)


for _name, _dtype in {"Tensor": DEFAULT_FLOAT, **TENSOR_NAMES}.items():
    _register_legacy(_name, _dtype)


def _of_parts(**parts: TensorType) -> TensorType:
    """The complex numbers that two tensors of real ones make."""
    need_kernel(ALL_BUT_FLOAT, **parts)
    dtype = same_dtype(*parts.items())
    return TensorType(common_shape(**parts), None if dtype is None or dtype == FLOAT16 else to_complex(dtype))


@rule("torch.complex")
def make_complex(real: TensorType, imag: TensorType) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``"""
    return _of_parts(real=real, imag=imag)


@rule("torch.polar")
def polar(abs: TensorType, angle: TensorType) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``"""
    return _of_parts(abs=abs, angle=angle)
