"""The last batch, which has fewer samples than the others: what works on full batches and fails there alone.

Loops are followed with full batches. Then one round is followed with the last one, if the size of a batch is used for
more than to make them, or if a round leaves a tensor of that size to the next.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simpletorch.follow.findings import Finding
from simpletorch.follow.heap import MISSING, Change
from simpletorch.follow.sources.syntax import parse, walk
from simpletorch.follow.values import Iterator as Items
from simpletorch.follow.values import Last, Tensor, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.scopes import Scope

__all__ = ["follow", "of"]

_ATTRIBUTE: Final = re.compile(r"batch|^bsz?$", re.IGNORECASE)
_MAKE_BATCHES: Final = frozenset({"DataLoader", "BatchSampler", "add_argument", "range", "print"})


def of(source: Value) -> Last | None:
    """The last batch, where it has fewer samples than the others: of a loader, or of ``range(0, n, size)``."""
    if isinstance(source, Items):
        return source.last
    if isinstance(source, range) and source.step > 1 and len(source) > 1 and source.start == 0:
        left = source.stop - source[-1]
        return Last(lambda: source[-1], left, source.step, of_loader=False) if left < source.step else None
    return None


def follow(
    run: Interpreter, node: ast.AST, scope: Scope, last: Last, before: Change | None, once: Callable[[], None]
) -> None:
    """Follow a round with the last batch, once for each loop; what fails there is told as such. Nothing else stays.

    Args:
        run: the interpreter.
        node: the loop.
        scope: where it runs.
        last: its last batch.
        before: what the round before has changed, with what was there; None after the loop.
        once: follows the round.
    """
    if node in run.training.ended or run.hypothetical:
        return
    counts = run.training.counts
    if last.full not in counts:
        counts[last.full] = _counts(run, scope, last.full)
    if not counts[last.full] and not _is_left(before, last.full):
        return
    run.training.ended.add(node)
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


def _is_left(before: Change | None, full: int) -> bool:
    """Whether a round leaves a tensor to the next one that has the size of a batch."""
    changes = () if before is None else before.values()
    return any(old is not MISSING and _has(cells.get(key), full) for cells, key, old in changes)


def _has(value: Value, size: int) -> bool:
    if isinstance(value, tuple):
        return any(_has(v, size) for v in value)
    return isinstance(value, Tensor) and size in value.type.shape.items


def _counts(run: Interpreter, scope: Scope, full: int) -> bool:
    """Whether the program uses the size of a batch for more than to make them."""
    names = {name for cells in _cells(run, scope) for name, v in cells.items() if type(v) is int and v == full}
    for module in run.program.modules.values():
        tree = None if module.path is None else parse(Path(module.path))
        if tree is not None and any(_is_size(n, names, full) for n in _used(tree)):
            return True
    return False


def _cells(run: Interpreter, scope: Scope) -> Iterator[dict[str, Value]]:
    at: Scope | None = scope
    while at is not None:
        yield at.cells
        at = at.parent
    for module in run.program.modules.values():
        yield module.cells


def _used(tree: ast.AST) -> Iterator[ast.AST]:
    """The expressions of a file, without those that only make batches, or name a number."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _MAKE_BATCHES:
                todo.extend(n for n in node.args if isinstance(n, ast.Call))
                continue
            case ast.Assign(value=ast.Constant()) | ast.AnnAssign(value=ast.Constant()) | ast.arguments():
                continue
            case ast.Name() | ast.Attribute() | ast.Constant():
                yield node
        todo.extend(ast.iter_child_nodes(node))


def _is_size(node: ast.AST, names: set[str], full: int) -> bool:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return name in names
        case ast.Attribute(attr=name):
            return _ATTRIBUTE.search(name) is not None
        case ast.Constant(value=value):
            return type(value) is int and value == full
    return False
