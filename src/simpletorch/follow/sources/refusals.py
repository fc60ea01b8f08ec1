"""Refusals of simpletorch's own files (``raise ShapeMismatch(…)``), found where the program calls them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Class, List, Tensor, Value
from simpletorch.rules.core.dtype import DType
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["refused"]

_CODES: Final = {
    "ShapeMismatch": "tensor-shape", "DTypeMismatch": "tensor-dtype", "TypeMismatch": "tensor-class",
    "AttributeError": "tensor-class", "ConfigAttributeError": "tensor-class", "ConfigKeyError": "tensor-class",
}  # fmt: skip
_OTHER: Final = "tensor-option"
_BASES: Final = ("TorchError", "ValueError", "TypeError", "RuntimeError", "Exception", "BaseException")


def refused(run: Interpreter, node: ast.Call, scope: Scope) -> Raised:
    """The exception of ``raise``; a mistake is written down if it surely happens and can't be caught."""
    name = _name(node.func)
    made = run.resolve(run.evaluate(node.func, scope))
    error = Raised(name, None, tuple(c.name for c in made.mro[1:]) if isinstance(made, Class) else _BASES)
    is_open = run.tries or run.questions or guards.is_caught(run, error)
    if is_open or not all(c in run.going for c in run.conditions):
        return error
    given = [_value(run, a, scope) for a in node.args if not isinstance(a, ast.Starred)]
    named = {k.arg: _value(run, k.value, scope) for k in node.keywords if k.arg}
    hint = named.get("hint")
    run.find(_CODES.get(name, _OTHER), _text(name, given, named), hint if isinstance(hint, str) else None)
    error.is_told = True
    return error


def _value(run: Interpreter, node: ast.expr, scope: Scope) -> Value:
    """An argument; of a text with values in it, each is shown as far as it is known."""
    if not isinstance(node, ast.JoinedStr):
        return run.resolve(run.evaluate(node, scope))
    parts = (p.value if isinstance(p, ast.FormattedValue) else p for p in node.values)
    return "".join(_shown(_value(run, p, scope)) for p in parts)


def _name(made: ast.expr) -> str:
    """``ShapeMismatch`` of ``ShapeMismatch(…)`` and ``as_also(ShapeMismatch, ValueError)(…)``."""
    match made:
        case ast.Call(args=[first, *_]):
            return _name(first)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _text(name: str, given: list[Value], named: dict[str, Value]) -> str:
    texts = [v for v in (named.get("reason"), *reversed(given)) if isinstance(v, str)]
    operation = named.get("operation")
    start = f"{operation}: " if isinstance(operation, str) else ""
    if texts:
        return f"{start}{texts[0]}"
    if len(given) == 2:
        return f"{start}{_shown(given[0])} is given where {_shown(given[1])} is expected"
    return f"{start}{name or 'an error'} is raised"


def _shown(value: Value) -> str:
    if isinstance(value, List) and value.items is not None:
        value = value.items
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, Tensor):
        return str(value.type)
    return str(value) if isinstance(value, str | DType | int | float | Expr) else "…"
