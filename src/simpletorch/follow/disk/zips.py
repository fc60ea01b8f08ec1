"""The size of a zip archive's index, known before all of it is read."""

from __future__ import annotations

import struct
from typing import IO, Final

from simpletorch.follow.disk.described import Unreadable

__all__ = ["refuse_large_index"]

_TAIL: Final = 22 + (1 << 16)
_LARGEST: Final = 1 << 24


def refuse_large_index(file: IO[bytes], length: int) -> None:
    """Leave the file at its start if the index of its archive takes at most 16 MiB.

    Raises:
        Unreadable: it is larger, or there is none.
    """
    file.seek(max(0, length - _TAIL))
    tail = file.read(_TAIL)
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < 22:
        raise Unreadable("no archive")
    (size,) = struct.unpack("<I", tail[at + 12 : at + 16])
    if size == 0xFFFFFFFF:
        place = tail.rfind(b"PK\6\6", 0, at)
        if place < 0 or len(tail) - place < 56:
            raise Unreadable("no archive")
        (size,) = struct.unpack("<Q", tail[place + 40 : place + 48])
    if size > _LARGEST:
        raise Unreadable("an archive with that many members")
    file.seek(0)
