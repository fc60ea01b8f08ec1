"""Indexes of archives: the names of members, and the size of a zip's index before all of it is read."""

from __future__ import annotations

import struct
from itertools import islice
from typing import IO, Final

from simpletorch.follow.disk.described import Unreadable

__all__ = ["members", "refuse_large_index"]

_TAIL: Final = 22 + (1 << 16)
_LARGEST: Final = 1 << 24
_MOST_MEMBERS: Final = 20_000


def members(file: IO[bytes], length: int) -> list[str]:
    """The names in a zip archive, or in a tar archive that isn't compressed, as Python's own modules give them.

    Raises:
        Unreadable: it is damaged, compressed as a whole, or has more than 20,000 members.
    """
    import tarfile  # few programs have archives
    import zipfile

    is_zip = file.read(2) == b"PK"
    file.seek(0)
    try:
        if is_zip:
            refuse_large_index(file, length)
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
        else:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                names = [member.name for member in islice(archive, _MOST_MEMBERS + 1)]
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        ValueError,
        OSError,
        EOFError,
        NotImplementedError,
        struct.error,
    ) as e:
        raise Unreadable("no archive") from e
    if len(names) > _MOST_MEMBERS:
        raise Unreadable("an archive with that many members")
    return names


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
