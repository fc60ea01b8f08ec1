"""What following a program may take: time, memory, and how large a value may become.

Steps are counted by the interpreter, the same on every machine. The clock is for programs whose steps are long.
"""

from __future__ import annotations

import gc
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from simpletorch.follow.outcomes import Exhausted

try:
    import resource
except ImportError:  # Windows: only the clock
    resource = None  # type: ignore[assignment]

__all__ = [
    "LARGEST",
    "SECONDS",
    "STEPS",
    "Budget",
    "collecting_rarely",
    "formats_too_much",
    "is_huge",
    "is_slow_pattern",
    "is_too_much",
    "with_room",
]

T = TypeVar("T")

STEPS: Final = 400_000
SECONDS: Final = 10.0  # of CPU
LARGEST: Final = 10**6  # characters or items of a value, and bits of an int
_BYTES: Final = 2**30
_UNIT: Final = 1 if sys.platform == "darwin" else 1024  # of `ru_maxrss`
_BETWEEN: Final = 100  # expressions between two looks at the clock
_MOMENT: Final = 0.003  # seconds between two looks at the memory, for which the system is asked
_GROWTH: Final = 2**29  # bytes more that the process has, before unreachable objects are looked for among all
_YOUNG: Final = 50_000  # objects that are made before those among them that nobody reaches are looked for
_FRAMES: Final = 70_000  # of a frame; its piece is the next power of two, 1 MiB, of which nearly half is left
_ROUNDS: Final = 20  # of these, before those that are left of all of them are looked at again


class Budget:
    """The time and the memory that one follow may take, which ends it, as ``is_cancelled`` does when it is true."""

    def __init__(self, seconds: float = SECONDS, is_cancelled: Callable[[], bool] | None = None) -> None:
        self._is_cancelled = is_cancelled
        self._ends = time.thread_time() + seconds
        self._looked = time.thread_time()
        peak = _peak()
        self._most = peak + _BYTES
        self._collects = peak + _GROWTH
        self.left = _BETWEEN  # expressions until somebody must `look`

    def spend(self, work: int) -> None:
        """Something was done that takes as long as this many expressions.

        Raises:
            Exhausted: the budget is used up.
        """
        self.left -= work
        if self.left < 0:
            self.look()

    def take_at_most(self, seconds: float) -> None:
        """From here on there is so much time, if there isn't less."""
        self._ends = min(self._ends, time.thread_time() + seconds)

    def look(self) -> None:
        """Look at the clock and the memory.

        Raises:
            Exhausted: the budget is used up.
        """
        self.left = _BETWEEN
        now = time.thread_time()
        if now > self._ends or (self._is_cancelled is not None and self._is_cancelled()):
            raise Exhausted
        if now < self._looked + _MOMENT:
            return
        self._looked, peak = now, _peak()
        if peak > self._most:
            raise Exhausted
        if peak > self._collects:
            gc.collect()
            self._collects = peak + _GROWTH


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """In here unreachable objects are looked for among the young ones; among all of them where the memory grows.

    A program's syntax and its heap are millions of objects that stay: to go through them takes seconds each time. So
    are mypy's trees and types, for which it has larger thresholds.
    """
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(max(before[0], _YOUNG), max(before[1], _ROUNDS), 10**9)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def with_room(work: Callable[[], T]) -> T:
    """``work()``, with room for all of its frames at once.

    CPython keeps the frames of functions in pieces of 16 KiB, and asks the system for each piece anew whenever a call
    crosses the end of one: deep recursion that goes to and fro there takes up to half as long again. A frame that needs
    much makes the piece that it is in a large one.
    """
    return work()


with_room.__code__ = with_room.__code__.replace(co_stacksize=_FRAMES)


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    return 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


_LONG_NUMBER: Final = re.compile(r"\d{6}")
_REPEATED_GROUP: Final = re.compile(r"\)[*+{]")


def formats_too_much(text: str) -> bool:
    """Whether a format may ask for a very long text: ``{:>999999999}``, ``%999999999d``."""
    return _LONG_NUMBER.search(text) is not None or "*" in text


def is_slow_pattern(pattern: str) -> bool:
    """Whether looking for a regular expression may take for ever: ``(a+)+$``."""
    return _REPEATED_GROUP.search(pattern) is not None


_GROWING: Final = frozenset({"math.factorial", "math.comb", "math.perm", "builtins.pow"})
_MOST_FACTORS: Final = 20_000


def is_huge(name: str, args: tuple[Any, ...]) -> bool:
    """Whether Python would compute for long: a factorial, a power, a search."""
    if name in _GROWING:
        return any(isinstance(a, int) and abs(a) > _MOST_FACTORS for a in args)
    return name.startswith("re.") and isinstance(args[0] if args else None, str) and is_slow_pattern(args[0])


def is_too_much(args: tuple[Any, ...]) -> bool:
    """Whether a method of a text may give a very long one: a width, or one text in place of many."""
    size = 1
    for value in args:
        if isinstance(value, str | bytes):
            size *= max(len(value), 1)
        elif isinstance(value, int):
            size *= max(abs(value), 1) if abs(value) > LARGEST else 1
        elif isinstance(value, tuple):
            size *= max(sum(len(v) for v in value if isinstance(v, str | bytes)), 1)
    return size > 10 * LARGEST
