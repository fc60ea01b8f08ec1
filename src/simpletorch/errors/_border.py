"""The border: where torch's exception becomes a `TorchError`. Costs nothing until something fails."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from simpletorch.errors._kinds import TorchError
from simpletorch.errors._origin import is_from_torch

__all__ = ["explain", "explained"]


def explained(error: BaseException, frame: FrameType | None = None) -> TorchError | None:
    """The `TorchError` for an exception that torch raised; None if it isn't torch's, or has been explained already.

    Its class is a subclass of the original's too, and its ``__cause__`` is the original.

    Args:
        error: the exception, as caught.
        frame: the frame that caught it; the caller's by default.

    Returns:
        The error with its explanation, or None.

    Examples:
        >>> import torch
        >>> from simpletorch import errors
        >>> try:
        ...     torch.zeros(2, 3) @ torch.zeros(5, 7)
        ... except RuntimeError as error:
        ...     print(errors.explained(error).reason)
        the inner dims differ: input has 3, other has 5
    """
    if not is_from_torch(error):
        return None
    if frame is None:
        frame = sys._getframe(1)
    try:
        from simpletorch.errors._translation import translation  # all the rules, which only a failure needs

        return translation(error, frame)
    except Exception as bug:  # an error report must never replace the error it reports
        if os.environ.get("SIMPLETORCH_DEBUG"):
            warnings.warn(f"explaining {error!r} failed: {bug!r}", RuntimeWarning, stacklevel=2)
        return None


@contextmanager
def explain() -> Iterator[None]:
    """Explain torch's errors in this block, in code that runs in no `simpletorch.nn.Module`.

    ::

        with simpletorch.explain():
            loss = criterion(model(x), y)

    Raises:
        TorchError: with torch's exception as its ``__cause__``; other exceptions pass through unchanged.

    Examples:
        >>> import torch
        >>> from simpletorch import errors
        >>> try:
        ...     with errors.explain():
        ...         torch.zeros(2, 3) @ torch.zeros(5, 7)
        ... except errors.ShapeMismatch as error:
        ...     print(error.reason)
        the inner dims differ: input has 3, other has 5
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
