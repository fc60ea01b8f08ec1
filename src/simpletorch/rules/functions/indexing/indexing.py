"""``x[index]``, ``x[index] = value``, ``len(x)``, iteration, ``in``."""

from __future__ import annotations

from simpletorch.rules.common.broadcasting import need_expandable
from simpletorch.rules.common.conditions import need_min_rank, need_storable
from simpletorch.rules.common.positions import drop_first, shaped
from simpletorch.rules.common.selection import Selection, select
from simpletorch.rules.core.cards import MAYBE, PICKED, Card
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import Scalar, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, Dim, Rest, Shape, Unknown

__all__ = ["getitem", "need_device_of", "need_one_device", "need_room", "setitem"]


@rule("Tensor.__getitem__", moves=True, card=Card(MAYBE, PICKED))
def getitem(input: TensorType, index: Value) -> TensorType:
    """``x[i]`` drops a dim, ``x[a:b]`` shortens one, ``None`` adds 1, index tensors add their shape, masks ``(?,)``"""
    need_one_device(input, index)
    try:
        return shaped(input, select(input.shape, index).shape)
    except CannotTell:
        return shaped(input, ANY_SHAPE)


def need_one_device(input: TensorType, index: Value) -> None:
    """Index tensors may be on the CPU or where the tensor is."""
    for i in index if isinstance(index, tuple) else (index,):
        if isinstance(i, TensorType) and (i.device is None or i.device.type != "cpu"):
            need_device_of(input, i, "an index tensor is")


def need_device_of(input: TensorType, other: TensorType, what: str) -> None:
    """The other tensor must be where this one is."""
    if input.device is not None and other.device is not None and not other.device.agrees(input.device):
        raise Mismatch(
            f"the tensor is on {input.device}, but {what} on {other.device}",
            kind="device",
            expected=input.device,
            got=other.device,
        )


@rule("Tensor.__setitem__", moves=True)
def setitem(input: TensorType, index: Value, value: Value) -> None:
    """``x[index] = value`` with a value that broadcasts to what is selected"""
    need_one_device(input, index)
    try:
        chosen = select(input.shape, index)
    except CannotTell:
        return
    need_storable(value, input.dtype)
    if not isinstance(value, TensorType):
        return
    if chosen.is_advanced:
        _need_same_dtype(input, chosen, value)
    if not chosen.may_be_nothing:
        need_room("value", value.shape, chosen.shape)


def _need_same_dtype(input: TensorType, chosen: Selection, value: TensorType) -> None:
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


def need_room(name: str, value: Shape, selected: Shape, *, what: str = "what is selected") -> None:
    """The value must broadcast to the selected shape; ones in front of it don't count."""
    own = list(value.items)
    while own and (own[0] == 1 or (isinstance(own[0], Unknown) and value.min_rank > selected.min_rank)):
        own.pop(0)
    need_expandable(name, Shape(tuple(own)), selected, what)


@rule("Tensor.__len__")
def length(input: TensorType) -> Dim:
    """``(n, *s) -> n``"""
    need_min_rank("a tensor with a length", input, 1)
    return input.shape.dim(0)


@rule("Tensor.__iter__")
def iterate(input: TensorType) -> TensorType:
    """``(n, *s)`` gives ``(*s)`` n times"""
    need_min_rank("a tensor to iterate over", input, 1)
    return shaped(input, drop_first(input.shape, 1))


@rule("Tensor.__contains__")
def contains(input: TensorType, element: Value) -> Scalar:
    """``(*s), () -> bool``"""
    return Scalar("bool")
