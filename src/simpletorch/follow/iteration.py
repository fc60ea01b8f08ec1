"""What iterating over a value gives: its items, or what they have in common where nobody knows how many there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards
from simpletorch.follow.budget import length
from simpletorch.follow.marks import carried
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import iterators, kinds, metaclasses
from simpletorch.follow.numbers import sizes
from simpletorch.follow.outcomes import Done, Outcome, Raise, Raised, Return
from simpletorch.follow.values import (
    MISSING,
    NEXT,
    Choice,
    Class,
    Dict,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    Set,
    Tensor,
    Unknown,
    Value,
    as_tuple,
    behind,
    is_tuple,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "another",
    "asked",
    "asynchronous",
    "check",
    "common_length",
    "gathered",
    "item",
    "items",
    "iterator",
    "letter",
    "members",
    "stream",
]

_MOST_ITEMS: Final = 5_000
_MOST_SLICES: Final = 64


def items(run: Interpreter, value: Value) -> tuple[Value, ...] | None:
    """The items, None if it isn't known how many there are (or there are too many to look at each)."""
    if type(value) is Choice:
        value = run.resolve(value)
    if type(value) is Instance:
        value = _collection(value)
    if isinstance(value, tuple):
        return tuple(value)
    if isinstance(value, List):
        return value.items
    if isinstance(value, Dict):
        certain = value.rest is MISSING and not any(branches.may_be_missing(run, v) for v in value.cells.values())
        return tuple(value.cells) if certain else None
    if isinstance(value, Set | frozenset):
        held = members(run, value)
        return None if held is None else _in_any_order(run, held)
    if isinstance(value, str | bytes):
        return tuple(value) if len(value) <= _MOST_ITEMS else None
    if isinstance(value, range):
        return tuple(value) if length(value) <= _MOST_ITEMS else None
    if isinstance(value, Unknown) and isinstance(value.length, int) and value.length <= _MOST_ITEMS:
        return tuple(letter(run, value) for _ in range(value.length))
    if isinstance(value, Tensor):
        return _slices(run, value)
    if isinstance(value, Iterator):
        iterators.force(run, value)
        found = value.items
        if found is not None:
            run.heap.write(value.cells, NEXT, iterators.FINISHED)
        return found
    if isinstance(value, Instance | Class):
        inner = iterator(run, value)
        return None if inner is None else items(run, inner)
    return None


def members(run: Interpreter, value: Value) -> tuple[Value, ...] | None:
    """The items of a collection, for what doesn't ask in which order a set has them."""
    held = behind(run.resolve(value))
    if isinstance(held, Set) and _collection(value) is held:
        return None if held.open else tuple(held.cells)
    if isinstance(held, frozenset):
        return tuple(held) if len(held) <= _MOST_ITEMS else None
    known = held.cells.get(MEMBERS) if isinstance(held, List) else None
    return known[1] if known is not None and known[0] is held.items else items(run, value)


MEMBERS: Final = "what a set held"
"""In the cells of a list that was made of a set: its items, whose order isn't known, and what they are."""


def _in_any_order(run: Interpreter, found: tuple[Value, ...]) -> tuple[Value, ...]:
    """The items of a set as Python goes over them: the order of its texts is another one in each process."""
    if len(found) < 2 or all(isinstance(v, int | float) for v in found):
        return tuple(set(found))
    if len(found) == 2:
        first = run.derived("the order of a set", found, None)
        return Choice(first, *found), Choice(first, *reversed(found))
    return tuple(branches.common_item(found, "which item of a set it is") for _ in found)


def _collection(value: Value) -> Value:
    """What an object of a subclass of Python's collections iterates over."""
    own = isinstance(value, Instance) and value.cls.find("__iter__") is not None
    return value if own else behind(value)


def _slices(run: Interpreter, value: Tensor) -> tuple[Value, ...] | None:
    shape = value.type.shape
    first = shape.dim(0) if shape.min_rank else None
    if not isinstance(first, int) or first > _MOST_SLICES:
        return None
    return tuple(run.ask("Tensor.__getitem__", (value, i)) for i in range(first))


def item(run: Interpreter, value: Value) -> Value:
    """One value for each item."""
    value = _collection(run.resolve(value))
    iterators.force(run, value)
    if isinstance(value, List) and value.items is None:
        return sizes.one_of_many(run, value.item)
    if isinstance(value, Iterator) and value.cells["items"] is None:
        if value.count is not None:
            run.heap.write(value.cells, NEXT, 1)
        return sizes.one_of_many(run, value.cells["item"])
    if isinstance(value, Choice):
        return run.each(value, lambda v: item(run, v))
    if isinstance(value, Tensor):
        return run.ask("Tensor.__getitem__", (value, run.unknown("an index", "int", "data")))
    if isinstance(value, range):
        return run.unknown("a number of a range", "int", "data")
    if isinstance(value, str) or (isinstance(value, Unknown) and value.type == "str"):
        return letter(run, value)
    if isinstance(value, Instance | Class):
        inner = iterator(run, value)
        if inner is not None:
            found = items(run, inner)
            return item(run, inner) if found is None else branches.common_item(found)
    if isinstance(value, Dict):
        return run.unknown("a key of a dict")
    return run.part(value, f"an item of {value!r}" if isinstance(value, Unknown) else "an item")


def letter(run: Interpreter, text: str | Unknown) -> Unknown:
    """A letter of a string, which is a string, too."""
    made = run.unknown("a letter of a string", "str", text.cause if isinstance(text, Unknown) else "code")
    made.length = 1
    return made


def another(value: Value) -> Value:
    """Another value of the same kind: items of one stream, such as batches, are different objects."""
    if isinstance(value, Tensor):
        return carried.another(value)
    if type(value) is tuple:
        return tuple(map(another, value))
    if isinstance(value, List):
        same = List(None if value.items is None else tuple(map(another, value.items)), value.item)
        return as_tuple(same) if is_tuple(value) else same
    if isinstance(value, Dict) and value.default is None:
        made = Dict({k: another(v) for k, v in value.cells.items()}, value.rest)
        made.kind = value.kind
        return made
    return value


def stream(run: Interpreter, value: Value) -> Value:
    """What an object gives that is gone over, such as a loader; any other value itself."""
    value = run.resolve(value)
    while isinstance(value, Instance) and _collection(value) is value:
        inner = iterator(run, value)
        if inner is None or inner is value:
            break
        value = run.resolve(inner)
    return value


def check(run: Interpreter, value: Value) -> Value:
    """A value that is gone over.

    Raises:
        Raised: that can't be done.
    """
    value = run.resolve(value)
    if (refused := events.UNITERABLE(run, value)) is not None:
        return refused
    if isinstance(value, Function) or (isinstance(value, Tensor) and value.type.shape.rank == 0):
        raise kinds.error("TypeError")
    if isinstance(value, Class) and "members" not in value.metadata and kinds.is_plain(run, value):
        raise kinds.error("TypeError")
    if not isinstance(value, Iterator | Tensor | Choice):
        kinds.need(run, value, "__iter__", "__getitem__")
    return value


def gathered(run: Interpreter, value: Value) -> Value:
    """A value that a list or tuple is made of. An object of the program's says first how many items there will be.

    Raises:
        Raised: it has no items, or says something impossible.
    """
    value = check(run, value)
    if not isinstance(value, Instance) or not any(_is_own(value, n) for n in ("__len__", "__length_hint__")):
        return value
    source = iterator(run, value) if _is_own(value, "__iter__") else value
    for name in ("__len__", "__length_hint__"):
        if not _is_own(value, name):
            continue
        number = run.resolve(_unless_refused(run, lambda name=name: run.call(run.special(value, name), ())))  # type: ignore[misc]
        if isinstance(number, int) and number < 0:
            raise kinds.error("ValueError")
        if number is not None and number is not NotImplemented:
            break
    return value if source is None else source


def _is_own(value: Instance, name: str) -> bool:
    """Whether a method is a function of the program's."""
    found = value.cls.find(name)
    return found is not None and isinstance(found[0], Function)


def _unless_refused(run: Interpreter, ask: Callable[[], Value]) -> Value:
    """The result of a call, None where it raises a TypeError."""

    def catches(error: Raised) -> bool | None:
        return "TypeError" in (error.name, *error.bases) or (None if error.name == "" else False)

    ways = guards.guarded(run, guards.Guard(catches, run.heap.depth), lambda: Return(ask()))

    def following(way: Outcome) -> Done:
        return Return(None) if isinstance(way.done, Raise) and catches(way.done.error) is not False else way.done

    return branches.finish(run, branches.go_on(run, ways, following, ("raise",)))


def asked(run: Interpreter, value: Value) -> Value:
    """The iterator of an object of the program's, where it can be asked item by item; any other value itself."""
    value = run.resolve(value)
    if isinstance(value, Instance) and (own := value.cls.find("__iter__")) is not None and isinstance(own[0], Function):
        found = iterator(run, value)
        return found if iterators.can_pull(found) else value
    return value


def iterator(run: Interpreter, value: Instance | Class) -> Value:
    """What ``iter(value)`` gives, None where that isn't known."""
    if isinstance(value, Class):
        if (own := metaclasses.special(value, "__iter__")) is not None:
            return run.resolve(run.call(own, ()))
        members = value.metadata.get("members")
        return None if members is None else tuple(members)
    if (own := run.special(value, "__iter__")) is not None:
        found = run.resolve(run.call(own, ()))
        if isinstance(found, Instance) and found.cls.find("__next__") is not None:
            return iterators.by_next(run, found)
        again = found.cls.find("__iter__") if isinstance(found, Instance) else None
        if isinstance(found, Instance) and (again is None or not isinstance(again[0], Function)):
            return found  # a library's, such as a loader
        is_own = isinstance(own, Method) and isinstance(own.function, Function)
        if isinstance(found, Instance) or (is_own and not isinstance(found, Iterator)):
            kinds.need(run, found, "__next__")
        return None if isinstance(found, Instance) else found
    if value.cls.fields is not None and value.cls.metadata.get("tuple"):
        names = [name for name, _ in value.cls.fields]
        return tuple(value.cells[n] if n in value.cells else run.unknown(f"the field {n!r}") for n in names)
    if (own := value.cls.find("__getitem__")) is not None:
        if isinstance(own[0], Function) and not value.cls.is_a("torch.utils.data.Dataset"):
            return iterators.by_index(run, value, lambda: _by_index(run, value))
        return _by_index(run, value)
    return None


def asynchronous(run: Interpreter, value: Value) -> Value:
    """What ``async for`` goes over."""
    value = run.resolve(value)
    if not isinstance(value, Instance) or value.cls.find("__aiter__") is None:
        return value
    found = run.resolve(run.call(run.attribute(value, "__aiter__"), ()))
    if isinstance(found, Instance) and found.cls.find("__anext__") is not None:
        return iterators.by_next(run, found, "__anext__", "StopAsyncIteration")
    return found


def _by_index(run: Interpreter, value: Instance) -> Value:
    """The old protocol: ``__getitem__`` with 0, 1, 2 …"""
    length: Value = None
    if value.cls.find("__len__") is not None:
        length = run.resolve(run.call(run.attribute(value, "__len__"), ()))
    get = run.attribute(value, "__getitem__")
    if isinstance(length, int) and length <= _MOST_SLICES:
        return tuple(run.call(get, (i,)) for i in range(length))
    return Iterator(None, run.call(get, (run.unknown("an index", "int", "data"),)))


def common_length(run: Interpreter, values: tuple[Value, ...]) -> tuple[tuple[Value, ...], ...] | None:
    """Items side by side, as ``zip`` has them; None where a number of items isn't known."""
    rows = [items(run, v) for v in values]
    known: list[tuple[Any, ...]] = [r for r in rows if r is not None]
    if len(known) < len(rows):
        return None
    return tuple(zip(*known, strict=False))
