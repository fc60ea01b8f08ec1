"""Being asked to stop, by Ctrl-C or by the system."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType
from typing import Any


class Interruption:
    """Notices the first SIGINT or SIGTERM instead of dying of it; the second one does what it did before.

    Signals are handled in the main thread, so elsewhere `start` does nothing.
    """

    SIGNALS = (signal.SIGTERM, signal.SIGINT)

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        """The one that came."""
        self._before: dict[signal.Signals, Any] = {}
        self._process: int | None = None
        self._since = 0.0

    def start(self) -> None:
        """Notice signals from now on."""
        self.signal = None
        if threading.current_thread() is threading.main_thread() and not self._before:
            self._process = os.getpid()
            self._before = {number: signal.signal(number, self._notice) for number in self.SIGNALS}

    def stop(self) -> None:
        """Put back what was there before `start`."""
        for number, handler in self._before.items():
            # None stands for a handler that was not installed from Python, and can't be put back from there.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before = {}

    def _notice(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:
            # A worker that was forked from the training. Ctrl-C reaches it too, but its batches are needed until the
            # step is done; who terminates it means it.
            if number != signal.SIGINT:
                signal.signal(number, signal.SIG_DFL)
                signal.raise_signal(number)
            return
        if self.signal is None:
            self.signal, self._since = signal.Signals(number), time.monotonic()
        elif not self._is_echo(number):
            self.stop()
            signal.raise_signal(number)

    def _is_echo(self, number: int) -> bool:
        """Whether this comes from the same event: Linux tells of torchrun's death once for each of its threads."""
        return number == signal.SIGTERM and "TORCHELASTIC_RUN_ID" in os.environ and time.monotonic() - self._since < 1.0
