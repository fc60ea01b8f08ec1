"""The file: a safetensors file whose metadata describe the rest and have a checksum over every byte.

``__metadata__`` of its header holds::

    format       "pt", as safetensors' own files have
    simpletorch  the version of this layout
    sha256       over the whole file as it would be with 64 zeros here
    about        JSON: the versions of the libraries, when it was written
    state        JSON: the parts, with {"$": "tensor", "v": name} where a tensor stands

So every tool that reads safetensors reads the tensors, and a checkpoint is never able to run anything.

Source: https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import torch

from simpletorch._atomic import flushing, opened, replacing
from simpletorch.errors import CheckpointError

VERSION: Final = 1
"""The layout that is written. Every earlier one is read; a test keeps a file of each."""

UPGRADES: Final[dict[int, Callable[[Any], Any]]] = {}
"""From the ``state`` of a version to that of the next one."""

_NO_DIGEST: Final = "0" * 64
_CHUNK: Final = 1 << 22
_LONGEST: Final = 100_000_000
"""Bytes of a header: no reader of safetensors takes a longer one."""

DTYPE_NAMES: Final = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e5m2: "F8_E5M2",
    torch.complex64: "C64",
    torch.bool: "BOOL",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint64: "U64",
    torch.uint32: "U32",
    torch.uint16: "U16",
    torch.uint8: "U8",
}
"""What safetensors calls the dtypes that it has; `pack` keeps tensors of others as their bytes."""

DTYPES: Final = {name: dtype for dtype, name in DTYPE_NAMES.items()}


def write(path: Path, about: dict[str, Any], state: Any, tensors: dict[str, torch.Tensor]) -> None:
    """Write a checkpoint in one step.

    Args:
        about: versions and the like, plain JSON.
        state: JSON in which tensors are named.
        tensors: these tensors, contiguous on the CPU.

    Raises:
        CheckpointError: it can't be written.
    """
    metadata = {"format": "pt", "simpletorch": str(VERSION), "sha256": _NO_DIGEST}
    metadata |= {"about": json.dumps(about), "state": json.dumps(state, allow_nan=False)}
    # Widest first, so that every tensor is aligned to its element size, as the format's own writer does.
    names = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name in names:
        start, end = end, end + tensors[name].nbytes
        dtype, shape = DTYPE_NAMES[tensors[name].dtype], list(tensors[name].shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    head = head_of(header)
    if len(head) - 8 > _LONGEST:
        raise CheckpointError(
            f"{path} would have {len(head):,} bytes of lists and strings; at most {_LONGEST:,} can be read again",
            hint="give long lists of numbers as tensors or arrays",
        )
    digest = hashlib.sha256(head)
    with replacing(path, len(head) + end) as file:
        file.write(head)
        with flushing(file) as put:
            for name in names:
                for chunk in bytes_of(tensors[name]):
                    put(chunk)
                    digest.update(chunk)
        # The checksum has as many characters as the zeros in its place, so the header's length stays.
        metadata["sha256"] = digest.hexdigest()
        file.seek(0)
        file.write(head_of(header))


def head_of(header: dict[str, Any]) -> bytes:
    """A safetensors file's beginning: the header and its length."""
    text = json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def bytes_of(tensor: torch.Tensor) -> Iterator[memoryview]:
    """A contiguous tensor's memory, a few MB at a time."""
    if tensor.numel():
        raw = tensor.reshape(-1).view(torch.uint8).numpy().data
        for start in range(0, len(raw), _CHUNK):
            yield raw[start : start + _CHUNK]


def read(path: Path) -> tuple[int, dict[str, Any], Any, dict[str, torch.Tensor]]:
    """The version, ``about``, ``state`` (of today's layout) and ``tensors`` as written, every byte verified.

    Everything is read in one pass from one open file, which can't be exchanged meanwhile.

    Raises:
        CheckpointError: there is no such file, or it is no checkpoint, damaged, or of a newer version.
    """
    with opened(path) as file:
        header, metadata, digest, left = _begun(path, file)
        try:
            tensors, end = _laid_out(header, left), 0
            for name, start, tensor in tensors:
                if start != end:
                    raise ValueError(f"{name!r} doesn't begin where the one before ends")
                end += tensor.nbytes
                for chunk in bytes_of(tensor):
                    if file.readinto(chunk) != len(chunk):  # type: ignore[attr-defined]
                        raise ValueError("it ends too early")
                    digest.update(chunk)
            if end != left:
                raise ValueError("its tensors aren't all of it")
        except MemoryError:
            raise
        except (KeyError, ValueError, TypeError, RuntimeError, OverflowError) as error:
            _compare(path, file, metadata, digest)
            raise CheckpointError(f"{path} is no valid checkpoint: {error}") from error
        _compare(path, file, metadata, digest)
    try:
        version, state = int(metadata["simpletorch"]), json.loads(metadata["state"])
        for older in range(version, VERSION):
            state = UPGRADES[older](state)
        return version, json.loads(metadata["about"]), state, {name: tensor for name, _, tensor in tensors}
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise CheckpointError(f"{path} is no valid checkpoint: {error}") from error


def _laid_out(header: Mapping[str, Any], size: int) -> list[tuple[str, int, torch.Tensor]]:
    """The tensors of a header, without numbers yet, by where they begin.

    Raises:
        ValueError, TypeError, KeyError, OverflowError: the header says something that can't be.
    """
    found = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        dtype, shape, (start, end) = DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        if not all(type(n) is int and n >= 0 for n in (*shape, start, end)):
            raise ValueError(f"{name!r} has the sizes {shape} from {start} to {end}")
        if end > size or math.prod(shape) * dtype.itemsize != end - start:
            raise ValueError(f"{name!r} of {shape} isn't from {start} to {end}")
        found.append((start, end, name, dtype, shape))
    found.sort(key=lambda row: row[:2])  # one without elements begins where the next one does
    return [(name, start, torch.empty(shape, dtype=dtype)) for start, _, name, dtype, shape in found]


def verify(path: Path) -> dict[str, str]:
    """The metadata of the checkpoint ``path``, after its checksum was found right.

    Raises:
        CheckpointError: as for `read`.
    """
    with opened(path) as file:
        _, metadata, digest, _ = _begun(path, file)
        _compare(path, file, metadata, digest)
    return metadata


def _begun(path: Path, file: BinaryIO) -> tuple[dict[str, Any], dict[str, str], Any, int]:
    """A file's header, its metadata, the checksum so far, and how many bytes are left."""
    head = file.read(8)
    length, size = int.from_bytes(head, "little"), os.fstat(file.fileno()).st_size
    if reason := _no_header(head, length, size):
        raise CheckpointError(f"{path} {reason}")
    text = file.read(length)
    header = _header(path, text)
    metadata = _metadata(path, header)
    # the first place is the checksum's own: `write` puts it before the texts that could have the same digits
    digest = hashlib.sha256(head + text.replace(metadata["sha256"].encode(), _NO_DIGEST.encode(), 1))
    return header, metadata, digest, size - 8 - length


def _compare(path: Path, file: BinaryIO, metadata: Mapping[str, str], digest: Any) -> None:
    """Compare the checksum of what was read and of the rest with what the file says."""
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    if digest.hexdigest() != metadata["sha256"]:
        raise CheckpointError(f"{path} is damaged: its checksum is not that of its contents")


def is_of_torch(head: bytes) -> bool:
    """Whether a file's first eight bytes are those of ``torch.save``: a zip archive or, in its older layout, a pickle.

    A safetensors file begins with the length of its header, which may have the same two bytes in front: 640 is
    ``80 02`` and six zeros. The other two have no zeros there.
    """
    return head[4:] != bytes(4) and (head[:4] == b"PK\x03\x04" or head[:2] in (b"\x80\x02", b"\x80\x04"))


def _no_header(head: bytes, length: int, size: int) -> str:
    """Why this can't be the beginning of a checkpoint; "" when it can."""
    if size == 0:
        return "is empty"
    if is_of_torch(head):
        return (
            "is a file of torch.save, not a checkpoint of simpletorch: read it with "
            "simpletorch.checkpoint.from_torch, which runs no code from it"
        )
    if len(head) < 8 or not 2 <= length <= size - 8:
        return "is damaged or no checkpoint: it ends before its header does"
    if length > _LONGEST:
        return f"is damaged or no checkpoint: its header would have {length:,} bytes"
    return ""


def _header(path: Path, text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged or no checkpoint: its header can't be read") from error
    if not isinstance(header, dict):
        raise CheckpointError(f"{path} is damaged or no checkpoint: its header can't be read")
    return header


def _metadata(path: Path, header: Mapping[str, Any]) -> dict[str, str]:
    metadata = header.get("__metadata__", {})
    if not isinstance(metadata, dict) or "simpletorch" not in metadata:
        raise CheckpointError(
            f"{path} is a safetensors file, but no checkpoint of simpletorch",
            hint="for weights alone use simpletorch.checkpoint.load_weights(path, model)",
        )
    version = metadata["simpletorch"]
    if not (isinstance(version, str) and version.isdecimal() and len(version) < 9):
        raise CheckpointError(f"{path} is damaged: its version is {version!r}")
    if int(version) > VERSION:
        raise CheckpointError(
            f"{path} was written by a newer simpletorch: its format is {version}, this one reads up to {VERSION}",
            hint="update simpletorch",
        )
    for name in ("sha256", "about", "state"):
        if not isinstance(metadata.get(name), str):
            raise CheckpointError(f"{path} is damaged: its header has no {name}")
    if len(metadata["sha256"]) != 64:
        raise CheckpointError(f"{path} is damaged: its checksum has another length")
    return metadata
