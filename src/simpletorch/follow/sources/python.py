"""Whether a text is Python."""

from __future__ import annotations

import tokenize
import warnings
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final, final

from simpletorch.follow.sources import texts

__all__ = ["NoPython", "why_no_python", "why_refused"]


@final
@dataclass(frozen=True, slots=True)
class NoPython:
    """Why a text isn't Python: a line and a column, None where Python names none, and the reason."""

    line: int | None
    column: int | None
    reason: str


def why_no_python(file: str) -> NoPython | None:
    """Why Python refuses a file; None if it takes it.

    Raises:
        OSError: the file can't be read.
    """
    source = texts.opened(file)
    return why_refused(Path(file).read_bytes() if source is None else source)


def why_refused(source: str | bytes, flags: int = 0) -> NoPython | None:
    """Why Python refuses a text; None if it takes it. ``flags`` are those of `compile`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an escape that isn't one: it is the program's
            compile(source, "", "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        return NoPython(error.lineno or None, error.offset or None, error.msg)
    except (RecursionError, MemoryError):
        return NoPython(_longest(source), None, "this is nested too deeply for Python to read it")
    except ValueError as error:  # a null byte
        return NoPython(None, None, str(error))
    return None


def _longest(source: str | bytes) -> int | None:
    """The line at which the longest statement begins, in words; None where a text has none."""
    readline = BytesIO(source.encode() if isinstance(source, str) else source).readline
    longest, first, count = (0, None), None, 0
    try:
        for token in tokenize.tokenize(readline):
            if token.type == tokenize.NEWLINE:
                longest, first, count = max(longest, (count, first), key=lambda one: one[0]), None, 0
            elif token.type not in _NO_WORDS:
                first, count = first or token.start[0], count + 1
    except (tokenize.TokenError, SyntaxError):
        pass
    return longest[1]


_NO_WORDS: Final = (tokenize.ENCODING, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
