"""Methods of strings, numbers, lists, dicts, sets and tuples."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards, items, iteration, operators, texts
from simpletorch.follow.budget import LARGEST, formats_too_much, is_too_much
from simpletorch.follow.libraries import METHODS, Work, method
from simpletorch.follow.libraries.python.builtins import computed, in_order
from simpletorch.follow.libraries.python.counters import update as count
from simpletorch.follow.memory import remembered, stand_ins
from simpletorch.follow.model import counters, generators, iterators, kinds
from simpletorch.follow.model.handlers import exception_of
from simpletorch.follow.numbers import offsets, processes
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    MISSING,
    SIZE,
    Dict,
    Fields,
    Iterator,
    List,
    Set,
    Sizes,
    Value,
    View,
    behind,
    is_known,
)
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_LOOKUP: Final = ("LookupError", "Exception", "BaseException")


# -- what Python computes --------------------------------------------------------------------------------------------


def _spread(run: Interpreter, value: Value) -> Value:
    """The items of a list or iterator, as Python's own methods take them."""
    found = run.items(value) if isinstance(value, List | Iterator) else None
    return value if found is None else found


def _plain(kind: type, name: str) -> Work:
    function = getattr(kind, name)
    spreads = kind is frozenset or name in ("join", "from_bytes")

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        args = tuple(_spread(run, a) if spreads else a for a in map(run.resolve, args))
        long = kind in (str, bytes) and (is_too_much(args) or (name == "format" and formats_too_much(str(args[0]))))
        given = (*args, *kwargs.values())
        long = long or (name == "to_bytes" and any(type(a) is int and a > LARGEST for a in given[1:]))
        if not long and all(map(is_known, given)) and not (name == "format" and any(map(texts.is_of_torch, given))):
            found = computed(run, function, args, kwargs)
            return List(tuple(found)) if isinstance(found, list) else found
        if kind is str:
            return texts.answer(run, name, args)
        return run.unknown(f"what .{name}() gives")

    return work


for _kind in (str, bytes, int, float, bool, complex, range, frozenset):
    METHODS[_kind] = {n: _plain(_kind, n) for n in dir(_kind) if not n.startswith("_") and callable(getattr(_kind, n))}


@method(Expr, "bit_length", "__index__")
def _of_size(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("a number made of a size", "int")


# -- what brackets call ----------------------------------------------------------------------------------------------

for _kind in (List, Dict):
    METHODS.setdefault(_kind, {}).update(
        {
            "__getitem__": lambda run, args, kwargs: items.get(run, args[0], args[1]),
            "__setitem__": lambda run, args, kwargs: items.put(run, args[0], args[1], args[2]),
            "__contains__": lambda run, args, kwargs: operators.contains(run, args[0], args[1]),
            "__len__": lambda run, args, kwargs: run.call(run.program.builtin(run, "len"), args),
        }
    )


# -- lists -----------------------------------------------------------------------------------------------------------


def _added(
    run: Interpreter, owner: List, more: tuple[Value, ...], build: Callable[[tuple[Value, ...]], tuple[Value, ...]]
) -> None:
    if owner.items is None:
        known = more if isinstance(owner.item, type(None)) else (owner.item, *more)
        size = owner.cells.get(SIZE)
        run.heap.write(owner.cells, "item", branches.common_item(known, "which item of a list it is"))
        offsets.resized(run, owner, size, len(more))
    else:
        run.heap.write(owner.cells, "items", build(owner.items))


@method(List, "append")
def _append(run: Interpreter, self: Value, object: Value, /) -> Value:
    item = run.unknown("a list that holds itself") if object is self else object
    _added(run, self, (item,), lambda old: (*old, item))
    return None


@method(List, "extend")
def _extend(run: Interpreter, self: Value, iterable: Value, /) -> Value:
    items.extend(run, self, iterable)
    return None


@method(List, "insert", "appendleft", "extendleft")
def _insert(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    owner, at = args[0], run.resolve(args[1]) if len(args) > 2 else 0
    if len(args) > 2:
        kinds.need(run, at, "__index__")
    if not isinstance(at, int) or abs(at) > sys.maxsize:
        guards.may_raise(run, guards.ANY)
        forget(run, owner, args[-1])
    else:
        _added(run, owner, (args[-1],), lambda old: (*old[:at], args[-1], *old[at:]))
    return None


def forget(run: Interpreter, owner: List, *more: Value) -> None:
    """From here on the list has some of its items, and of these, in some order."""
    kept = owner.items if owner.items is not None else (owner.item,)
    run.heap.write(owner.cells, "item", branches.common_item((*kept, *more), "which item of a list it is"))
    run.heap.write(owner.cells, "items", None)


@method(List, "pop")
def _pop(run: Interpreter, self: Value, index: Value = -1, /) -> Value:
    return _popped(run, self, index)


@method(List, "popleft")
def _pop_first(run: Interpreter, self: Value, /) -> Value:
    return _popped(run, self, 0)


def _popped(run: Interpreter, owner: List, at: Value) -> Value:
    if owner.items is None:
        offsets.resized(run, owner, owner.cells.get(SIZE), -1)
        return owner.item
    kinds.need(run, at, "__index__")
    if not isinstance(at, int) or abs(at) > sys.maxsize:
        guards.may_raise(run, guards.ANY)
        found = branches.common_item(owner.items)
        forget(run, owner)
        return found
    kept = list(owner.items)
    try:
        found = kept.pop(at)
    except IndexError:
        raise Raised("IndexError", None, _LOOKUP) from None
    run.heap.write(owner.cells, "items", tuple(kept))
    return run.resolve(found)


@method(List, "remove")
def _remove(run: Interpreter, self: Value, value: Value, /) -> Value:
    if self.items is None:
        offsets.resized(run, self, self.cells.get(SIZE), -1)
    else:
        at = next((i for i, v in enumerate(self.items) if v is value or (is_known(v) and v == value)), None)
        if at is None and is_known(value) and all(map(is_known, self.items)):
            raise Raised("ValueError", None, _LOOKUP[1:])
        if at is None:
            guards.may_raise(run, guards.ANY)
            forget(run, self)
        else:
            run.heap.write(self.cells, "items", (*self.items[:at], *self.items[at + 1 :]))
    return None


@method(List, "clear")
def _clear(run: Interpreter, self: Value, /) -> Value:
    run.heap.write(self.cells, "items", ())
    run.heap.write(self.cells, "item", None)
    return None


@method(List, "sort")
def _sort(run: Interpreter, self: Value, /, *, key: Value = None, reverse: Value = False) -> Value:
    if (found := iteration.members(run, self)) is not None:
        run.heap.write(self.cells, "items", in_order(run, found, {"key": key, "reverse": reverse}))
    return None


@method(List, "reverse")
def _reverse(run: Interpreter, self: Value, /) -> Value:
    if self.items is not None:
        run.heap.write(self.cells, "items", tuple(reversed(self.items)))
    return None


@method(List, "copy")
def _copy(run: Interpreter, self: Value, /) -> Value:
    return List(self.items, self.item)


def _search(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value], name: str) -> Value:
    owner, wanted = args[0], run.resolve(args[1])
    found = owner.items if isinstance(owner, List) else owner
    if found is not None and is_known(wanted) and all(map(is_known, found)):
        return computed(run, getattr(tuple, name), (tuple(found), wanted, *args[2:]), {})
    same = [i for i, v in enumerate(found or ()) if v is wanted]
    if same and name == "index":
        return same[0]
    return run.unknown(f"what .{name}() gives", "int")


for _owner in (List, tuple, Sizes, Fields):
    for _search_name in ("index", "count"):
        METHODS.setdefault(_owner, {})[_search_name] = lambda run, args, kwargs, n=_search_name: _search(
            run, args, kwargs, n
        )


@method(Sizes, "numel")
def _numel(run: Interpreter, self: Value) -> Value:
    out: Value = 1
    for d in self:
        out = run.operate("__mul__", out, d)
    return out


@method(Fields, "_asdict")
def _as_dict(run: Interpreter, self: Value, /) -> Value:
    return Dict(dict(zip(self.names, self, strict=True)))


# -- dicts -----------------------------------------------------------------------------------------------------------


@method(Dict, "get")
def _get(run: Interpreter, self: Value, key: Value, default: Value = None) -> Value:  # os.environ's has names
    items.check_key(run, key)
    if items.can_be_key(key):
        if self.kind == processes.ENVIRONMENT and default is not None and key not in self.cells:
            return processes.variable(run, key, default)
        return run.resolve(items.under(self, key, default))
    return stand_ins.one_of(run, (*items.values(self), default), "which item of a dict it is")


def _view(name: str) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        whole = items.whole(run, args[0])
        return alive(run, args[0]) if whole is args[0] else run.each(whole, lambda owner: rows_of(run, owner))

    def alive(run: Interpreter, owner: Dict) -> View:
        def read() -> List:
            if run.heap.recorders:
                remembered.note(run.heap, owner)
            return rows_of(run, owner)

        return View(name, owner, read)

    def rows_of(run: Interpreter, owner: Dict) -> List:
        rows = {
            "keys": tuple(owner.cells),
            "values": tuple(map(run.resolve, owner.cells.values())),
            "items": tuple((k, run.resolve(v)) for k, v in owner.cells.items()),
        }[name]
        if owner.rest is MISSING:
            return List(rows)
        key, value = (
            run.unknown("a key of a dict"),
            branches.common_item(items.values(owner), "which item of a dict it is"),
        )
        return List(None, {"keys": key, "values": value, "items": (key, value)}[name])

    return work


for _view_name in ("keys", "values", "items"):
    METHODS[Dict][_view_name] = _view(_view_name)


@method(View, "isdisjoint")
def _is_disjoint(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return operators.negate(run, run.operate("__and__", args[0], args[1]))


@method(View, "__len__")
def _length_of_view(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.builtin(run, "len"), args)


@method(Dict, "update")
def _update(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if args[0].kind == counters.KIND:
        return count(run, args, kwargs)
    items.update(run, args[0], run.resolve(args[1]) if len(args) > 1 else ())
    for name, value in kwargs.items():
        run.heap.write(args[0].cells, name, value)
    return None


@method(Dict, "setdefault")
def _setdefault(run: Interpreter, self: Value, key: Value, default: Value = None, /) -> Value:
    items.check_key(run, key)
    if not items.can_be_key(key):
        if self.rest is MISSING:
            items.put(run, self, key, default)
        return items.get(run, self, key)
    if branches.may_be_missing(run, self.cells.get(key, MISSING)):
        run.heap.write(self.cells, key, items.under(self, key, default))
    return run.resolve(self.cells[key])


@method(Dict, "pop")
def _pop_key(run: Interpreter, self: Value, key: Value, default: Value = MISSING) -> Value:  # OrderedDict's has names
    items.check_key(run, key)
    if items.can_be_key(key) and key in self.cells:
        found = items.under(self, key, default)
        run.heap.write(self.cells, key, MISSING)
        return run.resolve(found)
    if items.can_be_key(key) and self.rest is MISSING:
        if default is not MISSING:
            return default
        raise Raised("KeyError", None, _LOOKUP)
    return run.unknown("an item of a dict")


@method(Dict, "popitem")
def _popitem(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    owner = args[0]
    if owner.rest is MISSING and not owner.cells:
        raise Raised("KeyError", None, _LOOKUP)
    if owner.rest is not MISSING or items.whole(run, owner) is not owner:
        for key in list(owner.cells):
            run.heap.write(owner.cells, key, run.unknown("whether an item was popped"))
        run.heap.write(owner.state, "open", run.unknown("an item of a dict"))
        return (run.unknown("a key of a dict"), run.unknown("an item of a dict"))
    key = next(iter(owner.cells)) if kwargs.get("last") is False else list(owner.cells)[-1]
    found = run.resolve(owner.cells[key])
    run.heap.write(owner.cells, key, MISSING)
    return (key, found)


@method(Dict, "copy")
def _copy_dict(run: Interpreter, self: Value, /) -> Value:
    made = Dict(self.cells, self.rest)
    made.default, made.kind = self.default, self.kind
    return made


@method(Dict, "clear")
def _clear_dict(run: Interpreter, self: Value, /) -> Value:
    for key in list(self.cells):
        run.heap.write(self.cells, key, MISSING)
    run.heap.write(self.state, "open", MISSING)
    return None


@method(Dict, "move_to_end")
def _move_to_end(run: Interpreter, self: Value, key: Value, last: Value = True) -> Value:
    if not items.can_be_key(key) or key not in self.cells or not isinstance(last, bool):
        return None
    for moved in [key] if last else [k for k in self.cells if k != key]:
        value = self.cells[moved]
        run.heap.write(self.cells, moved, MISSING)
        run.heap.write(self.cells, moved, value)
    return None


# -- sets and iterators ----------------------------------------------------------------------------------------------


def _add(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[1])
    items.check_key(run, value)
    if is_known(value):
        run.heap.write(args[0].cells, value, True)
    else:
        run.heap.write(args[0].state, "open", True)
    return None


def _discard(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[1])
    if not isinstance(behind(value), Set):  # which is looked up as a frozen one
        items.check_key(run, value)
    if is_known(value):
        run.heap.write(args[0].cells, value, MISSING)
    else:
        run.heap.write(args[0].state, "open", True)
    return None


def _remove_from_set(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[1])
    if is_known(value) and not args[0].open and value not in args[0].cells:
        raise Raised("KeyError", None, _LOOKUP)
    if not is_known(value) or args[0].open:
        guards.may_raise(run, guards.LOOKUP)
    return _discard(run, args, kwargs)


def _clear_set(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    for value in list(args[0].cells):
        run.heap.write(args[0].cells, value, MISSING)
    run.heap.write(args[0].state, "open", False)
    return None


def _combined(name: str) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        rows = [iteration.members(run, iteration.check(run, a)) for a in args]
        hashes = rows[1:] if name not in ("issuperset", "isdisjoint") else rows[:0]
        for value in {id(v): v for r in hashes for v in r or ()}.values():
            items.check_key(run, value)
        if any(r is None or not all(map(is_known, r)) for r in rows):
            if name == "update":
                run.heap.write(args[0].state, "open", True)
                return None
            return run.unknown("what a set gives", "bool") if name.startswith("is") else Set((), open=True)
        sets = [set(r) for r in rows if r is not None]
        found = getattr(sets[0], name)(*sets[1:])
        if name == "update":
            for value in sets[0]:
                run.heap.write(args[0].cells, value, True)
            return None
        return found if isinstance(found, bool) else Set(tuple(found))

    return work


def _reduced(name: str) -> Work:
    combine = _combined(name.removesuffix("_update"))

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        owner, found = args[0], combine(run, args, kwargs)
        for value in [v for v in owner.cells if v not in found.cells]:
            run.heap.write(owner.cells, value, MISSING)
        for value in found.cells:
            run.heap.write(owner.cells, value, True)
        run.heap.write(owner.state, "open", found.open)
        return None

    return work


def _pop_from_set(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    owner = args[0]
    if not owner.open and len(owner.cells) < 2:
        for value in list(owner.cells):
            run.heap.write(owner.cells, value, MISSING)
            return value
        raise Raised("KeyError", None, _LOOKUP)
    guards.may_raise(run, guards.LOOKUP)
    for value in list(owner.cells):
        run.heap.write(owner.cells, value, MISSING)
    run.heap.write(owner.state, "open", True)
    return run.unknown("an item of a set")


METHODS[Set] = {
    "add": _add,
    "discard": _discard,
    "remove": _remove_from_set,
    "pop": _pop_from_set,
    "clear": _clear_set,
    **{n: _combined(n) for n in ("update", "union", "intersection", "difference", "issubset", "issuperset", "copy")},
    **{n: _combined(n) for n in ("symmetric_difference", "isdisjoint")},
    **{n: _reduced(n) for n in ("intersection_update", "difference_update", "symmetric_difference_update")},
}


@method(Iterator, "__next__")
def _next(run: Interpreter, self: Value, /) -> Value:
    found: Any = run.program.library(run, "builtins.next")
    return run.call(found, (self,))


@method(Iterator, "__anext__")
def _next_of_asynchronous(run: Interpreter, self: Value, /) -> Value:
    return _answered(run, self, generators.ask(run, self, None))


@method(Iterator, "send", "asend")
def _send(run: Interpreter, self: Value, value: Value, /) -> Value:
    return _answered(run, self, generators.ask(run, self, value))


def _answered(run: Interpreter, owner: Iterator, found: Value) -> Value:
    if found is iterators.END:
        raise iterators.stop(run, owner)
    return run.unknown("what a generator gives") if found is iterators.UNSURE else found


@method(Iterator, "throw", "athrow")
def _throw(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    owner = args[0]
    if owner.cells["items"] == () and owner.lazy is not None:  # it has ended
        raise exception_of(run, args[1])
    found = generators.ask(run, owner, None, exception_of(run, args[1]))
    if found is iterators.UNSURE:
        guards.may_raise(run, guards.ANY)
    return _answered(run, owner, found)


@method(Iterator, "close", "aclose")
def _close(run: Interpreter, self: Value, /) -> Value:
    generators.close(run, self)
    return None
