"""The short-time Fourier transform and its inverse."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown
from simpletorch.rules.common.conditions import need_categories, need_equal, need_rank
from simpletorch.rules.common.dtypes import complex_dtype
from simpletorch.rules.common.positions import of
from simpletorch.rules.core.dtype import DType, promote, to_real
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, at_least, equal


def _is_complex(value: Value) -> bool | None:
    """Whether a tensor argument is complex; no tensor is none."""
    if not isinstance(value, TensorType):
        return False if value is None else None
    return None if value.dtype is None or value.dtype.category is None else value.dtype.category == "complex"


def _bins(n_fft: Dim, onesided: Value, complex_input: bool | None) -> Dim:
    """How many frequencies: half of them for real input."""
    if onesided is None:
        onesided = None if complex_input is None else not complex_input
    if not isinstance(onesided, bool):
        return UNKNOWN
    return n_fft // 2 + 1 if onesided else n_fft


def _either(a: bool | None, b: bool | None) -> bool | None:
    return True if a or b else None if None in (a, b) else False


def _need_window(window: Value, win_length: Dim) -> None:
    if isinstance(window, TensorType):
        need_rank("window", window, 1)
        need_equal("win_length", win_length, "window", window.shape.dim(-1), what="the window sizes")


def _frames(length: Dim, n_fft: Dim, hop: Dim, center: Value) -> Dim:
    if not isinstance(center, bool):
        return UNKNOWN
    padded = length + 2 * (n_fft // 2) if center else length
    if at_least(padded, n_fft) is False:
        raise Mismatch(f"n_fft is {n_fft}, but input has only {length} samples", expected=n_fft, got=length)
    return (padded - n_fft) // hop + 1


@rule("torch.stft", "Tensor.stft")
def stft(
    input: TensorType,
    n_fft: Value,
    hop_length: Value = None,
    win_length: Value = None,
    window: Value = None,
    center: Value = True,
    pad_mode: Value = "reflect",
    normalized: Value = False,
    onesided: Value = None,
    return_complex: Value = None,
    align_to_window: Value = None,
) -> TensorType:
    """``(*b, L) -> (*b, n_fft//2 + 1, L//hop_length + 1)``, complex; all n_fft frequencies for complex input"""
    need_rank("input", input, 1, 2)
    need_categories("input", input.dtype, "float", "complex", hint="input.float()")
    size = dim_or_unknown(n_fft)
    hop = size // 4 if hop_length is None else dim_or_unknown(hop_length)
    _need_window(window, size if win_length is None else dim_or_unknown(win_length))
    complex_input = _either(_is_complex(input), _is_complex(window))
    if return_complex is None and complex_input is False:
        raise Mismatch("return_complex must be given where input is real", hint="return_complex=True")
    frames = _frames(input.shape.dim(-1), size, hop, center)
    dtype = input.dtype
    if window is not None:
        dtype = promote(dtype, window.dtype) if isinstance(window, TensorType) else None
    shape = of(input.shape.drop_last(1), _bins(size, onesided, complex_input), frames)
    if return_complex is True or (return_complex is None and complex_input):
        return TensorType(shape, complex_dtype(dtype))
    if return_complex is False:
        return TensorType(of(shape, 2), None if dtype is None else to_real(dtype))
    raise CannotTell


@rule("torch.istft", "Tensor.istft")
def istft(
    input: TensorType,
    n_fft: Value,
    hop_length: Value = None,
    win_length: Value = None,
    window: Value = None,
    center: Value = True,
    normalized: Value = False,
    onesided: Value = None,
    length: Value = None,
    return_complex: Value = False,
) -> TensorType:
    """``(*b, n_fft//2 + 1, frames) -> (*b, hop_length*(frames - 1))``; ``length`` cuts or pads"""
    need_rank("input", input, 2, 3)
    need_categories("input", input.dtype, "complex")
    size = dim_or_unknown(n_fft)
    hop = size // 4 if hop_length is None else dim_or_unknown(hop_length)
    _need_window(window, size if win_length is None else dim_or_unknown(win_length))
    bins = _bins(size, onesided, None)
    found = input.shape.dim(-2)
    if onesided is not None or equal(found, size) is False:  # where it isn't said, both are taken
        bins = size // 2 + 1 if onesided is None else bins
        need_equal("input", found, "n_fft", bins, what="the numbers of frequencies")
    samples = size + hop * (input.shape.dim(-1) - 1)
    if center is True:
        samples = samples - 2 * (size // 2)
    elif center is not False:
        samples = UNKNOWN
    samples = samples if length is None else dim_or_unknown(length)
    batch = input.shape.drop_last(2) if input.shape.is_exact else ANY_SHAPE
    return TensorType(Shape((*batch.items, samples)), _signal_dtype(input, window, return_complex))


def _signal_dtype(input: TensorType, window: Value, return_complex: Value) -> DType | None:
    """The dtype of the frames times the window."""
    dtype = input.dtype if window is None else None
    if isinstance(window, TensorType):
        if return_complex is False and _is_complex(window):
            raise Mismatch(
                f"window is {window.dtype}, but the result is real",
                kind="dtype",
                hint="return_complex=True",
                got=window.dtype,
            )
        dtype = promote(input.dtype, window.dtype)
    if return_complex is False and dtype is not None:
        return to_real(dtype)
    return dtype if return_complex is True else None


__all__ = ["istft", "stft"]
