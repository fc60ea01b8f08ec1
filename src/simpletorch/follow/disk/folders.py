"""Names in folders: listings, patterns, and the images of ``ImageFolder``."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from simpletorch.follow.disk.reach import Reach

__all__ = ["image_classes", "matching"]

_MOST_MATCHES: Final = 20_000
_DEEPEST: Final = 30
_IMAGES: Final = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class _Unsure(Exception):
    """More names than are read, or a link to a folder, which isn't followed."""


def matching(reach: Reach, pattern: str, *, recursive: bool, hidden: bool = False) -> list[str] | None:
    """The paths that ``glob.glob`` gives for a pattern, sorted; None if that isn't known.

    ``hidden``: also names that begin with a dot, as ``Path.glob`` has them.
    """
    parts = pattern.split("/")
    if any(p in ("", ".", "..") for p in parts[1:]) or (parts[0] in (".", "..") and "**" in parts):
        return None
    try:
        return sorted(set(_below(reach, "/" if parts[0] == "" else "", [p for p in parts if p], recursive, hidden, 0)))
    except _Unsure:
        return None


def _below(reach: Reach, start: str, parts: list[str], recursive: bool, hidden: bool, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        raise _Unsure
    if not parts:
        yield start
        return
    first, rest = parts[0], parts[1:]
    if not any(c in first for c in "*?["):
        path = posixpath.join(start, first)
        if rest or reach.find(path) is not None:
            yield from _below(reach, path, rest, recursive, hidden, depth + 1)
        return
    names = [(n, f) for n, f in _names(reach, start or ".") if hidden or first[0] == "." or not n.startswith(".")]
    if first == "**" and recursive:
        yield from _below(reach, start, rest, recursive, hidden, depth + 1) if rest else ()
        for name, is_folder in names:
            if is_folder:
                yield from _below(reach, posixpath.join(start, name), parts, recursive, hidden, depth + 1)
            if not rest:
                yield posixpath.join(start, name)
        return
    found = 0
    for name, is_folder in names:
        if fnmatchcase(name, first) and (is_folder or not rest):
            found += 1
            if found > _MOST_MATCHES:
                raise _Unsure
            yield from _below(reach, posixpath.join(start, name), rest, recursive, hidden, depth + 1)


def _names(reach: Reach, path: str) -> list[tuple[str, bool | None]]:
    real = reach.find(path)
    if real is None:
        return []
    names = reach.names(real)
    if names is None or any(is_folder is None for _, is_folder in names):
        raise _Unsure
    return names


def image_classes(reach: Reach, root: str) -> tuple[list[str], int] | None:
    """The classes of an ``ImageFolder`` and the number of its images; None if it has none, or that isn't known."""
    try:
        classes = [name for name, is_folder in _names(reach, root) if is_folder]
        count = sum(_images(reach, posixpath.join(root, name), 0) for name in classes)
    except _Unsure:
        return None
    return (classes, count) if classes and count else None


def _images(reach: Reach, folder: str, depth: int) -> int:
    if depth > _DEEPEST:
        raise _Unsure
    return sum(
        _images(reach, posixpath.join(folder, name), depth + 1) if is_folder else name.lower().endswith(_IMAGES)
        for name, is_folder in _names(reach, folder)
    )
