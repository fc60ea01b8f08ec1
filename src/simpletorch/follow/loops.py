"""Loops: unrolled while that is cheap, else run until nothing changes any more.

A loop over layers is unrolled: each item counts. A training loop does the same again and again: after a few rounds what
still changes (counters, sums, lists that grow) is made unknown, and the loop is over when a round changes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import assignment, branches, calls, guards, items, iteration
from simpletorch.follow.heap import OF_GRAPHS, Cells, Change, Missing, born, now
from simpletorch.follow.memory import closures, stand_ins
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import generators, iterators
from simpletorch.follow.numbers import between, first_rounds, last_rounds, sizes
from simpletorch.follow.numbers.growth import Growth
from simpletorch.follow.numbers.progress import Progress, item_by_number
from simpletorch.follow.outcomes import Done, Jump, Outcome, Raise, Raised, Return, Split
from simpletorch.follow.sources.syntax import of_node, walk
from simpletorch.follow.values import (
    GOES_ROUND,
    MISSING,
    NEXT,
    PENDING,
    REPEATED,
    SIZE,
    Choice,
    Dict,
    Instance,
    Iterator,
    Last,
    List,
    Set,
    Tensor,
    Unknown,
    Value,
    View,
    behind,
)
from simpletorch.rules import TensorType
from simpletorch.shapes import Dim, at_least

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["older", "over", "until", "widen"]

_STEPS: Final = 4_000  # statements that a loop may take while it is unrolled
_TRAINING_ROUNDS: Final = 2  # rounds of a loop that trains
_FIRST_ROUNDS: Final = 3
_MANY: Final = 12  # rounds that are left: fewer are unrolled though each is like the last
_CHEAP: Final = 300  # statements that these may take, to be unrolled all the same
_FORKS: Final = 6  # rounds that may end in several ways
_ROUNDS: Final = 5  # until everything that still changes is unknown


def _any_number(run: Interpreter, item: Value) -> Value:
    return item


class _Loop:
    """One loop, and how much it may still take."""

    def __init__(self, run: Interpreter, node: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> None:
        self.run, self.node, self.body, self.scope = run, node, node.body, scope
        self.least = run.steps - _STEPS
        self.updates = run.updates
        self.forks = 0
        self.rounds = 0
        self.counts: Callable[[Interpreter, Value], Value] = first_rounds.begun
        self.dict: tuple[Dict | Set | List, tuple[Value, ...]] | None = None  # what it goes over, and its keys
        self.lists: tuple[tuple[List, Any], ...] = ()  # the lists behind an iterator that it goes over, as they were
        self.again: Callable[[int], Value] | None = None  # see `iterators.Lazy`
        self.last: Last | None = None  # the last batch, if it has fewer samples than the others

    def is_long(self, items: tuple[Value, ...] = (), first: int = 0) -> bool:
        """Whether to stop unrolling, with these items to come, from the first one on."""
        if self.run.steps < self.least or self.forks > _FORKS:
            return True
        trains = self.run.updates > self.updates and self.rounds >= _TRAINING_ROUNDS
        return trains and _interchangeable(items[first:])

    def once(self, bind: Callable[[], None]) -> Done:
        """One round."""
        self.rounds += 1
        self.run.node, self.run.path = self.node, self.scope.path
        try:
            bind()
            done = self.run.execute(self.body, self.scope)
        except Raised as error:
            return Raise(error)
        if isinstance(done, Split):
            self.forks += 1
        return done

    @property
    def has_changed(self) -> bool:
        """Whether a round has added keys to the dict, or items to the deque, that the loop goes over, or taken some."""
        if self.dict is None or self.run.conditions:
            return False
        owner, keys = self.dict
        if isinstance(owner, List):
            return owner.items is not None and len(owner.items) != len(keys)
        is_open = owner.open if isinstance(owner, Set) else owner.rest is not MISSING
        known = not is_open and not any(isinstance(v, Choice) for v in owner.cells.values())
        return known and len(owner.cells) != len(keys)

    @property
    def has_other_keys(self) -> bool:
        """Whether there are as many keys as before, but others: Python may see them, or say that they have changed."""
        if self.dict is None:
            return False
        owner, keys = self.dict
        if isinstance(owner, List):  # a full deque that has taken another item
            return owner.items is not None and len(owner.items) == len(keys) and owner.items is not keys
        return len(owner.cells) == len(keys) and tuple(owner.cells) != keys

    def is_behind_all(self, index: int) -> bool:
        """Whether an ``OrderedDict`` isn't looked at any more: the iterator was at its last key."""
        owner, keys = self.dict or (None, ())
        return isinstance(owner, Dict) and owner.kind == "OrderedDict" and index >= len(keys)

    def ends_normally(self, bind: Callable[[], None]) -> bool:
        """One round; whether it surely leads to the next one."""
        done = self.once(bind)
        return done is None or (not isinstance(done, Split) and done.kind == "continue")


def over(run: Interpreter, node: ast.For | ast.AsyncFor, scope: Scope) -> Done:
    """``for target in source``."""
    source = run.resolve(run.evaluate(node.iter, scope))
    if isinstance(node, ast.AsyncFor):
        if isinstance(source, Unknown):
            calls.wait(run, scope)
        source = iteration.asynchronous(run, source)
    return _over(run, node, scope, source)


def _over(run: Interpreter, node: ast.For | ast.AsyncFor, scope: Scope, source: Value) -> Done:
    if isinstance(source, Instance) and source.cls.find("__iter__") is None:
        source = behind(source)
    if isinstance(source, Dict):
        source = items.whole(run, source)
    if isinstance(source, Choice):
        left, right = source.when_true, source.when_false
        return branches.choose(
            run,
            source.condition,
            lambda: _over(run, node, scope, run.resolve(left)),
            lambda: _over(run, node, scope, run.resolve(right)),
        )
    source = iteration.check(run, source)
    loop, start = _Loop(run, node, scope), now()
    if isinstance(source, Iterator) and iterators.can_pull(source):
        named = not isinstance(node.iter, ast.Call) or isinstance(source.cells["items"], List)
        if named or _minds(source):
            return _after(run, _one_by_one(loop, node, source), node.orelse, scope)
    whole, source = source, iteration.stream(run, source)
    if source is not whole and iterators.can_pull(source) and (_minds(source) or _may_leave(node)):
        return _after(run, _one_by_one(loop, node, source), node.orelse, scope)
    if isinstance(source, Iterator) and isinstance(source.lazy, iterators.Lazy):
        loop.lists = tuple((v, v.items) for v in map(run.resolve, source.lazy.over) if isinstance(v, List))
        loop.again = source.lazy.again
    iterators.force(run, source)
    loop.last = _last_of(source)
    found = run.items(source)
    events.LOOP(run, node, whole, found)
    if found is not None:
        watched = whole.owner if isinstance(whole, View) else whole
        alive = isinstance(source, List) and source is whole and not isinstance(source, View)
        loop.dict = (watched, tuple(watched.cells)) if isinstance(watched, Dict | Set) else None
        if isinstance(whole, Instance) and whole.cls.qualified == "collections.deque" and isinstance(source, List):
            loop.dict, alive = (source, found), True
        done = _each(loop, node, found, 0, source if alive else None)
    else:
        guards.may_raise(run, guards.ANY)
        length = between.count(source) if isinstance(source, List | Iterator | range) and loop.last is None else None
        rounds = length if type(length) is int and length > 0 else None
        item = iteration.item(run, source)
        streams = isinstance(whole, Iterator | Instance)

        def bind() -> None:
            one = sizes.renamed(run, iteration.another(item), {}, start) if streams else sizes.one_of_many(run, item)
            assignment.assign(run, node.target, loop.counts(run, one), scope)

        done = _again(loop, bind, lambda: None, runs=_has_items(source), rounds=rounds, source=source)
    if loop.last is not None and not isinstance(done, Raise | Return | Jump):
        _to_the_last(loop, node, loop.last)
    return _after(run, done, node.orelse, scope)


def _minds(source: Iterator) -> bool:
    """Whether it makes a difference when an item is computed."""
    return source.lazy is not None and source.lazy.minds


@of_node
def _may_leave(node: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop may be left before its source has no more items."""
    return any(isinstance(n, ast.Break | ast.Return) for n in walk(node))


def _one_by_one(loop: _Loop, node: ast.For | ast.AsyncFor, source: Iterator) -> Done:
    """Each item is computed as its round begins: what a round does, and where the loop ends, makes a difference."""
    run, scope = loop.run, loop.scope
    while not loop.is_long():
        loop.run.node = node
        try:
            one = iterators.pull(run, source)
        except Raised as error:
            return Raise(error)
        if one is iterators.END:
            return None
        if one is iterators.UNSURE:
            break
        done = loop.once(partial(assignment.assign, run, node.target, one, scope))
        if isinstance(done, Split):
            run.dropped(source)
            return branches.follow_on(run, done, partial(_one_by_one, loop, node, source), ("normal", "continue"))
        if done is not None and done.kind != "continue":
            if isinstance(node.iter, ast.Call) and run.waiting:  # there is no other name for it
                generators.close(run, source)
            return done
    found = run.items(source)
    if found is not None:
        return _each(loop, node, found, 0)
    guards.may_raise(run, guards.ANY)
    item = iteration.item(run, source)
    return _again(loop, lambda: assignment.assign(run, node.target, iteration.another(item), scope), lambda: None)


def _has_items(source: Value) -> bool:
    """Whether what a loop goes over surely has an item."""
    if isinstance(source, Iterator) and isinstance(source.count, int):
        return source.count > 0
    size = between.count(source)
    return size is not None and at_least(size, 1) is True


def _last_of(source: Value) -> Last | None:
    """The last batch, where it has fewer samples than the others: of a loader, or of ``range(0, n, size)``."""
    if isinstance(source, Iterator):
        return source.last
    if isinstance(source, range) and source.step > 1 and len(source) > 1 and source.start == 0:
        left = source.stop - source[-1]
        return Last(lambda: source[-1], left, source.step, of_loader=False) if left < source.step else None
    return None


def _to_the_last(loop: _Loop, node: ast.For | ast.AsyncFor, last: Last) -> None:
    """A round with the last batch, which is smaller."""

    def once() -> None:
        loop.once(lambda: assignment.assign(loop.run, node.target, last.make(), loop.scope))

    events.LAST_BATCH(loop.run, node, loop.scope, last, once)


def _each(
    loop: _Loop, node: ast.For | ast.AsyncFor, items: tuple[Value, ...], first: int, source: List | None = None
) -> Done:
    """Unrolled, from one item on.

    Args:
        loop: the loop.
        node: its statement.
        items: what it goes over.
        first: the number of the item to begin with.
        source: the list whose items these are: a round may change it.
    """
    run, scope = loop.run, loop.scope
    same_again, index = False, first
    progress = Progress(run, node, scope)
    while True:
        if source is not None and source.items is not items:
            if source.items is None:
                return _again(loop, partial(assignment.assign, run, node.target, source.item, scope), lambda: None)
            items = source.items
        if loop.is_behind_all(index):
            break
        if index > first and loop.has_other_keys:
            return _changed(loop, node, index)
        if index > first and loop.has_changed:
            return Raise(Raised("RuntimeError", None, ("Exception", "BaseException")))
        if any(v.items is not before for v, before in loop.lists):
            return _changed(loop, node, index)
        if index >= len(items):
            break
        left = len(items) - index
        if left > 1 and (loop.is_long(items, index) or (same_again and left > _MANY)):
            rest = branches.common_item(items[index:], "which round of a loop it is")
            rest = stand_ins.standing(run, rest, items[index:])
            bind = partial(assignment.assign, run, node.target, rest, scope)
            done = _again(loop, bind, lambda: None, rounds=left, source=source)
            if done is None and index:

                def once(item: Value) -> Done:
                    return loop.once(partial(assignment.assign, run, node.target, item, scope))

                last_rounds.follow(run, node, scope, items[index - 1], items[index:], once)
            return done
        start, steps = now(), run.steps
        run.heap.begin()
        done = loop.once(partial(assignment.assign, run, node.target, items[index], scope))
        before = older(run.heap.keep(), start)
        if isinstance(done, Split):
            following = partial(_each, loop, node, items, index + 1, source)
            return branches.follow_on(run, done, following, ("normal", "continue"))
        if done is not None and done.kind != "continue":
            return done
        index += 1
        long = left > _MANY and left * (steps - run.steps) > _CHEAP
        if long:
            progress.note(before, start)
            if progress.is_even and (source is None or source.items is items):
                index += _evenly(loop, node, progress, items[index:-1])
        same_again = long and loop.rounds >= _FIRST_ROUNDS and _only_counts(run, before)
    return None


def _changed(loop: _Loop, node: ast.For | ast.AsyncFor, given: int) -> Done:
    """The list behind the iterator has changed after ``given`` items: the others are asked for anew."""
    run, scope = loop.run, loop.scope
    if loop.again is not None:
        return _one_by_one(loop, node, loop.again(given))
    guards.may_raise(run, guards.ANY)
    rest = run.unknown("an item behind a list that has changed")
    return _again(loop, partial(assignment.assign, run, node.target, rest, scope), lambda: None)


def _evenly(loop: _Loop, node: ast.For | ast.AsyncFor, progress: Progress, items: tuple[Value, ...]) -> int:
    """Go on behind rounds that differ in sizes by as much each: with these items. How many they are."""
    item = item_by_number(items)
    if item is None:
        return 0

    def once(number: Dim) -> bool:
        return loop.ends_normally(partial(assignment.assign, loop.run, node.target, item(number), loop.scope))

    return len(items) if progress.skip(len(items), once) else 0


def _interchangeable(items: tuple[Value, ...]) -> bool:
    """Whether it makes no difference which of the items a round has: numbers and tensors, not models or their names."""
    return all(_like(items[0], v) for v in items[1:])


def _like(a: Value, b: Value) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_like, a, b))
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return True
    return branches.alike(a, b) or (
        branches.type_name(a) in ("int", "float") and branches.type_name(b) in ("int", "float")
    )


def _only_counts(run: Interpreter, before: Change) -> bool:
    """Whether a round has changed numbers, texts and files only, or made lists longer: the next will do the same."""
    for cells, key, old in before.values():
        now = cells.get(key, MISSING)
        if cells is run.files or old is MISSING or now is MISSING or branches.alike(old, now):
            continue
        if key == "items" and isinstance(old, tuple) and isinstance(now, tuple) and old and len(now) > len(old):
            if not all(_passes(old[-1], v) for v in now[len(old) :]):
                return False
        elif not _passes(old, now) and not _is_as_it_came(before, key, old, now):
            return False
    return True


def _is_as_it_came(before: Change, key: Any, old: Value, now: Value) -> bool:
    """Whether a tensor is what the last one was before the round looked at it: more is known of that one since."""
    if key == "type":
        return isinstance(old, TensorType) and old.dtype in (None, now.dtype) and not old.shape.is_exact
    if not isinstance(old, Tensor) or not isinstance(now, Tensor) or (id(old.cells), "type") not in before:
        return False
    made = copy(old)
    made.apart = old.cells["type"], before[id(old.cells), "type"][2]
    return branches.alike(made, now)


def _passes(old: Value, now: Value) -> bool:
    name = branches.type_name(now)
    return branches.alike(old, now) or (name is not None and name == branches.type_name(old))


def until(run: Interpreter, node: ast.While, scope: Scope) -> Done:
    """``while test``."""
    loop = _Loop(run, node, scope)
    return _after(run, _while(loop, node), node.orelse, scope)


def _while(loop: _Loop, node: ast.While) -> Done:
    run, scope = loop.run, loop.scope
    progress, goes_on = Progress(run, node, scope), partial(_goes_on, run, node.test, scope)

    def once(_: Dim) -> bool:
        return goes_on() is True and loop.ends_normally(lambda: None)

    while True:
        start, steps = now(), run.steps
        run.heap.begin()
        scope.depth += 1  # a round that surely comes is no branch of a generator
        try:
            test = branches.truth(run, run.evaluate(node.test, scope))
            begins = test is True and not loop.is_long()
            done = loop.once(lambda: None) if begins else None
        finally:
            before = older(run.heap.keep(), start)
            scope.depth -= 1
        if not begins:
            return None if test is False else _again(loop, lambda: None, goes_on)
        if isinstance(done, Split):
            return branches.follow_on(run, done, lambda: _while(loop, node), ("normal", "continue"))
        if done is not None and done.kind != "continue":
            return done
        progress.note(before, start)
        if progress.is_even and not isinstance(node.test, ast.Constant):
            left = progress.rounds(goes_on)
            if left > _MANY and left * (steps - run.steps) > _CHEAP:
                progress.skip(left - 1, once)


def _goes_on(run: Interpreter, test: ast.expr, scope: Scope) -> bool | None:
    found = branches.truth(run, run.evaluate(test, scope))
    return found if isinstance(found, bool) else None


def _after(run: Interpreter, done: Done, orelse: list[ast.stmt], scope: Scope) -> Done:
    """``else``, for the ways that were not broken off; and a ``break`` ends here."""
    if isinstance(done, Split):
        if orelse and any(o.kind == "normal" for o in done.outcomes):
            done = branches.follow_on(run, done, lambda: run.execute(orelse, scope))
    elif done is None and orelse:
        done = run.execute(orelse, scope)
    if isinstance(done, Split):
        for o in done.outcomes:
            if o.kind == "break":
                o.done = None
        return branches.join(run, done.outcomes)
    return None if isinstance(done, Jump) else done


def _again(
    loop: _Loop,
    bind: Callable[[], None],
    goes_on: Callable[[], bool | None],
    *,
    runs: bool = False,
    rounds: int | None = None,
    source: Value = None,
) -> Done:
    """Rounds that are like each other, any number of them.

    Args:
        loop: the loop.
        bind: begins a round.
        goes_on: whether there is another one; None where that isn't known.
        runs: there surely is a first one.
        rounds: how many there are, where that is known.
        source: the list that it goes over.
    """
    run = loop.run
    growth = Growth(run, rounds, source)
    leaving: list[Outcome] = []
    depth = run.heap.depth
    run.heap.begin()
    began = now()
    another: bool | None = None
    condition = Unknown("how long a loop runs", "bool", "data")
    condition.fact = GOES_ROUND
    for attempt in range(_ROUNDS + 1):
        start = now()
        another = goes_on()
        if another is False:
            break
        at_once = run.heap.since(depth)
        if attempt:
            growth.begin()
        run.heap.begin()
        if another is None or attempt:
            run.conditions.append(condition)
        if runs and attempt == 0:
            run.going.add(condition)
        firsts, later = run.firsts, run.later
        try:
            done = loop.once(bind)
        finally:
            counted, run.firsts, run.later = run.firsts.keys() - firsts.keys(), firsts, later
            run.going.discard(condition)
            if another is None or attempt:
                run.conditions.pop()
        settled = _stay(run, done, leaving, depth)
        if not settled:
            run.heap.end()  # who gets past the loop had one round less
            if another is None and attempt == 0 and isinstance(done, Raise):
                # a body that always raises is more often not understood than never run
                calls.escape(run, tuple(closures.changed_by(run, loop.body, loop.scope)))
            break
        before = older(run.heap.keep(), start)
        growth.end(before, attempt == 0)
        if loop.last is not None and isinstance(loop.node, ast.For):
            _to_the_last(loop, loop.node, loop.last)
        # what one round leaves to the next must suit it as it is, and other rounds may go other ways than the first
        if attempt == 0 and (_carries_tensors(before) or counted & run.asked_first):
            leaving += [] if another or rounds else [Outcome(None, at_once)]
            loop.counts = first_rounds.gone_on
            continue
        if attempt == 0:
            loop.counts = _any_number
        if not widen(run, before, forced=attempt >= _ROUNDS - 1):
            break
    change = run.heap.end()
    ways = [*leaving] if another is True and leaving else [Outcome(None, change, [], (), began), *leaving]
    if len(ways) == 1 and not leaving:
        run.heap.apply(change)
        growth.settle()
        return None
    for k, o in enumerate(ways):
        o.began = began
        o.conditions = ((condition, k == 0), *o.conditions)
    return branches.join(run, ways)


def _carries_tensors(before: Change) -> bool:
    """Whether a round has left another type in the place of a tensor."""
    for cells, key, old in before.values():
        now = cells.get(key, MISSING)
        if isinstance(old, Tensor | TensorType) and now is not MISSING and not branches.alike(old, now):
            return True
    return False


def _stay(run: Interpreter, done: Done, leaving: list[Outcome], depth: int) -> bool:
    """What goes on after a round is put in force; what leaves the loop is set aside. Whether anything goes on."""
    so_far = run.heap.since(depth)
    if isinstance(done, Split):
        staying = [o for o in done.outcomes if o.kind in ("normal", "continue")]
        leaving += [
            Outcome(o.done, {**so_far, **o.change}, o.findings, o.conditions)
            for o in done.outcomes
            if o.kind in ("return", "break") or _is_caught(run, o.done)
        ]
        for o in staying:
            o.done = None
        if not staying:
            return False
        branches.join(run, staying)
        return True
    if done is not None and done.kind != "continue":
        if not isinstance(done, Raise) or _is_caught(run, done):
            leaving.append(Outcome(done, so_far, [], ()))
        return False
    return True


def _is_caught(run: Interpreter, done: Done) -> bool:
    return isinstance(done, Raise) and guards.is_caught(run, done.error)


def older(changed: Change, start: int) -> Change:
    """The changes of what was there when a round (or a ``try``) began: what it made itself is new."""
    return {
        place: entry
        for place, entry in changed.items()
        if (entry[0].born if type(entry[0]) is Cells else born(entry[0])) < start
    }


def widen(run: Interpreter, before: Change, *, forced: bool) -> bool:
    """Make what a round has changed stand for any round (or for any part of it). Whether anything had changed."""
    changed = False
    # what tensors and lists hold comes first: where a variable stands for another one, both are looked at
    for cells, key, old in sorted(before.values(), key=_depth):
        now = cells.get(key, MISSING)
        if key == SIZE and "items" in cells:  # how long a list is, see `offsets`
            run.heap.write(cells, key, old if old == now else MISSING)
            continue
        if key in OF_GRAPHS:
            if old != now:
                run.heap.write(cells, key, MISSING)
                changed |= old is not MISSING
            continue
        if old is MISSING and _may_lack(cells, key, now):
            run.heap.write(cells, key, Choice(Unknown("whether a loop runs at all", "bool", "data"), now, MISSING))
            changed = True
            continue
        if old is MISSING and key == "open" and not isinstance(now, bool | Missing):
            changed = True  # an item under any key: what the next round reads may be it
            continue
        if old is MISSING or now is MISSING or cells is run.assumed or branches.alike(old, now):
            if cells is run.assumed and old is not now:
                run.heap.write(cells, key, MISSING)
            continue
        if cells is run.equalities:
            run.heap.write(cells, key, {v: d for v, d in old.items() if now.get(v) == d})
            continue
        wide = _wide(run, cells, key, old, now, forced)
        changed |= not branches.alike(wide, old)  # what stood there already may stand for this round too
        run.heap.write(cells, key, wide)
    return changed


def _may_lack(cells: dict[Any, Any], key: Any, now: Value) -> bool:
    """Whether it matters that what a round has put there may not be there: a variable, an item, an attribute."""
    return isinstance(cells, Cells) and key not in ("open", SIZE) and not isinstance(now, Instance | bool | Missing)


def _depth(entry: tuple[dict[Any, Any], Any, Value]) -> int:
    cells, key, old = entry
    return 0 if isinstance(old, TensorType) else 1 if key in ("items", "item") and "item" in cells else 2


def _wide(run: Interpreter, cells: dict[Any, Any], key: Any, old: Value, now: Value, forced: bool) -> Value:
    if isinstance(old, TensorType) and isinstance(now, TensorType):
        return TensorType() if forced else branches.common_type(old, now)
    listed = key == "items" and "item" in cells  # an attribute may be called "items" too
    listed = listed and isinstance(old, tuple | None) and isinstance(now, tuple | None)
    if listed and (old is None or now is None or len(old) != len(now)):
        return _uncounted(run, cells, old, now)
    if old is PENDING or now is PENDING:
        run.heap.write(cells, "item", run.unknown("what an iterator gives that a loop has begun"))
        return None
    if key == NEXT:
        return 0
    if key == SIZE:
        run.heap.write(cells, "open", cells.get("open") or REPEATED)
        return old
    wide = branches.generalise(old, now, sizes.CHANGES, _cause(old, now))
    if not forced or branches.alike(wide, old):
        return wide
    if listed:
        return _uncounted(run, cells, old, now)
    if isinstance(old, Tensor):
        return Tensor(TensorType(), array=old.array)
    changing = run.unknown(sizes.CHANGES, branches.type_name(now))
    changing.without_tensors = branches.has_no_tensor(old) and branches.has_no_tensor(now)
    changing.scalar = branches.is_scalar(old) and branches.is_scalar(now)
    return changing


def _uncounted(
    run: Interpreter, cells: dict[Any, Any], old: tuple[Value, ...] | None, now: tuple[Value, ...] | None
) -> None:
    """Forget how many items a list has: any of them is one of those that it had."""
    known = tuple(v for part in (old, now) if part is not None for v in part)
    rest = () if cells.get("item") is None or now is not None else (cells["item"],)
    run.heap.write(cells, "item", branches.common_item((*known, *rest), "which item of a list it is"))


def _cause(old: Value, now: Value) -> Any:
    """Counters and sums say nothing of sizes; an object that is another one in each round may."""
    return "data" if branches.type_name(old) is not None and branches.type_name(now) is not None else "code"
