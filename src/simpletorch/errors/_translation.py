"""From an exception of torch's to the `TorchError` that explains it. Loaded when something fails, not before."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

from simpletorch.errors._diagnosis import diagnosis
from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import Mismatch, TorchError, as_also
from simpletorch.errors._origin import is_from_compiler
from simpletorch.errors._reasons import Reason, reason_for
from simpletorch.errors._stack import is_torch, is_user, outer_steps, steps

__all__ = ["translation"]


def translation(error: BaseException, frame: FrameType) -> TorchError | None:
    """The `TorchError` for what torch raised; None if it isn't torch's.

    Args:
        error: the exception, as caught.
        frame: the frame that caught it.
    """
    is_users_frame = is_user(frame.f_code)  # the border is a `with` block in it; else it is a frame of our own
    inner = steps(error.__traceback__)
    while inner and inner[0].frame is frame and not is_users_frame:
        inner.pop(0)
    outer = outer_steps(frame if is_users_frame else frame.f_back)
    found = diagnosis(error, inner, outer)
    if isinstance(found.node, ast.Raise | ast.Assert):
        return None  # the user's own exception
    is_torch_s = is_torch(inner[-1].frame.f_code) if inner else not is_users_frame  # the border called a C function
    reason = reason_for(found) or _unknown_reason(error, found, is_torch_s)
    if reason is None:
        return None
    cls = as_also(reason.kind, type(error)) if isinstance(error, Exception) else reason.kind
    if not issubclass(cls, type(error)):
        return None  # an OSError can't be a RuntimeError too, and who catches it must still do so
    out = _build(cls, reason, found)
    _take_over(out, error)
    if not is_users_frame and out.__traceback__ is not None and out.__traceback__.tb_frame is frame:
        out.__traceback__ = out.__traceback__.tb_next  # raising it puts the border's frame there again
    return out


def _unknown_reason(error: BaseException, found: Failure, is_torch_s: bool) -> Reason | None:
    """torch's own sentence, for an exception that no rule and no message explains; None if it may not be torch's.

    Args:
        error: the exception.
        found: what failed.
        is_torch_s: whether torch's own code raised it. Where it did, a `TypeError` is still a mistake in a call.
    """
    concerns_tensors = type(error) is RuntimeError and (bool(found.tensors) or found.layer is not None)
    is_refused = is_torch_s and not isinstance(error, TypeError | AssertionError)
    if is_from_compiler(error) or concerns_tensors or is_refused:
        return Reason(TorchError, _first_line(found.message))
    return None


def _take_over(out: TorchError, error: BaseException) -> None:
    """Put ``out`` in the place of the exception that it explains: its cause, its traceback and its notes."""
    out.__cause__ = error
    out.__suppress_context__ = True
    out.__traceback__ = error.__traceback__
    for note in getattr(error, "__notes__", ()):
        out.add_note(note)
    error.__traceback__ = None  # shown once, with the explanation


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
