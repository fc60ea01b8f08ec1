"""Columns, dtypes and rows of Arrow's files (Feather 2), from the footer and the head of each batch of rows.

The formats: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format and
https://flatbuffers.dev/internals
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, Final, final

from simpletorch.follow.disk.described import Table, Unreadable

__all__ = ["arrow", "is_arrow"]

_MAGIC: Final = b"ARROW1"
_LARGEST: Final = 1 << 24
_MOST_COLUMNS: Final = 10_000
_MOST_BATCHES: Final = 10_000
_DEEPEST: Final = 16
_INT, _FLOAT, _BOOL = 2, 3, 6  # of the kinds in the union of types
_FLOATS: Final = ("float16", "float32", "float64")
_INDEX: Final = "__index_level_"


def is_arrow(start: bytes) -> bool:
    """Whether a file begins as an Arrow file does."""
    return start.startswith(_MAGIC)


@final
class _Flat:
    """A table in a flatbuffer: a field that isn't there has its default."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        back = self._number("<i", at)
        self._fields = at - back
        self._size = self._number("<H", self._fields)

    @classmethod
    def root(cls, data: bytes) -> _Flat:
        return cls(data, _number(data, "<I", 0))

    def _number(self, form: str, at: int) -> int:
        return _number(self._data, form, at)

    def _place(self, field: int) -> int | None:
        at = 4 + 2 * field
        found = self._number("<H", self._fields + at) if at + 2 <= self._size else 0
        return self._at + found if found else None

    def number(self, field: int, form: str) -> int:
        place = self._place(field)
        return 0 if place is None else self._number(form, place)

    def _target(self, field: int) -> int | None:
        place = self._place(field)
        return None if place is None else place + self._number("<I", place)

    def table(self, field: int) -> _Flat:
        place = self._target(field)
        if place is None:
            raise Unreadable("a table that isn't there")
        return _Flat(self._data, place)

    def has(self, field: int) -> bool:
        return self._place(field) is not None

    def text(self, field: int) -> str:
        place = self._target(field)
        if place is None:
            return ""
        length = self._number("<I", place)
        found = self._data[place + 4 : place + 4 + length]
        if len(found) != length:
            raise Unreadable("a text that is cut short")
        return found.decode()

    def vector(self, field: int, size: int, most: int) -> range:
        """The places of a vector's items, each of a size."""
        place = self._target(field)
        if place is None:
            return range(0)
        count = self._number("<I", place)
        if count > min(most, len(self._data) // size):
            raise Unreadable("that many items")
        return range(place + 4, place + 4 + count * size, size)

    def tables(self, field: int, most: int) -> Iterator[_Flat]:
        return (_Flat(self._data, at + self._number("<I", at)) for at in self.vector(field, 4, most))

    def numbers(self, field: int, form: str, most: int) -> Iterator[tuple[int, ...]]:
        """A vector of structs of numbers."""
        size = struct.calcsize(form)
        return (struct.unpack_from(form, self._data, at) for at in self.vector(field, size, most))


def _number(data: bytes, form: str, at: int) -> int:
    if at < 0:
        raise Unreadable("a place before the beginning")
    (found,) = struct.unpack_from(form, data, at)
    return int(found)


def arrow(file: IO[bytes], length: int) -> Table:
    """The table in a file of ``length`` bytes, as ``pandas.read_feather`` gives it.

    Raises:
        Unreadable: it is damaged, or of an older version.
    """
    if length < 20 or file.read(6) != _MAGIC:
        raise Unreadable("no Arrow file")
    file.seek(length - 10)
    tail = file.read(10)
    (size,) = struct.unpack("<i", tail[:4])
    if tail[4:] != _MAGIC or not 0 < size <= min(_LARGEST, length - 10):
        raise Unreadable("a footer of that length")
    file.seek(length - 10 - size)
    try:
        return _table(file, _Flat.root(file.read(size)))
    except (struct.error, UnicodeDecodeError, OverflowError, OSError, ValueError) as error:
        raise Unreadable("a footer that isn't one") from error


def _table(file: IO[bytes], footer: _Flat) -> Table:
    fields = [*footer.table(1).tables(1, _MOST_COLUMNS)]
    names = [field.text(0) for field in fields]
    spans = [_span(field) for field in fields]
    rows, missing = 0, [0] * len(fields)
    for offset, size, _ in footer.numbers(3, "<qi4xq", _MOST_BATCHES):
        batch = _batch(file, offset, size)
        count = batch.number(0, "<q")
        nodes = [*batch.numbers(1, "<qq", _MOST_COLUMNS * _DEEPEST)]
        if count < 0 or len(nodes) != sum(spans):
            raise Unreadable("a batch of other columns")
        rows += count
        at = 0
        for column, span in enumerate(spans):
            missing[column] += nodes[at][1]
            at += span
    kinds = [_dtype(field, bool(gone)) for field, gone in zip(fields, missing, strict=True)]
    kept = [(name, kind) for name, kind in zip(names, kinds, strict=True) if not name.startswith(_INDEX)]
    return Table(tuple(name for name, _ in kept), rows, tuple(kind for _, kind in kept))


def _batch(file: IO[bytes], offset: int, size: int) -> _Flat:
    """The head of a batch of rows, which follows its length."""
    if offset < 0 or not 8 < size <= _LARGEST:
        raise Unreadable("a batch of that size")
    file.seek(offset)
    message = _Flat.root(file.read(size)[8:])
    return message.table(2)


def _span(field: _Flat, depth: int = 0) -> int:
    """How many nodes a column has, with those inside it; one of codes for a dictionary has no more."""
    if depth > _DEEPEST:
        raise Unreadable("columns that deep")
    inner = () if field.has(4) else field.tables(5, _MOST_COLUMNS)
    return 1 + sum(_span(child, depth + 1) for child in inner)


def _dtype(field: _Flat, is_missing: bool) -> str:
    """NumPy's dtype of a column; "" where it isn't known: integers with missing values become floats."""
    kind = field.number(2, "<B")
    if field.has(4) or kind not in (_INT, _FLOAT, _BOOL):
        return ""
    if kind == _FLOAT:
        precision = field.table(3).number(0, "<h")
        return _FLOATS[precision] if 0 <= precision < len(_FLOATS) else ""
    if is_missing:
        return ""
    if kind == _BOOL:
        return "bool"
    about = field.table(3)
    bits, is_signed = about.number(0, "<i"), about.number(1, "<B")
    return f"{'' if is_signed else 'u'}int{bits}" if bits in (8, 16, 32, 64) else ""
