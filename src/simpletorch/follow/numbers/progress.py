"""Rounds of a loop that differ in sizes, by as much each time: ``out = torch.cat([out, new], dim=1)``.

Where two rounds have taken all that they change a step further, and the same step, one more is followed from a state
that stands for any of those to come: what changes is in terms of how many of them are over. If it takes the same step,
each of them does, and the loop goes on behind them. Else nothing is said of them, and they are followed one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from simpletorch.follow import branches, iteration
from simpletorch.follow.heap import CHANGED, HISTORY, NEXT, OF_GRAPHS, SIZE, Cells, Change, born, now
from simpletorch.follow.marks import layout
from simpletorch.follow.model.members import MODULE
from simpletorch.follow.numbers import indexes, sizes
from simpletorch.follow.outcomes import Passing
from simpletorch.follow.sources.syntax import of_node, walk
from simpletorch.follow.values import MISSING, Dict, Fields, Instance, List, Saved, Tensor, Unknown, Value, is_int
from simpletorch.rules import TensorType
from simpletorch.shapes import UNKNOWN, Dim, Shape, at_least

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["Progress", "item_by_number"]

_DEEPEST: Final = 6
_MOST: Final = 12  # rounds of one loop that are compared
_MOST_ROUNDS: Final = 16_000
_LIST: Final = ("items", "item", SIZE)

Step: TypeAlias = Any
"""What a round does to a value: `_SAME`, `_OTHER` (anything), what it adds to an int, or such a step for each of its
parts; `_LOST` of what is known of a tensor beside its type, and may be forgotten.
"""
_SAME: Final = "same"
_OTHER: Final = "other"
_LOST: Final = "lost"
_Place: TypeAlias = tuple[int, Any]


@final
class _Longer(tuple[int]):
    """The step of a list that so many items were added to, which are like those before."""


class _NothingLeftError(Passing):
    """A size that gets smaller each time isn't surely left at last."""


@final
class Progress:
    """What the rounds of one loop do to what is older than they are."""

    def __init__(self, run: Interpreter, node: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> None:
        self.run, self.node, self.scope = run, node, scope
        self.start = now()
        self.is_even = False  # whether the last two rounds have taken the same steps
        self._places: dict[_Place, tuple[dict[Any, Any], Any]] = {}  # where the last one has changed something
        self._steps: dict[_Place, Step] | None = None  # how; None if that can't be said
        self._left = _MOST  # rounds to look at

    def note(self, before: Change, start: int) -> None:
        """A round is over that began then (see `heap.now`) and has changed this, of what was there before."""
        if self._left == 0:
            return
        self._left -= 1
        steps = self._steps_of(before, start)
        self.is_even = steps is not None and steps == self._steps and any(map(_moves, steps.values()))
        self._steps = steps
        self._places = {}
        for place, (cells, key, _) in before.items():
            self._places[place] = cells, key
            self._places[id(cells), "items"] = cells, "items"  # of a list, see `_steps_of`

    def rounds(self, goes_on: Callable[[], bool | None]) -> int:
        """How many more rounds begin, as ``goes_on`` says in the states to which such steps lead; 0 for too many."""
        steps = self._steps or {}
        self._left, self.is_even = 0, False  # one try is enough

        def begins(number: int) -> bool:
            with self.run.silently(), self.run.heap.aside():
                return self._go_on(steps, number, counted=True) and goes_on() is True

        least, most = 0, 1
        while begins(most):
            if most > _MOST_ROUNDS:
                return 0
            least, most = most, 2 * most
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if begins(middle) else (least, middle)
        return most if least else 0

    def skip(self, rounds: int, once: Callable[[Dim], bool]) -> bool:
        """Go on as if so many rounds were over, if it can be shown what they do.

        Args:
            rounds: how many.
            once: follows the round before which so many of them are over; gives whether it ends as rounds do.
        """
        run, steps = self.run, self._steps
        self._left, self.is_even = 0, False
        if steps is None:
            return False
        over = run.some_size(1, rounds) - 1
        updates = run.updates
        with run.silently() as found, run.heap.aside():
            if not self._go_on(steps, over):
                return False
            start = now()
            run.heap.begin()
            if not once(over) or found or run.updates > updates:
                return False
            before = {p: entry for p, entry in run.heap.keep().items() if born(entry[0]) < start}
            again = self._steps_of(before, start)
        if again is None or not all(_agree(again.get(p, _SAME), steps.get(p, _SAME)) for p in {**again, **steps}):
            return False
        return self._go_on(steps, rounds)

    def _steps_of(self, before: Change, start: int) -> dict[_Place, Step] | None:
        """What a round does; None where the next one may look at something of which that can't be said."""
        run = self.run
        steps: dict[_Place, Step] = {}
        kept = run.assumed, run.equalities, run.modes, run.moved
        for place, (cells, key, old) in before.items():
            new = cells.get(key, MISSING)
            if old is new or cells is run.files or key == CHANGED:
                continue
            if cells is self.scope.cells and key in _written_first(self.node):
                steps[place] = _OTHER  # nobody looks at what it was
                continue
            if old is MISSING or new is MISSING:
                return None
            if any(cells is table for table in kept) or key in OF_GRAPHS:
                if old != new:
                    return None
                continue
            if key in _LIST and "items" in cells and "item" in cells:
                place = id(cells), "items"
                step = _of_list(cells, before, start)
            elif key in (NEXT, SIZE):
                return None
            else:
                step = _of(old, new, start)
            if step is None or _is_other(step):
                return None
            steps[place] = step
        return steps

    def _go_on(self, steps: dict[_Place, Step], times: Dim, *, counted: bool = False) -> bool:
        """Put what there is after so many more such steps; False, and nothing is put, where no elements are left.

        ``counted``: of the lists that get longer, it is enough to know how long they are.
        """
        done: dict[int, Value] = {}
        places = [(*self._places[place], step) for place, step in steps.items() if step != _SAME]
        longer = [(cells, step[0]) for cells, _, step in places if type(step) is _Longer]
        try:
            made = [(c, k, _moved(c[k], step, times, done)) for c, k, step in places if type(step) is not _Longer]
        except _NothingLeftError:
            return False
        for cells, key, value in made:
            self.run.heap.write(cells, key, value)
        for cells, by in longer:
            self._lengthen(cells, by * times, counted)
        return True

    def _lengthen(self, cells: dict[Any, Any], by: Dim, counted: bool) -> None:
        heap, known = self.run.heap, cells["items"]
        if known is None:  # only how many there are is known
            heap.write(cells, SIZE, (None, 0, cells[SIZE][2] + by))
            return
        one = branches.common_item(known, "which item of a list it is")
        if isinstance(by, int) and not counted:
            more = sizes.repeated(self.run, one, by + 1, self.start, iteration.another)[1:]
            heap.write(cells, "items", (*known, *more))
            return
        heap.write(cells, "items", None)
        heap.write(cells, "item", one)
        heap.write(cells, SIZE, (None, 0, len(known) + by))


def _agree(found: Step, expected: Step) -> bool:
    """Whether a step is as it was expected to be; where anything may be, nothing was."""
    if type(found) is tuple and type(expected) is tuple and len(found) == len(expected):
        return all(map(_agree, found, expected))
    return bool(expected in (_OTHER, _LOST) or found == expected)


def _moves(step: Step) -> bool:
    """Whether it leads anywhere."""
    if type(step) is tuple:
        return any(map(_moves, step))
    return step not in (_SAME, _OTHER, _LOST, 0)


def _is_other(step: Step) -> bool:
    return any(map(_is_other, step)) if type(step) is tuple else bool(step == _OTHER)


# -- steps -----------------------------------------------------------------------------------------------------------


def _of(old: Value, new: Value, start: int, depth: int = 0) -> Step:
    """What a round that began then has done to a value."""
    if branches.alike(old, new):
        return _SAME
    if is_int(old) and is_int(new):
        return new - old
    if isinstance(old, TensorType) and isinstance(new, TensorType):
        return _of_types(old, new)
    if type(old) is not type(new) or depth > _DEEPEST:
        return _OTHER
    inner = partial(_of, start=start, depth=depth + 1)
    if isinstance(new, tuple):
        return tuple(map(inner, old, new)) if len(old) == len(new) and type(new) is not Saved else _OTHER
    if not isinstance(new, Tensor | List | Dict | Instance) or born(new.cells) < start:
        return _OTHER
    if isinstance(new, Tensor):
        return _of_tensors(old, new)
    if isinstance(new, List):
        before, after = old.items, new.items
        if before is None or after is None or len(before) != len(after):
            return _OTHER
        return tuple(map(inner, before, after))
    if not _are_of_a_kind(old, new):
        return _OTHER
    return tuple(map(inner, old.cells.values(), new.cells.values()))


def _are_of_a_kind(old: Dict | Instance, new: Dict | Instance) -> bool:
    """Whether two dicts, or objects of the program's, hold something under the same names."""
    if [*old.cells] != [*new.cells] or not branches.alike(tuple(old.state.values()), tuple(new.state.values())):
        return False
    if isinstance(old, Dict):
        return isinstance(new, Dict) and old.kind == new.kind and old.default is new.default
    return isinstance(new, Instance) and old.cls is new.cls and old.native == new.native and not new.cls.is_a(MODULE)


def _of_tensors(old: Tensor, new: Tensor) -> Step:
    alone = new.base is None and new.marks.spread is None and new.cells.keys() <= {"type", HISTORY}
    alike = old.array == new.array and old.cells.get(HISTORY) == new.cells.get(HISTORY)
    shape = _of_types(old.type, new.type)
    if not alone or not alike or shape == _OTHER or _but_layout(old) != _but_layout(new):
        return _OTHER
    before, after = layout.of(old), layout.of(new)
    strides: Step = _SAME
    if before != after:
        strides = _of_sizes(before, after) if isinstance(before, tuple) and isinstance(after, tuple) else _LOST
        strides = _LOST if strides == _OTHER else strides
    return (shape, strides, _SAME if indexes.same(old, new) else _LOST)


def _but_layout(value: Tensor) -> tuple[Any, ...]:
    return (*value.known._replace(layout=None, spread=None),)


def _of_types(old: TensorType, new: TensorType) -> Step:
    if not old.shape.is_exact or not new.shape.is_exact or replace(old, shape=new.shape) != new:
        return _OTHER
    return _of_sizes(old.shape.dims, new.shape.dims)


def _of_sizes(old: Sequence[Dim], new: Sequence[Dim]) -> Step:
    """The steps of sizes that are known."""
    if len(old) != len(new):
        return _OTHER
    steps = tuple(0 if a is b else b - a for a, b in zip(old, new, strict=True))
    return _OTHER if UNKNOWN in steps else steps


def _of_list(cells: dict[Any, Any], before: Change, start: int) -> Step | None:
    """The step of a list that is changed itself; None where its length changes in another way than by what is added."""
    was = {key: before[id(cells), key][2] if (id(cells), key) in before else cells.get(key, MISSING) for key in _LIST}
    old, new = was["items"], cells["items"]
    if old is None and new is None:
        size, now_size = was[SIZE], cells.get(SIZE, MISSING)
        counted = type(size) is tuple and type(now_size) is tuple and size[:2] == now_size[:2] == (None, 0)
        by = now_size[2] - size[2] if counted else None
        return _Longer((by,)) if type(by) is int and by > 0 and branches.alike(was["item"], cells["item"]) else None
    if type(old) is not tuple or type(new) is not tuple:
        return None
    by = len(new) - len(old)
    if by == 0:
        return _of(old, new, start)
    goes_on = 0 < by <= len(old) and all(a is b for a, b in zip(old, new, strict=False))
    return _Longer((by,)) if goes_on and all(map(_repeats, old[-by:], new[-by:])) else None


def _repeats(old: Value, new: Value) -> bool:
    """Whether an item of a list is like the one before, and nothing is lost if it is known as one of many."""
    if type(new) is tuple:
        return type(old) is tuple and len(old) == len(new) and all(map(_repeats, old, new))
    if isinstance(new, Unknown):
        known = new.length, new.numbers, new.matrix, new.parts, new.written
        alike = isinstance(old, Unknown) if new.type is None else branches.type_name(old) == new.type
        return alike and all(v is None for v in known)
    return isinstance(new, Tensor) and branches.alike(old, new)


def _moved(value: Value, step: Step, times: Dim, done: dict[int, Value]) -> Value:
    """What becomes of a value after so many more steps."""
    if step == _SAME:
        return value
    if step == _OTHER:
        return Unknown(sizes.CHANGES, branches.type_name(value))
    if is_int(value):
        return value + step * times
    if isinstance(value, TensorType):
        return _with_sizes(value, step, times)
    if isinstance(value, tuple):
        items = [_moved(v, s, times, done) for v, s in zip(value, step, strict=True)]
        return Fields(value.names, tuple(items)) if isinstance(value, Fields) else type(value)(items)
    if id(value) in done:
        return done[id(value)]
    made = done[id(value)] = copy(value)
    if isinstance(value, Tensor):
        shape, strides, numbers = step
        made.cells = Cells({**value.cells, "type": _with_sizes(value.type, shape, times)})
        made.apart = None
        if strides != _SAME:
            layout.LAYOUT.put(made, None if strides == _LOST else _sizes(layout.of(value), strides, times))
        if numbers == _LOST:
            made.numbers = None
    elif isinstance(value, List):
        made.cells = Cells({"items": _moved(value.items, step, times, done), "item": None})
    else:
        inside = zip(value.cells.items(), step, strict=True)
        made.cells = Cells({k: _moved(v, s, times, done) for (k, v), s in inside})
        made.state = Cells(value.state)
    return made


def _with_sizes(kind: TensorType, steps: tuple[Dim, ...], times: Dim) -> TensorType:
    return replace(kind, shape=Shape(_sizes(kind.shape.dims, steps, times)))


def _sizes(known: Any, steps: tuple[Dim, ...], times: Dim) -> tuple[Dim, ...]:
    sizes = tuple(d if s == 0 else d + s * times for d, s in zip(known, steps, strict=True))
    if any(s != 0 and not at_least(d, 1) for d, s in zip(sizes, steps, strict=True)):
        raise _NothingLeftError
    return sizes


@of_node
def _written_first(node: ast.For | ast.AsyncFor | ast.While) -> frozenset[str]:
    """The names that each round of a loop gives something before it looks at them."""
    read: set[str] = set()
    written: set[str] = set()

    def look(part: ast.AST) -> None:
        for inner in walk(part):
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store):
                read.add(inner.id)
            elif isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
                read.add(inner.target.id)

    def write(target: ast.AST) -> None:
        look(target)
        written.update({n.id for n in walk(target) if isinstance(n, ast.Name) and n.id not in read})

    def go(body: Sequence[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    look(value)
                    for target in targets:
                        write(target)
                case ast.With(items=items, body=inner) | ast.AsyncWith(items=items, body=inner):
                    for item in items:
                        look(item.context_expr)
                        if item.optional_vars is not None:
                            write(item.optional_vars)
                    go(inner)
                case _:
                    look(statement)

    if isinstance(node, ast.While):
        look(node.test)
    else:
        write(node.target)
    go(node.body)
    return frozenset(written)


# -- items -----------------------------------------------------------------------------------------------------------


def item_by_number(items: Sequence[Value]) -> Callable[[Dim], Value] | None:
    """What gives the item of a number, also of one that isn't known, where the items differ evenly; else None."""
    first = items[0]
    if all(branches.alike(first, v) for v in items):
        return lambda _: first
    if all(map(is_int, items)):
        step = items[1] - first
        even = all(b - a == step for a, b in pairwise(items))
        return (lambda number: first + step * number) if even else None
    if not all(type(v) is tuple and len(v) == len(first) for v in items):
        return None
    columns = [item_by_number(column) for column in zip(*items, strict=True)]
    return None if None in columns else (lambda number: tuple(c(number) for c in columns if c is not None))
