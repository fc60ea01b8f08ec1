"""The inputs and outputs of a module, by dtype and shape: the cells of a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias

import torch

from simpletorch.dtypes import dtype_of
from simpletorch.shapes import Dim

__all__ = ["Group", "TensorInfo", "Value", "describe", "leaves", "merge"]


@dataclass(frozen=True)
class TensorInfo:
    """A tensor without its contents; a size is an int, an expression over symbols, or unknown."""

    dtype: str
    shape: tuple[Dim, ...]
    itemsize: int

    @property
    def bytes(self) -> Dim:
        """How much room the elements take."""
        total: Dim = self.itemsize
        for size in self.shape:
            total = total * size
        return total

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Group:
    """Several values: a tuple or a list (all names are empty), or a dict or a dataclass by key."""

    items: tuple[tuple[str, Value], ...]

    def __str__(self) -> str:
        texts = [f"{name}: {value}" if name else str(value) for name, value in self.items]
        opening, closing = "{}" if any(name for name, _ in self.items) else "()"
        return f"{opening}{', '.join(texts)}{closing}"


Value: TypeAlias = TensorInfo | Group | str  # a str is the class of anything else


def describe(value: Any) -> Value:
    """A value by its tensors."""
    if isinstance(value, torch.Tensor):
        return TensorInfo(_dtype_name(value.dtype), tuple(value.shape), value.element_size())
    if isinstance(value, Mapping):
        return Group(tuple((str(key), describe(item)) for key, item in value.items()))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return Group(tuple((name, describe(getattr(value, name))) for name in value._fields))
    if isinstance(value, tuple | list):
        return Group(tuple(("", describe(item)) for item in value))
    if is_dataclass(value) and not isinstance(value, type):
        return Group(tuple((f.name, describe(getattr(value, f.name))) for f in fields(value)))
    return "None" if value is None else type(value).__name__


def leaves(value: Value) -> Iterator[TensorInfo]:
    """The tensors in a value."""
    if isinstance(value, TensorInfo):
        yield value
    elif isinstance(value, Group):
        for _, item in value.items:
            yield from leaves(item)


def merge(values: Sequence[Value], explain: Callable[[Sequence[Dim]], Dim]) -> Value:
    """One value for what the same place held at several sizes; ``explain`` finds the expression for a size."""
    first = values[0]
    if isinstance(first, TensorInfo):
        infos = [v for v in values if isinstance(v, TensorInfo)]
        if len(infos) == len(values) and len({(v.dtype, len(v.shape)) for v in infos}) == 1:
            shape = tuple(explain(sizes) for sizes in zip(*(v.shape for v in infos), strict=True))
            return TensorInfo(first.dtype, shape, first.itemsize)
    elif isinstance(first, Group):
        groups = [v for v in values if isinstance(v, Group)]
        if len(groups) == len(values) and len({tuple(name for name, _ in v.items) for v in groups}) == 1:
            columns = zip(*(v.items for v in groups), strict=True)
            return Group(tuple((column[0][0], merge([item for _, item in column], explain)) for column in columns))
    return first if all(v == first for v in values) else "varies"


def _dtype_name(dtype: torch.dtype) -> str:
    try:
        return dtype_of(dtype).__name__
    except TypeError:
        return str(dtype).removeprefix("torch.")
