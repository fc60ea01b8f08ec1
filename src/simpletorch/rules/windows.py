"""Windows of signal processing: torch.signal.windows and the older torch.hann_window and its kin."""

from __future__ import annotations

from simpletorch.rules.arguments import is_dim
from simpletorch.rules.dtype import BFLOAT16, DEFAULT_FLOAT, FLOAT16, DType
from simpletorch.rules.factory import check_not_negative, device_argument, made
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.pointwise import dtype_argument
from simpletorch.rules.registry import rule
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Expr, Shape, Unknown


def _window(name: str, length: Value, dtype: Value, device: Value, requires_grad: Value) -> TensorType:
    found = dtype_argument(dtype, DEFAULT_FLOAT)
    _need_floating(found)
    size = length if isinstance(length, int | Expr | Unknown) and is_dim(length) else UNKNOWN
    check_not_negative(name, size)
    return made(Shape.of(size), found, device_argument(device), requires_grad)


def _need_floating(dtype: DType | None) -> None:
    if dtype is not None and dtype.category in ("bool", "int", "complex"):
        raise Mismatch(f"dtype is {dtype}, but a window is of a floating dtype", kind="dtype", got=dtype)


_KINDS = "bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser nuttall"


@rule(*(f"torch.signal.windows.{kind}" for kind in _KINDS.split()), moves=True)
def window(
    M: Value, *, dtype: Value = None, device: Value = None, requires_grad: Value = False, **options: Value
) -> TensorType:
    """``M -> (M,)``"""
    if dtype in (FLOAT16, BFLOAT16):
        raise Mismatch(f"dtype is {dtype}, but it must be Float32 or Float64", kind="dtype", got=dtype)
    return _window("M", M, dtype, device, requires_grad)


@rule(*(f"torch.{kind}_window" for kind in ("bartlett", "blackman", "hamming", "hann", "kaiser")), moves=True)
def periodic_window(
    window_length: Value,
    periodic: Value = True,
    *numbers: Value,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``window_length -> (window_length,)``"""
    return _window("window_length", window_length, dtype, device, requires_grad)
