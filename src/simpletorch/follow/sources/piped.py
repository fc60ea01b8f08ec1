"""A program that stands in no file: on standard input, or in a pipe such as ``<(…)``. It can be read once."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Final

__all__ = ["STDIN", "is_piped", "named", "text_of"]

STDIN: Final = "<stdin>"
_STDIN_PATHS: Final = ("-", "/dev/stdin", "/dev/fd/0")


def is_piped(file: str) -> bool:
    """Whether a command line's file is standard input or a pipe."""
    if file in _STDIN_PATHS:
        return True
    try:
        mode = os.stat(file).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def named(file: str) -> str:
    """What it is called in reports, as Python's tracebacks call it."""
    return STDIN if file in _STDIN_PATHS else file


def text_of(file: str) -> str:
    """Read all of it.

    Raises:
        OSError: it can't be read.
        UnicodeDecodeError: it isn't UTF-8.
    """
    content = sys.stdin.buffer.read() if named(file) == STDIN else Path(file).read_bytes()
    return content.decode("utf-8")
