"""Exceptions as objects, and the handlers that take them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow.model import kinds
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import MISSING, Class, Function, Instance, Iterator, Namespace, Tensor, Value

if TYPE_CHECKING:
    from simpletorch.follow.findings import Finding
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["EVERYTHING", "Catching", "catches", "exception_of", "handlers_of", "mistake_of", "object_of", "takers"]

_EXCEPTION: Final = ("Exception", "BaseException")
_EXCEPTIONS: Final = "builtins.BaseException"
_SELDOM: Final = {"KeyboardInterrupt", "SystemExit", "GeneratorExit", "ImportError", "ModuleNotFoundError"}
_MISTAKE: Final = "mistake"  # in the state of an exception
Catching: TypeAlias = list[tuple[tuple[str, ...], ast.ExceptHandler]]


def _caught_names(run: Interpreter, handler: ast.ExceptHandler, scope: Scope) -> tuple[str, ...]:
    if handler.type is None:
        return ("BaseException",)
    try:
        found = run.evaluate(handler.type, scope)
    except Raised:  # it is evaluated only where something is raised
        return ("",)
    classes_ = found if isinstance(found, tuple) else (found,)
    return tuple(c.name if isinstance(c, Class) else "" for c in map(run.resolve, classes_))


EVERYTHING: Final[Catching] = [(("BaseException",), ast.ExceptHandler(None, None, []))]
"""What ``finally`` takes."""


def handlers_of(run: Interpreter, node: ast.Try, scope: Scope) -> Catching:
    """The handlers of a ``try``, each with the names of what it takes."""
    return [(_caught_names(run, h, scope), h) for h in node.handlers]


def catches(error: Raised, catching: Catching) -> bool | None:
    """Whether one of the handlers takes it; None where that isn't known."""
    options = takers(error, catching)
    return False if options == [None] else True if None not in options else None


def takers(error: Raised, catching: Catching) -> list[ast.ExceptHandler | None]:
    """The handlers that may take it; None among them says that maybe none does."""
    names = {error.name, *error.bases}
    options: list[ast.ExceptHandler | None] = []
    for caught, handler in catching:
        if "BaseException" in caught or names.intersection(caught):
            return [*options, handler]
        if "" in caught or (error.name == "" and set(caught) - _SELDOM):
            options.append(handler)
    return [*options, None]


def is_no_exception(value: Value) -> bool:
    """Whether a value surely can't be raised."""
    cls = value.cls if isinstance(value, Instance) else value
    if isinstance(cls, Class):
        return cls.unknown_base is None and not cls.is_a(_EXCEPTIONS)
    return kinds.is_of_python(value) or isinstance(value, Iterator | Namespace | Function | Tensor)


def is_exception(value: Value) -> bool:
    """Whether a value surely is an exception, or None."""
    cls = value.cls if isinstance(value, Instance) else value
    return value is None or (isinstance(cls, Class) and cls.is_a(_EXCEPTIONS))


def exception_of(run: Interpreter, value: Value) -> Raised:
    """The exception that ``raise value`` raises."""
    value = run.resolve(value)
    if isinstance(value, Class) and value.is_a(_EXCEPTIONS):
        made = run.resolve(run.call(value, ()))
        value = made if isinstance(made, Instance) else value
    cls = value.cls if isinstance(value, Instance) else value
    if is_no_exception(value):
        return Raised("TypeError", None, _EXCEPTION)
    if isinstance(cls, Class):
        raised = Raised(cls.name, value, tuple(c.name for c in cls.mro[1:]))
        raised.finding = mistake_of(value)
        return raised
    return Raised("", value, _EXCEPTION)


def mistake_of(value: Value) -> Finding | None:
    """The mistake for which an exception was raised that a handler has kept."""
    found: Finding | None = value.state.get(_MISTAKE) if isinstance(value, Instance) else None
    return found


def object_of(run: Interpreter, error: Raised) -> Value:
    """The value of ``name`` in ``except … as name``; the class of Python's own exceptions is known."""
    if isinstance(error.value, Instance):
        return error.value
    cls = run.program.library(run, f"builtins.{error.name}") if error.name else MISSING
    if not isinstance(cls, Class) or not cls.is_a(_EXCEPTIONS):
        return run.unknown("an exception")
    error.value = Instance(cls)
    run.heap.write(error.value.state, "open", True)
    run.heap.write(error.value.state, _MISTAKE, error.finding)
    return error.value
