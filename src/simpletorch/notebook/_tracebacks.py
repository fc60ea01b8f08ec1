"""Short tracebacks: the user's own frames, without those of torch and simpletorch between and behind them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

__all__ = ["shortened"]

_OURS: Final = str(Path(__file__).parents[1]) + os.sep
_LIBRARIES: Final = ("torch", "jaxtyping", "beartype")


def shortened(traceback: TracebackType | None) -> tuple[TracebackType | None, int]:
    """The traceback without the frames of torch and of what checks shapes, and how many are left out.

    Where nothing else is in it, it stays as it is.
    """
    frames = list(_frames(traceback))
    homes = (_OURS, *(str(Path(f).parent) + os.sep for n in _LIBRARIES if (f := _file_of(n)) is not None))
    kept = [t for t in frames if not t.tb_frame.f_code.co_filename.startswith(homes) and not _is_generated(t)]
    if not kept:
        return traceback, 0
    short: TracebackType | None = None
    for t in reversed(kept):
        short = TracebackType(short, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return short, len(frames) - len(kept)


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _file_of(name: str) -> str | None:
    return getattr(sys.modules.get(name), "__file__", None)


def _is_generated(traceback: TracebackType) -> bool:
    """Whether the frame is of code that jaxtyping or beartype has made, which has no text."""
    file = traceback.tb_frame.f_code.co_filename
    return file.startswith(("<@beartype", "<simpletorch border"))
