"""The border: where torch's exception becomes a `TorchError`. Costs nothing until something fails."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import torch

from simpletorch.errors import _other_reasons, _shape_reasons
from simpletorch.errors._failure import Failure, failure
from simpletorch.errors._frames import is_torch, is_user, location, outer_steps, steps
from simpletorch.errors._kinds import CUDAError, Mismatch, OutOfMemory, TorchError, as_also
from simpletorch.errors._reason import Reason, reason_for

__all__ = ["explain", "explained"]

_TABLES: Final = (_other_reasons, _shape_reasons)  # importing them fills the table of messages

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


def explained(error: BaseException, frame: FrameType | None = None) -> TorchError | None:
    """The `TorchError` for an exception that torch raised; None if it isn't torch's, or has been explained already.

    Its class is a subclass of the original's too, and its ``__cause__`` is the original.

    Args:
        error: the exception, as caught.
        frame: the frame that caught it; the caller's by default.
    """
    if type(error) not in _TORCH_RAISES:
        return None
    if frame is None:
        frame = sys._getframe(1)
    try:
        return _explain(error, frame)
    except Exception as bug:  # an error report must never replace the error it reports
        if os.environ.get("SIMPLETORCH_DEBUG"):
            warnings.warn(f"explaining {error!r} failed: {bug!r}", RuntimeWarning, stacklevel=2)
        return None


def _explain(error: BaseException, frame: FrameType) -> TorchError | None:
    inner = steps(error.__traceback__)
    while inner and inner[0].frame is frame:  # the border's own frame, unless the user's code stands in it
        if is_user(frame.f_code):
            break
        inner.pop(0)
    outer = outer_steps(frame.f_back if not is_user(frame.f_code) else frame)
    found = failure(str(error), inner, outer)
    if isinstance(found.node, ast.Raise | ast.Assert):
        return None  # the user's own exception
    reason = reason_for(found)
    if reason is None:
        from_torch = bool(inner) and (
            is_torch(inner[-1].frame.f_code) or bool(found.tensors) or found.layer is not None
        )
        if type(error) is not RuntimeError or not from_torch:
            return None
        reason = Reason(TorchError, _first_line(found.message))
    out = _build(reason, found, type(error))
    out.__cause__ = error
    out.__suppress_context__ = True
    out.__traceback__ = error.__traceback__
    if out.__traceback__ is not None and out.__traceback__.tb_frame is frame and not is_user(frame.f_code):
        out.__traceback__ = out.__traceback__.tb_next  # raising it puts the border's frame there again
    for note in getattr(error, "__notes__", ()):
        out.add_note(note)
    error.__traceback__ = None  # shown once, with the explanation
    return out


def _first_line(message: str) -> str:
    return message.strip().partition("\n")[0] or "torch gave no message"


def _build(reason: Reason, found: Failure, also: type[BaseException]) -> TorchError:
    context: dict[str, Any] = {
        "operation": found.operation,
        "operands": found.operands(),
        "location": None if found.step is None else location(found.step, found.node),
        "module_path": found.module_path,
        "hint": reason.hint,
    }
    kind = reason.kind
    cls = as_also(kind, also) if issubclass(also, Exception) else kind
    if issubclass(cls, Mismatch):
        return cls(reason.expected, reason.got, reason.sentence, **context)
    if issubclass(cls, OutOfMemory):
        return cls(_int(reason.got), _int(reason.expected), reason.sentence, **context)
    if issubclass(cls, CUDAError):
        return cls(None, reason.sentence, **context)
    return cls(reason.sentence, **context)


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None


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
