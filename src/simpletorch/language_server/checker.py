"""mypy's daemon, asked about a file that was saved: ``python -P -m simpletorch.language_server.checker STATUS FILE``.

A process of its own for each question, because mypy's client takes over what is printed. The daemon keeps everything
in memory: it writes no cache. ``checker STATUS`` alone ends it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, final

from simpletorch.cli._config import ConfigError, cache_folder, configure
from simpletorch.cli._run import Diagnostic, run_mypy

__all__ = ["Checker", "main"]

_LONGEST: Final = 600.0  # seconds: the first time mypy reads all of torch


@final
class Checker:
    """The daemons of one server: one for each folder that is a root of programs."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._roots: set[str] = set()
        self._process: asyncio.subprocess.Process | None = None

    async def check(self, path: str, root: str) -> tuple[Diagnostic, ...] | None:
        """mypy's errors in a file on the disk; None if it couldn't check it."""
        async with self._lock:
            self._roots.add(root)
            try:
                said = await asyncio.wait_for(self._run(root, path), _LONGEST)
            except (TimeoutError, OSError, ValueError):
                return None
            return None if said is None else tuple(Diagnostic(**row) for row in said)

    async def _run(self, root: str, *paths: str) -> list[dict[str, Any]] | None:
        command = [sys.executable, "-P", "-m", "simpletorch.language_server.checker", _status(root), *paths]
        pipe = asyncio.subprocess.PIPE
        null = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*command, stdin=null, stdout=pipe, cwd=root)
        self._process = process
        try:
            output, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        found: list[dict[str, Any]] | None = json.loads(output) if process.returncode == 0 and paths else None
        return found

    async def stop(self) -> None:
        """End what runs, and the daemons."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        for root in self._roots:
            await self._run(root)
        self._roots.clear()


def _status(root: str) -> str:
    """Where the daemon of this server for a root says how to reach it."""
    folder = cache_folder() / "daemons"
    folder.mkdir(exist_ok=True)
    return str(folder / f"editor-{os.getpid()}-{abs(hash(root)):x}.json")


def main(arguments: Sequence[str]) -> int:
    """Print what mypy says as JSON; its errors and notes, with full paths."""
    status, *paths = arguments
    if not paths:
        from mypy import api

        if Path(status).exists():
            api.run_dmypy(["--status-file", status, "kill"])
            Path(status).unlink(missing_ok=True)
        return 0
    os.environ["SIMPLETORCH_FOLLOW"] = "off"  # the server follows
    try:
        config = configure(daemon=True)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    report = run_mypy(["--config-file", str(config.file), "--cache-dir", os.devnull, *paths], Path(status))
    if report.exit_code > 1:
        print("\n".join(report.other), file=sys.stderr)
        return 2
    rows = [asdict(d) | {"file": str(Path.cwd() / d.file)} for d in report.diagnostics]
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
