"""``numpy.fft``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import Work, by_name, native
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

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        given = {k: run.resolve(v) for k, v in by_name("a n axis norm", args, kwargs).items()}
        source = as_array(run, given["a"]).type
        made = _dtype(source.dtype, real=name == "irfft")
        axis, length, shape = given.get("axis", -1), given.get("n"), source.shape
        if not shape.is_exact or type(axis) is not int or not -len(shape.dims) <= axis < len(shape.dims):
            return array(ANY, made)
        dims = list(shape.dims)
        size: Dim = dims[axis] if length is None else length if is_int(length) else UNKNOWN
        if name == "rfft":
            size = _half(size)
        elif name == "irfft" and length is None:
            size = 2 * (size - 1)
        dims[axis] = size
        return array(Shape(tuple(dims)), made)

    return work


def _of_all(name: str) -> Work:
    """``(*n) -> (*n)`` along several axes; of real numbers the last one has half as many."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        source = as_array(run, args[0]).type
        made, plain = _dtype(source.dtype, real=False), len(args) == 1 and kwargs.keys() <= {"norm"}
        shape = source.shape
        if not plain or not shape.is_exact or len(shape.dims) < 2:
            return array(ANY, made)
        last = _half(shape.dims[-1]) if name.startswith("rfft") else shape.dims[-1]
        return array(Shape((*shape.dims[:-1], last)), made)

    return work


def _shifted(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source = as_array(run, args[0]).type
    return array(source.shape, source.dtype)


def _frequencies(name: str) -> Work:
    """``(n)``, or half as many of real numbers."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        count = run.resolve(by_name("n d", args, kwargs)["n"])
        size: Dim = count if is_int(count) else UNKNOWN
        return array(Shape((_half(size) if name == "rfftfreq" else size,)), FLOAT64)

    return work


for _name in ("fft", "ifft", "rfft", "irfft"):
    native(f"numpy.fft.{_name}")(_along(_name))
for _name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn"):
    native(f"numpy.fft.{_name}")(_of_all(_name))
native("numpy.fft.fftshift", "numpy.fft.ifftshift")(_shifted)
for _name in ("fftfreq", "rfftfreq"):
    native(f"numpy.fft.{_name}")(_frequencies(_name))
