"""Elements of comprehensions that needn't be followed one by one: each is like one that was.

``[table[c] for c in text]`` looks for each character once. In ``[data[i : i + block] for i in starts]`` the rows of a
tensor are alike, and so is what is made of them: two are followed, the others are copies of the second.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Final

from simpletorch.follow.heap import Cells
from simpletorch.follow.sources.syntax import of_node
from simpletorch.follow.values import Dict, List, Tensor, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.scopes import Scope

__all__ = ["looked_up", "of_rows"]

_Comprehension = ast.ListComp | ast.GeneratorExp | ast.SetComp
_WITHOUT_EFFECT: Final = (
    ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Slice, ast.Tuple,
    ast.expr_context, ast.operator, ast.unaryop,
)  # fmt: skip


def looked_up(run: Interpreter, node: _Comprehension, scope: Scope) -> Callable[[], Value] | None:
    """What gives the element of ``[table[c] for c in text]``; None of other comprehensions."""
    element, (first, *others) = node.elt, node.generators
    if not isinstance(element, ast.Subscript) or not isinstance(element.value, ast.Name) or others:
        return None
    if not isinstance(first.target, ast.Name) or not isinstance(element.slice, ast.Name):
        return None
    name = first.target.id
    if element.slice.id != name or element.value.id == name or type(scope.find(element.value.id)) not in (Dict, List):
        return None
    found: dict[tuple[type, Value], Value] = {}

    def give() -> Value:
        key = scope.cells.get(name)
        if type(key) not in (str, int):
            return run.evaluate(element, scope)
        if (type(key), key) in found:
            return found[type(key), key]
        value = run.evaluate(element, scope)
        if type(value) in (str, int, float, bool):
            found[type(key), key] = value
        return value

    return give


def of_rows(run: Interpreter, node: _Comprehension, scope: Scope, sources: list[Value]) -> Callable[[], Value] | None:
    """What gives the element of ``[data[i : i + block] for i in starts]``; None where it may do more than index.

    ``sources`` will hold what the comprehension goes over, as its rounds begin.
    """
    if not _only_indexes(node):
        return None
    made: list[Value] = []
    settled: Tensor | None = None

    def give() -> Value:
        nonlocal settled
        if settled is not None:
            return _again(settled)
        before = _effects(run)
        value = run.evaluate(node.elt, scope)
        quiet, made[:] = before == _effects(run), [*made[-1:], value]
        if quiet and type(sources[0]) is Tensor and len(made) > 1 and _are_alike(*made):
            settled = value
        return value

    return give


@of_node
def _only_indexes(node: _Comprehension) -> bool:
    (first, *others) = node.generators
    if others or first.ifs or not isinstance(first.target, ast.Name) or not isinstance(node.elt, ast.Subscript):
        return False
    return all(isinstance(part, _WITHOUT_EFFECT) for part in ast.walk(node.elt))


def _effects(run: Interpreter) -> tuple[int, ...]:
    """What following an expression may leave behind."""
    return run.heap.writes, run.steps, len(run.findings), len(run.sizes), sum(len(g.possible) for g in run.guards)


def _are_alike(first: Value, second: Value) -> bool:
    """Whether two tensors are new ones of which the same is known, nothing that the one has for itself."""
    if type(first) is not Tensor or type(second) is not Tensor or first is second:
        return False
    if any(v.numbers is not None or v.offset is not None or v.apart is not None for v in (first, second)):
        return False
    same_cells = first.cells.keys() == second.cells.keys() and all(
        first.cells[k] is v or first.cells[k] == v for k, v in second.cells.items()
    )
    return same_cells and all(getattr(first, slot) == getattr(second, slot) for slot in _SLOTS)


_SLOTS: Final = ("array", "base", "batch", "is_view", "is_written_out", "layout", "origins", "place", "spread")


def _again(value: Tensor) -> Tensor:
    """Another tensor of which the same is known."""
    made = copy(value)
    made.cells = Cells(value.cells)
    return made
