"""Tensors in memory that two processes share: how a worker's batch gets to the loader without being copied.

A worker stacks a large tensor right into a shared block; through the connection go only a short message and the
blocks' handles. A handle travels inside the message itself, so nothing is left behind when a process is killed. There
is no name in the file system, and no server thread that the other side would have to ask (torch's way needs one). A
container's limit on the size of ``/dev/shm`` doesn't apply. Where the platform can't pass handles, everything goes in
the message.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import sys
import tempfile
from collections.abc import Sequence
from math import prod
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler, recv_handle, send_handle
from pathlib import Path
from typing import Any, Final

import numpy.typing as npt
import torch

BIG: Final = 1 << 15
"""Bytes from which a shared block is cheaper than the message."""
_HANDLES: Final = next((path for path in ("/proc/self/fd", "/dev/fd") if Path(path).is_dir()), None)
"""The folder in which a handle is a file that can be mapped; None where handles are not passed."""
_HEADER: Final = struct.Struct("<I?")  # how many handles follow, and whether the last one is the message itself

_SPREAD: Final = 1 << 15
"""Elements from which torch spreads a copy over its threads."""
_OF_NUMPY: Final = frozenset(
    {torch.float32, torch.float64, torch.uint8, torch.int8, torch.int32, torch.int64, torch.bool}
)
_WORDS: Final = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""What stands for dtypes that NumPy doesn't have, by their bytes."""

_lent: dict[int, tuple[int, torch.Tensor]] | None = None
"""In a worker: handle and tensor of the blocks that are not sent yet, by address; None elsewhere."""


# -- stacking ------------------------------------------------------------------------------------------------------


def begin() -> None:
    """From now on this process is a worker: `stack` and `select` use shared blocks."""
    global _lent
    _lent = {}


def stack(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """``torch.stack``, in a worker right into memory that is shared with the loader."""
    if _lent is None or not _is_worth_it(tensors):
        return torch.stack(tuple(tensors))
    first = tensors[0]
    return torch.stack(tuple(tensors), out=_empty((len(tensors), *first.shape), first.dtype))


def select(tensor: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """``tensor.index_select(0, rows)``, in a worker right into memory that is shared with the loader."""
    if _lent is None:
        return tensor.index_select(0, rows)
    shape = (len(rows), *tensor.shape[1:])
    if prod(shape) * tensor.element_size() < BIG or not _is_plain(tensor):
        return tensor.index_select(0, rows)
    return torch.index_select(tensor, 0, rows, out=_empty(shape, tensor.dtype))


class Rows:
    """The rows of a tensor, from which batches are copied.

    torch spreads a large copy over its threads, which wait for each other: where another process runs, that takes a
    hundred times as long now and then (`benchmarks/loader.py --busy`). So NumPy copies those, in one thread.
    """

    __slots__ = ("_address", "_as_word", "_least", "_numbers", "tensor")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self._least = -(-_SPREAD // max(prod(tensor.shape[1:]), 1))  # rows
        self._as_word = None if tensor.dtype in _OF_NUMPY else _WORDS.get(tensor.element_size())
        self._address = 0
        self._numbers: npt.NDArray[Any] | None = None

    def select(self, rows: torch.Tensor) -> torch.Tensor:
        """``tensor.index_select(0, rows)``, in a worker right into memory that is shared with the loader."""
        numbers = self._as_numbers() if len(rows) >= self._least and _lent is None else None
        if numbers is None:
            return select(self.tensor, rows)
        return self._as_tensor(numbers.take(rows.numpy(), axis=0))

    def span(self, start: int, length: int) -> torch.Tensor:
        """A copy of the rows from ``start`` on."""
        numbers = self._as_numbers() if length >= self._least else None
        if numbers is None:
            return self.tensor.narrow(0, start, length).clone()
        return self._as_tensor(numbers[start : start + length].copy())

    def _as_numbers(self) -> npt.NDArray[Any] | None:
        """The tensor's memory as NumPy has it, as long as it is that; None if NumPy can't copy it."""
        address = self.tensor.data_ptr()
        if address != self._address:
            known = self._as_word is not None or self.tensor.dtype in _OF_NUMPY
            plain = known and _is_plain(self.tensor) and self.tensor.is_contiguous()
            words = self.tensor if self._as_word is None else self.tensor.view(self._as_word)
            self._numbers = words.numpy() if plain else None
            self._address = address
        return self._numbers

    def _as_tensor(self, numbers: npt.NDArray[Any]) -> torch.Tensor:
        found = torch.from_numpy(numbers)
        return found if self._as_word is None else found.view(self.tensor.dtype)

    def __reduce__(self) -> tuple[type[Rows], tuple[torch.Tensor]]:
        return Rows, (self.tensor,)


def _is_worth_it(tensors: Sequence[torch.Tensor]) -> bool:
    first = tensors[0]
    if first.numel() * first.element_size() * len(tensors) < BIG:
        return False
    # torch promotes mixed dtypes, and refuses other shapes: both are its business
    return all(_is_plain(t) and t.dtype is first.dtype and t.shape == first.shape for t in tensors)


def _is_plain(tensor: torch.Tensor) -> bool:
    """Whether dtype, shape and bytes are all there is to know of it."""
    return (
        type(tensor) is torch.Tensor
        and tensor.device.type == "cpu"
        and tensor.layout is torch.strided
        and not (tensor.requires_grad or tensor.is_quantized or tensor.is_conj() or tensor.is_neg())
    )


def _empty(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """A tensor in a new shared block."""
    if _lent is None or _HANDLES is None:
        return torch.empty(shape, dtype=dtype)
    handle = _new_block(prod(shape) * dtype.itemsize)
    tensor = _mapped(handle, shape, dtype)
    _lent[tensor.data_ptr()] = handle, tensor
    return tensor


def _new_block(size: int) -> int:
    if sys.platform == "linux":
        handle = os.memfd_create("simpletorch-batch")
    else:
        with tempfile.TemporaryFile() as file:
            handle = os.dup(file.fileno())
    os.ftruncate(handle, size)
    return handle


def _mapped(handle: int, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    # not mmap.mmap: it keeps the handle open, and a program that keeps many batches would run out of them
    return torch.from_file(f"{_HANDLES}/{handle}", shared=True, size=prod(shape), dtype=dtype).view(tuple(shape))


# -- messages -----------------------------------------------------------------------------------------------------


class _Pickler(ForkingPickler):
    """Puts tensors aside: small ones as bytes, large ones as a handle. Other objects are pickled as torch does."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.handles: list[int] = []
        self.seen: dict[int, tuple[int, torch.Tensor]] = {}

    def persistent_id(self, obj: object) -> object:
        if not isinstance(obj, torch.Tensor) or not _is_plain(obj):
            return None
        if id(obj) in self.seen:
            return self.seen[id(obj)][0]
        # the tensor is kept as well: were it freed before all is pickled, another object could get its id
        self.seen[id(obj)] = len(self.seen), obj
        size = obj.numel() * obj.element_size()
        if size < BIG or _HANDLES is None:
            data = obj.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if size else b""
            return len(self.seen) - 1, obj.dtype, tuple(obj.shape), data
        self.handles.append(_block_of(obj))
        return len(self.seen) - 1, obj.dtype, tuple(obj.shape), len(self.handles) - 1


def _block_of(tensor: torch.Tensor) -> int:
    """A handle of a block with just this tensor in it."""
    lent = None if _lent is None else _lent.pop(tensor.data_ptr(), None)
    if lent is not None:
        # a view may begin at the same address, but it isn't all of the block
        if lent[1].shape == tensor.shape and lent[1].stride() == tensor.stride() and lent[1].dtype is tensor.dtype:
            return lent[0]
        os.close(lent[0])
    handle = _new_block(tensor.numel() * tensor.element_size())
    _mapped(handle, tensor.shape, tensor.dtype).copy_(tensor)
    return handle


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, handles: Sequence[int]) -> None:
        super().__init__(file)
        self.handles = handles
        self.seen: dict[int, torch.Tensor] = {}

    def persistent_load(self, pid: Any) -> torch.Tensor:
        if isinstance(pid, int):
            return self.seen[pid]
        number, dtype, shape, data = pid
        if isinstance(data, int):
            tensor = _mapped(self.handles[data], shape, dtype)
        elif data:
            # a bytearray, because bytes are read-only, and torch warns of tensors over such memory
            tensor = torch.frombuffer(bytearray(data), dtype=dtype).view(shape)
        else:
            tensor = torch.empty(shape, dtype=dtype)
        self.seen[number] = tensor
        return tensor


def send(connection: Connection, message: object) -> None:
    """Send an object; large tensors in it go by handle.

    Raises:
        OSError: the other side is gone, or there is no memory for a block.
    """
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        pickler.dump(message)
        data = file.getbuffer()
        apart = len(data) >= BIG and _HANDLES is not None
        if apart:  # so that no message is larger than what a connection holds, and sending waits for no reader
            pickler.handles.append(_new_block(len(data)))
            os.pwrite(pickler.handles[-1], data, 0)
        header = _HEADER.pack(len(pickler.handles), apart)
        connection.send_bytes(header if apart else header + data)
        for handle in pickler.handles:
            send_handle(connection, handle, None)
    finally:
        for handle in pickler.handles:
            os.close(handle)
        _forget_lent()


def _forget_lent() -> None:
    """Blocks that were not sent after all: the batch was changed, or failed."""
    if _lent:
        for handle, _ in _lent.values():
            os.close(handle)
        _lent.clear()


def receive(connection: Connection) -> Any:
    """The next object that the other side has sent; waits for it.

    Raises:
        EOFError: the other side is gone.
        OSError: likewise, or this process has too many open files.
    """
    data = connection.recv_bytes()
    count, apart = _HEADER.unpack_from(data)
    handles: list[int] = []
    try:
        for _ in range(count):
            handles.append(recv_handle(connection))
        if apart:
            data = os.pread(handles[-1], os.fstat(handles[-1]).st_size, 0)
            return _Unpickler(io.BytesIO(data), handles).load()
        return _Unpickler(io.BytesIO(data[_HEADER.size :]), handles).load()
    finally:
        for handle in handles:
            os.close(handle)
