"""The IDX format of MNIST: a magic number, the sizes, then the bytes of one tensor."""

from __future__ import annotations

import gzip
import math
import os
import sys
import zlib
from pathlib import Path
from typing import Final

import torch

from simpletorch.errors import DataError

_PIECE: Final = 1 << 24
_DTYPES: Final = {
    0x08: torch.uint8,
    0x09: torch.int8,
    0x0B: torch.int16,
    0x0C: torch.int32,
    0x0D: torch.float32,
    0x0E: torch.float64,
}


def read_idx(path: str | os.PathLike[str]) -> torch.Tensor:
    """The tensor in an IDX file, gzipped or not, with the dtype and shape that its header states.

    Args:
        path: the IDX file, plain or gzipped.

    Returns:
        A tensor on the CPU.

    Raises:
        DataError: there is no such file, it isn't in this format, or it has fewer or more bytes than its header says.

    Examples:
        >>> import struct
        >>> from pathlib import Path
        >>> from simpletorch import data
        >>> _ = Path("labels.idx").write_bytes(struct.pack(">HBBI", 0, 8, 1, 3) + bytes([5, 0, 4]))
        >>> data.read_idx("labels.idx")
        tensor([5, 0, 4], dtype=torch.uint8)

    Source: https://yann.lecun.org/exdb/mnist/index.html, "The IDX file format"
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            raise DataError(f"can't read {path}: it is no file")
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else open(path, "rb") as source:
            head = source.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _DTYPES or not head[3]:
                raise DataError(
                    f"{path} is no IDX file: it starts with {head!r}, not with two zeros, a type and a rank"
                )
            dtype, sizes = _DTYPES[head[2]], source.read(4 * head[3])
            shape = [int.from_bytes(sizes[at : at + 4], "big") for at in range(0, len(sizes), 4)]
            stated = math.prod(shape) * dtype.itemsize
            # piece by piece, and one byte more than is due: neither header nor compression is trusted with the memory
            data = bytearray()
            while len(data) <= stated and (piece := source.read(min(_PIECE, stated + 1 - len(data)))):
                data += piece
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is damaged or truncated: {error}", hint="delete it and download it again") from error
    except OSError as error:
        raise DataError(f"can't read {path}: {error.strerror}") from error
    if len(sizes) < 4 * head[3] or len(data) != stated:
        start = 4 + 4 * head[3]
        there = f"more than {start + stated:,}" if len(data) > stated else f"{4 + len(sizes) + len(data):,}"
        raise DataError(
            f"{path} is damaged or truncated: its header says {shape}, which is {start + stated:,} bytes, "
            f"but it has {there}",
            hint="delete it and download it again",
        )
    try:
        if not stated:
            return torch.empty(shape, dtype=dtype)
        numbers = torch.frombuffer(data, dtype=torch.uint8)
        if dtype.itemsize > 1 and sys.byteorder == "little":
            numbers = numbers.reshape(-1, dtype.itemsize).flip(1).flatten()
        return numbers.view(dtype).reshape(shape)
    except RuntimeError as error:  # more dims, or larger ones, than a tensor can have
        raise DataError(f"{path} is damaged: its header says {shape[:8]}…, which no tensor has: {error}") from error
