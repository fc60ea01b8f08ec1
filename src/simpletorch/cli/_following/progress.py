"""A line on the terminal for work that takes longer than a second: its name, and how much is done."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from types import TracebackType
from typing import Final, Self, final

__all__ = ["Progress"]

_PATIENCE: Final = 1.0  # seconds
_BETWEEN: Final = 0.1
_BAR: Final = 20  # columns


@final
class Progress:
    """A line on the terminal behind standard error; nothing where that is none, or if ``quiet``.

    Args:
        total: how many things there are; 1 has no bar.
        name: the work that comes first.
        quiet: show nothing.
    """

    def __init__(self, total: int = 1, *, name: str = "", quiet: bool = False) -> None:
        self._total, self._done, self._name = total, 0, name
        self._stream = sys.stderr  # mypy.api puts another one in its place while it checks
        self._is_on = not quiet and self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = False
        self._begun = self._last = time.monotonic()
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._is_on:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._is_on = False
        self._timer.cancel()
        self.clear()

    def at(self, done: int, name: str) -> None:
        """So much is done, and this comes next, or is the last that was done."""
        self._done, self._name = done, name
        now = time.monotonic()
        if self._is_on and now - self._begun > _PATIENCE and now - self._last > _BETWEEN:
            self._show()

    def clear(self) -> None:
        """Take the line away, before something else is printed."""
        if self._is_shown:
            self._stream.write("\r\033[K")
            self._stream.flush()
            self._is_shown = False

    def _show(self) -> None:
        if not self._is_on:
            return
        self._last = time.monotonic()
        line = self._name
        if self._total > 1:
            full = _BAR * self._done // self._total
            line = f"[{'█' * full}{'░' * (_BAR - full)}] {self._done}/{self._total} {line}"
        width = max(shutil.get_terminal_size().columns - 1, 20)
        self._stream.write(f"\r\033[K{line[:width]}")
        self._stream.flush()
        self._is_shown = True
