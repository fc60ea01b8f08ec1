"""Coroutines: the body of an ``async`` function is followed where it is called; what it gives waits to be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.values import Instance, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["NAME", "made", "result"]

NAME: Final = "types.CoroutineType"
_RESULT: Final = "(result)"


def made(run: Interpreter, found: Value) -> Value:
    """The coroutine whose body gives this."""
    if isinstance(found, Unknown):
        return found
    coroutine = Instance(run.program.library_class(NAME))
    coroutine.cells[_RESULT] = found
    return coroutine


def result(run: Interpreter, value: Value) -> Value:
    """The result of a coroutine, as ``await`` gives it; any other value itself."""
    return run.each(value, _result)


def _result(value: Value) -> Value:
    return value.cells.get(_RESULT, value) if isinstance(value, Instance) and value.cls.is_a(NAME) else value
