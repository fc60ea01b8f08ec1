"""Changes that can be taken back: those of one branch are set aside, and the other branch starts where it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, repeat
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

if TYPE_CHECKING:
    from simpletorch.follow.memory.remembered import Recorder

__all__ = [
    "CHANGED",
    "HISTORY",
    "MISSING",
    "NEXT",
    "OF_GRAPHS",
    "SIZE",
    "SPENT",
    "Cells",
    "Change",
    "Heap",
    "Missing",
    "born",
    "now",
]


@final
class Missing:
    """A variable or attribute that isn't there (in one of two branches). There is one, `MISSING`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
SIZE: Final = "how many"
NEXT: Final = "which is next"
"""In the cells of a list or the state of a container of modules: how many it holds; whatever changes what a list holds
forgets it. In those of an iterator: how many of its items are gone. No attribute or variable has such a name."""

ASKED_FOR: Final = "what is asked for"
"""In the cells of a list that is the command line: what stands for the arguments that weren't given."""

TUPLE: Final = "a tuple"
"""In the cells of a list that stands for a tuple of which it isn't known how many items it has."""

HISTORY: Final = "(history)"
SPENT: Final = "(spent)"
CHANGED: Final = "(changed)"
OF_GRAPHS: Final = frozenset({HISTORY, SPENT, CHANGED})
"""In the cells of a tensor: how it was made, a `History`; whether ``backward`` has freed the graph behind it; when it
was last changed in place, a number of `now`. They say something if it holds on all ways.
"""

_births: Iterator[int] = count(1)


class Cells(dict[Any, Any]):
    """What an object holds. ``born`` counts up: what is made later has a larger number."""

    __slots__ = ("born",)

    def __init__(self, items: Any = ()) -> None:
        dict.__init__(self, items)  # `super()` makes an object each time
        self.born = next(_births)


def now() -> int:
    """The number that everything made from here on exceeds."""
    return next(_births)


def born(cells: dict[Any, Any]) -> int:
    """When an object was made; 0 for what is as old as the follow itself."""
    return cells.born if isinstance(cells, Cells) else 0


Place: TypeAlias = tuple[int, Any]  # the identity of a dict of cells, and a key in it
Change: TypeAlias = dict[Place, tuple[dict[Any, Any], Any, Any]]  # by place: the cells, the key, a value


class Heap:
    """Writes to the cells of objects. Between `begin` and `end` they are written down with what was there before."""

    def __init__(self) -> None:
        self._levels: Final[list[Change]] = []
        self.writes = 0
        self.recorders: list[Recorder] = []  # of the calls that run and are remembered
        self.recorded_apart: set[int] = set()  # cells of which the recorders compare the contents
        self.watched: set[int] = set()  # cells by identity, of which somebody remembers what they hold
        self.stirred = 0  # how often one of these was written to
        self.standing: dict[int, tuple[Any, tuple[Any, ...]]] = {}  # by cells: what stands for several, see `stand_ins`
        self.pass_on: Callable[[dict[Any, Any], Any, Any], None] = lambda cells, key, value: None

    def write(self, cells: dict[Any, Any], key: Any, value: Any) -> None:
        """Put a value into a cell; MISSING empties it."""
        self.writes += 1
        if (key == "items" or key == "item") and SIZE in cells:
            self.write(cells, SIZE, MISSING)
        place = id(cells)
        if self.recorders and place not in self.recorded_apart:
            birth = cells.born if type(cells) is Cells else 0
            if birth <= self.recorders[-1].start:
                self._spoil(birth)
        if self._levels:
            level = self._levels[-1]
            if (place, key) not in level:
                level[place, key] = cells, key, cells.get(key, MISSING)
        if place in self.watched:
            self.stirred += 1
        if value is MISSING:
            cells.pop(key, None)
        else:
            cells[key] = value
        if self.standing and place in self.standing:
            self.pass_on(cells, key, value)

    def learn(self, cells: dict[Any, Any], type: Any) -> None:
        """More is known of the type of a tensor, which is the same one: names for its sizes, or what a layer takes."""
        self.writes += 1
        birth = born(cells)
        for recorder in reversed(self.recorders):
            if recorder.start < birth:
                break
            recorder.learnt.add(id(cells))
        if self._levels:
            self._levels[-1].setdefault((id(cells), "type"), (cells, "type", cells.get("type", MISSING)))
        self._set(cells, "type", type)

    def _set(self, cells: dict[Any, Any], key: Any, value: Any) -> None:
        if id(cells) in self.watched:
            self.stirred += 1
        if value is MISSING:
            cells.pop(key, None)
        else:
            cells[key] = value

    def touch(self, cells: dict[Any, Any]) -> None:
        """Something beside its cells is changed of what these are the cells of."""
        if self.recorders:
            self._spoil(born(cells))

    def _spoil(self, birth: int) -> None:
        """Something of this age is changed: calls that began later have an effect."""
        for recorder in reversed(self.recorders):
            if recorder.start < birth:
                break
            recorder.pure = False

    def begin(self) -> None:
        """From here on changes can be taken back."""
        self._levels.append({})

    def end(self) -> Change:
        """Take back all changes since `begin`, and give them: by place, the value that was there at the end."""
        level = self._levels.pop()
        made: Change = {}
        for place, (cells, key, before) in level.items():
            now = cells.get(key, MISSING)
            if now is not before:
                made[place] = cells, key, now
            self._set(cells, key, before)
        return made

    def keep(self) -> Change:
        """End the level but keep its changes; gives, by place, the value that was there before."""
        level = self._levels.pop()
        if self._levels:
            outer = self._levels[-1]
            for place, entry in level.items():
                outer.setdefault(place, entry)
        return level

    def snapshot(self) -> Change:
        """What the innermost level has changed so far."""
        return {place: (cells, key, cells.get(key, MISSING)) for place, (cells, key, _) in self._levels[-1].items()}

    def since(self, depth: int) -> Change:
        """What all levels from one on have changed so far."""
        return {
            place: (cells, key, cells.get(key, MISSING))
            for level in self._levels[depth:]
            for place, (cells, key, _) in level.items()
        }

    @contextmanager
    def as_before(self, depth: int) -> Iterator[None]:
        """In here, cells hold what they did as the level of this number began. Nothing may be written."""
        here = self.since(depth)
        for level in reversed(self._levels[depth:]):
            for cells, key, before in level.values():
                self._set(cells, key, before)
        try:
            yield
        finally:
            for cells, key, value in here.values():
                self._set(cells, key, value)

    def apply(self, change: Change) -> None:
        """Make changes that were set aside."""
        for cells, key, value in change.values():
            self.write(cells, key, value)

    @property
    def depth(self) -> int:
        """How many levels are open."""
        return len(self._levels)

    @contextmanager
    def instead(self, cells: dict[Any, Any], key: Any, value: Any) -> Iterator[None]:
        """In here a cell holds something else."""
        before = cells.get(key, MISSING)
        self.write(cells, key, value)
        try:
            yield
        finally:
            self.write(cells, key, before)

    @contextmanager
    def at_the_start(self) -> Iterator[None]:
        """In here is what happened before all that can be taken back: it stays, and is older than all recorders."""
        global _births
        before, levels, recorders = _births, self._levels[:], self.recorders
        self._levels.clear()
        self.recorders, _births = [], repeat(0)
        try:
            yield
        finally:
            self._levels[:] = levels
            self.recorders, _births = recorders, before

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is changed in here is taken back at the end, also where it ends in the middle of something."""
        depth = self.depth
        self.begin()
        try:
            yield
        finally:
            while self.depth > depth:
                self.end()
