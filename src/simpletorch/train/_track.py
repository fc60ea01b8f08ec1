"""Progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, Final, TextIO, TypeVar

T = TypeVar("T")

_REFRESH: Final = 0.25  # seconds between two looks of a bar


def track(
    items: Iterable[T],
    description: str = "",
    *,
    status: Callable[[], str] | None = None,
    total: int | None = None,
    start: int = 0,
    file: TextIO | None = None,
    every: float = 10.0,
) -> Iterator[T]:
    """Yield ``items`` and show how far it got: a bar in a terminal or notebook, else a plain line now and then.

    The bar disappears at its end, so that later output reads as if there had been none.

    Args:
        items: any iterable.
        description: shown in front.
        status: shown behind, such as ``lambda: f"loss {loss:.3f}"``; asked only when the bar or line is written.
        total: how many there are, by default the length of ``items`` (and ``start``) if it has one.
        start: how many were done before these.
        file: where to show it, standard error by default.
        every: seconds between two lines when ``file`` is not a terminal; a loop that is done earlier prints none.

    Yields:
        The items in the same order.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> total = 0
        >>> for number in train.track(range(100), "adding", every=60.0):
        ...     total += number
        >>> total
        4950
    """
    file = sys.stderr if file is None else file
    if total is None and isinstance(items, Sized):
        total = start + len(items)
    if file.isatty() or _in_notebook():
        return _bar(items, description, status, total, start, file)
    return _lines(items, description, status, total, start, file, every)


def _in_notebook() -> bool:
    kernel: Any = sys.modules.get("ipykernel")
    return kernel is not None


def _bar(
    items: Iterable[T],
    description: str,
    status: Callable[[], str] | None,
    total: int | None,
    start: int,
    file: TextIO,
) -> Iterator[T]:
    from tqdm.auto import tqdm  # here because it costs 0.1 s to import

    # Iterated here and not by tqdm.auto, which calls iter() twice: a DataLoader draws random numbers (and starts
    # workers) each time, so that a bar would change the training.
    bar = tqdm(desc=description or None, total=total, initial=start, file=file, leave=False, dynamic_ncols=True)
    done, due, clock = start, time.monotonic() + _REFRESH, time.monotonic
    try:
        for item in items:
            yield item
            done += 1
            if clock() >= due:
                if status is not None:
                    bar.set_postfix_str(status(), refresh=False)
                bar.update(done - bar.n)
                due = clock() + _REFRESH
        bar.update(done - bar.n)
    finally:
        bar.close()


def _lines(
    items: Iterable[T],
    description: str,
    status: Callable[[], str] | None,
    total: int | None,
    start: int,
    file: TextIO,
    every: float,
) -> Iterator[T]:
    of, prefix = "" if total is None else f"/{total}", f"{description}: " if description else ""
    clock = time.monotonic
    began = clock()
    due = began + every
    for done, item in enumerate(items, start):
        now = clock()
        if now >= due:
            due = now + every
            rate = (done - start) / (now - began) if now > began else 0.0
            suffix = f", {status()}" if status is not None else ""
            print(f"{prefix}{done}{of} after {now - began:.0f} s ({rate:.1f}/s){suffix}", file=file, flush=True)
        yield item
