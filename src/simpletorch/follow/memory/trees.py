"""What modules consist of, as numbers: the layers of a stack, built alike, give the same for the same arguments.

To go through a module costs as much as following a small one, so what was found is kept until something in it may be
another: the heap counts the writes to all that is in such modules, and after one it is compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow.heap import HISTORY, MISSING, Cells
from simpletorch.follow.marks.mark import KEYED
from simpletorch.follow.model.members import MODULE
from simpletorch.follow.values import Dict, History, Instance, List, Tensor, Value, is_known
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["ALL", "CONSTANTS", "Entry", "Tree", "history", "is_as_it_was", "is_bare", "known_tree", "tree_of"]

CONSTANTS: Final = frozenset({int, float, bool, str, type(None)})
Entry = tuple[dict[Any, Any], Any, Any]
"""A table, a name in it, and what it held; `ALL` in the place of the name: all that the table holds."""

ALL: Final = object()


def is_as_it_was(entry: Entry) -> bool:
    """Whether a table still holds that."""
    cells, name, seen = entry
    if name is not ALL:
        return cells.get(name, MISSING) is seen
    if len(cells) != len(seen):
        return False
    get = cells.get
    for key, value in seen:  # noqa: SIM110  (`all` takes twice as long, for each of thousands of tables)
        if get(key, MISSING) is not value:
            return False
    return True


@final
class Tree:
    """What a module consists of.

    ``number`` is the same for modules that consist of the same, and None where something in it can't be compared;
    ``cells`` are the tables inside, by identity, ``entries`` what they hold.
    """

    __slots__ = ("_layers", "_slots", "_stirred", "cells", "entries", "module", "newest", "number", "places")

    def __init__(self, run: Interpreter, module: Instance) -> None:
        self.module = module  # and so its identity is nobody else's
        self.cells: dict[int, dict[Any, Any]] = {}
        self.places: dict[int, int] = {}
        self._slots: list[tuple[Tensor, tuple[Any, ...]]] = []
        self._layers: list[tuple[Instance, Any]] = []
        found = self._module(module)
        self.number: int | None = None if found is None else run.kinds.setdefault(found, (len(run.kinds), self))[0]
        self.entries: dict[int, Entry] = {
            place: (cells, ALL, tuple(cells.items())) for place, cells in self.cells.items()
        }
        self.newest = max([c.born if type(c) is Cells else 0 for c in self.cells.values()])
        run.heap.watched |= self.cells.keys()
        self._stirred = run.heap.stirred

    def is_as_it_was(self, run: Interpreter) -> bool:
        """Whether the module consists of the same."""
        if self._stirred != run.heap.stirred:
            if not all(map(is_as_it_was, self.entries.values())):
                return False
            self._stirred = run.heap.stirred
        for layer, rule in self._layers:
            if layer.native is not rule:
                return False
        for tensor, seen in self._slots:  # noqa: SIM110  (`all` takes twice as long, for each call of a module)
            if _slots(tensor) != seen:
                return False
        return True

    def _module(self, module: Instance) -> Any:
        self.cells[id(module.cells)], self.cells[id(module.state)] = module.cells, module.state
        if module.native is not None:
            self._layers.append((module, module.native))
        held = (*module.cells.values(), *module.state.values())
        keys = tuple([(type(v), v) if type(v) in CONSTANTS else self._key(v) for v in held])
        if None in keys:
            return None
        return id(module.cls), module.native, (*module.cells, *module.state), keys

    def _key(self, value: Value) -> Any:
        kind = type(value)
        if kind in CONSTANTS:
            return kind, value
        if kind is Instance:
            seen = self.places.get(id(value))
            if seen is not None:
                return "again", seen
            self.places[id(value)] = len(self.places)
            return self._module(value) if value.cls.is_a(MODULE) else ("object", id(value))
        if kind is not Tensor and (
            isinstance(value, Expr) or (is_known(value) and not isinstance(value, tuple | slice))
        ):
            return kind, value
        if isinstance(value, tuple):
            keys = tuple(map(self._key, value))
            return None if None in keys else (type(value), keys)
        seen = self.places.get(id(value))
        if seen is not None:
            return "again", seen
        if isinstance(value, Tensor) and (not is_bare(value) or value.offset is not None or value.numbers):
            return None
        self.places[id(value)] = len(self.places)
        if isinstance(value, Tensor):
            self.cells[id(value.cells)] = value.cells
            self._slots.append((value, _slots(value)))
            return "tensor", value.type, value.array, history(value), value.marks[KEYED]
        if isinstance(value, List):
            self.cells[id(value.cells)] = value.cells
            return None if value.items is None else self._key(value.items)
        if isinstance(value, Dict) and value.rest is MISSING and value.default is None:
            self.cells[id(value.cells)], self.cells[id(value.state)] = value.cells, value.state
            inside = self._key(tuple(value.cells.values()))
            return None if inside is None else (value.kind, *value.cells, inside)
        return "object", id(value)


def known_tree(run: Interpreter, module: Instance) -> Tree | None:
    """What a module consists of now, if that is known and has a number."""
    known = run.trees.get(id(module))
    return known if known is not None and known.is_as_it_was(run) else None


def tree_of(run: Interpreter, module: Instance) -> Tree:
    """What a module consists of now."""
    known = known_tree(run, module)
    if known is not None:
        return known
    made = Tree(run, module)
    if made.number is not None:
        run.trees[id(module)] = made
    return made


def _slots(value: Tensor) -> tuple[Any, ...]:
    """What is known of a tensor beside its cells."""
    return value.marks, value.offset, value.numbers, value.base


def history(value: Tensor) -> History | None:
    """What is known of how a tensor was made, apart from its base: who writes to that may change it."""
    found: History | None = value.cells.get(HISTORY)
    return found if found is not None and (value.base is None or found.grad) else None


def is_bare(value: Tensor) -> bool:
    """Whether all that is known of a tensor is its type and how it was made."""
    return len(value.cells) == 1 + (HISTORY in value.cells)
