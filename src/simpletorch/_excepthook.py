"""`install_excepthook`: explain the exception that ends a script. Importing this file loads no torch."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simpletorch.errors import TorchError
    from simpletorch.follow import Finding

__all__ = ["as_torch_error", "install_excepthook", "report"]

_STEPS: Final = 50_000  # as many as `simpletorch check` follows a file for
_SECONDS: Final = 2.0


def install_excepthook() -> None:
    """Explain the exception that ends this program, as `explain` explains one in a block.

    ::

        import simpletorch

        simpletorch.install_excepthook()

    Other errors than mistakes with tensors, layers or data are shown as Python shows them. ``simpletorch run
    script.py`` does the same for a script that has no such line.

    Examples:
        >>> import sys
        >>> import simpletorch
        >>> before = sys.excepthook
        >>> simpletorch.install_excepthook()
        >>> sys.excepthook = before  # takes it out again
    """
    sys.excepthook = _hook


def _hook(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
    said = report(error.with_traceback(tb), sys.argv[0], sys.argv[1:])
    if said is None:
        sys.__excepthook__(kind, error, tb)
    else:
        print(said, file=sys.stderr)


def report(error: BaseException, program: str, arguments: list[str]) -> str | None:
    """The report of an uncaught exception: the user's frames and the reason; None if unknown.

    Args:
        error: the exception, with its traceback.
        program: the file that was run; it is followed if the exception alone doesn't say why.
        arguments: the program's.
    """
    if not isinstance(error, Exception):
        return None
    tb = error.__traceback__
    own = traceback.format_exception_only(error)[-1].partition("\n")[0]
    why = _explained(error, own) or _followed(tb, program, arguments)
    if why is None:
        error.__traceback__ = tb  # an explanation that says no more than torch has taken it
        return None
    frames = [frame for frame in traceback.extract_tb(tb) if _is_shown(frame.filename)]
    way = "".join(traceback.format_list(frames)).rstrip()
    lines = ["Traceback (most recent call last):", way, why]
    return "\n".join(lines if _is_ours(error) else [*lines, f"  raised as: {own}"])


def _is_ours(error: Exception) -> bool:
    """Whether the exception was ours from the beginning, so that torch has nothing to add."""
    from simpletorch.errors import TorchError

    return isinstance(error, TorchError) and error.__cause__ is None


def as_torch_error(error: BaseException) -> TorchError | None:
    """The exception if it is one of ours, what explains it if torch has raised it; else None."""
    if "torch" not in sys.modules:
        return None
    from simpletorch.errors import TorchError, explained

    return error if isinstance(error, TorchError) else explained(error, sys._getframe())


def _explained(error: Exception, own: str) -> str | None:
    """The explanation that a border would give, if it says more than torch does."""
    new = as_torch_error(error)
    if new is None or (new.reason in own and not new.hint and new is not error):
        return None
    return f"{new.kind}: {new}"


def _followed(tb: TracebackType | None, program: str, arguments: list[str]) -> str | None:
    """The follower's finding at the place of the failure."""
    if not os.path.isfile(program):
        return None
    from simpletorch.follow import follow

    where = next((frame for frame in reversed(traceback.extract_tb(tb)) if _is_shown(frame.filename)), None)
    if where is None or where.lineno is None:
        return None
    file = os.path.realpath(where.filename)
    errors = follow(program, arguments, steps=_STEPS, seconds=_SECONDS).errors
    for finding in errors:
        last = finding.end_line or finding.line
        if os.path.realpath(finding.path) == file and finding.line <= where.lineno <= last:
            return _said(finding)
    # what is wrong before it fails: a module where a tensor was meant, …
    first = next((each for each in errors if not _is_behind(each, file, where.lineno)), None)
    if first is None:
        return None
    return f"{_said(first)}\n  at {os.path.basename(first.path)}:{first.line}, from which this follows"


def _is_behind(finding: Finding, file: str, line: int) -> bool:
    """Whether the program has passed this line of a file before it gets to the finding, which so can't explain it."""
    return any(finding.has_passed(path, line) for path, _, _ in finding.passed if os.path.realpath(path) == file)


def _said(finding: Finding) -> str:
    hint = f"\n  hint: {finding.hint}" if finding.hint else ""
    return f"{finding.code}: {finding.message}{hint}"


def _is_shown(file: str) -> bool:
    if "torch" not in sys.modules:
        return not file.startswith(os.path.dirname(os.__file__))
    from simpletorch.errors.context import is_user_file

    return is_user_file(file)
