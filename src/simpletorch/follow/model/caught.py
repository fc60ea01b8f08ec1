"""Mistakes inside ``try``: one is told that its handler raises again, or that ends a training with a message."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards
from simpletorch.follow.outcomes import Outcome, Raise, Raised
from simpletorch.follow.sources.syntax import walk

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["is_failure", "tell", "tell_of"]


def tell(run: Interpreter, error: Raised) -> None:
    """The program ends with an exception."""
    if error.finding is not None:
        run.keep(error.finding)


def tell_of(run: Interpreter, outcomes: Sequence[Outcome]) -> None:
    """On ways that end with an exception, the mistakes are found for which it is raised and which no one takes."""
    for o in outcomes:
        if isinstance(o.done, Raise) and o.done.error.finding and not guards.is_caught(run, o.done.error):
            o.findings.append(o.done.error.finding)


def is_failure(run: Interpreter, node: ast.Try, handler: ast.ExceptHandler, error: Raised) -> bool:
    """Whether a mistake isn't meant, though a handler takes it.

    Either the ``try`` is around the steps of a training, and the handler does nothing but tell that they fail. A
    mistake that is made on purpose, to show its message, needs no step. Or the handler looks for another message.
    """
    if error.finding is None:
        return False
    if not guards.is_caught(run, error) and _looks_for_memory(handler):
        return True
    if not all(map(_only_tells, handler.body)):
        return False
    inside = (*node.body, *error.through[len(run.running) :])
    return {"backward", "step"} <= {n.attr for one in inside for n in walk(one) if isinstance(n, ast.Attribute)}


def _looks_for_memory(handler: ast.ExceptHandler) -> bool:
    """``if "out of memory" in str(e): …``, and others are raised again."""
    raises = looks = False
    for node in (n for statement in handler.body for n in walk(statement)):
        raises |= isinstance(node, ast.Raise)
        match node:
            case ast.Compare(left=ast.Constant(value=str(text)), ops=[ast.In() | ast.NotIn()]):
                looks |= re.search("memory|cuda", text, re.IGNORECASE) is not None
    return raises and looks


_TELLING: Final = frozenset({
    "append", "collect", "critical", "debug", "empty_cache", "error", "exception", "exit", "flush", "format_exc",
    "info", "log", "print", "print_exc", "quit", "warn", "warning", "write", "_exit",
})  # fmt: skip


def _only_tells(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Continue() | ast.Break() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Return(value=None | ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in _TELLING
        case ast.Assign(value=ast.Constant(value=str()) | ast.JoinedStr()) | ast.AugAssign(value=ast.Constant()):
            return True
        case ast.If(body=body, orelse=orelse):
            return all(map(_only_tells, (*body, *orelse)))
    return False
