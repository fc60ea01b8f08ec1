"""Windows of signal processing: torch.signal.windows and the older torch.hann_window and its kin."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown, dtype_argument
from simpletorch.rules.common.conditions import need_at_least, need_categories, need_dtype
from simpletorch.rules.common.factory import device_argument, made
from simpletorch.rules.core.dtype import DEFAULT_FLOAT, FLOAT32, FLOAT64, DType
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import Shape


def _window(name: str, length: Value, dtype: Value, device: Value, requires_grad: Value) -> TensorType:
    found = dtype_argument(dtype, DEFAULT_FLOAT)
    need_categories("dtype", found, "float")
    need_at_least(name, length, 0)
    return made(Shape.of(dim_or_unknown(length)), found, device_argument(device), requires_grad)


_KINDS = "bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser nuttall"


@rule(*(f"torch.signal.windows.{kind}" for kind in _KINDS.split()), moves=True)
def window(
    M: Value, *, dtype: Value = None, device: Value = None, requires_grad: Value = False, **options: Value
) -> TensorType:
    """``M -> (M,)``"""
    if isinstance(dtype, DType):
        need_dtype("dtype", TensorType(dtype=dtype), FLOAT32, FLOAT64, hint="torch.float32")
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
