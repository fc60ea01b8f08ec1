"""Which files of data a follow may read, and how much: only regular files below a few folders, within a budget.

Nothing is written or executed, and no link leads out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Final, final

__all__ = ["Reach", "folders_of"]

_MOST_FILES: Final = 2_000
_MOST_NAMES: Final = 20_000
_MOST_BYTES: Final = 1 << 28
_OF_A_PROJECT: Final = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


def folders_of(program: Path, arguments: Sequence[str] = ()) -> list[Path]:
    """The folders whose data a program's follow may read.

    They are the program's project, the current folder, and paths on its command line.
    """
    folder = program.absolute().parent
    above = (p for p in (folder, *folder.parents) if any((p / name).exists() for name in _OF_A_PROJECT))
    given = [Path(a) for a in arguments if a and not a.startswith("-")]
    return [next(above, folder), Path.cwd(), *(p for p in given if p.exists())]


@final
class Reach:
    """The files that one follow may read.

    Args:
        folders: files below them may be read; a file among them stands for itself. None: nothing may be read.
        beside: the program's own folder, where a relative path is looked for that isn't in the current one.
    """

    def __init__(self, folders: Iterable[Path] | None, beside: Path) -> None:
        real = [] if folders is None else [os.path.realpath(f) for f in folders]
        self._folders = [f for f in real if f != os.path.sep]
        self._beside = beside
        self._spoiled: set[str] = set()
        self._all_spoiled = False
        self._opened = 0
        self._bytes = 0

    def spoil(self, text: str | None = None) -> None:
        """Unknown code may write to a path or below it; without one, to any."""
        if text is None:
            self._all_spoiled = True
        elif self._folders:
            self._spoiled.add(os.path.abspath(text))

    def is_spoiled(self, text: str) -> bool:
        """Whether unknown code may have written to a path."""
        if self._all_spoiled or not self._spoiled:
            return self._all_spoiled
        path = os.path.abspath(text)
        return path in self._spoiled or any(path.startswith(f"{s}/") for s in self._spoiled)

    def find(self, text: str) -> str | None:
        """The real path of what a program names, None if it isn't there or out of reach."""
        if not self._folders or "\0" in text or text.startswith("~"):
            return None
        if os.path.isabs(text):
            return self._real(text)
        here, beside = self._real(os.path.abspath(text)), self._real(str(self._beside / text))
        if here is None or beside is None or here == beside:
            return here or beside
        return None  # two files, and it depends on where the program will be started

    def _real(self, path: str) -> str | None:
        try:
            real = os.path.realpath(path, strict=True)
        except (OSError, ValueError):
            return None
        inside = any(real == f or real.startswith(f + os.path.sep) for f in self._folders)
        return real if inside else None

    def open(self, real: str) -> IO[bytes] | None:
        """A regular file, for reading; None if it isn't one, or the budget is used up."""
        if self._opened >= _MOST_FILES or self._bytes >= _MOST_BYTES:
            return None
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            number = os.open(real, flags)
        except OSError:
            return None
        if not stat.S_ISREG(os.fstat(number).st_mode):
            os.close(number)
            return None
        self._opened += 1
        return os.fdopen(number, "rb")

    def take(self, size: int) -> bool:
        """Whether so many bytes may still be read."""
        self._bytes += size
        return self._bytes <= _MOST_BYTES

    def names(self, real: str) -> list[tuple[str, bool | None]] | None:
        """The entries of a folder, sorted, each with whether it is a folder (None: a link to one).

        None if it is unreadable, or there are too many.
        """
        found: list[tuple[str, bool | None]] = []
        try:
            with os.scandir(real) as entries:
                for entry in entries:
                    found.append((entry.name, None if entry.is_symlink() and entry.is_dir() else entry.is_dir()))
                    if len(found) > _MOST_NAMES:
                        return None
        except OSError:
            return None
        return sorted(found, key=lambda entry: entry[0])
