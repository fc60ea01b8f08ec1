"""Iterators that compute an item when they are asked for it: ``map``, ``zip``, generators and their like.

Each can be taken whole, in which all that is known of its source counts, or item by item, in Python's order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from simpletorch.follow import branches, guards
from simpletorch.follow.budget import length
from simpletorch.follow.guards import Guard
from simpletorch.follow.heap import NEXT, SIZE, Cells
from simpletorch.follow.model import coroutines
from simpletorch.follow.outcomes import Raise, Raised, Return
from simpletorch.follow.values import MISSING, PENDING, Choice, Instance, Iterator, List, Unknown, Value, View

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "END",
    "FINISHED",
    "OVER",
    "PULLED",
    "UNSURE",
    "Count",
    "Lazy",
    "all_at_once",
    "are_endless",
    "by_index",
    "by_next",
    "can_pull",
    "ended",
    "force",
    "is_over",
    "is_simple",
    "lazily",
    "over",
    "pull",
    "stop",
    "taken",
]


@final
class _Mark:
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


END: Final = _Mark("no more items")
UNSURE: Final = _Mark("whether there is an item isn't known")
PULLED: Final = "(pulled)"
OVER: Final = "(over)"  # whether it was asked again behind its end
FINISHED: Final = 10**18  # the number of the next item of a list that was gone through: it never has one
_MOST: Final = 5_000
_ENDLESS: Final = 64  # items that were taken one by one, until more of them count as endless
_ALIKE: Final = 3  # of these, one like the other


class Lazy:
    """How an iterator computes its items.

    Args:
        whole: gives all items, if none was taken before.
        one: gives the next one, `END` or `UNSURE`.
        minds: whether it makes a difference when an item is computed.
        over: what it goes over: a list among it may change meanwhile.
        again: gives one like it, that has given so many items; None where computing them anew makes a difference.
    """

    is_generator = False

    def __init__(
        self,
        whole: Callable[[], Value],
        one: Callable[[], Value],
        *,
        minds: bool = False,
        over: tuple[Value, ...] = (),
        again: Callable[[int], Value] | None = None,
    ) -> None:
        self.whole, self.one, self.minds, self.over, self.again = whole, one, minds, over, again
        self.holder: Iterator | None = None


@final
class Count:
    """A number that an iterator keeps; None where the ways that met here have left different ones."""

    __slots__ = ("_cells", "_run")

    def __init__(self, run: Interpreter, number: int) -> None:
        self._run, self._cells = run, Cells({"number": number})

    @property
    def value(self) -> int | None:
        """The number as it is now."""
        found = self._cells["number"]
        return found if type(found) is int else None

    @value.setter
    def value(self, number: int) -> None:
        self._run.heap.write(self._cells, "number", number)


def lazily(lazy: Lazy) -> Iterator:
    """An iterator that waits until it is asked."""
    made = Iterator(None, Unknown("an item that is computed when it is asked for"))
    made.cells["items"] = PENDING
    made.lazy = lazy
    lazy.holder = made
    return made


def _is_pending(value: Iterator) -> bool:
    return value.cells["items"] is PENDING and value.lazy is not None


def force(run: Interpreter, value: Value) -> None:
    """Compute all items that an iterator has left."""
    if not isinstance(value, Iterator) or not _is_pending(value):
        return
    lazy = value.lazy
    if not value.cells.get(PULLED):
        run.heap.write(value.cells, "items", ())  # what asks for itself gets nothing
        found = run.resolve(lazy.whole())
        if isinstance(found, Iterator):
            force(run, found)
            value.count, value.last = found.count, found.last
            items, item, size = found.items, found.cells["item"], found.cells.get(SIZE)
            if size is not None:
                run.heap.write(value.cells, SIZE, size)
        elif isinstance(found, tuple):
            items, item = found, None
        else:
            items, item = None, run.unknown("an item of what isn't known")
    else:
        items, item = taken(run, value)
    run.heap.write(value.cells, "item", item)
    run.heap.write(value.cells, "items", items)
    run.heap.write(value.cells, NEXT, 0)


def taken(run: Interpreter, value: Value, most: int = _ENDLESS) -> tuple[tuple[Value, ...] | None, Value]:
    """The items that are left, one after the other; None, and one for all, where that isn't known."""
    found: list[Value] = []
    while len(found) < most:
        one = pull(run, value)
        if one is END:
            return tuple(found), None
        if one is UNSURE:
            return None, run.unknown("an item of an iterator")
        found.append(one)
        if are_endless(found):
            break
    return None, branches.common_item(found)


def are_endless(found: list[Value]) -> bool:
    """Whether the last items are one like the other, and no numbers: there will be more of them."""
    last = found[-_ALIKE:]
    return (
        len(found) > 2 * _ALIKE
        and not isinstance(last[-1], int | str)
        and all(branches.alike(v, last[-1]) for v in last)
    )


def can_pull(value: Value) -> bool:
    """Whether items may be taken one by one."""
    return isinstance(value, Iterator) and (_is_pending(value) or value.items is not None)


def pull(run: Interpreter, value: Value) -> Value:
    """The next item, `END` if there is none, `UNSURE` if that isn't known.

    Raises:
        Raised: the program raises it while the item is computed.
    """
    value = run.resolve(value)
    if not isinstance(value, Iterator):
        return UNSURE
    if _is_pending(value):
        run.heap.write(value.cells, PULLED, True)
        found = value.lazy.one()
        if not _is_pending(value):  # it has found all of them
            return found
        if found is END:
            ended(run, value)
        elif found is UNSURE:
            run.heap.write(value.cells, "items", None)
        return found
    held = value.cells["items"]
    if isinstance(held, View) and value.cells[NEXT] < FINISHED and not _check_keys(run, value, held):
        guards.may_raise(run, guards.ANY)
        return UNSURE
    left = value.items
    if left is None:
        return UNSURE
    if not left:
        if is_over(value):
            run.heap.write(value.cells, OVER, True)
        run.heap.write(value.cells, NEXT, FINISHED)
        return END
    run.heap.write(value.cells, NEXT, value.cells[NEXT] + 1)
    return run.resolve(left[0])


def ended(run: Interpreter, value: Iterator) -> None:
    """It has no more items."""
    run.heap.write(value.cells, "items", ())
    run.heap.write(value.cells, NEXT, FINISHED)


def is_over(value: Iterator) -> bool:
    """Whether it was asked for an item and had none."""
    return bool(value.cells[NEXT] == FINISHED)


def stop(run: Interpreter, value: Iterator) -> Raised:
    """The exception of ``next`` at the end; the first one has the value that a generator returned."""
    if getattr(value.lazy, "is_asynchronous", False):
        return Raised("StopAsyncIteration", None, ("Exception", "BaseException"))
    result = None if value.cells.get(OVER) else getattr(value.lazy, "result", None)
    cls = run.program.library_class("builtins.StopIteration")
    made = Instance(cls)
    made.cells.update({"value": result, "args": () if result is None else (result,)})
    return Raised("StopIteration", made, ("Exception", "BaseException"))


def is_simple(run: Interpreter, value: Value) -> bool:
    """Whether what goes over a value gets items that are known, or asks an iterator that can be asked."""
    value = run.resolve(value)
    if isinstance(value, Iterator):
        return can_pull(value)
    if isinstance(value, List):
        return value.items is not None
    return isinstance(value, tuple | str | bytes) or (isinstance(value, range) and length(value) <= _MOST)


def over(run: Interpreter, value: Value, first: int = 0) -> Value:
    """``iter(value)`` of what is simple, from the item ``first`` on: that of a list is alive."""
    value = run.resolve(value)
    if isinstance(value, Iterator):
        return value
    made = alive(value) if isinstance(value, List) else Iterator(tuple(value))
    made.cells[NEXT] = first
    return made


def all_at_once(run: Interpreter, value: Iterator, whole: Callable[[], Value]) -> Value:
    """The next item of an iterator that can't compute one alone."""
    found = run.resolve(whole())
    if not isinstance(found, Iterator):
        return UNSURE
    run.heap.write(value.cells, "item", found.cells["item"])
    run.heap.write(value.cells, "items", found.items)
    return pull(run, value)


def alive(source: List) -> Iterator:
    """The iterator of a list, which sees what becomes of it."""
    made = Iterator(None)
    made.cells["items"] = source
    if isinstance(source, View):
        made.cells[_KEYS] = tuple(source.owner.cells)
    return made


_KEYS: Final = "(keys)"  # the keys that a dict had when somebody began to go over it


def _check_keys(run: Interpreter, value: Iterator, source: View) -> bool:
    """Whether it is known that a dict has the keys that it had.

    Raises:
        Raised: it has another number of them.
    """
    owner = source.owner
    if owner.rest is not MISSING or any(isinstance(v, Choice) for v in owner.cells.values()):
        return False
    before: tuple[Value, ...] = value.cells[_KEYS]
    if len(owner.cells) == len(before):
        return tuple(owner.cells) == before
    if owner.kind == "OrderedDict":  # behind its last key it isn't looked at
        return False
    raise Raised("RuntimeError", None, ("Exception", "BaseException"))


def minds(run: Interpreter, values: tuple[Value, ...]) -> bool:
    """Whether somebody else may ask what these values are gone over with."""
    return any(isinstance(run.resolve(v), Iterator) for v in values)


def by_next(run: Interpreter, source: Instance, name: str = "__next__", last: str = "StopIteration") -> Iterator:
    """The iterator that an object of the program's is, whose class has ``__next__``."""
    method = run.special(source, name)

    def ask() -> Value:
        return coroutines.result(run, run.call(method, ()))

    return _until(run, last, ask, lambda: Iterator(None, ask()))


def by_index(run: Interpreter, source: Instance, otherwise: Callable[[], Value]) -> Iterator:
    """The old protocol: ``source[0]``, ``source[1]``, … until there is none."""
    method, at = run.special(source, "__getitem__"), Count(run, 0)

    def ask() -> Value:
        index = at.value
        if index is None:
            return run.call(method, (run.unknown("an index", "int"),))
        at.value = index + 1
        return run.call(method, (index,))

    return _until(run, "IndexError", ask, otherwise)


def _until(run: Interpreter, last: str, ask: Callable[[], Value], otherwise: Callable[[], Value]) -> Iterator:
    """The results of a method of the program's, until it raises an exception of this name.

    ``otherwise`` gives what is known of all items if they don't seem to end.
    """

    def one() -> Value:
        guard = Guard(lambda error: last in (error.name, *error.bases), run.heap.depth)
        ways = guards.guarded(run, guard, lambda: Return(ask()))
        if len(ways) != 1:
            return UNSURE
        run.heap.apply(ways[0].change)
        done = ways[0].done
        if not isinstance(done, Raise):
            return done.value if isinstance(done, Return) else UNSURE
        if last in (done.error.name, *done.error.bases):
            return END
        raise done.error

    def whole() -> Value:
        number = _ends_after(run, one)
        if number is None:
            return otherwise()
        found = tuple(one() for _ in range(number))
        one()  # the end
        return found

    return lazily(Lazy(whole, one))


def _ends_after(run: Interpreter, one: Callable[[], Value]) -> int | None:
    """How many items there are, None if they don't seem to end; nothing is changed."""
    found: list[Value] = []
    with run.silently(), run.heap.aside():
        while len(found) < _ENDLESS and not are_endless(found):
            try:
                value = one()
            except Raised:
                return None
            if value is END:
                return len(found)
            if value is UNSURE:
                return None
            found.append(value)
    return None
