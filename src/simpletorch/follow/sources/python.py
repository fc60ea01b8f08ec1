"""Whether a text is Python."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import final

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
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte; brackets in a thousand others
        return NoPython(None, None, str(error))
    return None
