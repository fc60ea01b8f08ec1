"""Syntax without a model: its value isn't known, it may raise, and it may have changed all that it could reach.

Following goes on behind it. The tables of statements and expressions ask here for every kind of syntax that they lack.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from simpletorch.follow import guards
from simpletorch.follow.model import metaclasses
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources.syntax import walk
from simpletorch.follow.values import MISSING, Choice, Class, Dict, Iterator, List, Set, Tensor, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["Table", "changes", "happens", "of_expression", "operator", "watched"]

K = TypeVar("K")
W = TypeVar("W")


class Table(dict[K, W]):
    """By kind of syntax, what it does; any other kind is not modelled."""

    def __init__(self, rows: Mapping[K, W], otherwise: W) -> None:
        super().__init__(rows)
        self._otherwise: Final = otherwise

    def __missing__(self, key: K) -> W:
        """The work for a kind without a model."""
        return self._otherwise


def happens(run: Interpreter, node: ast.AST, scope: Scope, reason: str) -> Unknown:
    """A statement or expression was not followed: it may raise, and may have changed what it names."""
    guards.may_raise(run, guards.ANY)
    held = []
    for inner in walk(node):
        if isinstance(inner, ast.Name):
            held.append(_first(scope) if inner.id == "super" else _found(scope, inner.id))
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            continue
        if (name := _given(inner)) is not None:
            run.heap.write(scope.holder(name), name, run.unknown(reason))
    for value in held:
        if isinstance(value, Class) and value.metadata.get(metaclasses.ABC):
            value.metadata[metaclasses.REGISTERS] = True
    found = run.call_in_the_dark(run.unknown(reason), [v for v in held if v is not MISSING], {})
    guards.may_raise(run, guards.ANY)  # having changed some of it
    assert isinstance(found, Unknown)
    return found


def _found(scope: Scope, name: str) -> Value:
    """The value of a name; none where it comes from an import that fails."""
    try:
        return scope.find(name)
    except Raised:
        return MISSING


_NEVER_RAISE: Final = ("builtins.print", "builtins.id", "builtins.hasattr", "time.", "random.random", "sys.get")
"""How functions begin that give what isn't known, but raise nothing."""


def watched(
    run: Interpreter, name: str, work: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The result of a model; if it is unknown, the function may raise before it has changed anything."""
    if name.startswith(_NEVER_RAISE):
        return work(run, args, kwargs)
    writes, heap = run.heap.writes, run.heap
    heap.begin()
    try:
        found = work(run, args, kwargs)
    except BaseException:
        heap.keep()
        raise
    if not _is_unsure(found):
        heap.keep()
    elif heap.writes == writes:
        heap.keep()
        guards.may_raise(run, guards.ANY)
    else:
        change = heap.end()
        guards.may_raise(run, guards.ANY)
        heap.apply(change)
    return found


def _is_unsure(value: Any) -> bool:
    if isinstance(value, Choice):
        return _is_unsure(value.when_true) or _is_unsure(value.when_false)
    if isinstance(value, Tensor):
        return value.type.shape.rank is None
    if isinstance(value, List):
        return value.items is None
    if isinstance(value, Iterator):
        return value.cells["items"] is None
    if isinstance(value, Dict):
        return value.rest is not MISSING
    return isinstance(value, Unknown) or (isinstance(value, Set) and value.open)


def operator(run: Interpreter, name: str) -> Unknown:
    """The unknown result of an operator on values without a model; it may raise."""
    guards.may_raise(run, guards.ANY)
    return run.unknown(f"what {name} gives")


def changes(run: Interpreter, owner: Any) -> None:
    """An object is changed in a way without a model: it may raise."""
    guards.may_raise(run, guards.ANY)
    run.escape((owner,))


def _first(scope: Scope) -> Any:
    """The object whose method runs, which ``super()`` reaches."""
    around: Scope | None = scope
    while around is not None and around.first is MISSING:
        around = around.parent
    return MISSING if around is None else around.first


def _given(node: ast.AST) -> str | None:
    """The name that a part of syntax gives a value."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.MatchAs | ast.MatchStar):
        return node.name
    if isinstance(node, ast.ExceptHandler):
        return node.name
    if isinstance(node, ast.alias):
        return (node.asname or node.name).partition(".")[0].replace("*", "") or None
    return node.rest if isinstance(node, ast.MatchMapping) else None


def of_expression(run: Interpreter, node: ast.expr, scope: Scope) -> Any:
    """The value of a kind of expression that no model is there for."""
    return happens(run, node, scope, f"what {type(node).__name__} gives")
