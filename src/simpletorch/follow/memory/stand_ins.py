"""Objects of which one was taken, nobody knows which: what is written to it may be read of each of them.

``buckets[random.randrange(9)].append(x)`` and ``graphs[i].label = 3`` change an object that stands for all in the list.
It holds what these have in common, and is no one of them: of each it is known afterwards that it may be changed so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches
from simpletorch.follow.values import MISSING, SIZE, Choice, Dict, Instance, List, Set, Unknown, Value, is_plain

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["ANY_ITEM", "again", "attribute", "is_one", "may_be_one", "one_of", "pass_on", "standing"]

_WHICH: Final = "which object was changed"
_DEEPEST: Final = 3
_CHEAP: Final = 10  # of which one write takes as long as an expression
_MOST: Final = 10_000  # objects that one stands for
_WIDE: Final = 64  # items of a row of a table, of which not each counts any more
_LARGE: Final = 12_000  # items, in all of its rows


ANY_ITEM: Final = "which item it is"


def one_of(run: Interpreter, items: Sequence[Value], reason: str = ANY_ITEM) -> Value:
    """One of several values, nobody knows which (see `branches.one_of`)."""
    return standing(run, branches.one_of(items, reason), items)


def standing(run: Interpreter, found: Value, items: Sequence[Value], depth: int = 0) -> Value:
    """``found``, which several values have in common; of objects that can be changed it is one that stands for them."""
    if isinstance(found, tuple):
        if type(found) is not tuple or not any(map(_can_change, found)):
            return found
        if not all(isinstance(i, tuple) and len(i) == len(found) for i in items):
            return found
        return tuple(standing(run, v, [i[place] for i in items], depth) for place, v in enumerate(found))
    if isinstance(found, Unknown) and all(isinstance(i, Set) for i in items):
        found = Set((), open=True)
    if not _can_change(found) or depth > _DEEPEST or not 1 < len(items) <= _MOST:
        return found
    if any(type(i) is not type(found) for i in items) or all(i is items[0] for i in items):
        return found
    return _registered(run, _copied(run, found, items, depth), tuple(items))


def _can_change(value: Value) -> bool:
    if isinstance(value, tuple):
        return any(map(_can_change, value))
    return isinstance(value, List | Dict | Set) or (isinstance(value, Instance) and is_plain(value))


def _registered(run: Interpreter, made: Any, items: tuple[Any, ...]) -> Any:
    run.heap.standing[id(made.cells)] = made, items
    if not isinstance(made, List):
        run.heap.standing[id(made.state)] = made, items
    for one in items:
        run.heap.touch(one.cells)  # a call that is remembered gives no other one
    return made


def _copied(run: Interpreter, found: Any, items: Sequence[Any], depth: int) -> Any:
    """A new object that holds what ``found`` does, which may be one of these."""
    made: Any
    if isinstance(found, List):
        made = List()
        made.cells.update(found.cells)
        if found.items is None and _can_change(found.item):
            made.cells["item"] = standing(run, found.item, [v for i in items for v in _members(i)], depth + 1)
        elif found.items is not None and _can_change(found.items):
            made.cells["items"] = standing(run, found.items, [i.items for i in items], depth + 1)
        return made
    if isinstance(found, Set):
        return Set(tuple(found.cells), open=found.open)
    if isinstance(found, Dict):
        made = Dict(found.cells, found.rest)
        made.kind, made.default = found.kind, found.default
        for key, value in found.cells.items():
            if _can_change(value):
                made.cells[key] = standing(run, value, [i.cells.get(key) for i in items], depth + 1)
        return made
    made = Instance(found.cls)
    made.state.update(found.state)
    made.state["open"] = made.state["one"] = True
    for name, value in found.cells.items():
        made.cells[name] = value
        held = [i.cells.get(name, MISSING) for i in items]
        if all(map(_can_change, held)) and any(v is not held[0] for v in held):
            made.cells[name] = later = Unknown("which object it is of")
            later.of = tuple(held)
    return made


def attribute(run: Interpreter, value: Instance, name: str, found: Unknown) -> Value:
    """What an object that stands for several has as its attribute, of which each has one of its own."""
    held = found.of
    assert held is not None
    if any(type(v) is not type(held[0]) for v in held):
        return found
    made = standing(run, branches.common_item(held), held)
    own = run.heap.standing.pop(id(value.cells))
    run.heap.write(value.cells, name, made)  # it was there before: the others have nothing new
    run.heap.standing[id(value.cells)] = own
    return made


def again(run: Interpreter, value: Instance) -> Instance:
    """Another one that stands for the same objects."""
    entry = run.heap.standing.get(id(value.cells))
    made = Instance(value.cls)
    made.state.update(value.state)
    made.cells.update(value.cells)
    return made if entry is None else _registered(run, made, entry[1])


def is_one(value: Value) -> bool:
    """Whether a value stands for several: which object it is, isn't known."""
    return isinstance(value, Instance) and "one" in value.state


def may_be_one(left: Value, right: Value) -> bool:
    """Whether two objects that aren't the same one may be, because one of them stands for several."""
    return left is not right and (is_one(left) or is_one(right))


def pass_on(run: Interpreter, cells: dict[Any, Any], key: Any, new: Value) -> None:
    """Something was written to what stands for several objects: each of them may hold it."""
    made, items = run.heap.standing[id(cells)]
    run.budget.spend(len(items) // _CHEAP)
    if isinstance(made, List):
        if key in ("items", "item"):
            added, width = branches.common_item(_members(made)), len(made.items or ())
            as_table = width >= _WIDE and width * len(items) > _LARGE
            for one in items:
                _add(run, one, added, made, as_table)
        return
    for one in items:
        if isinstance(one, Set):
            run.heap.write(one.state, "open", True)
        else:
            _write(run, one.cells if cells is made.cells else one.state, key, new)


def _members(value: List) -> tuple[Value, ...]:
    return value.items if value.items is not None else (value.item,)


def _add(run: Interpreter, one: List, added: Value, made: List, as_table: bool) -> None:
    """A list may hold what was put into the other; a row of a table may hold it anywhere, but is as long as before."""
    known, new = one.items, made.items
    if known is not None and new is not None and len(known) == len(new):
        if as_table:
            run.heap.write(one.cells, "item", branches.common_item((*known, added)))
            run.heap.write(one.cells, "items", None)
            run.heap.write(one.cells, SIZE, (None, 0, len(known)))
        elif not branches.alike(known, new):
            run.heap.write(one.cells, "items", branches.generalise(known, new, _WHICH))
        return
    if as_table and known is None and one.cells.get(SIZE) == (None, 0, len(new or ())):
        if not branches.alike(wide := branches.generalise(one.item, added, _WHICH), one.item):
            run.heap.write(one.cells, "item", wide)
            run.heap.write(one.cells, SIZE, (None, 0, len(new or ())))
        return
    wide = branches.common_item((*_members(one), added)) if known != () else added
    if known is not None or not branches.alike(wide, one.item):
        run.heap.write(one.cells, "item", wide)
        run.heap.write(one.cells, "items", None)
    if SIZE in one.cells:
        run.heap.write(one.cells, SIZE, MISSING)


def _write(run: Interpreter, cells: dict[Any, Any], key: Any, new: Value) -> None:
    old = cells.get(key, MISSING)
    if old is new or (old is not MISSING and new is not MISSING and branches.alike(old, new)):
        return
    if old is MISSING or new is MISSING:
        run.heap.write(cells, key, Choice(Unknown(_WHICH, "bool"), *((new, old) if old is MISSING else (old, new))))
    else:
        run.heap.write(cells, key, branches.generalise(old, new, _WHICH))
