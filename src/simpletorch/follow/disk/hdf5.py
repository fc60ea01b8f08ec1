"""Groups and datasets of HDF5 files: names, shapes and dtypes, from object headers. Groups of very many members aren't.

The format: https://docs.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, Final, TypeAlias

from simpletorch.follow.disk.described import Array, Unreadable

__all__ = ["hdf5", "is_hdf5"]

_SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"
_NOWHERE: Final = (1 << 64) - 1
_MOST_BYTES: Final = 1 << 24
_MOST_OBJECTS: Final = 10_000
_MOST_MESSAGES: Final = 1_000
_DEEPEST: Final = 30
_SPACE, _LINK_INFO, _TYPE, _LINK, _FURTHER, _TABLE = 1, 2, 3, 6, 16, 17
_INTEGER, _FLOAT, _ENUM = 0, 1, 8
_EXPONENTS: Final = {2: 5, 4: 8, 8: 11}

Group: TypeAlias = dict[str, "Array | Group"]


def is_hdf5(start: bytes) -> bool:
    """Whether a file that begins with these bytes is one of HDF5."""
    return start.startswith(_SIGNATURE)


def hdf5(file: IO[bytes], length: int) -> Group:
    """The datasets in a file of ``length`` bytes by name, those of a group in a dict.

    Raises:
        Unreadable: it is damaged, or laid out in a way that isn't read.
    """
    try:
        return _File(file, length).root()
    except (struct.error, IndexError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable("a damaged file") from error


class _File:
    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file, self._length = file, length
        self._left, self._objects = _MOST_BYTES, _MOST_OBJECTS

    def root(self) -> Group:
        start = self._at(0, 96)
        if not is_hdf5(start):
            raise Unreadable("no HDF5 file")
        if start[8] in (0, 1):
            sizes, base, root = start[13:15], 24 + 4 * start[8], 64 + 4 * start[8]
        elif start[8] in (2, 3):
            sizes, base, root = start[9:11], 12, 36
        else:
            raise Unreadable("another version")
        if sizes != b"\x08\x08" or _number(start, base) != 0:
            raise Unreadable("addresses of another width")
        found = self._object(_number(start, root), 0)
        if isinstance(found, Array):
            raise Unreadable("no group")
        return found

    def _at(self, address: int, count: int) -> bytes:
        self._left -= count
        if self._left < 0 or not 0 <= address < self._length:
            raise Unreadable("an address outside the file, or too much of it")
        self._file.seek(address)
        return self._file.read(count)

    def _object(self, address: int, depth: int) -> Array | Group:
        self._objects -= 1
        if self._objects < 0 or depth > _DEEPEST:
            raise Unreadable("that many objects")
        shape: tuple[int, ...] | None = None
        dtype: str | None = None
        members: dict[str, int] = {}
        for kind, flags, data in self._messages(address):
            if kind == _SPACE:
                shape = _shape(data)
            elif kind == _TYPE:
                dtype = "" if flags & 2 else _dtype(data)
            elif kind == _LINK:
                members.update(_link(data))
            elif kind == _TABLE:
                members.update(self._table(_number(data, 0), self._names(_number(data, 8)), 0))
            elif kind == _LINK_INFO and _number(data, 2 + 8 * (data[1] & 1)) != _NOWHERE:
                raise Unreadable("a group of very many members")
        if shape is not None and dtype is not None:
            return Array(shape, dtype)
        return {name: self._object(place, depth + 1) for name, place in members.items()}

    # -- the header of an object ---------------------------------------------------------------------------------------

    def _messages(self, address: int) -> Iterator[tuple[int, int, bytes]]:
        """The messages of an object: the kind, its flags and its data."""
        head = self._at(address, 32)
        is_new = head.startswith(b"OHDR")
        if is_new:
            flags = head[5]
            start = 6 + (16 if flags & 32 else 0) + (4 if flags & 16 else 0)
            width = 1 << (flags & 3)
            size = int.from_bytes(head[start : start + width], "little")
            blocks, ordered = [(address + start + width, size)], bool(flags & 4)
        elif head[0] == 1:
            blocks, ordered = [(address + 16, struct.unpack("<I", head[8:12])[0])], False
        else:
            raise Unreadable("no object")
        left = _MOST_MESSAGES
        while blocks:
            place, size = blocks.pop(0)
            block = self._at(place, size)
            at = 0
            while at + (4 if is_new else 8) <= len(block):
                left -= 1
                if left < 0:
                    raise Unreadable("that many messages")
                if is_new:
                    kind, count, flags = struct.unpack("<BHB", block[at : at + 4])
                    at += 6 if ordered else 4
                else:
                    kind, count, flags = struct.unpack("<HHB", block[at : at + 5])
                    at += 8
                data = block[at : at + count]
                at += count
                if kind == _FURTHER:
                    place, size = _number(data, 0), _number(data, 8)
                    blocks.append((place + 4, size - 8) if is_new else (place, size))
                else:
                    yield kind, flags, data

    # -- the members of an old group -----------------------------------------------------------------------------------

    def _names(self, address: int) -> bytes:
        head = self._at(address, 32)
        if not head.startswith(b"HEAP"):
            raise Unreadable("no names")
        return self._at(_number(head, 24), _number(head, 8))

    def _table(self, address: int, names: bytes, depth: int) -> dict[str, int]:
        head = self._at(address, 24)
        if head.startswith(b"SNOD"):
            (count,) = struct.unpack("<H", head[6:8])
            entries = self._at(address + 8, count * 40)
            return dict(_entry(entries[n * 40 : n * 40 + 40], names) for n in range(count))
        if not head.startswith(b"TREE") or depth > _DEEPEST:
            raise Unreadable("no members")
        (count,) = struct.unpack("<H", head[6:8])
        nodes = self._at(address + 24, count * 16 + 8)
        found: dict[str, int] = {}
        for n in range(count):
            found.update(self._table(_number(nodes, n * 16 + 8), names, depth + 1))
        return found


def _number(data: bytes, at: int) -> int:
    found: int = struct.unpack("<Q", data[at : at + 8])[0]
    return found


def _entry(entry: bytes, names: bytes) -> tuple[str, int]:
    if struct.unpack("<I", entry[16:20])[0] == 2:
        raise Unreadable("a link by name")
    start = _number(entry, 0)
    return names[start : names.index(b"\0", start)].decode() if b"\0" in names[start:] else "", _number(entry, 8)


def _link(data: bytes) -> dict[str, int]:
    flags, at = data[1], 2
    if flags & 8:
        if data[at]:
            raise Unreadable("a link by name")
        at += 1
    at += (8 if flags & 4 else 0) + (1 if flags & 16 else 0)
    width = 1 << (flags & 3)
    count = int.from_bytes(data[at : at + width], "little")
    at += width
    return {data[at : at + count].decode(): _number(data, at + count)}


def _shape(data: bytes) -> tuple[int, ...] | None:
    version, rank = data[0], data[1]
    if version == 2 and data[3] == 2:
        return None  # a dataset without any data
    start = 8 if version == 1 else 4
    return struct.unpack(f"<{rank}Q", data[start : start + 8 * rank])


def _dtype(data: bytes) -> str:
    """NumPy's dtype; "" for one that torch lacks."""
    kind, bits, size = data[0] & 15, data[1], struct.unpack("<I", data[4:8])[0]
    if kind == _INTEGER and size in (1, 2, 4, 8):
        return f"{'' if bits & 8 else 'u'}int{size * 8}"
    if kind == _FLOAT and _EXPONENTS.get(size) == data[13]:
        return f"float{size * 8}"
    if kind == _ENUM and size == 1 and b"FALSE\0" in data and b"TRUE\0" in data:
        return "bool"
    return ""
