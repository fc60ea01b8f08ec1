"""Arrays in MATLAB's files of version 5, as ``scipy.io.loadmat`` gives them: names, shapes and dtypes.

The format: https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from typing import IO, Final

from simpletorch.follow.disk.described import Array, Object, Unreadable

__all__ = ["is_matlab", "matlab"]

_HEADER: Final = 128
_MATRIX, _COMPRESSED = 14, 15
_START: Final = 1 << 16  # of a compressed array: as much of it as is read
_MOST: Final = 10_000
_STORED: Final = {
    1: ("int8", 1), 2: ("uint8", 1), 3: ("int16", 2), 4: ("uint16", 2), 5: ("int32", 4), 6: ("uint32", 4),
    7: ("float32", 4), 9: ("float64", 8), 12: ("int64", 8), 13: ("uint64", 8),
}  # fmt: skip
_NUMBERS: Final = range(6, 16)
_COMPLEX: Final = 1 << 11


def is_matlab(start: bytes) -> bool:
    """Whether a file that begins with these bytes is one of MATLAB's."""
    return start.startswith(b"MATLAB 5.0 MAT-file")


def matlab(file: IO[bytes], length: int) -> dict[str, Array | Object]:
    """The arrays in a file of ``length`` bytes by name; what is no array of numbers is an object that isn't read.

    Raises:
        Unreadable: it is damaged, or of another version.
    """
    header = file.read(_HEADER)
    if len(header) < _HEADER or not is_matlab(header) or header[124:] not in (b"\0\1IM", b"\1\0MI"):
        raise Unreadable("no file of MATLAB's version 5")
    order = "<" if header[126:] == b"IM" else ">"
    found: dict[str, Array | Object] = {}
    try:
        while (at := file.tell()) + 8 <= length:
            kind, size = struct.unpack(order + "II", file.read(8))
            if size > length - at - 8 or len(found) > _MOST:
                raise Unreadable("an element longer than the file")
            data = file.read(min(size, _START))
            if kind == _COMPRESSED:
                data = zlib.decompressobj().decompress(data, _START)
                kind, data = struct.unpack(order + "I", data[:4])[0], data[8:]
            if kind != _MATRIX:
                raise Unreadable("an element of another kind")
            name, array = _matrix(data, order)
            if name:
                found[name] = array
            file.seek(at + 8 + size)
    except (struct.error, zlib.error, IndexError) as error:
        raise Unreadable("a damaged file") from error
    return found


def _matrix(data: bytes, order: str) -> tuple[str, Array | Object]:
    stream = io.BytesIO(data)
    _, flags = _element(stream, order)
    _, sizes = _element(stream, order)
    _, name = _element(stream, order)
    kind, marks = flags[0 if order == "<" else 3], struct.unpack(order + "I", flags[:4])[0]
    shape = struct.unpack(f"{order}{len(sizes) // 4}i", sizes)
    if kind not in _NUMBERS or marks & _COMPLEX:
        return name.decode("latin1"), Object("scipy.io.matlab.mat_struct")
    stored, size = _tag(stream, order)
    dtype, width = _STORED.get(stored, ("", 0))
    if any(n < 0 for n in shape) or (width and math.prod(shape) * width != size) or len(shape) > 64:
        raise Unreadable("a shape that isn't one")
    return name.decode("latin1"), Array(shape, dtype)


def _tag(stream: IO[bytes], order: str) -> tuple[int, int]:
    (word,) = struct.unpack(order + "I", stream.read(4))
    if word >> 16:  # a small element: its size, and its data in place of the size
        return word & 0xFFFF, word >> 16
    return word, struct.unpack(order + "I", stream.read(4))[0]


def _element(stream: IO[bytes], order: str) -> tuple[int, bytes]:
    at = stream.tell()
    kind, size = _tag(stream, order)
    small = stream.tell() - at == 4
    data = stream.read(min(size, _START))
    if len(data) < size:
        raise Unreadable("an element that ends early")
    stream.seek(at + 8 if small else (stream.tell() + 7) // 8 * 8)
    return kind, data
