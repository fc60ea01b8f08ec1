"""The files that a command line's paths stand for, and those that are left out."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from simpletorch.follow.sources.notebooks import is_notebook

__all__ = ["Listed", "listed"]

_SKIPPED: Final = frozenset({"site-packages", "build", "dist", "node_modules", "__pycache__", "venv"})
_SUFFIXES: Final = (".py", ".pyi")


@final
@dataclass(slots=True)
class Listed:
    """The files to check.

    Args:
        files: each by its path, relative to the current folder where it is below that, as mypy prints paths.
        named: those of them that were named, and not found in a folder.
        left_out: paths that can't be read, with the reason.
    """

    files: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    @property
    def followed(self) -> Iterator[str]:
        """Those that can be followed."""
        return (f for f in self.files if f.endswith(".py") or is_notebook(f))


def listed(paths: Iterable[str], is_excluded: Callable[[str], bool] = lambda path: False) -> Listed:
    """Walk the folders among ``paths``; what is named itself is taken as it is, also a script without a suffix.

    Args:
        paths: files and folders.
        is_excluded: whether the configuration leaves out a file or a folder that is found in a folder.
    """
    found = Listed()
    for path in map(_shown, paths):
        if os.path.isdir(path):
            _walk(path, found, is_excluded)
        else:
            found.named.add(path)
            found.files.append(path)
    found.files[:] = dict.fromkeys(found.files)
    return found


def _shown(path: str) -> str:
    """A path as mypy prints it."""
    inside = os.path.isabs(path) and Path(os.path.normpath(path)).is_relative_to(os.getcwd())
    return os.path.relpath(path) if inside else os.path.normpath(path)


def _walk(root: str, found: Listed, is_excluded: Callable[[str], bool]) -> None:
    """Add the files of a folder. A linked folder is walked last, unless its files are there under their own path."""
    seen: set[str] = set()
    tops = [root]
    for top in tops:
        for folder, inner, names in os.walk(top, onerror=lambda error: _unread(error, found)):
            real = os.path.realpath(folder)
            if real in seen:
                inner.clear()
                continue
            seen.add(real)
            wanted = sorted(n for n in inner if n not in _SKIPPED and not n.startswith("."))
            inner[:] = [n for n in wanted if not is_excluded(os.path.join(folder, n))]
            tops += _links(folder, inner, found)
            _take(folder, names, found, is_excluded)


def _links(folder: str, inner: Sequence[str], found: Listed) -> Iterator[str]:
    """The linked folders in a folder; one that leads to a folder around it is left out."""
    for link in (os.path.normpath(os.path.join(folder, name)) for name in inner):
        if os.path.islink(link):
            if Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(link)):
                found.left_out.append((link, f"it is a link to {os.readlink(link)}, which contains it"))
            else:
                yield link


def _take(folder: str, names: Sequence[str], found: Listed, is_excluded: Callable[[str], bool]) -> None:
    for name in sorted(names):
        path = os.path.normpath(os.path.join(folder, name))
        if name.endswith(_SUFFIXES) and not is_excluded(path):
            if reason := _why_unread(path):
                found.left_out.append((path, reason))
            else:
                found.files.append(path)


def _why_unread(path: str) -> str:
    """Why a file that a folder has can't be read; "" when it can."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return f"it is a link to {os.readlink(path)}: {error.strerror}" if os.path.islink(path) else _said(error)
    if not stat.S_ISREG(mode):
        return "it is no regular file"  # to read a pipe would wait for ever
    return "" if os.access(path, os.R_OK) else "it can't be read: Permission denied"


def _unread(error: OSError, found: Listed) -> None:
    found.left_out.append((os.path.normpath(str(error.filename)), _said(error)))


def _said(error: OSError) -> str:
    return f"it can't be read: {error.strerror}"
