"""Values as rules see and return them: tensors as (shape, dtype, device), and Python values as far as they are known.

A value is one of

==================  =================================================================================================
`TensorType`        a tensor
``int`` / `Dim`     an int: a number, an expression over sizes, or `UNKNOWN` for "some int"
``bool``, ``float``, ``complex``, ``str``, ``None``, ``slice``, ``...``   itself
`Scalar`            a Python bool, float or complex whose value isn't known
``tuple``           a tuple *or list* of values
`Sizes`             a tuple that is a ``torch.Size``
`DType`, `Device`   themselves
`Named`             a named tuple
`Many`              a tuple of tensors, how many isn't known
`Packed`            a `PackedSequence`
`Group`             processes that talk to each other
`ANYTHING`          not known at all
==================  =================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, final

from simpletorch.rules.core.dtype import DType
from simpletorch.shapes import ANY_SHAPE, Dim, Item, Shape

__all__ = [
    "ANYTHING",
    "ANY_TENSOR",
    "Anything",
    "Device",
    "Group",
    "Hashed",
    "Many",
    "Named",
    "Packed",
    "Scalar",
    "Sizes",
    "TensorType",
    "Value",
    "as_device",
    "tensor",
]


@final
class Anything:
    """An unknown value. There is one, `ANYTHING`."""

    __slots__ = ()
    _instance: Anything | None = None

    def __new__(cls) -> Anything:
        # copies and pickles come by here as well, so ``is ANYTHING`` holds for them too
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "ANYTHING"


ANYTHING: Final = Anything()


@final
@dataclass(frozen=True, slots=True)
class Scalar:
    """A Python number of a known type and unknown value (an unknown int is the dim `UNKNOWN` instead)."""

    type: Literal["bool", "float", "complex"]


@dataclass(frozen=True, slots=True)
class Device:
    """A device: its type ("cpu", "cuda", "mps", "meta") and, where it is known, its index."""

    type: str
    index: int | None = None

    def agrees(self, other: Device) -> bool:
        """Whether the two may be one device."""
        return self.type == other.type and (None in (self.index, other.index) or self.index == other.index)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


def as_device(name: str) -> Device:
    """``"cuda:1"`` as a device."""
    kind, _, index = name.partition(":")
    return Device(kind, int(index) if index.isdigit() else None)


class Hashed:
    """Something that keeps its hash, once anybody has asked for it. It is no field: other processes have others."""

    __slots__ = ("_hash",)

    _hash: int


@final
@dataclass(frozen=True, slots=True)
class TensorType(Hashed):
    """A tensor: shape, dtype (None: unknown), device (None: not stated), and whether it is a ``nn.Parameter``."""

    shape: Shape = ANY_SHAPE
    dtype: DType | None = None
    device: Device | None = None
    is_parameter: bool = False

    def __hash__(self) -> int:  # that of a dataclass asks each part for its own; types are keys of caches everywhere
        try:
            return self._hash
        except AttributeError:
            made = hash((self.shape.items, self.dtype and self.dtype.name, self.device, self.is_parameter))
            object.__setattr__(self, "_hash", made)
            return made

    def with_shape(self, *items: Item) -> TensorType:
        """The same dtype and device with other dims; never a parameter."""
        return TensorType(Shape(items), self.dtype, self.device)  # `replace` takes five times as long

    def with_dtype(self, dtype: DType | None) -> TensorType:
        """The same shape and device with another dtype; never a parameter."""
        return TensorType(self.shape, dtype, self.device)

    def __str__(self) -> str:
        items = ", ".join("..." if str(i) == "..." else str(i) for i in self.shape.items)
        return f"{self.dtype or 'Tensor'}[{items}]"


ANY_TENSOR: Final = TensorType()


@final
@dataclass(frozen=True, slots=True)
class Named:
    """A named tuple of values, as `torch.max` with a dim gives: torch's own class name and its fields, in order."""

    type_name: str
    fields: tuple[tuple[str, Value], ...]


@final
@dataclass(frozen=True, slots=True)
class Many:
    """A tuple of an unknown number of tensors: ``x.unbind()`` where the first size isn't a number."""

    item: TensorType


@final
class Sizes(tuple[Any, ...]):
    """A ``torch.Size``: ``torch.Tensor(x.shape)`` has that shape, while ``torch.Tensor((2, 3))`` holds two numbers."""

    __slots__ = ()


@final
@dataclass(frozen=True, slots=True)
class Packed:
    """A `torch.nn.utils.rnn.PackedSequence`: its data, one row for each element, and how many sequences it holds."""

    data: TensorType
    batch: Dim

    def __str__(self) -> str:
        return f"PackedSequence of {self.batch} sequences, data {self.data}"


@final
@dataclass(frozen=True, slots=True)
class Group:
    """A group of processes, or one dim of a mesh: how many there are."""

    size: Dim


Value: TypeAlias = (
    "TensorType | Dim | bool | float | complex | str | slice | tuple[Value, ...]"
    " | Named | Many | Packed | Group | Scalar | DType | Device | Anything | None"
)


def tensor(*items: Item, dtype: DType | None = None, device: Device | None = None) -> TensorType:
    """A tensor type with these dims."""
    return TensorType(Shape(items), dtype, device)
