"""Columns, dtypes and rows of Parquet files, from their footer, which is written in Thrift's compact protocol.

The formats: https://parquet.apache.org/docs/file-format/metadata and
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import json
import struct
from typing import IO, Any, Final

from simpletorch.follow.disk.described import Table, Unreadable

__all__ = ["parquet"]

_MAGIC: Final = b"PAR1"
_LONGEST: Final = 1 << 24
_MOST_VALUES: Final = 400_000
_DEEPEST: Final = 16
_BOOL, _INT32, _INT64, _FLOAT, _DOUBLE = 0, 1, 2, 4, 5
_PHYSICAL: Final = {_BOOL: "bool", _INT32: "int32", _INT64: "int64", _FLOAT: "float32", _DOUBLE: "float64"}
_INTEGER: Final = 10  # of the kinds in the union of logical types
_CONVERTED: Final = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
_FIRST_CONVERTED: Final = 11
_OPTIONAL, _REPEATED = 1, 2


class _Thrift:
    """Structs as dicts by the number of the field, lists as lists."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._left = data, 0, _MOST_VALUES

    def struct(self, depth: int = 0) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 15
            found[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise Unreadable("a footer with that many values")
        if kind in (1, 2):
            return self._byte() == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            return self._take(8)
        if kind == 8:
            return self._take(self._varint())
        if kind in (9, 10):
            head = self._byte()
            count = self._varint() if head >> 4 == 15 else head >> 4
            return [self._value(head & 15, depth + 1) for _ in range(self._within(count))]
        if kind == 12:
            return self.struct(depth + 1)
        raise Unreadable("a footer of another kind")

    def _within(self, count: int) -> int:
        if count > len(self._data) - self._at:
            raise Unreadable("a list longer than the footer")
        return count

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, count: int) -> bytes:
        found = self._data[self._at : self._at + self._within(count)]
        self._at += count
        return found

    def _varint(self) -> int:
        found = shift = 0
        while shift < 70:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
        raise Unreadable("a number that doesn't end")

    def _zigzag(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)


def parquet(file: IO[bytes], length: int) -> Table:
    """The table in a file of ``length`` bytes, as ``pandas.read_parquet`` gives it.

    Raises:
        Unreadable: the footer isn't one.
    """
    if length < 12 or file.read(4) != _MAGIC:
        raise Unreadable("no Parquet file")
    file.seek(length - 8)
    tail = file.read(8)
    (size,) = struct.unpack("<I", tail[:4])
    if tail[4:] != _MAGIC or size > min(_LONGEST, length - 12):
        raise Unreadable("a footer of that length")
    file.seek(length - 8 - size)
    footer = _Thrift(file.read(size)).struct()
    try:
        return _table(footer)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError) as error:
        raise Unreadable("a footer that isn't one") from error


def _table(footer: dict[int, Any]) -> Table:
    rows, (root, *elements) = footer[3], footer[2]
    kept, others = _of_pandas(footer)
    missing = _missing(footer)
    names: list[str] = []
    dtypes: list[str] = []
    at = 0
    for _ in range(root.get(5, 0)):
        element = elements[at]
        name = element[4].decode()
        if name not in others:
            names.append(name)
            dtypes.append(kept[name] if name in kept else _dtype(element, missing.get(name)))
        at += _span(elements, at)
    if at != len(elements) or type(rows) is not int or rows < 0:
        raise Unreadable("columns that aren't told right")
    return Table(tuple(names), rows, tuple(dtypes))


def _span(elements: list[dict[int, Any]], at: int) -> int:
    """How many elements a column has, with those inside it, which follow it."""
    end, left = at, 1
    while left > 0:
        inner = elements[end].get(5, 0)
        if inner < 0:
            raise Unreadable("columns that aren't told right")
        left += inner - 1
        end += 1
    return end - at


def _dtype(element: dict[int, Any], missing: int | None) -> str:
    """NumPy's dtype of a column; "" where it isn't known: integers with missing values become floats."""
    found = _PHYSICAL.get(element.get(1, -1), "")
    if element.get(5, 0) or element.get(3) == _REPEATED or not found:
        return ""
    logical, converted = element.get(10) or {}, element.get(6)
    if _INTEGER in logical:
        bits, signed = logical[_INTEGER].get(1), logical[_INTEGER].get(2)
        found = f"{'' if signed else 'u'}int{bits}" if bits in (8, 16, 32, 64) else ""
    elif logical or converted is not None:
        place = -1 if converted is None else converted - _FIRST_CONVERTED
        found = _CONVERTED[place] if not logical and 0 <= place < len(_CONVERTED) else ""
    sure = found.startswith("float") or element.get(3) != _OPTIONAL or missing == 0
    return found if sure else ""


def _missing(footer: dict[int, Any]) -> dict[str, int]:
    """How many values of a column are missing, as far as its statistics say."""
    found: dict[str, int] = {}
    unknown: set[str] = set()
    for group in footer.get(4) or ():
        for chunk in group[1]:
            about = chunk.get(3) or {}
            name = about[3][0].decode()
            count = (about.get(12) or {}).get(3)
            if count is None:
                unknown.add(name)
            found[name] = found.get(name, 0) + (count or 0)
    return {name: count for name, count in found.items() if name not in unknown}


def _of_pandas(footer: dict[int, Any]) -> tuple[dict[str, str], frozenset[str]]:
    """The dtypes of columns that pandas has noted, and the columns that it makes the index of."""
    noted = {pair[1]: pair.get(2, b"") for pair in footer.get(5) or ()}
    if b"pandas" not in noted:
        return {}, frozenset()
    told = json.loads(noted[b"pandas"])
    index = frozenset(name for name in told["index_columns"] if isinstance(name, str))
    plain = (*_CONVERTED, "float16", "float32", "float64", "bool")
    return {
        column["field_name"]: column["numpy_type"] if column["numpy_type"] in plain else ""
        for column in told["columns"]
        if column["field_name"] not in index
    }, index
