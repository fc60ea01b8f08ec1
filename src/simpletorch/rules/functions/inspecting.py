"""Queries of a tensor that don't return a tensor: sizes, counts, dtype, device, Python numbers."""

from __future__ import annotations

from simpletorch.rules.common.conditions import need_min_rank
from simpletorch.rules.common.dtypes import result_dtype
from simpletorch.rules.common.pointwise import as_number, need_kernel
from simpletorch.rules.common.positions import need_axes, size_at
from simpletorch.rules.core.dtype import DType, promote
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Scalar, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, equal


@rule("Tensor.size", "Tensor.shape")
def size(input: TensorType, dim: Value = None) -> Value:
    """``(*b) -> the tuple of sizes``, or one of them"""
    if dim is not None:
        need_min_rank("input", input, 1)
        return size_at(input.shape, dim)
    if not input.shape.is_exact:
        raise CannotTell
    return input.shape.dims


@rule("Tensor.stride")
def stride(input: TensorType, dim: Value = None) -> Value:
    """``(*b) -> a tuple of ints``, or one of them: strides depend on how the tensor was made"""
    if dim is not None:
        need_min_rank("input", input, 1)
        need_axes(dim, input.shape)
        return UNKNOWN
    if input.shape.rank is None:
        raise CannotTell
    return (UNKNOWN,) * input.shape.rank


@rule("Tensor.dim_order")
def dim_order(input: TensorType, ambiguity_check: Value = False) -> Value:
    """``(*b) -> a tuple of ints``: dims from the outermost in memory to the innermost"""
    return stride(input)


@rule("Tensor.numel", "torch.numel", "Tensor.nelement")
def numel(input: TensorType) -> Dim:
    """``(*b) -> the product of b``"""
    return input.shape.numel()


@rule("Tensor.dim", "Tensor.ndimension", "Tensor.ndim")
def dim(input: TensorType) -> Dim:
    """``(*b) -> the number of dims``"""
    return UNKNOWN if input.shape.rank is None else input.shape.rank


@rule("Tensor.dtype")
def dtype(input: TensorType) -> Value:
    """``(*b) -> its dtype``"""
    return input.dtype or ANYTHING


@rule("Tensor.device")
def device(input: TensorType) -> Value:
    """``(*b) -> its device``"""
    return input.device or ANYTHING


@rule("Tensor.element_size", "Tensor.itemsize")
def element_size(input: TensorType) -> Dim:
    """``(*b) -> bytes of one element``"""
    return input.dtype.bits // 8 if input.dtype is not None and input.dtype.is_concrete else UNKNOWN


@rule("Tensor.nbytes")
def nbytes(input: TensorType) -> Dim:
    """``(*b) -> bytes of all elements``"""
    return input.shape.numel() * element_size(input)


def _is_category(input: TensorType, category: str) -> Value:
    known = input.dtype is not None and input.dtype.category is not None
    return input.dtype.category == category if known and input.dtype is not None else Scalar("bool")


@rule("torch.is_floating_point", "Tensor.is_floating_point")
def is_floating_point(input: TensorType) -> Value:
    """``(*b) -> bool``"""
    return _is_category(input, "float")


@rule("torch.is_complex", "Tensor.is_complex")
def is_complex(input: TensorType) -> Value:
    """``(*b) -> bool``"""
    return _is_category(input, "complex")


@rule("torch.is_signed", "Tensor.is_signed")
def is_signed(input: TensorType) -> Value:
    """``(*b) -> bool``"""
    known = input.dtype is not None and input.dtype.is_concrete
    return not input.dtype.unsigned and input.dtype.category != "bool" if known and input.dtype else Scalar("bool")


@rule("torch.is_conj", "Tensor.is_conj", "torch.is_neg", "Tensor.is_neg", "torch.is_inference", "Tensor.is_set_to")
def is_seen_otherwise(input: TensorType, tensor: Value = None) -> Scalar:
    """``(*b) -> bool``"""
    return Scalar("bool")


_QUESTIONS = "is_contiguous is_shared is_pinned is_inference is_leaf is_sparse is_quantized is_nested requires_grad"
_DEVICE_TYPES = ("cpu", "cuda", "mps", "meta", "xpu")


def _register_question(name: str) -> None:
    @rule(f"Tensor.{name}")
    def answer(input: TensorType, *args: Value, **options: Value) -> Scalar:
        """``(*b) -> bool``"""
        return Scalar("bool")


for _name in _QUESTIONS.split():
    _register_question(_name)


def _register_place(kind: str) -> None:
    @rule(f"Tensor.is_{kind}")
    def is_there(input: TensorType) -> Value:
        """``(*b) -> bool``"""
        return Scalar("bool") if input.device is None else input.device.type == kind


for _name in _DEVICE_TYPES:
    _register_place(_name)


@rule("Tensor.get_device", "Tensor.data_ptr", "Tensor.storage_offset", "Tensor.output_nr", "torch.get_device")
def some_int(input: TensorType) -> Dim:
    """``(*b) -> int``"""
    return UNKNOWN


def have_equal_sizes(a: TensorType, b: TensorType) -> Value:
    """Whether two tensors have the same shape, if that holds, or doesn't, whatever their symbols stand for."""
    if a.shape.is_exact and b.shape.is_exact:
        pairs = list(zip(a.shape.dims, b.shape.dims, strict=False))
        if a.shape.rank != b.shape.rank or any(type(x) is type(y) is int and x != y for x, y in pairs):
            return False
        if all(equal(x, y) is True for x, y in pairs):
            return True
    return Scalar("bool")


@rule("torch.is_tensor")
def is_tensor(obj: Value) -> Value:
    """``x -> bool``"""
    return Scalar("bool") if obj is ANYTHING else isinstance(obj, TensorType)


@rule("Tensor.is_same_size", "torch.is_same_size", moves=True)
def is_same_size(input: TensorType, other: TensorType) -> Value:
    """``(*a), (*b) -> bool``"""
    return have_equal_sizes(input, other)


# -- Python numbers ---------------------------------------------------------------------------------------------------
def _need_one_element(input: TensorType, hint: str, what: str = "a Python number") -> None:
    if equal(input.shape.numel(), 1) is False:
        raise Mismatch(
            f"input is {input.shape}, but only a tensor of one element is {what}",
            hint=hint,
            expected=1,
            got=input.shape.numel(),
        )


@rule("Tensor.item")
def item(input: TensorType) -> Value:
    """``() -> bool, int, float or complex``; any shape of one element"""
    _need_one_element(input, "tolist() gives all elements")
    return as_number(input)


@rule("Tensor.tolist")
def tolist(input: TensorType) -> Value:
    """``(*b) -> nested lists``; ``() -> a number``"""
    if input.shape.rank != 0:
        raise CannotTell
    return item(input)


@rule("Tensor.__bool__", "Tensor.is_nonzero", "torch.is_nonzero")
def truth(input: TensorType) -> Scalar:
    """``() -> bool``; any shape of one element"""
    _need_one_element(input, "use .any() or .all()", "true or false")
    return Scalar("bool")


@rule("Tensor.__int__")
def to_int(input: TensorType) -> Dim:
    """``() -> int``; any shape of one element"""
    _need_one_element(input, "tolist() gives all elements")
    return UNKNOWN


@rule("Tensor.__float__")
def to_float(input: TensorType) -> Scalar:
    """``() -> float``; any shape of one element"""
    _need_one_element(input, "tolist() gives all elements")
    return Scalar("float")


@rule("Tensor.__complex__")
def to_complex(input: TensorType) -> Scalar:
    """``() -> complex``; any shape of one element"""
    _need_one_element(input, "tolist() gives all elements")
    return Scalar("complex")


@rule("Tensor.__index__")
def to_index(input: TensorType) -> Dim:
    """``() -> int``; any shape of one element"""
    need_kernel(("float", "complex"), input=input)
    _need_one_element(input, "an index is one number")
    return UNKNOWN


# -- dtypes -----------------------------------------------------------------------------------------------------------
@rule("torch.result_type", moves=True)
def result_type(tensor1: Value, tensor2: Value) -> Value:
    """``a, b -> the dtype of a + b``"""
    return result_dtype(tensor1, tensor2) or ANYTHING


@rule("torch.promote_types")
def promote_types(type1: Value, type2: Value) -> Value:
    """``dtype, dtype -> the least dtype that holds both``"""
    if not isinstance(type1, DType) or not isinstance(type2, DType):
        raise CannotTell
    return promote(type1, type2) or ANYTHING
