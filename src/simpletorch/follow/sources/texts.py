"""The texts of files: as they lie on the disk, or as an editor has them before they are saved."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from simpletorch import _outside as outside

__all__ = ["LINE_END", "instead", "is_file", "lines", "opened", "read"]

LINE_END: Final = re.compile(r"\r\n|\n|\r")
"""What ends a line in Python's syntax."""

_opened: Final[dict[str, str]] = {}  # by the real path
_real: Final[dict[str, str]] = {}  # real paths by paths that were asked for, while texts are opened


@contextmanager
def instead(texts: Mapping[str, str]) -> Iterator[None]:
    """While it lasts these files, by their paths, have these texts, whatever the disk says; they needn't be there."""
    before = dict(_opened)
    _real.clear()
    _opened.clear()
    _opened.update((os.path.realpath(path), text) for path, text in texts.items())
    try:
        yield
    finally:
        _real.clear()
        _opened.clear()
        _opened.update(before)


def opened(path: str | Path) -> str | None:
    """The text that an editor has of a file, None where the file counts."""
    if not _opened:
        return None
    asked = str(path)
    real = _real.get(asked)
    if real is None:  # which asks the system for each directory above
        real = _real[asked] = os.path.realpath(asked)
    return _opened.get(real)


def is_file(path: Path) -> bool:
    """Whether there is such a file, on the disk or in an editor."""
    return opened(path) is not None or outside.is_file(path)


def read(path: Path) -> str:
    """The text of a file; "" if there is none."""
    text = opened(path)
    if text is not None:
        return text
    try:
        text = outside.content(path).decode("utf-8", errors="replace")
    except OSError:
        return ""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def lines(text: str) -> list[str]:
    """The lines of a text as Python's syntax counts them: `str.splitlines` ends one at a form feed and U+2028 too."""
    rows = LINE_END.split(text)
    return rows[:-1] if not rows[-1] else rows
