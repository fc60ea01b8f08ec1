"""The storage of torch's distributed checkpoints (DCP): safetensors files, one for each process.

DCP plans the parts of tensors that each process writes and reads. Its own files are pickles, and so is its index. Ours
are read by any tool that reads safetensors. The index is JSON in the checkpoint's manifest (see `_sharded`). For each
tensor it has the dtype, the whole shape and the parts; for each part, its place in the whole, its place in a file, and
a checksum. The checksum is a CRC-32, which finds accidental damage only. SHA-256 took three times as long as everything
else.

Loaded when tensors are sharded: importing DCP takes a second.

Source: https://docs.pytorch.org/docs/stable/distributed.checkpoint.html#torch.distributed.checkpoint.StorageWriter
"""

from __future__ import annotations

import hashlib
import mmap
import os
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import torch
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner
from torch.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
from torch.futures import Future

from simpletorch._atomic import flushing, opened, replacing
from simpletorch.checkpoint._format import DTYPE_NAMES, DTYPES, bytes_of, head_of
from simpletorch.errors import CheckpointError, as_also

Mapped: TypeAlias = tuple[int, mmap.mmap]
"""Which file it is, and its memory."""
_PIECE: Final = 1 << 20  # bytes that are read at a time: they fit into a core's cache


class ShardWriter(StorageWriter):
    """Writes this process's parts into ``folder/file``, and has the first process commit the index of all parts."""

    def __init__(self, folder: Path, file: str, commit: Callable[[dict[str, Any]], None]) -> None:
        self.folder, self.file, self.commit = folder, file, commit

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """All parts one after the other in one file, which is there in full or not at all."""
        parts: list[tuple[Any, torch.Tensor]] = []
        for item in plan.items:
            # of a DTensor that is this process's part of it
            tensor: Any = planner.resolve_data(item)
            parts.append((item, tensor.detach().to("cpu").contiguous()))
        # widest first, so that every part is aligned to its element size, as safetensors wants it
        parts.sort(key=lambda part: -part[1].element_size())
        results = self._write(parts) if parts else []
        future: Future[list[WriteResult]] = Future()
        future.set_result(results)
        return future

    def _write(self, parts: list[tuple[Any, torch.Tensor]]) -> list[WriteResult]:
        header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
        end = 0
        for item, tensor in parts:
            start, end = end, end + tensor.nbytes
            entry = {"dtype": DTYPE_NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
            header[_name_of(item.index)] = entry
        head = head_of(header)
        results, place = [], len(head)
        with replacing(self.folder / self.file, len(head) + end) as file, flushing(file) as write:
            file.write(head)
            for item, tensor in parts:
                digest = 0
                for chunk in bytes_of(tensor):
                    write(chunk)
                    digest = zlib.crc32(chunk, digest)
                stored = {"file": self.file, "at": place, "bytes": tensor.nbytes, "crc32": f"{digest:08x}"}
                results.append(WriteResult(item.index, tensor.nbytes, stored))
                place += tensor.nbytes
        return results

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """In the first process, when all have written: the checkpoint is there as soon as its index is."""
        stored = {_key(result.index): result.storage_data for its in results for result in its}
        table = {}
        for name, entry in metadata.state_dict_metadata.items():
            assert isinstance(entry, TensorStorageMetadata)  # nothing else is given to be written
            parts = [
                {"offsets": list(chunk.offsets), "sizes": list(chunk.sizes), **stored[name, tuple(chunk.offsets)]}
                for chunk in entry.chunks
                if all(chunk.sizes)  # a process whose share is empty has a part too
            ]
            table[name] = {"dtype": DTYPE_NAMES[entry.properties.dtype], "shape": list(entry.size), "parts": parts}
        self.commit(table)

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Nothing to forget: one of these writes one checkpoint."""

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Nothing to prepare: the file's folder is made with it."""

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """As it is."""
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """As they are."""
        return plans

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Never asked: the storage is always given."""
        return True


class ShardReader(StorageReader):
    """Reads the parts that a process needs, each as a whole, and only if its checksum is right.

    Args:
        lendable: of the tensors that are only going to be copied, how many elements this process wants. Where a part is
            all that, ``lent`` gets it as it lies in the file, mapped: memory that was never used is what takes time.
        used: names of tensors that are in use, and so stay as they are if anything is damaged.
    """

    def __init__(
        self, folder: Path, table: Mapping[str, Any], lendable: Mapping[str, int], used: Collection[str]
    ) -> None:
        self.folder, self.table, self.lendable, self.used = folder, table, lendable, used
        self.lent: dict[str, torch.Tensor] = {}
        self._files: dict[str, Mapped] = {}
        self._parts = {(name, tuple(p["offsets"])): p for name, entry in table.items() for p in entry["parts"]}

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """DCP's own description, made from the index."""
        entries: dict[str, Any] = {}
        for name, entry in self.table.items():
            chunks = [
                ChunkStorageMetadata(torch.Size(part["offsets"]), torch.Size(part["sizes"])) for part in entry["parts"]
            ]
            properties = TensorProperties(dtype=DTYPES[entry["dtype"]])
            entries[name] = TensorStorageMetadata(properties, torch.Size(entry["shape"]), chunks)
        return Metadata(entries)

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Copy what is asked for into the tensors that ask; into those that are in use when all was found undamaged."""
        by_part: dict[Any, list[Any]] = {}
        for item in plan.items:
            by_part.setdefault(_key(item.storage_index), []).append(item)
        late: list[tuple[Any, torch.Tensor]] = []
        for key, items in by_part.items():
            whole = self._read(key)
            for item in items:
                source, name = whole, item.dest_index.fqn
                for dim, (start, length) in enumerate(zip(item.storage_offsets, item.lengths, strict=True)):
                    source = source.narrow(dim, start, length)
                if name in self.used:
                    late.append((item, source))
                elif source.numel() == self.lendable.get(name):
                    self.lent[name] = source
                else:
                    _put(item, source, planner)
        for item, source in late:
            _put(item, source, planner)
        future: Future[None] = Future()
        future.set_result(None)
        return future

    def _read(self, key: tuple[str, tuple[int, ...]]) -> torch.Tensor:
        part, dtype = self._parts[key], DTYPES[self.table[key[0]]["dtype"]]
        if not part["bytes"]:
            return torch.empty(part["sizes"], dtype=dtype)
        return torch.frombuffer(verified(self.folder, part, self._files), dtype=dtype).reshape(part["sizes"])

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Nothing to forget: one of these reads one checkpoint."""

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Nothing to prepare."""

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """As it is."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """As they are."""
        return plans

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Never asked: the storage is always given."""
        return True


def _put(item: Any, source: torch.Tensor, planner: LoadPlanner) -> None:
    target = planner.resolve_tensor(item).detach()
    target.copy_(source)
    planner.commit_tensor(item, target)


def verified(folder: Path, part: Mapping[str, Any], files: dict[str, Mapped]) -> memoryview:
    """The bytes of a part, whose checksum is right, in the file's map; ``files`` keeps what is open.

    Raises:
        CheckpointError: the file is missing, too short, or other bytes are there.
    """
    name = part["file"]
    start, end = part["at"], part["at"] + part["bytes"]
    try:
        with opened(folder / name) as file:
            found = os.fstat(file.fileno())
            if name not in files:
                # not of read access alone: torch has no read-only tensors. Writes don't reach the file.
                files[name] = found.st_ino, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            node, memory = files[name]
            # the file that is mapped: under its name there may be another one by now
            is_right = found.st_ino == node and 0 <= start <= end <= len(memory) and _is_right(part, file)
    except ValueError as error:  # an empty file can't be mapped
        raise CheckpointError(f"{folder} is damaged: {name} can't be read: {error}") from error
    except CheckpointError as error:
        reason = error.reason.rpartition(": ")[2]
        also = next((kind for kind in (FileNotFoundError, OSError) if isinstance(error, kind)), None)
        made = CheckpointError if also is None else as_also(CheckpointError, also)
        raise made(f"{folder} is damaged: {name} can't be read: {reason}", hint=error.hint) from error
    if not is_right:
        raise CheckpointError(f"{folder} is damaged: the checksum of a part of {name} is not that of its contents")
    return memoryview(memory)[start:end]


def _is_right(part: Mapping[str, Any], file: BinaryIO) -> bool:
    if "crc32" in part:
        crc = 0
        for piece in _pieces(file, part["at"], part["bytes"]):
            crc = zlib.crc32(piece, crc)
        return bool(f"{crc:08x}" == part["crc32"])
    if "sha256" in part:  # of the first checkpoints in several files
        sha = hashlib.sha256()
        for piece in _pieces(file, part["at"], part["bytes"]):
            sha.update(piece)
        return bool(sha.hexdigest() == part["sha256"])
    raise CheckpointError(
        f"{part['file']} has checksums of a kind that this simpletorch doesn't know", hint="update simpletorch"
    )


def _pieces(file: BinaryIO, start: int, size: int) -> Iterator[memoryview]:
    """The bytes from ``start`` on, one piece after the other in the same small memory.

    They are read, though they are mapped too: a map is read from a disk by single pages, as somebody looks at them.
    """
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), start, size, os.POSIX_FADV_SEQUENTIAL)
    piece = memoryview(bytearray(min(size, _PIECE)))
    file.seek(start)
    while size:
        read = file.readinto(piece[:size])  # type: ignore[attr-defined]
        if not read:
            return
        yield piece[:read]
        size -= read


def _key(index: MetadataIndex) -> tuple[str, tuple[int, ...]]:
    return index.fqn, tuple(index.offset or ())


def _name_of(index: MetadataIndex) -> str:
    """The name in the file: the tensor, and where the part begins in it."""
    place = ",".join(map(str, index.offset or ()))
    return f"{index.fqn}@{place}" if place else index.fqn
