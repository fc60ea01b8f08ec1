"""Streams and events: work that a GPU does in parallel, and how it is ordered."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Generic, ParamSpec, TypeVar

import torch

from simpletorch._tensors import tensors_in
from simpletorch.device import Device, DeviceLike
from simpletorch.errors import BackendError, as_also

__all__ = ["Event", "Pending", "Stream", "current_stream", "device_of", "synchronize"]

P = ParamSpec("P")
T = TypeVar("T")

_Wrong: Final = as_also(BackendError, RuntimeError)


def device_of(device: DeviceLike) -> torch.device:
    """``device`` with its index, the accelerator that torch finds for None, else the CPU.

    Raises:
        BackendError: it names a kind of device that this machine doesn't have.
    """
    if device is None:
        return Device.best()
    asked = torch.device(device)
    if asked.type in ("cpu", "meta"):
        return torch.device(asked.type)
    found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if found is None or found.type != asked.type:
        has = "no accelerator" if found is None else f"a {found.type!r} device"
        raise _Wrong(
            f"device is {str(device)!r}, but torch finds {has} here",
            hint="leave device out: it is the accelerator where there is one, and the CPU where there is none",
        )
    count = torch.accelerator.device_count()
    if asked.index is not None and asked.index >= count:
        raise _Wrong(f"device is {str(device)!r}, but there are {count} of them here, numbered from 0")
    if asked.index is None and asked.type != "mps":
        return torch.device(asked.type, torch.accelerator.current_device_index())
    return asked


class Event:
    """A mark in the work of a stream, that others wait for and that times are taken between.

    As a context manager it takes the time of its block on the current stream::

        with Event(enable_timing=True) as event:
            y = model(x)
        print(event.elapsed(), "ms")

    On the CPU, where every operation is done when it returns, waiting does nothing and times are the clock's.

    Args:
        device: by default the accelerator that torch finds, else the CPU.
        enable_timing: whether `elapsed_time` and `elapsed` can be asked; recording is cheaper without.
        blocking: whether `synchronize` lets the processor sleep instead of asking again and again.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> event = cuda.Event("cpu").record()
        >>> event.synchronize()
        >>> event.query()
        True

    Source: https://docs.pytorch.org/docs/stable/generated/torch.Event.html
    """

    def __init__(self, device: DeviceLike = None, *, enable_timing: bool = False, blocking: bool = False) -> None:
        self.device = device_of(device)
        self.enable_timing = enable_timing
        self._event = None if self.device.type == "cpu" else self._made(blocking)
        self._start: Event | None = None
        self._clock: float | None = None

    def _made(self, blocking: bool) -> torch.Event:
        return torch.Event(self.device, enable_timing=self.enable_timing, blocking=blocking)

    def record(self, stream: Stream | None = None) -> Event:
        """Stands after what ``stream`` (by default the current one) has been given so far.

        Args:
            stream: the stream to record on; None is the current one.

        Returns:
            The event itself.
        """
        if self._event is None:
            self._clock = time.perf_counter()
        else:
            self._event.record(_torch_stream(stream, self.device))
        return self

    def wait(self, stream: Stream | None = None) -> None:
        """``stream`` (by default the current one) goes on after this event; the program doesn't wait.

        Args:
            stream: the stream that waits; None is the current one.
        """
        if self._event is not None:
            self._event.wait(_torch_stream(stream, self.device))

    def query(self) -> bool:
        """Whether all work before the event is done."""
        return self._event is None or self._event.query()

    def synchronize(self) -> None:
        """Wait until all work before the event is done."""
        if self._event is not None:
            self._event.synchronize()

    def elapsed_time(self, end: Event) -> float:
        """The milliseconds from this event to ``end``, once both have happened.

        Args:
            end: the later event; both are made with ``enable_timing=True``.

        Raises:
            BackendError: one of them keeps no time, or wasn't recorded.
        """
        if not (self.enable_timing and end.enable_timing):
            raise _Wrong("an event keeps its time only if it is made with Event(enable_timing=True)")
        if self._event is None or end._event is None:
            if self._clock is None or end._clock is None:
                raise _Wrong("an event has no time before record() was called")
            return 1000 * (end._clock - self._clock)
        end.synchronize()
        return self._event.elapsed_time(end._event)

    def elapsed(self) -> float:
        """The milliseconds of the block that the event was the context of; waits for its end.

        Raises:
            BackendError: the event was not the context of a block.
        """
        if self._start is None:
            raise _Wrong("this event was not the context of a block: write `with Event(enable_timing=True) as event:`")
        return self._start.elapsed_time(self)

    def __enter__(self) -> Event:
        self._start = Event(self.device, enable_timing=self.enable_timing).record()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.record()


class Stream:
    """A queue of work on a device; work started under ``with stream:`` runs in parallel with other streams.

    ::

        copies = Stream()
        with copies:
            y = x.to("cuda", non_blocking=True)
        current_stream().wait(copies)  # before y is used

    `run` gives a result that can't be used before somebody waits. On the CPU there is one queue, the program itself.

    Args:
        device: by default the accelerator that torch finds, else the CPU.
        priority: lower numbers go first where the device has to choose.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> stream = cuda.Stream("cpu")
        >>> with stream:
        ...     total = torch.ones(3).sum()
        >>> stream.synchronize()
        >>> total
        tensor(3.)

    Source: https://docs.pytorch.org/docs/stable/generated/torch.Stream.html
    """

    def __init__(self, device: DeviceLike = None, *, priority: int = 0) -> None:
        self.device = device_of(device)
        self.priority = priority
        on_cpu = self.device.type == "cpu"
        self.torch_stream = None if on_cpu else torch.Stream(self.device, priority=priority)

    @classmethod
    def _of(cls, torch_stream: torch.Stream) -> Stream:
        stream = cls.__new__(cls)
        stream.device, stream.priority, stream.torch_stream = torch_stream.device, 0, torch_stream
        return stream

    def __enter__(self) -> Stream:
        if self.torch_stream is not None:
            self.torch_stream.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.torch_stream is not None:
            self.torch_stream.__exit__(kind, error, at)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return self.device == other.device and self.torch_stream == other.torch_stream

    def __hash__(self) -> int:
        return hash((self.device, self.torch_stream))

    def __repr__(self) -> str:
        return f"Stream(device={str(self.device)!r}, priority={self.priority})"

    def wait(self, *others: Stream | Event) -> None:
        """Later work of this stream starts after the present work of the others; the program doesn't wait.

        `wait_stream` and `wait_event` are torch's names for one of each.

        Args:
            others: streams or events.
        """
        for other in others:
            if isinstance(other, Event):
                other.wait(self)
            elif self.torch_stream is not None and other.torch_stream is not None:
                self.torch_stream.wait_stream(other.torch_stream)

    def wait_stream(self, stream: Stream) -> None:
        """`wait` for a stream.

        Args:
            stream: the stream to wait for.
        """
        self.wait(stream)

    def wait_event(self, event: Event) -> None:
        """`wait` for an event.

        Args:
            event: the event to wait for.
        """
        self.wait(event)

    def record_event(self, event: Event | None = None) -> Event:
        """An event (a new one by default) after what this stream has been given so far.

        Args:
            event: the event to record; None makes a new one.
        """
        return (Event(self.device) if event is None else event).record(self)

    def query(self) -> bool:
        """Whether all that this stream was given is done."""
        return self.torch_stream is None or self.torch_stream.query()

    def synchronize(self) -> None:
        """The program waits until all that this stream was given is done."""
        if self.torch_stream is not None:
            self.torch_stream.synchronize()

    def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Pending[T]:
        """Starts ``function(*args, **kwargs)`` on this stream, after what the current stream has been given.

        The result is `Pending`: a checker refuses to use it, `Pending.wait` gives it to the current stream.

        Args:
            function: any function that works on tensors.
            args: its positional arguments.
            kwargs: its keyword arguments.

        Returns:
            The result, to be waited for.
        """
        self.wait(current_stream(self.device))
        with self:
            result = function(*args, **kwargs)
        for tensor in tensors_in((args, kwargs)):
            _used_on(tensor, self)  # the caller may drop them while this stream still reads
        return Pending(result, self)


class Pending(Generic[T]):
    """A result that a stream is computing; returned by `Stream.run`.

    Args:
        value: the result, which may not be computed yet.
        stream: the stream that computes it.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> pending = cuda.Stream("cpu").run(torch.ones(3).sum)
        >>> pending.wait()
        tensor(3.)
    """

    def __init__(self, value: T, stream: Stream) -> None:
        self._value = value
        self.stream = stream
        self.event = stream.record_event()

    def wait(self, stream: Stream | None = None) -> T:
        """The result, for use on ``stream`` (by default the current one), which goes on after it is there.

        Its memory is not given away while that stream uses it, as `torch.Tensor.record_stream` sees to.

        Args:
            stream: the stream that will use the result; None is the current one.
        """
        user = current_stream(self.stream.device) if stream is None else stream
        user.wait(self.event)
        for tensor in tensors_in(self._value):
            _used_on(tensor, user)
        return self._value

    def synchronize(self) -> T:
        """The result, once it is computed: the program waits."""
        self.event.synchronize()
        return self.wait()

    def query(self) -> bool:
        """Whether it is computed."""
        return self.event.query()

    def __repr__(self) -> str:
        return f"Pending({type(self._value).__name__}, on {self.stream!r}): call wait() to use it"


def current_stream(device: DeviceLike = None) -> Stream:
    """The current stream, which gets the work unless another is chosen.

    Args:
        device: a device or its name; None is the accelerator that torch finds, else the CPU.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> stream = cuda.current_stream("cpu")
    """
    where = device_of(device)
    if where.type == "cpu":
        return Stream(where)
    return Stream._of(torch.accelerator.current_stream(where))


def synchronize(device: DeviceLike = None) -> None:
    """The program waits until everything that ``device`` was given, on any stream, is done.

    Args:
        device: a device or its name; None is the accelerator that torch finds, else the CPU.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> cuda.synchronize("cpu")
    """
    where = device_of(device)
    if where.type != "cpu":
        torch.accelerator.synchronize(where)


def _torch_stream(stream: Stream | None, device: torch.device) -> Any:
    found = current_stream(device) if stream is None else stream
    if found.torch_stream is None:
        raise _Wrong(f"the event is on {str(device)!r} and the stream on {str(found.device)!r}")
    return found.torch_stream


def _used_on(tensor: torch.Tensor, stream: Stream) -> None:
    if stream.torch_stream is not None and tensor.device == stream.device:
        tensor.record_stream(stream.torch_stream)
