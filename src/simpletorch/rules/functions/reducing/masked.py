"""`torch.masked`: reductions and normalisations of the elements that a mask lets through."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dtype_argument, is_dim
from simpletorch.rules.common.broadcasting import broadcast_shapes, need_expandable
from simpletorch.rules.common.conditions import need_categories, need_float_or_complex, need_not_bool, need_not_complex
from simpletorch.rules.common.dtypes import result_dtype
from simpletorch.rules.common.pointwise import INTEGRAL, need_kernel
from simpletorch.rules.common.positions import need_axes
from simpletorch.rules.common.reduced import reduced
from simpletorch.rules.core.cards import NEVER, Card
from simpletorch.rules.core.dtype import BOOL, FLOAT32, INT64, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.elementwise.activation import softmax as plain_softmax
from simpletorch.rules.functions.reducing.norms import vector_norm
from simpletorch.shapes import Shape

_WIDENED = ("Bool", "UInt8", "Int8", "Int16", "Int32")


def _need_mask(input: TensorType, mask: Value, name: str = "mask", what: str = "input") -> None:
    """A mask is expanded to the input, never the other way round."""
    if isinstance(mask, TensorType):
        need_expandable(name, mask.shape, input.shape, what)


def _need_maskable(input: TensorType, mask: Value, name: str = "input") -> None:
    """Masked elements are replaced by the least number of the dtype, which Bool doesn't have."""
    if input.dtype == BOOL and isinstance(mask, TensorType):
        raise Mismatch(f"{name} is Bool, which can't be masked here", kind="dtype", hint=f"{name}.int()", got=BOOL)


def _need_order(input: TensorType, mask: Value) -> None:
    """Complex numbers have no least or greatest."""
    need_not_complex("input", input)
    _need_maskable(input, mask)


def _reduced(input: TensorType, dim: Value, keepdim: Value, mask: Value) -> Shape:
    _need_mask(input, mask)
    return reduced(input.shape, dim, False if keepdim is None else keepdim)


def _widened(dtype: DType | None) -> DType | None:
    """Small ints and bools are summed in Int64."""
    if dtype is None or (dtype.category == "int" and not dtype.is_concrete):
        return None
    return INT64 if dtype.name in _WIDENED else dtype


@rule("torch.masked.sum")
def sum(
    input: TensorType, dim: Value = None, *, keepdim: Value = False, dtype: Value = None, mask: Value = None
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``; ints are summed in Int64"""
    return TensorType(_reduced(input, dim, keepdim, mask), dtype_argument(dtype, _widened(input.dtype)))


@rule("torch.masked.prod")
def prod(
    input: TensorType, dim: Value = None, *, keepdim: Value = False, dtype: Value = None, mask: Value = None
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``; ints are multiplied in Int64, whatever dtype says"""
    found = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    wide = _widened(found.dtype)
    narrow_number = input.shape.min_rank == 0 and dtype is not None and wide != found.dtype  # nothing is multiplied
    return found.with_dtype(None if narrow_number else wide)


@rule("torch.masked.mean")
def mean(
    input: TensorType, dim: Value = None, *, keepdim: Value = False, dtype: Value = None, mask: Value = None
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``; floating or complex only"""
    shape = _reduced(input, dim, keepdim, mask)
    if dtype is None:
        need_float_or_complex("input", input)
    elif isinstance(dtype, DType):
        need_categories("dtype", dtype, "float", "complex")
    return TensorType(shape, dtype_argument(dtype, input.dtype))


@rule("torch.masked.amax", "torch.masked.amin")
def amax(
    input: TensorType, dim: Value = None, *, keepdim: Value = False, dtype: Value = None, mask: Value = None
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``"""
    _need_order(input, mask)
    return TensorType(_reduced(input, dim, keepdim, mask), dtype_argument(dtype, input.dtype))


@rule("torch.masked.argmax", "torch.masked.argmin", card=Card(gradient=NEVER))
def argmax(
    input: TensorType, dim: Value = None, *, keepdim: Value = False, dtype: Value = None, mask: Value = None
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``, in the dtype of the input"""
    need_not_complex("input", input)
    need_kernel(("bool",), input=input)
    if isinstance(dim, tuple):
        raise CannotTell
    return TensorType(_reduced(input, dim, keepdim, mask), dtype_argument(dtype, input.dtype))


@rule("torch.masked.median")
def median(
    input: TensorType, dim: Value = -1, *, keepdim: Value = False, dtype: Value = None, mask: Value = None
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``"""
    if not is_dim(dim):
        raise CannotTell
    shape = _reduced(input, dim, keepdim, mask)
    if input.dtype is None or input.dtype.category is None:
        return TensorType(shape)
    return TensorType(shape, input.dtype if input.dtype.is_floating else dtype_argument(dtype, input.dtype))


@rule("torch.masked.logsumexp")
def logsumexp(
    input: TensorType, dim: Value = None, *, keepdim: Value = False, dtype: Value = None, mask: Value = None
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``, in the dtype of the input"""
    _need_maskable(input, mask)
    return TensorType(_reduced(input, dim, keepdim, mask), dtype_argument(dtype, input.dtype))


@rule("torch.masked.norm")
def norm(
    input: TensorType,
    ord: Value = 2.0,
    dim: Value = None,
    *,
    keepdim: Value = False,
    dtype: Value = None,
    mask: Value = None,
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``; floating or complex only, the result is real"""
    need_float_or_complex("input", input)
    shape = _reduced(input, dim, keepdim, mask)
    return TensorType(shape, vector_norm(input, ord, dtype=input.dtype if dtype is None else dtype).dtype)


def _moment(
    input: TensorType, dim: Value, keepdim: Value, dtype: Value, mask: Value
) -> tuple[TensorType, DType | None]:
    """The result of `var`, and the dtype of its square root."""
    need_not_bool("input", input)
    own = input.dtype
    if own is not None and own.category in ("bool", "int"):
        own = FLOAT32
    found = dtype_argument(dtype, own)
    root = FLOAT32 if found is not None and found.category in ("bool", "int") else found
    return TensorType(_reduced(input, dim, keepdim, mask), found), root


@rule("torch.masked.var")
def var(
    input: TensorType,
    dim: Value = None,
    unbiased: Value = None,
    *,
    correction: Value = None,
    keepdim: Value = False,
    dtype: Value = None,
    mask: Value = None,
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``; ints become floats"""
    return _moment(input, dim, keepdim, dtype, mask)[0]


@rule("torch.masked.std")
def std(
    input: TensorType,
    dim: Value = None,
    unbiased: Value = None,
    *,
    correction: Value = None,
    keepdim: Value = False,
    dtype: Value = None,
    mask: Value = None,
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b)``; ints become floats"""
    variance, root = _moment(input, dim, keepdim, dtype, mask)
    return TensorType(variance.shape, root)


# -- of the same shape -------------------------------------------------------------------------------------------------


@rule("torch.masked.cumsum", "torch.masked.cumprod")
def cumsum(input: TensorType, dim: Value, *, dtype: Value = None, mask: Value = None) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b, n)``, in the dtype of the input"""
    need_axes(dim, input.shape)
    _need_mask(input, mask)
    return TensorType(input.shape, dtype_argument(dtype, input.dtype))


@rule("torch.masked.softmax", "torch.masked.log_softmax", "torch.masked.softmin")
def softmax(input: TensorType, dim: Value, *, dtype: Value = None, mask: Value = None) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b, n)``; floats only"""
    _need_order(input, mask)
    _need_mask(input, mask)
    return plain_softmax(input, dim, dtype)


@rule("torch.masked.normalize")
def normalize(
    input: TensorType, ord: Value, dim: Value, *, eps: Value = 1e-12, dtype: Value = None, mask: Value = None
) -> TensorType:
    """``(*b, n), mask (*b, n) -> (*b, n)``; floating or complex only"""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return TensorType(input.shape, result_dtype(input, TensorType(input.shape, length.dtype)))


@rule("torch.masked.logaddexp")
def logaddexp(
    input: TensorType,
    other: TensorType,
    *,
    dtype: Value = None,
    input_mask: Value = None,
    other_mask: Value = None,
) -> TensorType:
    """``(*b), (*b) -> (*b)``, in the dtype of the input; not for ints"""
    _need_maskable(input, input_mask)
    _need_maskable(other, other_mask, "other")
    _need_mask(input, input_mask, "input_mask")
    _need_mask(other, other_mask, "other_mask", "other")
    shape = broadcast_shapes(("input", input.shape), ("other", other.shape))
    need_kernel(INTEGRAL, computed=TensorType(shape, result_dtype(input, other)))
    return TensorType(shape, dtype_argument(dtype, input.dtype))


__all__ = [
    "amax",
    "argmax",
    "cumsum",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "std",
    "sum",
    "var",
]
