"""Elements of comprehensions that needn't be followed one by one: each is like one that was.

``[table[c] for c in text]`` looks for each character once. In ``[data[i : i + block] for i in starts]`` the rows of a
tensor are alike, and so is what is made of them: two are followed, the others are copies of the second. So it is with
``[samples[i] for i in permutation]``: each is an object of which that is known that all samples have in common.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Final

from simpletorch.follow import assignment
from simpletorch.follow.branches import alike, common_item, type_name
from simpletorch.follow.heap import Cells, born, now
from simpletorch.follow.memory import stand_ins
from simpletorch.follow.numbers import indexes
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources.syntax import of_node
from simpletorch.follow.values import Dict, Instance, List, Object, Tensor, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["is_long", "looked_up", "of_rows", "of_the_rest"]

_Comprehension = ast.ListComp | ast.GeneratorExp | ast.SetComp
_WITHOUT_EFFECT: Final = (
    ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Slice, ast.Tuple,
    ast.expr_context, ast.operator, ast.unaryop,
)  # fmt: skip


def looked_up(run: Interpreter, node: _Comprehension, scope: Scope, follow: Callable[[], Value]) -> Callable[[], Value]:
    """What gives the element of ``[table[c] for c in text]``; of other comprehensions it is ``follow``."""
    element, (first, *others) = node.elt, node.generators
    if not isinstance(element, ast.Subscript) or not isinstance(element.value, ast.Name) or others:
        return follow
    if not isinstance(first.target, ast.Name) or not isinstance(element.slice, ast.Name):
        return follow
    name = first.target.id
    if element.slice.id != name or element.value.id == name or type(scope.find(element.value.id)) not in (Dict, List):
        return follow
    found: dict[tuple[type, Value], Value] = {}

    def give() -> Value:
        key = scope.cells.get(name)
        if type(key) not in (str, int):
            return follow()
        if (type(key), key) in found:
            return found[type(key), key]
        value = follow()
        if type(value) in (str, int, float, bool):
            found[type(key), key] = value
        return value

    return give


def of_rows(run: Interpreter, node: _Comprehension, scope: Scope, sources: list[Value]) -> Callable[[], Value]:
    """What gives the element of ``[data[i : i + block] for i in starts]``, and of other comprehensions.

    ``sources`` will hold what the comprehension goes over, as its rounds begin.
    """
    if not _only_indexes(node):  # it may do more
        return lambda: run.evaluate(node.elt, scope)
    made: list[Value] = []
    settled: Tensor | Instance | None = None

    def give() -> Value:
        nonlocal settled
        if settled is not None:
            return _again(run, settled)
        before = _effects(run)
        value = run.evaluate(node.elt, scope)
        quiet, made[:] = before == _effects(run), [*made[-1:], value]
        if quiet and type(sources[0]) is Tensor and len(made) > 1 and _are_alike(*made):
            settled = value
        return value

    return give


# -- numbers that are only computed ------------------------------------------------------------------------------------

_FIRST: Final = 8  # elements that are followed one by one
_MANY: Final = 24  # that are left, so that it is worth it
_STEPS: Final = 20_000  # that a comprehension may take until its ints aren't followed one by one either


def is_long(number: int, length: int) -> bool:
    """Whether to ask `of_the_rest` before the element of this number."""
    return length - number > _MANY and (number == _FIRST or (number > _FIRST and number % _MANY == 0))


def of_the_rest(
    run: Interpreter, node: _Comprehension, scope: Scope, made: list[Value], left: tuple[Value, ...], steps: int
) -> list[Value]:
    """The elements of the items that are left, if those are only numbers that are computed, or rows of them.

    One is followed for all, whose item is any of them. It stands for the others if it changes nothing, and gives a
    float (or a row of as many); of a comprehension that takes long, also an int. Else there are none.
    """
    kinds = ("float", "int") if steps > _STEPS else ("float",)
    if run.takers or isinstance(node, ast.SetComp) or not all(_is_number(v, kinds) for v in made[-_FIRST:]):
        return []
    start, told = now(), len(run.sizes)
    run.heap.begin()
    try:
        with run.silently() as found:
            item = common_item(left, "which element of a comprehension it is")
            assignment.assign(run, node.generators[-1].target, item, scope)
            value = run.evaluate(node.elt, scope)
    except Raised:
        run.heap.end()
        return []
    changes = run.heap.snapshot()
    changed = any(born(cells) < start and cells is not scope.cells for cells, *_ in changes.values())
    if found or changed or len(run.sizes) != told or not _is_number(value, kinds) or not _fits(value, made[-1]):
        run.heap.end()
        return []
    run.heap.keep()
    run.note_reason("a number that is only computed")
    return [_other(run, value) for _ in left]


def _is_number(value: Value, kinds: tuple[str, ...]) -> bool:
    """Whether it is a number of these kinds, or a row of such."""
    row = value.items if type(value) is List else value if type(value) is tuple else None
    if row is not None:
        return all(_is_number(v, kinds) for v in row)
    if type(value) is Tensor:  # NumPy's own number
        dtype = value.type.dtype
        return value.array and value.type.shape.rank == 0 and dtype is not None and dtype.category in kinds
    return type_name(value) in kinds


def _fits(value: Value, example: Value) -> bool:
    """Whether rows are as long as those before, at every depth."""
    if type(value) is not type(example) and (type(value) in (List, tuple) or type(example) in (List, tuple)):
        return False
    one, other = (v.items if type(v) is List else v for v in (value, example))
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        return one is not None and other is not None
    return len(one) == len(other) and all(map(_fits, one, other))


def _other(run: Interpreter, value: Value) -> Value:
    """Another number, or row, known to the same extent."""
    if type(value) is List:
        return List(tuple(_other(run, v) for v in value.items or ()))
    if type(value) is tuple:
        return tuple(_other(run, v) for v in value)
    if type(value) in (int, float, Tensor):  # NumPy's numbers don't change
        return value
    another = Unknown("a number that is only computed", type_name(value), "data")
    if isinstance(value, Unknown):
        another.numbers = value.numbers
    return another


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
    """Whether two values are new ones of which the same is known, nothing that the one has for itself."""
    if type(first) is Instance and type(second) is Instance:
        return _are_common(first, second)
    if type(first) is not Tensor or type(second) is not Tensor or first is second:
        return False
    if not indexes.same(first, second) or any(v.offset is not None or v.apart is not None for v in (first, second)):
        return False
    same_cells = first.cells.keys() == second.cells.keys() and all(
        first.cells[k] is v or first.cells[k] == v for k, v in second.cells.items()
    )
    return same_cells and all(getattr(first, slot) == getattr(second, slot) for slot in _SLOTS)


_SLOTS: Final = ("array", "base", "is_view", "is_written_out", "marks")


def _are_common(first: Instance, second: Instance) -> bool:
    """Whether two objects, one of several each, hold what those have in common."""
    if first is second or first.cls is not second.cls or first.native is not None or second.native is not None:
        return False
    if not first.state.get("open") or not second.state.get("open") or first.cells.keys() != second.cells.keys():
        return False
    pairs = [(v, second.cells[k]) for k, v in first.cells.items()]
    return all(
        _are_alike(v, w) if isinstance(v, Tensor) else not isinstance(v, Object) and alike(v, w) for v, w in pairs
    )


def _again(run: Interpreter, value: Tensor | Instance) -> Tensor | Instance:
    """Another tensor or object of which the same is known."""
    if isinstance(value, Instance):
        made = stand_ins.again(run, value)
        for name, held in value.cells.items():
            if isinstance(held, Tensor):
                made.cells[name] = _again(run, held)
        return made
    another = copy(value)
    another.cells = Cells(value.cells)
    return another
