"""A failing collective names its call and the state of the other ranks."""

from __future__ import annotations

import ctypes
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType, TracebackType
from typing import Final, TypeAlias

import torch
import torch.distributed as dist

from simpletorch import _peers
from simpletorch.errors import BackendError, explained
from simpletorch.errors.context import describe, place

_Hook: TypeAlias = Callable[[type[BaseException], BaseException, TracebackType | None], object]


@contextmanager
def during(call: str, x: torch.Tensor | None = None) -> Iterator[None]:
    """Explain torch's errors in this block, which is the collective ``call`` with ``x``.

    Raises:
        BackendError: with torch's exception as its ``__cause__``: which ranks didn't take part, and their last
            activity.
    """
    try:
        yield
    except RuntimeError as error:
        _peers.doing = call if x is None else f"{call} of {describe('x', x).type_text}"
        try:
            new = explained(error)
            if new is None:
                others = _peers.on_the_others()
                reason = f"{_peers.doing} failed: {str(error).partition(chr(10))[0]}"
                new = BackendError(reason, details=(others,) if others else (), **place())
        finally:
            _peers.doing = None
        raise new from error


# -- before a collective -----------------------------------------------------------------------------------------------

_WIDTH: Final = 128  # bytes of a call's description
_calls: dist.ProcessGroup | None = None
_limit: timedelta | None = None


def compare_calls(limit: timedelta) -> None:
    """From now on `agree` compares, and groups for numbers wait this long; a collective."""
    global _calls, _limit
    _limit = limit
    # a way of its own: what is compared is never taken for a gradient of a process that does something else
    _calls = group_for_numbers()


def group_for_numbers() -> dist.ProcessGroup:
    """All processes once more, by a way of their own over the CPU, so that none waits for its GPU; a collective."""
    with during("making a group of all ranks"):
        group: dist.ProcessGroup = dist.new_group(backend="gloo", timeout=_limit)  # torch would wait half an hour
    return group


def agree(call: str, x: torch.Tensor, settings: str = "") -> None:
    """Raise if the processes are about to run different collectives, or with different shapes or dtypes.

    On the CPU alone: gloo ends the process (SIGABRT) where sizes differ, and no error comes of it. NCCL's own
    collectives wait for nothing here; `init(check=True)` compares those too.

    Raises:
        BackendError: they differ; or a process has ended, or did not come.
    """
    if _calls is None or x.device.type != "cpu":
        return
    text = f"{call} of {describe('x', x).type_text}{settings}"
    own = torch.zeros(_WIDTH, dtype=torch.uint8)
    encoded = text.encode()[:_WIDTH]
    own[: len(encoded)] = torch.frombuffer(bytearray(encoded), dtype=torch.uint8)
    ranks = dist.get_world_size()
    everyone = [torch.empty_like(own) for _ in range(ranks)]
    with during(call, x):
        dist.all_gather(everyone, own, group=_calls)
    if all(torch.equal(own, other) for other in everyone):
        return
    texts = [bytes(other.tolist()).rstrip(b"\0").decode(errors="replace") for other in everyone]
    told = [f"rank {rank} runs {each}" for rank, each in enumerate(texts)]
    shown = (
        told
        if ranks <= 8
        else [next(t for t, each in zip(told, texts, strict=True) if each == one) for one in dict.fromkeys(texts)]
    )
    raise BackendError(
        f"the ranks run different collectives: {', '.join(shown)}",
        operation=call,
        hint="every rank must call the same collectives in the same order, with the same shapes and dtypes",
        **place(),
    )


# -- when a process ends ----------------------------------------------------------------------------------------


def explain_the_end() -> None:
    """Make SIGTERM, by which torchrun ends the others when one process has ended, an error that names that one.

    It also comes when torchrun itself is killed: its processes would go on without it, and hold their GPUs. Where
    another handler listens (a `Checkpoint`'s, the user's) it stays; sent for any other reason it ends the process as
    ever.
    """
    if "TORCHELASTIC_RUN_ID" in os.environ and sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _End(os.getpid(), os.getppid()))


def explain_uncaught() -> None:
    """Explain uncaught errors of torch: its own collectives, DDP's and FSDP's may fail in any line.

    The others hear the explanation too (`_peers.leave`). Whatever shows exceptions now, torch's hook that puts the rank
    before each line, still does.
    """
    sys.excepthook = _Uncaught(sys.excepthook)


class _Uncaught:
    """The hook; ``shown_by`` is what was there."""

    def __init__(self, shown_by: _Hook) -> None:
        self.shown_by = shown_by

    def __call__(self, kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        """Show the explanation if there is one."""
        new = explained(error.with_traceback(tb), sys._getframe())
        if new is not None:
            sys.last_value = new
            kind, error, tb = type(new), new, new.__traceback__
        self.shown_by(kind, error, tb)


class _End:
    """The handler."""

    def __init__(self, process: int, launcher: int) -> None:
        self.process, self.launcher = process, launcher
        self.raised = -math.inf

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise if another process has ended; else die of the signal."""
        if os.getpid() == self.process:  # and not a loader's worker, which was forked with this handler
            # what ends it is being explained already; or Linux tells of torchrun's death once for each of its threads
            if _is_explained(frame) or time.monotonic() - self.raised < 1.0:
                return
            ended = _peers.ended()
            if not ended and os.getppid() != self.launcher:
                ended = f"the launcher (process {self.launcher}) has ended"
            if ended:
                self.raised = time.monotonic()
                raise BackendError(f"rank {dist.get_rank()} was told to end: {ended}")
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


def _is_explained(frame: FrameType | None) -> bool:
    """Whether an error is being explained, or shown, when this frame is run; raised there, another would be lost."""
    if _peers.doing is not None:
        return True
    while frame is not None:
        if frame.f_code in (explained.__code__, _Uncaught.__call__.__code__):
            return True
        frame = frame.f_back
    return False
