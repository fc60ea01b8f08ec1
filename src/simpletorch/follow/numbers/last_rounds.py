"""The last rounds of a loop that isn't unrolled to its end, where one goes another way than the first rounds.

``for step in range(1_000): if step >= warmup and step % 4 == 0: update()``: the first rounds don't update, the last but
three surely does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from simpletorch.follow import assignment, branches
from simpletorch.follow.sources.syntax import walk
from simpletorch.follow.values import Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["follow"]

_LEAVES: Final = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
_CODES: Final = ("tensor-shape", "tensor-dtype")
_MOST: Final = 64  # rounds that are looked at, from the last on
_PLAIN: Final = (
    ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp,
    ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub, ast.Not, ast.And, ast.Or, ast.Load,
    ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
)  # fmt: skip


def follow(
    run: Interpreter,
    node: ast.For | ast.AsyncFor,
    scope: Scope,
    early: Value,
    later: Sequence[Value],
    once: Callable[[Value], object],
) -> None:
    """Look for mistakes in a late round, from a state that stands for that after any round.

    Args:
        run: the interpreter.
        node: the loop.
        scope: its scope.
        early: the item of one of the first rounds.
        later: those that are left.
        once: follows a round with one of them.
    """
    tests = _tests(node)
    if not tests or run.hypothetical or any(isinstance(n, _LEAVES) for n in walk(node)):
        return  # it may never get there
    with run.heap.aside():
        others = {_other(run, node, scope, test, early, later) for test in tests} - {None}
    for number in sorted(n for n in others if n is not None):
        with run.silently() as found, run.heap.aside():
            once(later[number])
        known = {(f.path, f.line, f.code) for f in run.findings}
        run.findings += [f for f in found if f.code in _CODES and (f.path, f.line, f.code) not in known]


def _tests(node: ast.For | ast.AsyncFor) -> list[ast.expr]:
    """The conditions in the body, by themselves, that compare what the loop counts and have no effects."""
    names = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    tests = [s.test for s in node.body if isinstance(s, ast.If)]
    return [t for t in tests if _compares(t, names)]


def _compares(test: ast.expr, names: set[str]) -> bool:
    parts = list(ast.walk(test))
    compared = any(isinstance(n, ast.Compare) for n in parts)
    return compared and all(isinstance(n, _PLAIN) for n in parts) and any(
        isinstance(n, ast.Name) and n.id in names for n in parts
    )  # fmt: skip


def _other(
    run: Interpreter, node: ast.For | ast.AsyncFor, scope: Scope, test: ast.expr, early: Value, later: Sequence[Value]
) -> int | None:
    """The last round in which a condition surely has another answer than in an early one; None if there is none."""

    def answer(item: Value) -> bool | None:
        assignment.assign(run, node.target, item, scope)
        found = branches.truth(run, run.evaluate(test, scope))
        return found if isinstance(found, bool) else None

    first = answer(early)
    if first is None:
        return None
    numbers = range(len(later) - 1, max(-1, len(later) - 1 - _MOST), -1)
    return next((n for n in numbers if answer(later[n]) is (not first)), None)
