"""From an exception of torch's to the `TorchError` that explains it. Loaded when something fails, not before."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

from simpletorch.errors import _reasons as _reasons  # the table of messages
from simpletorch.errors._compiled import is_compilers
from simpletorch.errors._failure import Failure
from simpletorch.errors._frames import is_torch, is_user, outer_steps, steps
from simpletorch.errors._kinds import Mismatch, TorchError, as_also
from simpletorch.errors._reading import failure
from simpletorch.errors._reason import Reason, reason_for

__all__ = ["explanation"]


def explanation(error: BaseException, frame: FrameType) -> TorchError | None:
    """The `TorchError` for what torch raised; None if it isn't torch's.

    Args:
        error: the exception, as caught.
        frame: the frame that caught it.
    """
    inner = steps(error.__traceback__)
    while inner and inner[0].frame is frame:  # the border's own frame, unless the user's code stands in it
        if is_user(frame.f_code):
            break
        inner.pop(0)
    outer = outer_steps(frame.f_back if not is_user(frame.f_code) else frame)
    found = failure(error, inner, outer)
    if isinstance(found.node, ast.Raise | ast.Assert):
        return None  # the user's own exception
    reason = reason_for(found)
    if reason is None:
        from_torch = bool(inner) and (
            is_torch(inner[-1].frame.f_code) or bool(found.tensors) or found.layer is not None
        )
        if not (is_compilers(error) or (type(error) is RuntimeError and from_torch)):
            return None
        reason = Reason(TorchError, _first_line(found.message))
    cls = as_also(reason.kind, type(error)) if isinstance(error, Exception) else reason.kind
    if not issubclass(cls, type(error)):
        return None  # an OSError can't be a RuntimeError too, and who catches it must still do so
    out = _build(cls, reason, found)
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


def _build(cls: type[TorchError], reason: Reason, found: Failure) -> TorchError:
    report = reason.report
    context: dict[str, Any] = {
        "operation": found.operation if report is None else report.op,
        "operands": found.operands(report),
        "location": found.location,
        "module_path": found.module_path,
        "hint": reason.hint,
        "details": reason.details,
        **reason.fields,
    }
    if reason.expected is not None or reason.got is not None or issubclass(cls, Mismatch):
        context.update(expected=reason.expected, got=reason.got)
    return cls(reason=reason.sentence, **context)
