"""``numpy.fft``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import Work, model, native
from simpletorch.follow.libraries.arrays import ANY, array, as_array
from simpletorch.follow.values import Value, is_int
from simpletorch.rules.core.dtype import COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, DType
from simpletorch.shapes import UNKNOWN, Dim, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_SINGLE: Final = (FLOAT16, FLOAT32, COMPLEX64)


def _dtype(source: DType | None, *, real: bool) -> DType | None:
    if source is None:
        return None
    if source in _SINGLE:
        return FLOAT32 if real else COMPLEX64
    return FLOAT64 if real else COMPLEX128


def _half(size: Dim) -> Dim:
    """What is left of the frequencies of real numbers."""
    return size // 2 + 1


def _along(name: str) -> Work:
    """``(*b, n) -> (*b, m)``: along one axis, where ``n=`` gives another length."""

    def work(
        run: Interpreter, a: Value, n: Value = None, axis: Value = -1, norm: Value = None, out: Value = None
    ) -> Value:
        source = as_array(run, a).type
        made, shape = _dtype(source.dtype, real=name == "irfft"), source.shape
        if not shape.is_exact or type(axis) is not int or not -len(shape.dims) <= axis < len(shape.dims):
            return array(ANY, made)
        dims = list(shape.dims)
        size: Dim = dims[axis] if n is None else n if is_int(n) else UNKNOWN
        if name == "rfft":
            size = _half(size)
        elif name == "irfft" and n is None:
            size = 2 * (size - 1)
        dims[axis] = size
        return array(Shape(tuple(dims)), made)

    return work


def _of_all(name: str) -> Work:
    """``(*n) -> (*n)`` along several axes; of real numbers the last one has half as many."""
    last_two: Value = (-2, -1) if name.endswith("2") else None

    def work(
        run: Interpreter, a: Value, s: Value = None, axes: Value = last_two, norm: Value = None, out: Value = None
    ) -> Value:
        source = as_array(run, a).type
        made, shape = _dtype(source.dtype, real=False), source.shape
        if s is not None or axes != last_two or not shape.is_exact or len(shape.dims) < 2:
            return array(ANY, made)
        last = _half(shape.dims[-1]) if name.startswith("rfft") else shape.dims[-1]
        return array(Shape((*shape.dims[:-1], last)), made)

    return work


@model("numpy.fft.fftshift", "numpy.fft.ifftshift")
def _shifted(run: Interpreter, x: Value, axes: Value = None) -> Value:
    source = as_array(run, x).type
    return array(source.shape, source.dtype)


@model("numpy.fft.fftfreq")
def _frequencies(run: Interpreter, n: Value, d: Value = 1.0, device: Value = None) -> Value:
    """``(n)``"""
    return array(Shape((n if is_int(n) else UNKNOWN,)), FLOAT64)


@model("numpy.fft.rfftfreq")
def _real_frequencies(run: Interpreter, n: Value, d: Value = 1.0, device: Value = None) -> Value:
    """``(n)`` of real numbers: half as many."""
    return array(Shape((_half(n if is_int(n) else UNKNOWN),)), FLOAT64)


for _name in ("fft", "ifft", "rfft", "irfft"):
    native(f"numpy.fft.{_name}")(_along(_name))
for _name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn"):
    native(f"numpy.fft.{_name}")(_of_all(_name))
