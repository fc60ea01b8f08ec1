"""Arguments that a function of the program doesn't take, or lacks: Python's ``TypeError``, said before it is raised.

Only of calls that stand in the program as they are made. What a library calls back, and what ``*args`` hide, gets other
arguments than those that one sees, of which nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from simpletorch.follow.values import Function, Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["is_named", "misfit"]


def misfit(
    run: Interpreter, function: Function, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> tuple[str, str | None] | None:
    """Why a call that doesn't fit fails, and what would be right; None where nobody sees the arguments."""
    own = _receivers(run.node, function, args, kwargs)
    if own is None:
        return None
    spec = function.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    shown = _shown(function)
    if own and not names:
        return f"{shown} takes no argument, not even the object that it is called on", _signature(function, "self")
    given = len(args) - own
    if len(args) > len(names) and spec.vararg is None:
        forgotten = bool(own) and names[0] not in ("self", "cls")
        takes = names if forgotten else names[own:]
        hint = _signature(function, "self", *names) if forgotten else None
        counted = f"{len(takes)} argument{'s' * (len(takes) != 1)}{_listed(takes)}" if takes else "no argument"
        return f"{shown} takes {counted}, but it is given {given}{' and the object' if forgotten else ''}", hint
    by_name = {*names[len(spec.posonlyargs) :], *(a.arg for a in spec.kwonlyargs)}
    for name in kwargs:
        if name in names[: len(args)] and name in by_name:
            return f"{shown} is given {name} twice", None
        if name not in by_name and spec.kwarg is None:
            return f"{shown} has no argument {name}{_listed(names[own:])}", None
    needed = names[len(args) : len(names) - len(function.defaults)]
    needed += [a.arg for a in spec.kwonlyargs if a.arg not in function.keyword_defaults]
    lacking = [name for name in needed if name not in kwargs]
    return (f"{shown} is called without {' and '.join(lacking)}", None) if lacking else None


def is_named(node: ast.AST, function: Function) -> bool:
    """Whether a call names the function, or its class, itself: a parameter may stand for another one."""
    own = function.name if function.owner is None else function.owner.name
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name == own
    return False


def _receivers(node: ast.AST, function: Function, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> int | None:
    """How many arguments stand before those of the call (1: the object of a method); None if it isn't this call."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    if {k.arg for k in node.keywords} != set(kwargs):
        return None
    own = len(args) - len(node.args)
    bound = own == 1 and function.owner is not None and isinstance(args[0], Instance)
    return own if own == 0 or bound else None


def _shown(function: Function) -> str:
    if function.owner is None:
        return function.name if not isinstance(function.node, ast.Lambda) else "the lambda"
    return function.owner.name if function.name == "__init__" else f"{function.owner.name}.{function.name}"


def _listed(names: list[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _signature(function: Function, *names: str) -> str:
    return f"def {function.name}({', '.join(names)})"
