"""``eval`` and ``ast.literal_eval`` of a text that is known: a setting such as ``"[(512, 10, 5)] + [(512, 3, 2)]"``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow import guards
from simpletorch.follow.libraries import model
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources.syntax import expression
from simpletorch.follow.values import Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["evaluate"]


def evaluate(run: Interpreter, text: Value, scope: Scope) -> Value:
    """What a text gives as an expression of this scope."""
    text = run.resolve(text)
    if not isinstance(text, str):
        guards.may_raise(run, guards.ANY)
        return run.unknown("what a text evaluates to")
    found = expression(text, run.path, getattr(run.node, "lineno", 1))
    if found is None:
        raise Raised("SyntaxError", None, ("Exception", "BaseException"))
    return run.evaluate(found, scope)


@model("ast.literal_eval")
def _literal(run: Interpreter, node_or_string: Value) -> Value:
    return evaluate(run, node_or_string, Scope(None, run.path))
