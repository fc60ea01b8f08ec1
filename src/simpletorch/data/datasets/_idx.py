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

    Raises:
        DataError: there is no such file, it isn't in this format, or it has fewer or more bytes than its header says.

    Source: https://yann.lecun.org/exdb/mnist/index.html, "The IDX file format"
    """
    path = Path(path)
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is damaged or truncated: {error}", hint="delete it and download it again") from error
    except OSError as error:
        raise DataError(f"can't read {path}: {error.strerror}") from error
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _DTYPES or not data[3]:
        raise DataError(f"{path} is no IDX file: it starts with {data[:4]!r}, not with two zeros, a type and a rank")
    dtype, rank = _DTYPES[data[2]], data[3]
    start = 4 + 4 * rank
    shape = [int.from_bytes(data[at : at + 4], "big") for at in range(4, start, 4)]
    stated = start + math.prod(shape) * dtype.itemsize
    if len(data) != stated:
        raise DataError(
            f"{path} is damaged or truncated: its header says {shape}, which is {stated:,} bytes, "
            f"but it has {len(data):,}",
            hint="delete it and download it again",
        )
    if stated == start:
        return torch.empty(shape, dtype=dtype)
    numbers = torch.frombuffer(bytearray(data), dtype=torch.uint8, offset=start)
    if dtype.itemsize > 1 and sys.byteorder == "little":
        numbers = numbers.reshape(-1, dtype.itemsize).flip(1).flatten()
    if numbers.storage_offset() % dtype.itemsize:
        numbers = numbers.clone()  # a wider dtype needs an aligned start
    return numbers.view(dtype).reshape(shape)
