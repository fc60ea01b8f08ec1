"""The border: where torch's exception becomes a `TorchError`. Costs nothing until something fails."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import torch

from simpletorch.errors._kinds import TorchError

__all__ = ["explain", "explained"]

# What torch raises. Exactly these: a subclass is somebody's own error and means something to them.
_TORCH_RAISES: Final[frozenset[type[BaseException]]] = frozenset(
    cls
    for cls in (
        RuntimeError,
        IndexError,
        ValueError,
        TypeError,
        NotImplementedError,
        AssertionError,
        torch.OutOfMemoryError,
        getattr(torch.linalg, "LinAlgError", None),
        getattr(torch, "AcceleratorError", None),
    )
    if cls is not None
)


# How torch passes on what was raised in a loader's worker process: any class, with the worker's traceback as its text.
WORKER_ERROR: Final = (
    r"^Caught (\w+) in (DataLoader worker process \d+|pin memory thread[^.]*|replica \d+ on .*)\.\nOriginal "
)


# Errors of their own that torch's parts and einops have; they tell of the program, and are explained as well.
_LIBRARIES: Final = ("torch._dynamo.exc", "torch._inductor.exc", "torch.distributed", "einops")


def _is_librarys(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and type(error).__module__ in _LIBRARIES


def _is_workers(error: BaseException) -> bool:
    text = error.reason if isinstance(error, TorchError) else error.args[0] if len(error.args) == 1 else None
    return isinstance(text, str) and re.match(WORKER_ERROR, text) is not None


def explained(error: BaseException, frame: FrameType | None = None) -> TorchError | None:
    """The `TorchError` for an exception that torch raised; None if it isn't torch's, or has been explained already.

    Its class is a subclass of the original's too, and its ``__cause__`` is the original.

    Args:
        error: the exception, as caught.
        frame: the frame that caught it; the caller's by default.
    """
    if not (type(error) in _TORCH_RAISES or _is_librarys(error) or _is_workers(error)):
        return None
    if frame is None:
        frame = sys._getframe(1)
    try:
        from simpletorch.errors._explanation import explanation  # only a failure needs it

        return explanation(error, frame)
    except Exception as bug:  # an error report must never replace the error it reports
        if os.environ.get("SIMPLETORCH_DEBUG"):
            warnings.warn(f"explaining {error!r} failed: {bug!r}", RuntimeWarning, stacklevel=2)
        return None


@contextmanager
def explain() -> Iterator[None]:
    """Explain what torch raises in this block, in code that runs in no `simpletorch.nn.Module`.

    ::

        with simpletorch.explain():
            loss = criterion(model(x), y)

    Raises:
        TorchError: with torch's exception as its ``__cause__``; what isn't torch's passes through unchanged.
    """
    try:
        yield
    except Exception as error:
        new = explained(error, _block_frame())
        if new is None:
            raise
        raise new from new.__cause__


def _block_frame() -> FrameType:
    """The frame that holds the ``with`` block: the first outside of this file and of `contextlib`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename == __file__ or frame.f_globals.get("__name__") == "contextlib"
    ):
        frame = frame.f_back
    return frame
