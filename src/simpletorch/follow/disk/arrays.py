"""NumPy's files: ``.npy`` by its header, ``.npz`` by the headers of its members.

The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import ast
import math
import zipfile
from typing import IO, Final

from simpletorch.follow.disk.described import Array, Unreadable

__all__ = ["npy", "npz", "numpy_dtype"]

_MAGIC: Final = b"\x93NUMPY"
_LONGEST_HEADER: Final = 1 << 16
_MOST_MEMBERS: Final = 10_000
_KINDS: Final = {"f": "float", "i": "int", "u": "uint", "c": "complex"}
_SIZES: Final = {"f": (2, 4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "c": (8, 16)}


def numpy_dtype(code: object) -> str:
    """NumPy's name of a dtype such as ``"<f4"``; "" for one that torch lacks."""
    if not isinstance(code, str) or len(code) < 2:
        return ""
    kind, size = code.lstrip("<>|=")[:1], code.lstrip("<>|=")[1:]
    if kind in ("b", "?"):
        return "bool"
    if kind not in _KINDS or not size.isdigit() or int(size) not in _SIZES[kind]:
        return ""
    return f"{_KINDS[kind]}{int(size) * 8}"


def npy(file: IO[bytes], length: int | None = None) -> Array:
    """The array in an ``.npy`` file, from its header alone.

    Args:
        file: at its start.
        length: of the file in bytes; the elements must fit into it.

    Raises:
        Unreadable: the header isn't one, or promises more than the file has.
    """
    start = file.read(8)
    if len(start) < 8 or not start.startswith(_MAGIC):
        raise Unreadable("no .npy file")
    width = 2 if start[6] == 1 else 4
    size = int.from_bytes(file.read(width), "little")
    if not 0 < size <= _LONGEST_HEADER:
        raise Unreadable("a header of that length")
    text = file.read(size).decode("latin1")
    try:
        header = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise Unreadable("a header that isn't a dict") from error
    if not isinstance(header, dict):
        raise Unreadable("a header that isn't a dict")
    shape, code = header.get("shape"), header.get("descr")
    if not isinstance(shape, tuple) or not all(type(n) is int and 0 <= n < 1 << 62 for n in shape) or len(shape) > 64:
        raise Unreadable("a shape that isn't one")
    dtype = numpy_dtype(code)
    bits = {"bool": 8}.get(dtype) or int("".join(filter(str.isdigit, dtype)) or 0)
    if length is not None and dtype and math.prod(shape) * bits // 8 > length - 8 - width - size:
        raise Unreadable("fewer elements than the header says")
    return Array(shape, dtype)


def npz(file: IO[bytes]) -> dict[str, Array]:
    """The arrays in an ``.npz`` file by name.

    Raises:
        Unreadable: it isn't such an archive.
    """
    found: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > _MOST_MEMBERS:
                raise Unreadable("an archive of that many members")
            for member in members:
                if not member.filename.endswith(".npy") or member.flag_bits & 1:
                    raise Unreadable("a member that isn't an array")
                with archive.open(member) as inner:
                    found[member.filename.removesuffix(".npy")] = npy(inner, member.file_size)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError, RuntimeError) as error:
        raise Unreadable("no archive of arrays") from error
    except Exception as error:  # zlib.error, lzma.LZMAError and others of damaged members
        if isinstance(error, Unreadable):
            raise
        raise Unreadable("a damaged archive") from error
    return found
