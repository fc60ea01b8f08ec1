"""Which files of data a follow may read, and how much: only regular files below a few folders, within a budget.

Nothing is written or executed, and no link leads out.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Final, final

from simpletorch import _outside as outside

__all__ = ["Reach", "folders_of", "here", "hub_cache", "length_of", "project_of"]

_MOST_FILES: Final = 2_000
_MOST_BYTES: Final = 1 << 28
_OF_A_PROJECT: Final = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


def length_of(file: IO[bytes]) -> int:
    """How many bytes an open file has; it is read from its beginning afterwards."""
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    return length


def folders_of(program: Path, arguments: Sequence[str] = ()) -> list[Path]:
    """The folders whose data a program's follow may read.

    They are the program's project, the current folder, paths on its command line, and the cache of models.
    """
    folder = program.absolute().parent
    given = [Path(a) for a in arguments if a and not a.startswith("-")]
    return [project_of(folder) or folder, Path.cwd(), *(p for p in given if outside.exists(p)), hub_cache()]


def hub_cache() -> Path:
    """The folder in which Hugging Face's libraries keep models, by the environment."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if found := outside.variable(name):
            return Path(found)
    home = outside.variable("HF_HOME")
    if home:
        return Path(home, "hub")
    return Path(outside.variable("XDG_CACHE_HOME") or Path(outside.variable("HOME"), ".cache"), "huggingface", "hub")


def here() -> Path:
    """The current folder, which is part of what tells one follow from another."""
    return Path.cwd()


def project_of(folder: Path) -> Path | None:
    """The next folder upwards that is a project's, or a repository."""
    above = (p for p in (folder, *folder.parents) if any(outside.exists(p / name) for name in _OF_A_PROJECT))
    return next(above, None)


@final
class Reach:
    """The files that one follow may read.

    Args:
        folders: files below them may be read; a file among them stands for itself. None: nothing may be read.
        beside: the program's own folder, where a relative path is looked for that isn't in the current one.
    """

    def __init__(self, folders: Iterable[Path] | None, beside: Path) -> None:
        real = [] if folders is None else [outside.real(f) for f in folders]
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
        real = outside.real_of_existing(path)
        if real is None:
            return None
        inside = any(real == f or real.startswith(f + os.path.sep) for f in self._folders)
        return real if inside else None

    def open(self, real: str) -> IO[bytes] | None:
        """A regular file, for reading; None if it isn't one, or the budget is used up."""
        if self._opened >= _MOST_FILES or self._bytes >= _MOST_BYTES:
            return None
        file = outside.opened(real)
        self._opened += file is not None
        return file

    def take(self, size: int) -> bool:
        """Whether so many bytes may still be read."""
        self._bytes += size
        return self._bytes <= _MOST_BYTES

    def names_of(self, text: str) -> list[tuple[str, bool | None]]:
        """The entries of what a program names, if that is a folder."""
        real = self.find(text)
        return [] if real is None or not os.path.isdir(real) else self.names(real) or []

    def names(self, real: str) -> list[tuple[str, bool | None]] | None:
        """The entries of a folder, sorted, each with whether it is a folder (None: a link to one).

        None if it is unreadable, or there are too many.
        """
        return outside.names(real)
