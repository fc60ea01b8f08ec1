"""Discrete Fourier transforms: `torch.fft`, and the short-time transform."""

from __future__ import annotations

from typing import Literal, TypeAlias

from simpletorch.rules.common.arguments import as_dim, dtype_argument, is_dim
from simpletorch.rules.common.conditions import need_at_least, need_categories, need_distinct, need_min_rank
from simpletorch.rules.common.factory import device_argument, made
from simpletorch.rules.common.positions import item_at, locate, need_axes, unknown_dims
from simpletorch.rules.core.cards import MOVED, Card
from simpletorch.rules.core.dtype import BFLOAT16, COMPLEX64, DEFAULT_FLOAT, FLOAT16, DType, to_complex, to_real
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import Dim, Item, Shape

Kind: TypeAlias = Literal["full", "half", "real"]
"""What a transform gives in its last dim: all frequencies, the half that real input needs, or real numbers again."""


def _dtype(input: TensorType, kind: Kind) -> DType | None:
    """Complex, or real for the inverse of a half transform.

    Raises:
        Mismatch: BFloat16, or complex numbers where the half transform needs real ones.
    """
    dtype = input.dtype
    if dtype == BFLOAT16:
        raise Mismatch("input is BFloat16, which can't be transformed", kind="dtype", hint="input.float()", got=dtype)
    if kind == "half":
        need_categories("input", dtype, "bool", "int", "float", why="it must be real")
    if dtype is None or dtype.category is None:
        return None
    if dtype.category in ("bool", "int"):
        return DEFAULT_FLOAT if kind == "real" else COMPLEX64
    if not dtype.is_concrete:
        return None
    if kind == "real":
        return to_real(dtype)
    return dtype if dtype.category == "complex" else None if dtype == FLOAT16 else to_complex(dtype)


def _size(value: Value, name: str = "n") -> Dim | None:
    """A given size; None where the input's is meant (None, or -1 in a list).

    Raises:
        Mismatch: it is not positive.
    """
    if value is None or value == -1:
        return None
    need_at_least(name, value, 1)
    return as_dim(value)


def _transformed(size: Dim, given: Dim | None, kind: Kind) -> Dim:
    """The size of the last transformed dim."""
    if kind == "half":
        return (size if given is None else given) // 2 + 1
    if kind == "real" and given is None:
        if size == 1:
            raise Mismatch("the transformed dim has size 1, which leaves no data point; give n", got=1)
        return 2 * (size - 1)
    return size if given is None else given


def _listed(value: Value) -> tuple[Value, ...] | None:
    """A list, or one number as a list of one; None for None."""
    if value is None or isinstance(value, tuple):
        return value
    if is_dim(value):
        return (value,)
    raise CannotTell


def _dims_of(shape: Shape, sizes: tuple[Value, ...] | None, dim: Value) -> tuple[Value, ...]:
    """The dims that are transformed: those named, else the last ones that sizes are given for, else all."""
    named = _listed(dim)
    if named is not None:
        if sizes is not None and len(sizes) != len(named):
            raise Mismatch(f"s has {len(sizes)} sizes, but dim names {len(named)} dims", expected=len(named))
        return named
    if sizes is not None:
        if shape.rank is not None and len(sizes) > shape.rank:
            raise Mismatch(f"s has {len(sizes)} sizes, but input {shape} has {shape.rank} dims", expected=shape.rank)
        return tuple(range(-len(sizes), 0))
    if shape.rank is None:
        raise CannotTell
    return tuple(range(shape.rank))


def _shape(shape: Shape, s: Value, dim: Value, kind: Kind) -> Shape:
    sizes = _listed(s)
    given = _dims_of(shape, sizes, dim)
    if not given:
        if kind == "full":
            return shape
        raise Mismatch("at least 1 dim must be transformed", expected=1, got=0)
    visible, at = locate(shape, *given)
    need_distinct("dim", given, at)
    wanted = [None] * len(at) if sizes is None else [_size(v, "s") for v in sizes]
    items: list[Item] = list(visible.items)
    for i, size in zip(at, wanted, strict=True):
        items[i] = items[i] if size is None else size
    # the dim named last is halved or doubled, wherever it stands: rfft2 with dim=(1, 0) halves dim 0
    items[at[-1]] = _transformed(item_at(visible, at[-1]), wanted[-1], kind)
    return Shape(tuple(items))


def _transform(input: TensorType, s: Value, dim: Value, kind: Kind) -> TensorType:
    dtype = _dtype(input, kind)
    if dim is not None:
        need_min_rank("input", input, 1)
    try:
        return TensorType(_shape(input.shape, s, dim, kind), dtype)
    except CannotTell:
        return TensorType(unknown_dims(input.shape), dtype)


@rule("torch.fft.fft", "torch.fft.ifft")
def fft(input: TensorType, n: Value = None, dim: Value = -1, norm: Value = None) -> TensorType:
    """``(*b, m) -> (*b, n)``, complex; n is m where it isn't given"""
    return _transform(input, None if n is None else (n,), (dim,), "full")


@rule("torch.fft.rfft", "torch.fft.ihfft")
def rfft(input: TensorType, n: Value = None, dim: Value = -1, norm: Value = None) -> TensorType:
    """``(*b, n) -> (*b, n//2 + 1)``, real to complex"""
    return _transform(input, None if n is None else (n,), (dim,), "half")


@rule("torch.fft.irfft", "torch.fft.hfft")
def irfft(input: TensorType, n: Value = None, dim: Value = -1, norm: Value = None) -> TensorType:
    """``(*b, m) -> (*b, n)``, complex to real; n is 2*(m - 1) where it isn't given"""
    return _transform(input, None if n is None else (n,), (dim,), "real")


@rule("torch.fft.fft2", "torch.fft.ifft2")
def fft2(input: TensorType, s: Value = None, dim: Value = (-2, -1), norm: Value = None) -> TensorType:
    """``(*b, n, m) -> (*b, n, m)``, complex"""
    return _transform(input, s, dim, "full")


@rule("torch.fft.fftn", "torch.fft.ifftn")
def fftn(input: TensorType, s: Value = None, dim: Value = None, norm: Value = None) -> TensorType:
    """``(*n) -> (*n)``, complex"""
    return _transform(input, s, dim, "full")


@rule("torch.fft.rfft2", "torch.fft.ihfft2")
def rfft2(input: TensorType, s: Value = None, dim: Value = (-2, -1), norm: Value = None) -> TensorType:
    """``(*b, n, m) -> (*b, n, m//2 + 1)``, real to complex"""
    return _transform(input, s, dim, "half")


@rule("torch.fft.rfftn", "torch.fft.ihfftn")
def rfftn(input: TensorType, s: Value = None, dim: Value = None, norm: Value = None) -> TensorType:
    """``(*n, m) -> (*n, m//2 + 1)``, real to complex"""
    return _transform(input, s, dim, "half")


@rule("torch.fft.irfft2", "torch.fft.hfft2")
def irfft2(input: TensorType, s: Value = None, dim: Value = (-2, -1), norm: Value = None) -> TensorType:
    """``(*b, n, m) -> (*b, n, 2*(m - 1))``, complex to real"""
    return _transform(input, s, dim, "real")


@rule("torch.fft.irfftn", "torch.fft.hfftn")
def irfftn(input: TensorType, s: Value = None, dim: Value = None, norm: Value = None) -> TensorType:
    """``(*n, m) -> (*n, 2*(m - 1))``, complex to real"""
    return _transform(input, s, dim, "real")


@rule("torch.fft.fftshift", "torch.fft.ifftshift", card=Card(numbers=MOVED))
def fftshift(input: TensorType, dim: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    need_axes(dim, input.shape)
    return TensorType(input.shape, input.dtype)


def _frequencies(n: Dim, dtype: Value, device: Value, requires_grad: Value) -> TensorType:
    return made(Shape.of(n), dtype_argument(dtype, DEFAULT_FLOAT), device_argument(device), requires_grad)


def _need_count(n: Value) -> Dim:
    size = _size(n)
    if size is None:
        raise CannotTell
    return size


@rule("torch.fft.fftfreq", moves=True)
def fftfreq(
    n: Value,
    d: Value = 1.0,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``n -> (n,)``"""
    return _frequencies(_need_count(n), dtype, device, requires_grad)


@rule("torch.fft.rfftfreq", moves=True)
def rfftfreq(
    n: Value,
    d: Value = 1.0,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``n -> (n//2 + 1,)``"""
    return _frequencies(_need_count(n) // 2 + 1, dtype, device, requires_grad)


__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
