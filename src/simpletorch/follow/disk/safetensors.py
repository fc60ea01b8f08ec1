"""Tensors in safetensors files, from the header.

The format: https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import json
import math
from typing import IO, Final

from simpletorch.follow.disk.described import Tensor, Unreadable

__all__ = ["safetensors"]

_LONGEST: Final = 1 << 24
_DTYPES: Final = {
    "F64": ("float64", 8), "F32": ("float32", 4), "F16": ("float16", 2), "BF16": ("bfloat16", 2), "I64": ("int64", 8),
    "I32": ("int32", 4), "I16": ("int16", 2), "I8": ("int8", 1), "U8": ("uint8", 1), "BOOL": ("bool", 1),
}  # fmt: skip


def safetensors(file: IO[bytes], length: int) -> dict[str, Tensor]:
    """The tensors in a file of ``length`` bytes, by name.

    Raises:
        Unreadable: the header isn't one, or its tensors don't fit into the file.
    """
    size = int.from_bytes(file.read(8), "little")
    if not 1 < size <= min(_LONGEST, length - 8):
        raise Unreadable("a header of that length")
    try:
        header = json.loads(file.read(size))
    except (ValueError, RecursionError) as error:
        raise Unreadable("a header that isn't JSON") from error
    found: dict[str, Tensor] = {}
    for name, entry in header.items() if isinstance(header, dict) else ():
        if name == "__metadata__":
            continue
        try:
            shape, (start, end) = tuple(entry["shape"]), entry["data_offsets"]
            dtype, width = _DTYPES.get(entry["dtype"], ("", 0))
            fits = all(type(n) is int and n >= 0 for n in (*shape, start, end)) and end <= length - 8 - size
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable("an entry that isn't one") from error
        if not fits or (width and math.prod(shape) * width != end - start):
            raise Unreadable("a tensor that doesn't fit into the file")
        found[name] = Tensor(shape, dtype)
    return found
