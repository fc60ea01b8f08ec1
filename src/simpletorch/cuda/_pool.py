"""`TensorPool`: buffers that are used again instead of being allocated again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, overload

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from simpletorch._tensors import tensors_in
from simpletorch.cuda._streams import Event, Stream, current_stream, device_of
from simpletorch.device import DeviceLike
from simpletorch.dtypes import Shaped
from simpletorch.errors import TorchError, as_also

__all__ = ["TensorPool"]

_Key = tuple[tuple[int, ...], torch.dtype, torch.device]
_Misused: Final = as_also(TorchError, RuntimeError)
_Wrong: Final = as_also(TorchError, ValueError)
_HERE: Final = __file__
# private, as in torch's own modes: the pool's own queries of a tensor don't count as its use
_UNWATCHED: Final = torch._C.DisableTorchFunction
_HINT: Final = "give a buffer back after its last use; views of it count too"


class _Loan:
    """A buffer in somebody's hands, and afterwards what is known of that."""

    def __init__(self, buffer: torch.Tensor) -> None:
        self.buffer = buffer
        self.returned_at = ""  # the line that gave it back
        self.handed: torch.Tensor | None = None  # the tensor handed out, while its buffer is in the pool
        self.version = 0  # of that tensor when it came back
        self.stream: Stream | None = None  # of its last use
        self.event: Event | None = None  # after that use


class TensorPool:
    """Buffers by shape, dtype and device: `get` one, `give` it back, and the next `get` of that kind has it again.

    ::

        pool = TensorPool()
        with pool.borrowed(64, 784, dtype=torch.float16) as buffer:
            torch.mul(x, scale, out=buffer)

    A buffer's contents are whatever was there before. A stream that gets a buffer which another one used last waits for
    that use. A buffer that isn't given back is freed like any tensor. A pool is for one thread.

    Args:
        device: where buffers are by default: the accelerator that torch finds, else the CPU.
        limit: how many bytes may lie unused in the pool; more than that is freed when it is given back.
        debug: mistakes are found. A buffer given back twice, or written to after it was given back, is an error that
            names the line that gave it back; a floating buffer is NaN when it is handed out. Under ``with pool:`` every
            use of a tensor that was given back (and of views of it) is an error at its own line.

    Raises:
        TorchError: ``limit`` is negative.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> pool = cuda.TensorPool("cpu")
        >>> buffer = pool.get(7, 3)
        >>> pool.give(buffer)
        >>> pool.get(7, 3).shape
        torch.Size([7, 3])
    """

    def __init__(self, device: DeviceLike = None, *, limit: int | None = None, debug: bool = False) -> None:
        if limit is not None and limit < 0:
            raise _Wrong(f"limit is {limit!r}: it is a number of bytes, 0 or more")
        self.device = device_of(device)
        self.limit = limit
        self.debug = debug
        self.hits = 0
        self.misses = 0
        self._free: dict[_Key, list[_Loan]] = {}
        self._loans: MutableMapping[torch.Tensor, _Loan] = WeakIdKeyDictionary()
        self._watches: list[_Watch] = []

    @overload
    def get(
        self, *shape: int, dtype: torch.dtype | type[Shaped] | None = None, device: DeviceLike = None
    ) -> torch.Tensor: ...
    @overload
    def get(
        self, shape: Sequence[int], /, dtype: torch.dtype | type[Shaped] | None = None, device: DeviceLike = None
    ) -> torch.Tensor: ...
    def get(self, *shape: Any, dtype: Any = None, device: DeviceLike = None) -> torch.Tensor:
        """A tensor of this shape, with any contents, ``dtype`` torch's default if it isn't given.

        ``pool.get(64, 784, dtype=torch.float32)`` and ``pool.get([64, 784], Float32)`` are the same.

        Args:
            shape: the sizes, or one list of sizes with the dtype behind it.
            dtype: a torch dtype or a simpletorch one (``Float32``); None is torch's default dtype.
            device: a device or its name; None is the pool's default.

        Raises:
            ValueError: a size isn't an int of 0 or more.
            TorchError: the pool is in debug mode, and somebody wrote to this buffer after it was given back.
        """
        if shape and isinstance(shape[0], Sequence):
            if len(shape) > 2 or (len(shape) == 2 and dtype is not None):
                raise _Wrong(f"get takes a list of sizes and a dtype, but got {len(shape)} positional arguments")
            shape, dtype = tuple(shape[0]), shape[1] if len(shape) == 2 else dtype
        if isinstance(dtype, type) and issubclass(dtype, Shaped):
            dtype = dtype.dtype
        for size in shape:
            if not isinstance(size, int) or isinstance(size, bool) or size < 0:
                raise _Wrong(f"a size is an int of 0 or more, not {size!r}: pool.get(64, 784) has one argument a dim")
        where = self.device if device is None else device_of(device)
        key = (shape, torch.get_default_dtype() if dtype is None else dtype, where)
        waiting = self._free.get(key)
        if waiting:
            self.hits += 1
            buffer = self._taken(waiting.pop())
        else:
            self.misses += 1
            buffer = torch.empty(shape, dtype=key[1], device=where)
        if self.debug and buffer.dtype.is_floating_point:
            buffer.fill_(float("nan"))
        # A new tensor over the same memory, and no view: what the last user kept, and views of that, can be told apart.
        tensor: torch.Tensor = torch.empty(0, dtype=key[1], device=where).set_(
            buffer.untyped_storage(), 0, shape, buffer.stride()
        )
        self._loans[tensor] = _Loan(buffer)
        return tensor

    def _taken(self, loan: _Loan) -> torch.Tensor:
        if loan.handed is not None and _version(loan.handed) != loan.version:
            raise _Misused(
                f"this buffer of {_shown(loan.buffer)} was written to after it was given back at {loan.returned_at}",
                operation="TensorPool.get",
                hint=_HINT,
            )
        if loan.event is not None:
            stream = current_stream(loan.buffer.device)
            if loan.stream != stream:
                stream.wait(loan.event)
        loan.handed = None
        return loan.buffer

    def give(self, tensor: torch.Tensor) -> None:
        """Puts a tensor from `get` back; it and its views must not be used any more.

        Args:
            tensor: the tensor that `get` returned, not a view or a copy of it.

        Raises:
            TorchError: it isn't of this pool, or was given back before.
        """
        loan = self._loans.get(tensor)
        if loan is None:
            raise _Misused(
                f"this tensor ({_shown(tensor)}) was not handed out by this pool",
                operation="TensorPool.give",
                hint="give back the very tensor that get() returned, no view or copy of it",
            )
        if loan.returned_at:
            raise _Misused(
                f"this buffer of {_shown(loan.buffer)} was given back already, at {loan.returned_at}",
                operation="TensorPool.give",
                hint="two users would be handed the same memory",
            )
        loan.returned_at = _caller()
        if self.debug:
            loan.handed, loan.version = tensor, _version(tensor)
        if loan.buffer.device.type != "cpu":
            loan.stream = current_stream(loan.buffer.device)
            loan.event = loan.stream.record_event()
        if self.limit is not None and self.bytes + loan.buffer.nbytes > self.limit:
            return  # freed with its last reference
        key = (tuple(loan.buffer.shape), loan.buffer.dtype, loan.buffer.device)
        self._free.setdefault(key, []).append(loan)

    @contextmanager
    def borrowed(
        self, *shape: int, dtype: torch.dtype | None = None, device: DeviceLike = None
    ) -> Iterator[torch.Tensor]:
        """`get` for the length of a ``with`` block.

        Args:
            shape: the sizes.
            dtype, device: as for `get`.

        Yields:
            The tensor, which goes back to the pool at the end of the block.
        """
        tensor = self.get(*shape, dtype=dtype, device=device)
        try:
            yield tensor
        finally:
            self.give(tensor)

    @property
    def bytes(self) -> int:
        """The bytes that lie unused in the pool."""
        return sum(loan.buffer.nbytes for waiting in self._free.values() for loan in waiting)

    def clear(self) -> None:
        """Frees the unused buffers; buffers that are out stay valid."""
        self._free.clear()

    def __enter__(self) -> TensorPool:
        if self.debug:
            watch = _Watch(self)
            watch.__enter__()  # type: ignore[no-untyped-call]  # torch doesn't type its modes
            self._watches.append(watch)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._watches:
            self._watches.pop().__exit__(kind, error, at)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        unused = sum(map(len, self._free.values()))
        shown = f"unused={unused} ({self.bytes:,} bytes), {self.hits} hits, {self.misses} misses"
        return f"TensorPool({str(self.device)!r}, {shown})"

    def _returned(self, tensor: torch.Tensor) -> _Loan | None:
        """The loan that ``tensor``, or what it is a view of, was, if it is over."""
        loan = self._loans.get(tensor if tensor._base is None else tensor._base)
        return loan if loan is not None and loan.returned_at else None


class _Watch(TorchFunctionMode):
    """Refuses operations on what the pool has back."""

    def __init__(self, pool: TensorPool) -> None:
        super().__init__()
        self.pool = pool

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with _UNWATCHED():
            for tensor in tensors_in((args, kwargs)):
                loan = self.pool._returned(tensor)
                if loan is not None:
                    name = getattr(function, "__name__", str(function))
                    raise _Misused(
                        f"a buffer of {_shown(loan.buffer)} is used that was given back at {loan.returned_at}",
                        operation=name,
                        hint=_HINT,
                    )
        return function(*args, **kwargs)


def _version(tensor: torch.Tensor) -> int:
    """How often a tensor, or a view of it, was written to; not counted for tensors of inference mode."""
    with _UNWATCHED():
        return 0 if tensor.is_inference() else tensor._version


def _caller() -> str:
    """``file:line`` of who called into this file; for `TensorPool.borrowed`, of the ``with`` statement."""
    frame: Any = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename == _HERE or frame.f_globals.get("__name__") == "contextlib"):
        frame = frame.f_back
    return "?" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _shown(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
