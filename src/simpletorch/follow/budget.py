"""What following a program may take: time, memory, and how large a value may become.

Steps are counted by the interpreter, the same on every machine. The clock is for programs whose steps are long.
"""

from __future__ import annotations

import ctypes
import gc
import math
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from re import _constants as sre_constants  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
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
    "length",
    "watched",
    "weight",
    "with_room",
]

T = TypeVar("T")

STEPS: Final = 400_000
SECONDS: Final = 10.0  # of CPU
LARGEST: Final = 10**6  # characters or items of a value, and bits of an int
_BYTES: Final = 2**30
_UNIT: Final = 1 if sys.platform == "darwin" else 1024  # of `ru_maxrss`
_GRACE: Final = 0.5  # seconds that a step may take beyond the end, until it is broken off
_GLANCE: Final = 0.25  # seconds between two looks from outside
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
        self.ends = time.thread_time() + seconds
        self._looked = time.thread_time()
        peak = _peak()
        self._most = peak + _BYTES
        self._collects = peak + _GROWTH
        self.left = _BETWEEN  # expressions until somebody must `look`
        self.is_cut = False
        """The clock or the memory has ended the follow, or it was cancelled: another run may get further."""

    def now(self) -> float:
        """The clock, in seconds of CPU."""
        return time.thread_time()

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
        self.ends = min(self.ends, time.thread_time() + seconds)

    def look(self) -> None:
        """Look at the clock and the memory.

        Raises:
            Exhausted: the budget is used up.
        """
        self.left = _BETWEEN
        now = time.thread_time()
        if now > self.ends or (self._is_cancelled is not None and self._is_cancelled()):
            self.is_cut = True
            raise Exhausted
        if now < self._looked + _MOMENT:
            return
        self._looked, peak = now, _peak()
        if peak > self._most:
            self.is_cut = True
            raise Exhausted
        if peak > self._collects:
            gc.collect()
            self._collects = peak + _GROWTH


@contextmanager
def watched(budget: Budget) -> Iterator[None]:
    """In here a second thread looks at the clock, too: one step that takes very long has no look of its own.

    Raises:
        Exhausted: the budget is used up.
    """
    clock = getattr(time, "pthread_getcpuclockid", None)
    if clock is None:  # Windows
        yield
        return
    thread, over, lock = threading.get_ident(), threading.Event(), threading.Lock()
    mine, raises = clock(thread), ctypes.pythonapi.PyThreadState_SetAsyncExc

    broken: list[bool] = []

    def watch() -> None:
        while not over.wait(_GLANCE):
            with lock:
                if over.is_set():
                    return
                if time.clock_gettime(mine) > budget.ends + _GRACE:
                    broken.append(True)
                    budget.is_cut = True
                    raises(ctypes.c_ulong(thread), ctypes.py_object(Exhausted))

    watching = threading.Thread(target=watch, name="simpletorch: the clock of a follow", daemon=True)
    watching.start()
    try:
        yield
    finally:
        with lock:
            over.set()
        if broken:
            _take_what_was_raised()


def _take_what_was_raised() -> None:
    """Let an exception arrive that another thread raised here and that hasn't arrived yet.

    CPython 3.11 must not be told to forget it (``PyThreadState_SetAsyncExc`` of NULL): it then looks for one at each
    call and jump from there on, which makes all code a third slower, and a profiler hang.
    """
    with suppress(Exhausted):
        for _ in range(100):
            pass


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


def formats_too_much(text: str) -> bool:
    """Whether a format may ask for a very long text: ``{:>999999999}``, ``%999999999d``."""
    return _LONG_NUMBER.search(text) is not None or "*" in text


_MOST_STEPS: Final = 3 * 10**7  # of a search
_TINY: Final = 10  # characters that are searched however a pattern repeats
_REPEATS: Final = tuple(v for k, v in vars(sre_constants).items() if k in ("MAX_REPEAT", "MIN_REPEAT"))


def is_slow_pattern(pattern: str, size: int) -> bool:
    """Whether looking for a regular expression in so many characters may take long: ``(a+)+$``."""
    if size <= _TINY:
        return False
    try:
        with warnings.catch_warnings(action="ignore"):
            parsed = sre_parse.parse(pattern)
        steps = size * _ways(parsed, size, inside=False)
    except (re.error, RecursionError, OverflowError, ValueError):
        return True
    return steps > _MOST_STEPS


def _ways(parsed: Any, size: int, *, inside: bool) -> float:
    """In how many ways a part of a pattern may be tried at a place, at most; inside a repeat only what has one way."""
    ways = 1.0
    for kind, value in parsed:
        if kind in _REPEATS or str(kind) == "POSSESSIVE_REPEAT":
            least, most, inner = value
            several = _ways(inner, size, inside=True)
            number = min(int(most), size) - min(int(least), size) + 1
            ways *= math.inf if several > 1 and int(most) > 1 else number * several
        else:
            ways *= _ways_inside(kind, value, size, inside=inside)
        if ways > _MOST_STEPS:
            return math.inf
    return ways


def _ways_inside(kind: Any, value: Any, size: int, *, inside: bool) -> float:
    """The same of a group, a choice or a look around."""
    if str(kind) == "BRANCH":
        return sum(_ways(option, size, inside=inside) for option in value[1])
    parts = value if isinstance(value, tuple) else ()
    ways = 1.0
    for part in parts:
        if isinstance(part, sre_parse.SubPattern):
            ways *= _ways(part, size, inside=inside)
    return ways


_GROWING: Final = frozenset({"math.factorial", "math.comb", "math.perm", "builtins.pow", "round"})
_MOST_FACTORS: Final = 20_000


def is_huge(name: str, args: tuple[Any, ...]) -> bool:
    """Whether Python would compute for long, or give something very large: a factorial, a power, a width."""
    if name in _GROWING:
        return any(isinstance(a, int) and abs(a) > _MOST_FACTORS for a in args[name == "round" :])
    if name == "builtins.format" and len(args) > 1:
        return isinstance(args[1], str) and formats_too_much(args[1])
    return False


def weight(value: Any, most: int = LARGEST) -> int:
    """How many characters and items a value holds, with all that is in it, counted up to ``most``.

    A value that is there twice counts twice, as in its text, in comparisons and in its hash.
    """
    count, todo = 0, [value]
    while todo and count <= most:
        one = todo.pop()
        count += 1
        if isinstance(one, str | bytes):
            count += len(one)
        elif isinstance(one, tuple | frozenset):
            if len(one) > most:
                return count + len(one)
            todo.extend(one)
        elif isinstance(one, int) and one.bit_length() > _WIDE:
            count += one.bit_length() // 3
    return count


_WIDE: Final = 1_000  # bits of an int that is written in more characters than others


def length(numbers: range) -> int:
    """``len(numbers)``, also of more than fit into a machine's int."""
    return max(0, -((numbers.start - numbers.stop) // numbers.step))


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
