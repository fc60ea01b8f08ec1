"""Contents of data files as far as they decide shapes: sizes, dtypes, names, and small plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, final

__all__ = ["Array", "Contents", "Image", "Object", "Sound", "Table", "Tensor", "Unreadable"]


class Unreadable(Exception):
    """A file is damaged, too large, or not of the expected format; nothing of it is used."""


@final
@dataclass(frozen=True, slots=True)
class Array:
    """A NumPy array; ``dtype`` is NumPy's name, "" for one that torch lacks."""

    shape: tuple[int, ...]
    dtype: str


@final
@dataclass(frozen=True, slots=True)
class Tensor:
    """A torch tensor; ``dtype`` is torch's name, "" if unknown."""

    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool = False


@final
@dataclass(frozen=True, slots=True)
class Image:
    """An image; ``mode`` is Pillow's name, "" if unknown."""

    height: int
    width: int
    mode: str = ""


@final
@dataclass(frozen=True, slots=True)
class Sound:
    """Samples of a sound file."""

    frames: int
    channels: int
    rate: int


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Rows and columns; ``dtypes`` has NumPy's name for each column, "" if unknown."""

    columns: tuple[str, ...]
    rows: int
    dtypes: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Object:
    """A value of a class that isn't read; ``name`` is the class's dotted name."""

    name: str


Contents: TypeAlias = Any
"""One of these, or a str, int, float, bool, None, list, tuple or dict of them."""
