"""``simpletorch watch`` and ``check --watch``: followed or checked again whenever a file changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from simpletorch._settings import configuration_files
from simpletorch.cli._checking.files import listed
from simpletorch.cli._output import could_not

__all__ = ["state", "watch", "watch_shapes"]

_PAUSE: Final = 0.3  # seconds between two looks: a stat of each file, which for a thousand takes 5 ms
_CONFIGURATIONS: Final = ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg")

State = Mapping[str, tuple[int, int]]


def watch(paths: Sequence[str], words: Sequence[str]) -> int:
    """Run ``simpletorch WORDS`` now and after each change of a file, until it is interrupted.

    Each check is a process of its own, so that leftovers or a crash of one don't affect the next. The state of mypy is
    in its cache, or in its daemon if ``words`` ask for that.

    Args:
        paths: what is checked; the current folder if there are none.
        words: the command, with its arguments.
    """
    for number, seen in enumerate(_changes(paths)):
        if number and sys.stdout.isatty():
            print("\033[2J\033[H", end="", flush=True)  # as a terminal that has been cleared
        subprocess.run([sys.executable, "-m", "simpletorch.cli", *words], check=False)
        print(f"{time.strftime('%H:%M:%S')} watching {len(seen)} files; Ctrl-C ends", flush=True)
    return 0


def watch_shapes(paths: Sequence[str], arguments: Sequence[str]) -> int:
    """Show a program with its shapes, or the findings of several, now and after each change of a file."""
    for path in paths:
        if not os.path.exists(path):
            return could_not("watch", f"no such file or folder: {path}")
    shapes = ["--shapes"] if len(paths) == 1 and os.path.isfile(paths[0]) else []
    return watch(paths, ["follow", *shapes, *paths, *(["--", *arguments] if arguments else [])])


def _changes(paths: Sequence[str]) -> Iterator[State]:
    """The state of the files, at once and then whenever it is another one."""
    last: State | None = None
    while True:
        if (now := state(paths)) != last:
            yield now
            last = now  # what has changed during the check counts as well
        else:
            time.sleep(_PAUSE)


def state(paths: Iterable[str]) -> State:
    """When each file was changed, and its size: those of ``paths``, their neighbours, and the configuration.

    A program imports what lies beside it.
    """
    roots = {path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths} or {"."}
    found: dict[str, tuple[int, int]] = {}
    for file in (*listed(sorted(roots)).files, *map(str, configuration_files(Path.cwd(), _CONFIGURATIONS))):
        try:
            about = os.stat(file)
        except FileNotFoundError:  # gone since the folder was read
            continue
        found[file] = about.st_mtime_ns, about.st_size
    return found
