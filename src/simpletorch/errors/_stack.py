"""The frames on the way to a failure, and whose code each of them runs."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Final

import torch

__all__ = ["Step", "is_torch", "is_user", "is_user_file", "outer_steps", "steps", "user_step"]

_TORCH: Final = os.path.dirname(torch.__file__) + os.sep
_CHECKERS: Final = tuple(
    os.path.dirname(spec.origin) + os.sep
    for name in ("jaxtyping", "beartype")
    if (spec := importlib.util.find_spec(name)) is not None and spec.origin is not None
)
# Code of simpletorch, what `checks` and beartype generate, and the libraries that check for us.
_OURS: Final = (
    str(Path(__file__).resolve().parents[1]) + os.sep,
    *("<simpletorch border", "<@beartype", "<frozen "),
    *_CHECKERS,
)
_STDLIB: Final = os.path.dirname(os.__file__) + os.sep


@dataclass(frozen=True, slots=True)
class Step:
    """One frame on the way to a failure, and the instruction it had reached."""

    frame: FrameType
    line: int
    instruction: int


def steps(traceback: TracebackType | None) -> list[Step]:
    """The frames of a traceback, from the border that caught it to the failure."""
    out = []
    while traceback is not None:
        out.append(Step(traceback.tb_frame, traceback.tb_lineno, traceback.tb_lasti))
        traceback = traceback.tb_next
    return out


def outer_steps(frame: FrameType | None) -> list[Step]:
    """The frames that are still running, from ``frame`` outwards."""
    out = []
    while frame is not None:
        out.append(Step(frame, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return out


def user_step(steps: Iterable[Step]) -> Step | None:
    """The first of the frames with the user's code."""
    return next((step for step in steps if is_user(step.frame.f_code)), None)


def is_torch(code: CodeType) -> bool:
    """Whether the code is torch's own."""
    return code.co_filename.startswith(_TORCH)


def is_user(code: CodeType) -> bool:
    """Whether the code is the user's, or of a library that they call."""
    return is_user_file(code.co_filename)


def is_user_file(filename: str) -> bool:
    """Whether the file is the user's, or of a library that they call."""
    return not (filename.startswith((_TORCH, *_OURS)) or _is_stdlib(filename))


@lru_cache(maxsize=1024)
def _is_stdlib(filename: str) -> bool:
    # where packages are installed lies below the standard library's folder
    return filename.startswith(_STDLIB) and "site-packages" not in filename
