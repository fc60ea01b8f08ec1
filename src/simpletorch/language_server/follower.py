"""The process that follows, as the server has it: asked one thing at a time, started again where it ends."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final, final

from simpletorch.language_server.messages import HEAD, Answer, Ask, Cancel, Found, pack, size_of
from simpletorch.rules.core.codes import Severity

__all__ = ["Follower", "options"]

_TRIES: Final = 2
_LONGEST: Final = 30.0  # seconds after which a process that doesn't answer is ended


@final
class Follower:
    """Asks a `worker.Worker` in a process of its own."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._sent: dict[str, str] = {}  # what the process has of the open texts
        self._numbers = count(1)
        self._running: Ask | None = None
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Start the process, so that the first question needn't wait for it."""
        if self._process is None or self._process.returncode is not None:
            # -P: a file torch.py or json.py beside the user's program must not be imported
            command = [sys.executable, "-P", "-m", "simpletorch.language_server.worker"]
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
            self._sent = {}

    async def follow(
        self,
        path: str,
        texts: Mapping[str, str],
        arguments: Sequence[str],
        options: Mapping[str, Any],
        first: Callable[[Found], object],
    ) -> Answer | None:
        """Follow a program with these texts; None if the process ended over it.

        ``options`` are those of `Ask`: severities, steps, seconds, page. ``first`` is told what is wrong, a moment
        before the rest is known.
        """
        async with self._lock:
            for _ in range(_TRIES):  # it may have ended since the last question
                await self.start()
                changed: dict[str, str | None] = {p: t for p, t in texts.items() if self._sent.get(p) != t}
                changed |= dict.fromkeys(self._sent.keys() - texts.keys())
                ask = Ask(next(self._numbers), path, changed, tuple(arguments), **options)
                self._running = ask
                try:
                    answer = await asyncio.wait_for(self._exchange(ask, first), _LONGEST)
                except TimeoutError:
                    await self.stop()
                    return None
                except (OSError, EOFError, pickle.UnpicklingError):
                    await self.stop()
                    continue
                except asyncio.CancelledError:
                    await self.stop()
                    raise
                finally:
                    self._running = None
                self._sent = dict(texts)
                return answer
            return None

    async def _exchange(self, ask: Ask, first: Callable[[Found], object]) -> Answer:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pack(ask))
        await process.stdin.drain()
        while True:
            head = await process.stdout.readexactly(HEAD.size)
            said: Found | Answer = pickle.loads(await process.stdout.readexactly(size_of(head)))
            if isinstance(said, Answer):
                return said
            first(said)

    def cancel(self, path: str | None = None) -> None:
        """Stop following this program, if it is being followed."""
        running, process = self._running, self._process
        if running is None or process is None or process.stdin is None or process.stdin.is_closing():
            return
        if path is None or running.path == path:
            process.stdin.write(pack(Cancel(running.number)))

    async def stop(self) -> None:
        """End the process."""
        process, self._process, self._sent = self._process, None, {}
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()


def options(
    severities: Mapping[str, Severity],
    steps: int,
    seconds: float,
    *,
    page: bool = False,
    data: bool | tuple[Path, ...] = True,
) -> dict[str, Any]:
    """The options of `Follower.follow`."""
    return {"severities": severities, "steps": steps, "seconds": seconds, "page": page, "data": data}
