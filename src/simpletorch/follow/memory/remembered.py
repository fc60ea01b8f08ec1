"""Calls of modules that are followed once: what ``forward`` gave for the same abstract arguments, if nothing differs.

Modules are built once for the same arguments, too, and those that are built alike share what is remembered of them.
While a call is recorded, each older object that it meets is noted with what it holds, and each name that it looks up
outside itself. A call that changed nothing older, found nothing and gave what is known gives the same again as long as
all that was noted is as it was. Sizes that get a name while it is followed have names of their own each time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow.heap import HISTORY, MISSING, Cells, Heap, born, now
from simpletorch.follow.marks import gradients
from simpletorch.follow.marks.mark import KEYED
from simpletorch.follow.memory.trees import (
    ALL,
    CONSTANTS,
    Entry,
    Tree,
    history,
    is_as_it_was,
    is_bare,
    known_tree,
    tree_of,
)
from simpletorch.follow.model.members import MODULE
from simpletorch.follow.numbers import indexes, sizes
from simpletorch.follow.outcomes import Exhausted
from simpletorch.follow.sources.lazy_cells import LazyCells
from simpletorch.follow.values import (
    Class,
    Dict,
    Fields,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    Namespace,
    Native,
    Set,
    Tensor,
    Unknown,
    Value,
    is_known,
)
from simpletorch.rules import TensorType
from simpletorch.shapes import Dim, Expr, Var, substitute

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["MUTABLE", "Recorder", "call", "construction", "note", "note_cells", "note_name"]

MUTABLE: Final = frozenset({Tensor, List, Dict, Set, Instance, Iterator, Namespace})
_MOST_ITEMS: Final = 64  # of a list that is noted with what its items hold
_MOST_CALLS: Final = 6  # that are remembered of a module and arguments


@final
class Recorder:
    """One call while it is followed: what older things it met, and whether it left them as they were."""

    __slots__ = ("complete", "learnt", "met", "pure", "start", "trees")

    def __init__(self) -> None:
        self.start = now()
        self.learnt: set[int] = set()  # the cells of older tensors of whose types more is known since
        self.pure = True  # nothing older was changed
        self.complete = True  # all that it met could be noted
        self.met: dict[Any, Entry] = {}
        self.trees: dict[int, Tree] = {}  # modules with all that is in them

    def note(self, value: Value) -> None:
        """The call has this object in hand."""
        cells = value.cells
        if (type(cells) is Cells and cells.born > self.start) or id(cells) in self.met:
            return
        kind = type(value)
        if kind is Namespace and isinstance(cells, LazyCells):
            return  # by the names that are asked for: to look at all would follow all that the module imports
        self.met[id(cells)] = cells, ALL, tuple(cells.items())
        if kind is Tensor:
            return
        if kind is Instance or kind is Dict or kind is Set:
            self.met[id(value.state)] = value.state, ALL, tuple(value.state.items())
            if kind is Instance:
                return
        inside = value.items if isinstance(value, List) else tuple(cells.values()) if isinstance(value, Dict) else ()
        if inside:
            self.complete &= len(inside) <= _MOST_ITEMS
            for item in inside[:_MOST_ITEMS]:
                if type(item) in MUTABLE:
                    self.note(item)

    def take(self, met: Mapping[Any, Entry], trees: Collection[Tree] = ()) -> None:
        """What a call inside this one has met, if that is older than this one."""
        start, own = self.start, self.met
        for place, entry in met.items():
            cells = entry[0]
            if place not in own and (cells.born if type(cells) is Cells else 0) < start:
                own[place] = entry
        for tree in trees:
            if tree.newest < self.start:
                self.trees.setdefault(id(tree), tree)
            else:
                self.take(tree.entries)


@final
class _Argument:
    """In what is remembered of a result: the same object as an argument."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


@final
class _Older:
    """In what is remembered of a result: an object that was there before the call."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


@final
class _Call:
    """What is remembered of a call."""

    __slots__ = ("held", "learnt", "made", "met", "reads", "result", "steps", "trees", "updates")

    def __init__(
        self,
        met: tuple[dict[Any, Entry], Collection[Tree]],
        result: Value,
        learnt: Sequence[tuple[int, TensorType]],
        made: Collection[Var],
        cost: tuple[int, int],
        held: Any,
        reads: bool,
    ) -> None:
        (self.met, self.trees), self.result = met, result
        self.learnt, self.made = learnt, made  # what arguments turned out to be, by place; the sizes that got a name
        self.steps, self.updates = cost
        self.held = held  # keeps the arguments alive whose identity is part of the key
        self.reads = reads  # between which numbers those of an argument lie

    def holds(self, run: Interpreter) -> bool:
        """Whether all that the call met is as it was."""
        for entry in self.met.values():
            if not is_as_it_was(entry):
                return False
        for tree in self.trees:  # noqa: SIM110  (`all` takes twice as long, for each call of a module)
            if not tree.is_as_it_was(run):
                return False
        return True


def note(heap: Heap, value: Value) -> None:
    """What is being recorded has a value in hand."""
    if type(value) in MUTABLE:
        heap.recorders[-1].note(value)


def note_cells(heap: Heap, cells: dict[Any, Any]) -> None:
    """What is being recorded looks at all that a table holds."""
    recorder = heap.recorders[-1]
    if born(cells) < recorder.start:
        recorder.met.setdefault(id(cells), (cells, ALL, tuple(cells.items())))


def note_name(heap: Heap, cells: dict[Any, Any], name: str) -> None:
    """What is being recorded looks a name up that is not its own."""
    recorder = heap.recorders[-1]
    if born(cells) < recorder.start:
        recorder.met[id(cells), name] = cells, name, cells.get(name, MISSING)


def call(
    run: Interpreter, module: Instance, function: Value, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Value:
    """``function(module, *args, **kwargs)``, followed or remembered."""

    def follow() -> Value:
        return run.call(Method(function, module), args, kwargs)

    given = _Given()
    arguments = _arguments(run, given, args, kwargs)
    if arguments is None:
        return follow()
    tree = known_tree(run, module)
    alike = None
    if tree is not None:
        alike = _alike(run, module, tree, arguments, given)
        if (known := alike.find()) is not None:  # most are the layers of a stack
            return _as_alike(run, known, given, tree)
    calls = _Calls(run, (id(module), *arguments), given)
    if (known := calls.find()) is not None:
        return _again(run, known, given)
    if tree is None or alike is None:
        tree = tree_of(run, module)
        if tree.number is None:
            return _recorded(run, follow, given, calls, module)
        alike = _alike(run, module, tree, arguments, given)
        if (known := alike.find()) is not None:
            return _as_alike(run, known, given, tree)
    return _recorded(run, follow, given, calls, module, (tree, alike))


def _alike(run: Interpreter, module: Instance, tree: Tree, arguments: tuple[Any, ...], given: _Given) -> _Calls:
    """The calls of modules that consist of the same.

    What a module holds may demand sizes of a caller, if it is older than the call.
    """
    return _Calls(run, ("like", tree.number, born(module.cells) < run.entered_at, *arguments), given)


def _as_alike(run: Interpreter, known: _Call, given: _Given, tree: Tree) -> Value:
    if run.heap.recorders:
        run.heap.recorders[-1].take({}, (tree,))
    return _again(run, known, given)


def construction(
    run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: Mapping[str, Value], follow: Callable[[], Value]
) -> Value:
    """``cls(*args, **kwargs)`` of a class of modules, which ``follow()`` follows, or one that was built so again."""
    given = _Given()
    arguments = _arguments(run, given, args, kwargs)
    if arguments is None:
        return follow()
    calls = _Calls(run, ("new", id(cls), *arguments), given)
    if (known := calls.find()) is not None:
        return _again(run, known, given)
    return _recorded(run, follow, given, calls, cls)


@final
class _Calls:
    """The calls that are remembered for one key: those with these numbers in the arguments, and those with any."""

    __slots__ = ("_any", "_own", "_run")

    def __init__(self, run: Interpreter, key: tuple[Any, ...], given: _Given) -> None:
        self._run = run
        self._own: list[_Call] = _row(run, (*key, given.between()))
        self._any: list[_Call] = _row(run, (*key, ALL)) if given.numbers else []

    def find(self) -> _Call | None:
        """One that gives the same now."""
        for known in (*self._own, *self._any) if self._any else self._own:
            if known.holds(self._run):
                return known
        return None

    def add(self, call: _Call) -> None:
        """Remember one more; the oldest is forgotten."""
        calls = self._own if call.reads else self._any
        calls.append(call)
        del calls[:-_MOST_CALLS]


def _row(run: Interpreter, key: tuple[Any, ...]) -> list[_Call]:
    found: list[_Call] | None = run.remembered.get(key)
    if found is None:
        found = run.remembered[key] = []
    return found


def _arguments(
    run: Interpreter, given: _Given, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> tuple[Any, ...] | None:
    """The arguments of a call, and the way the program runs, as a key; None where nothing may be remembered."""
    if run.takers:  # somebody takes what may be raised inside
        return None
    keys = [given.key(v) for v in ((*args, *kwargs.values()) if kwargs else args)]
    if None in keys:
        return None
    chosen = None if run.is_plain else (run.entered_at, frozenset(run.free), frozenset(run.symbols))
    modes = bool(run.conditions), run.converts_dtypes, tuple(run.modes.items()), bool(run.unsure_modes), chosen
    return (*keys, *kwargs, modes)


def _again(run: Interpreter, known: _Call, given: _Given) -> Value:
    """The call costs as many steps as it did, so that what is unrolled doesn't depend on what is remembered."""
    run.steps -= known.steps
    run.updates += known.updates
    if run.steps < 0:
        raise Exhausted
    if run.heap.recorders:
        run.heap.recorders[-1].take(known.met, known.trees)
    if known.reads:
        given.read()
    for value in given.objects:
        if type(value) is Tensor:
            gradients.note_use(run, value)
    names = {v: run.some_size(*v.range) for v in known.made} if known.made else {}
    for place, kind in known.learnt:
        run.heap.learn(given.objects[place].cells, replace(kind, shape=kind.shape.substitute(names)))
    if type(known.result) is Tensor and not names:  # nearly all
        return _copy(known.result)
    return _Remade(given.objects, names).value(known.result)


def _recorded(
    run: Interpreter,
    follow: Callable[[], Value],
    given: _Given,
    calls: _Calls,
    called: Instance | Class,
    like: tuple[Tree, _Calls] | None = None,
) -> Value:
    recorder = Recorder()
    assumed = run.assumed, run.equalities
    for cells in assumed:
        recorder.met[id(cells)] = cells, ALL, tuple(cells.items())
    if isinstance(called, Instance):
        recorder.note(called)
    steps, updates = run.steps, run.updates
    before, looked = _effects(run), given.reads()
    run.heap.recorders.append(recorder)
    try:
        result = follow()
    finally:
        run.heap.recorders.pop()
        if run.heap.recorders:
            outer = run.heap.recorders[-1]
            outer.complete &= recorder.complete
            outer.take(recorder.met, recorder.trees.values())
    same = before == _effects(run) and all(is_as_it_was(recorder.met[id(cells)]) for cells in assumed)
    learnt = given.learnt(recorder.learnt)
    if recorder.pure and recorder.complete and same and learnt is not None:
        kept = _kept(result, recorder.start, given.places, {})
        if kept is not MISSING:
            made = sizes.made_since(run, recorder.start, kept, *(t for _, t in learnt))
            reads = not given.numbers or given.reads() != looked
            rest = learnt, made, (steps - run.steps, run.updates - updates), (called, given), reads
            met = _without(given.cells, recorder.met, recorder.trees.values())
            calls.add(_Call(met, kept, *rest))
            if like is not None and not _has_older(kept):
                tree, alike = like
                alike.add(_Call(_without(tree.cells.keys(), *met), kept, *rest))
    return result


def _without(
    cells: AbstractSet[int], met: Mapping[Any, Entry], trees: Collection[Tree]
) -> tuple[dict[Any, Entry], tuple[Tree, ...]]:
    """What was met, apart from these tables."""
    kept = {place: entry for place, entry in met.items() if id(entry[0]) not in cells} if cells else dict(met)
    whole = []
    for tree in trees:
        if cells.isdisjoint(tree.cells):
            whole.append(tree)
        elif not tree.cells.keys() <= cells:
            kept.update((place, entry) for place, entry in tree.entries.items() if place not in cells)
    return kept, tuple(whole)


def _effects(run: Interpreter) -> tuple[Any, ...]:
    """What a call may leave behind beside what it writes."""
    return len(run.findings), run.converts_dtypes, tuple(run.modes.items())


def _has_older(kept: Value) -> bool:
    """Whether a result that is remembered is, or holds, an object of before the call; of a module nobody looks."""
    if isinstance(kept, _Older):
        return True
    if isinstance(kept, tuple):
        return any(map(_has_older, kept))
    if isinstance(kept, List):
        return any(map(_has_older, kept.items or ()))
    if isinstance(kept, Instance) and kept.cls.is_a(MODULE):
        return True
    return isinstance(kept, Dict | Instance) and any(map(_has_older, kept.cells.values()))


# -- arguments and results -------------------------------------------------------------------------------------------


@final
class _Given:
    """The arguments of one call: as a key, and the objects among them by their place."""

    __slots__ = ("cells", "numbers", "objects", "places")

    def __init__(self) -> None:
        self.objects: list[Value] = []
        self.numbers: dict[int, indexes.Numbers] = {}  # between which those of the arguments lie, by place
        self.places: dict[int, int] = {}
        self.cells: set[int] = set()  # whose contents are part of the key

    def key(self, value: Value) -> Any:
        """What two arguments have in common that lead to the same result; None where that can't be said."""
        if type(value) is Tensor:
            return self._of_tensor(value)
        if isinstance(value, Expr) or (is_known(value) and not isinstance(value, tuple | slice)):
            return type(value), value
        if isinstance(value, tuple):
            names = value.names if isinstance(value, Fields) else ()
            return self._all((type(value), names), value)
        if isinstance(value, slice):
            return self._all(("slice",), (value.start, value.stop, value.step))
        seen = self.places.get(id(value))
        if seen is not None:
            return "again", seen
        self.places[id(value)] = len(self.objects)
        self.objects.append(value)
        if isinstance(value, List):
            self.cells.add(id(value.cells))
            return None if value.items is None else self._all(("list",), value.items)
        if isinstance(value, Dict):
            self.cells |= {id(value.cells), id(value.state)}
            plain = value.rest is MISSING and value.default is None
            return self._all((value.kind, *value.cells), tuple(value.cells.values())) if plain else None
        if isinstance(value, Instance) and _is_plain(value):
            self.cells |= {id(value.cells), id(value.state)}
            return self._all(("record", id(value.cls), *value.cells), tuple(value.cells.values()))
        if isinstance(value, Method):
            return "method", id(value.function), id(value.receiver)
        return ("object", id(value)) if isinstance(value, Unknown | Instance | Function | Native | Class) else None

    def _of_tensor(self, value: Tensor) -> Any:
        seen = self.places.get(id(value))
        if seen is not None:
            return "again", seen
        self.places[id(value)] = len(self.objects)
        self.objects.append(value)
        self.cells.add(id(value.cells))
        known = None if value.numbers is None else indexes.passed_on(value)
        if known is not None:
            self.numbers[self.places[id(value)]] = known
        if not is_bare(value) or value.offset is not None:
            return None
        return "tensor", value.type, value.array, gradients.key(value), value.marks[KEYED]

    def between(self) -> tuple[Any, ...]:
        """The numbers as a key."""
        if not self.numbers:
            return ()
        return tuple((place, n.least, n.most, n.by_chance, n.between) for place, n in self.numbers.items())

    def reads(self) -> list[int]:
        """How often anything has looked at the numbers."""
        return [n.reads[0] for n in self.numbers.values()]

    def read(self) -> None:
        """Something looks at the numbers."""
        for numbers in self.numbers.values():
            numbers.reads[0] += 1

    def learnt(self, cells: Collection[int]) -> list[tuple[int, TensorType]] | None:
        """The tensors among the arguments with these cells, by place with their types; None if there is another."""
        found = [(n, v.type) for n, v in enumerate(self.objects) if isinstance(v, Tensor) and id(v.cells) in cells]
        return found if len(found) == len(cells) else None

    def _all(self, kind: tuple[Any, ...], values: tuple[Value, ...]) -> Any:
        keys = tuple(map(self.key, values))
        return None if any(k is None for k in keys) else (*kind, *keys)


def _kept(value: Value, start: int, places: Mapping[int, int], done: dict[int, Value]) -> Value:
    """A result as it is now, apart from what its objects may become; MISSING where it can't be remembered."""
    if type(value) in CONSTANTS:
        return value
    if isinstance(value, Expr) or (is_known(value) and not isinstance(value, tuple)):
        return value
    if isinstance(value, tuple):
        items = [_kept(v, start, places, done) for v in value]
        return MISSING if any(v is MISSING for v in items) else _like(value, items)
    if id(value) in places:
        return _Argument(places[id(value)])
    if isinstance(value, Tensor | List | Dict | Instance) and born(value.cells) < start:
        return _Older(value)
    if isinstance(value, Native | Class | Namespace):
        return value
    if id(value) in done:
        return done[id(value)]
    made: Value = MISSING
    if isinstance(value, Tensor) and is_bare(value):
        made = _copy(value)
    elif isinstance(value, List) and value.items is not None:
        items = [_kept(v, start, places, done) for v in value.items]
        made = MISSING if any(v is MISSING for v in items) else List(tuple(items))
    elif isinstance(value, Instance) and value.cls.is_a(MODULE):
        return _kept_module(value, start, places, done)
    elif _is_plain(value):
        inside = {k: _kept(v, start, places, done) for k, v in value.cells.items()}
        made = MISSING if any(v is MISSING for v in inside.values()) else _with(value, inside)
    done[id(value)] = made
    return made


def _kept_module(module: Instance, start: int, places: Mapping[int, int], done: dict[int, Value]) -> Value:
    """A module that a call has built, with all that is in it; parts may lead back to it."""
    made = done[id(module)] = Instance(module.cls, module.native)
    for table, own in ((module.cells, made.cells), (module.state, made.state)):
        for name, value in table.items():
            own[name] = _kept(value, start, places, done)
            if own[name] is MISSING:
                done[id(module)] = MISSING
                return MISSING
    return made


def _is_plain(value: Value) -> bool:
    """Whether it is a dict, or a record, of which all is known."""
    if isinstance(value, Instance):
        return value.native is None and not value.state and value.cls.fields is not None
    return isinstance(value, Dict) and value.rest is MISSING and value.default is None


def _copy(value: Tensor) -> Tensor:
    made = Tensor(value.type, array=value.array)
    known = None if value.numbers is None else indexes.of(value)
    if known is not None:
        made.numbers = replace(known, written=[])
    made.marks = value.marks
    known_of_making = history(value)
    if known_of_making is not None:
        if known_of_making.parents:
            known_of_making = replace(known_of_making, parents=(), saves=False, kept=())
        made.cells[HISTORY] = known_of_making
    return made


def _like(value: tuple[Value, ...], items: list[Value]) -> tuple[Value, ...]:
    return Fields(value.names, tuple(items)) if isinstance(value, Fields) else type(value)(items)


def _with(value: Dict | Instance, inside: dict[Any, Value]) -> Dict | Instance:
    """A new object of the same kind that holds these."""
    if isinstance(value, Dict):
        made = Dict(inside)
        made.kind = value.kind
        return made
    record = Instance(value.cls)
    record.cells.update(inside)
    return record


@final
class _Remade:
    """What is remembered, as new objects."""

    def __init__(self, objects: list[Value], names: Mapping[Var, Dim]) -> None:
        self._objects, self._names = objects, names
        self._done: dict[int, Value] = {}

    def value(self, kept: Value) -> Value:
        """A value for what is kept of one."""
        if isinstance(kept, tuple):
            return _like(kept, [self.value(v) for v in kept])
        if isinstance(kept, _Argument):
            return self._objects[kept.place]
        if isinstance(kept, _Older):
            return kept.value
        if isinstance(kept, Expr):
            return substitute(kept, self._names) if self._names else kept
        if not isinstance(kept, Tensor | List | Dict | Instance):
            return kept
        if id(kept) not in self._done:
            if isinstance(kept, Instance) and kept.cls.is_a(MODULE):
                return self._module(kept)
            if isinstance(kept, Tensor):
                made: Value = sizes.rename(_copy(kept), self._names) if self._names else _copy(kept)
            elif isinstance(kept, List):
                made = List(tuple(map(self.value, kept.items or ())))
            else:
                made = _with(kept, {k: self.value(v) for k, v in kept.cells.items()})
            self._done[id(kept)] = made
        return self._done[id(kept)]

    def _module(self, kept: Instance) -> Instance:
        made = self._done[id(kept)] = Instance(kept.cls, kept.native)
        for table, own in ((kept.cells, made.cells), (kept.state, made.state)):
            own.update({name: self.value(value) for name, value in table.items()})
        return made
