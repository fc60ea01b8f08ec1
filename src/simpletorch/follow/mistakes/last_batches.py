"""The last batch, which has fewer samples than the others: what works on full batches and fails there alone.

Loops are followed with full batches. Then one round is followed with the last one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from simpletorch.follow.findings import Finding
from simpletorch.follow.mistakes import events
from simpletorch.follow.sources.syntax import walk

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope
    from simpletorch.follow.values import Last

__all__ = ["LISTENS"]


class _Ended:
    """The loops that were followed to their last batch, which has fewer samples."""

    def __init__(self) -> None:
        self.loops: set[ast.AST] = set()


def _follow(run: Interpreter, node: ast.AST, scope: Scope, last: Last, once: Callable[[], None]) -> None:
    """Follow a round with the last batch, once for each loop; what fails there is told as such. Nothing else stays.

    Args:
        run: the interpreter.
        node: the loop.
        scope: where it runs.
        last: its last batch.
        once: follows the round.
    """
    ended = run.training.of(_Ended).loops
    if node in ended or run.hypothetical:
        return
    ended.add(node)
    if any(isinstance(n, ast.Break | ast.Return) for n in walk(node)):
        return  # it may never get there
    with run.silently() as found, run.heap.aside():
        once()
    wrong = next((f for f in found if f.code == "tensor-shape"), None)
    if wrong is None or _is_conditional(node, scope.path, wrong):
        return
    message = f"the last batch has {last.samples} samples, not {last.full}: {wrong.message}"
    whole = "drop_last=True in the loader" if last.of_loader else "leave it out"
    told = replace(wrong, message=message, hint=f"{whole}, or take the size from the batch: x.size(0)")
    outer = run.findings
    same = [f for f in outer if (f.path, f.line, f.code) == (wrong.path, wrong.line, wrong.code)]
    if not same:
        outer.append(told)
    elif same[0].message == wrong.message and re.search(rf"\b{last.samples}\b", wrong.message):
        outer[outer.index(same[0])] = told  # few batches: the last one was among the rounds


def _is_conditional(loop: ast.AST, path: str, found: Finding) -> bool:
    """Whether a round may not come to the place: in which round it does (``if i == 0``) isn't followed."""
    places = [(found.path, found.line), *((c.path, c.line) for c in found.trace)]
    lines = [line for file, line in places if file == path]
    inside = [n for n in walk(loop) if isinstance(n, ast.If | ast.While | ast.Match | ast.IfExp | ast.BoolOp)]
    return any(n.lineno <= line <= (n.end_lineno or n.lineno) for n in inside for line in lines)


LISTENS: Final = (events.LAST_BATCH.to(_follow),)
