"""How a context manager is left: ``__exit__`` after the body, which may drop what the body raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import branches
from simpletorch.follow.model import coroutines
from simpletorch.follow.outcomes import Done, Raise
from simpletorch.follow.values import MISSING, Instance, Method, Native, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["leave", "may_drop"]

_OF_PYTHON: Final = ("contextlib.ExitStack", "contextlib.AbstractContextManager")


def may_drop(manager: Instance) -> bool:
    """Whether it is a library's, and can drop an exception."""
    return any(map(manager.cls.is_a, _OF_PYTHON))


def leave(run: Interpreter, manager: Instance, function: Value, raised: Done) -> Done:
    """``__exit__`` after a body: whether what was raised is still on its way."""
    kind: Value = None
    if isinstance(raised, Raise):
        name = f"builtins.{raised.error.name}"
        cls = run.program.library(run, name)
        kind = run.unknown("the class of an exception") if cls is MISSING else cls
    value: Value = None
    if isinstance(raised, Raise):
        held = raised.error.value
        value = held if isinstance(held, Instance) else run.unknown("an exception")
        kind = held.cls if isinstance(held, Instance) else kind
        run.handled.append(raised.error)
    try:
        answer = coroutines.result(run, run.call(Method(function, manager), (kind, value, None)))
    finally:
        if isinstance(raised, Raise):
            run.handled.pop()
    if not isinstance(raised, Raise) or (isinstance(function, Native) and not may_drop(manager)):
        return raised
    return branches.choose(run, answer, lambda: None, lambda: raised)
