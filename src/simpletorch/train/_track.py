"""Progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TextIO, TypeVar

T = TypeVar("T")


def track(items: Iterable[T], description: str = "", *, file: TextIO | None = None, every: float = 10.0) -> Iterator[T]:
    """Yield ``items`` and show how far it got: a bar in a terminal or notebook, else a plain line now and then.

    The bar goes when it is done, so that what is printed after it reads as if there had been none.

    Args:
        description: stands in front.
        file: where to show it, standard error by default.
        every: seconds between two lines when ``file`` is not a terminal; a loop that is done earlier prints none.
    """
    file = sys.stderr if file is None else file
    if file.isatty() or "ipykernel" in sys.modules:
        from tqdm.auto import tqdm  # here because it costs 0.1 s to import

        # tqdm.auto calls iter() on what it is given, and again when the loop starts; a DataLoader draws random numbers
        # (and starts workers) each time, so that a bar would change the training. An iterator is its own iterator.
        total = len(items) if isinstance(items, Sized) else None
        shown = tqdm(iter(items), desc=description or None, total=total, file=file, leave=False, dynamic_ncols=True)
        return iter(shown)
    return _lines(items, description, file, every)


def _lines(items: Iterable[T], description: str, file: TextIO, every: float) -> Iterator[T]:
    total = f"/{len(items)}" if isinstance(items, Sized) else ""
    prefix = f"{description}: " if description else ""
    start = last = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - last >= every:
            last = now
            rate = done / (now - start)
            print(f"{prefix}{done}{total} after {now - start:.0f} s ({rate:.1f}/s)", file=file, flush=True)
        yield item
