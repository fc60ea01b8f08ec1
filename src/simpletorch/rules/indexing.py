"""``x[index]``, ``x[index] = value``, ``len(x)``, iteration, ``in``."""

from __future__ import annotations

from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.positions import drop_first, need_rank, shaped
from simpletorch.rules.registry import rule
from simpletorch.rules.selection import Selection, select
from simpletorch.rules.values import Scalar, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, Dim, Rest, Shape, Unknown, equal

__all__ = ["check_fits", "check_storable", "getitem", "setitem"]


@rule("Tensor.__getitem__", moves=True)
def getitem(input: TensorType, index: Value) -> TensorType:
    """``x[i]`` drops a dim, ``x[a:b]`` shortens one, ``None`` adds 1, index tensors add their shape, masks ``(?,)``"""
    _check_devices(input, index)
    try:
        return shaped(input, select(input.shape, index).shape)
    except CannotTell:
        return shaped(input, ANY_SHAPE)


def _check_devices(input: TensorType, index: Value) -> None:
    """Index tensors may be on the CPU or where the tensor is."""
    for i in index if isinstance(index, tuple) else (index,):
        if not isinstance(i, TensorType) or i.device is None or input.device is None or i.device.type == "cpu":
            continue
        if not i.device.agrees(input.device):
            raise Mismatch(
                f"the tensor is on {input.device}, but an index tensor is on {i.device}",
                kind="device",
                expected=input.device,
                got=i.device,
            )


@rule("Tensor.__setitem__", moves=True)
def setitem(input: TensorType, index: Value, value: Value) -> None:
    """``x[index] = value`` with a value that broadcasts to what is selected"""
    _check_devices(input, index)
    try:
        chosen = select(input.shape, index)
    except CannotTell:
        return
    check_storable(input, value)
    if not isinstance(value, TensorType):
        return
    if chosen.is_advanced:
        _check_same_dtype(input, chosen, value)
    if not chosen.may_be_nothing:
        check_fits(value.shape, chosen.shape)


def check_storable(input: TensorType, value: Value) -> None:
    """A complex number can only be stored in a complex tensor."""
    is_complex = isinstance(value, complex) or value == Scalar("complex")
    if is_complex and input.dtype is not None and input.dtype.category not in ("complex", None):
        raise Mismatch(f"a complex value can't be stored in a tensor of {input.dtype}", kind="dtype", got=input.dtype)


def _check_same_dtype(input: TensorType, chosen: Selection, value: TensorType) -> None:
    """With index tensors torch doesn't convert; only a single number for a mask is converted."""
    a, b = input.dtype, value.dtype
    if a is None or b is None or not (a.is_concrete and b.is_concrete) or a == b:
        return
    if chosen.is_mask and all(d == 1 or isinstance(d, Unknown) for d in value.shape.items if not isinstance(d, Rest)):
        return
    raise Mismatch(
        f"the tensor is {a}, but the value is {b}; with index tensors both must have one dtype",
        kind="dtype",
        hint="value.to(x.dtype)",
        expected=a,
        got=b,
    )


def check_fits(value: Shape, selected: Shape, *, what: str = "what is selected") -> None:
    """The value must broadcast to the selected shape; ones in front of it don't count."""
    own = list(value.items)
    while own and own[0] == 1:
        own.pop(0)
    reason = f"a value of shape {value} doesn't broadcast to {what}, which is {selected}"
    if value.is_exact and selected.rank is not None and len(own) > selected.rank and not isinstance(own[0], Unknown):
        raise Mismatch(reason, expected=selected, got=value)
    for v, s in zip(reversed(own), reversed(selected.items), strict=False):
        if isinstance(v, Rest) or isinstance(s, Rest):
            return
        _check_dim(v, s, reason)


def _check_dim(own: Dim, target: Dim, reason: str) -> None:
    if own != 1 and equal(own, target) is False:
        both = isinstance(own, int) and isinstance(target, int)
        more = "" if both else f": {own} and {target} are not equal for all sizes"
        raise Mismatch(reason + more, expected=target, got=own)


@rule("Tensor.__len__")
def length(input: TensorType) -> Dim:
    """``(n, *s) -> n``"""
    need_rank(input.shape, 1, name="a tensor with a length")
    return input.shape.dim(0)


@rule("Tensor.__iter__")
def iterate(input: TensorType) -> TensorType:
    """``(n, *s)`` gives ``(*s)`` n times"""
    need_rank(input.shape, 1, name="a tensor to iterate over")
    return shaped(input, drop_first(input.shape, 1))


@rule("Tensor.__contains__")
def contains(input: TensorType, element: Value) -> Scalar:
    """``(*s), () -> bool``"""
    return Scalar("bool")
