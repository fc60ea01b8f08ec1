"""``collections.Counter``: items are counted; what isn't known may be any number."""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING, Any

from simpletorch.follow import guards, items, iteration
from simpletorch.follow.budget import LARGEST
from simpletorch.follow.libraries import METHODS, Work, library_class, method
from simpletorch.follow.model import counters, kinds
from simpletorch.follow.values import MISSING, Class, Dict, Iterator, List, Native, StaticMethod, Value, is_known

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["update"]


def _in_place(name: str) -> Work:
    """``counter += other``: what isn't positive is dropped."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        owner, more = args
        one, other = counters.plain(owner), counters.plain(more)
        if one is None or other is None or len(one) + len(other) > LARGEST:
            _forget(run, owner)
        else:
            _become(run, owner, counters.computed(getattr(operator, name), one, other))
        return owner

    return work


def _become(run: Interpreter, owner: Dict, found: dict[Any, Any]) -> None:
    for key in [k for k in owner.cells if k not in found]:
        run.heap.write(owner.cells, key, MISSING)
    for key, value in found.items():
        run.heap.write(owner.cells, key, value)


def _forget(run: Interpreter, owner: Dict) -> None:
    """Any item may have been counted, or taken away."""
    guards.may_raise(run, guards.ANY)
    for key in list(owner.cells):
        run.heap.write(owner.cells, key, run.unknown("how often an item was counted", "int", "data"))
    run.heap.write(owner.state, "open", run.unknown("how often an item was counted", "int", "data"))


def _count(run: Interpreter, owner: Dict, source: Value, *, down: bool) -> None:
    """``owner.update(source)``, or ``subtract``: of a mapping its numbers count, of other values each item once."""
    source = run.resolve(source)
    if source is None:
        return
    if kinds.has_attribute(source, "keys") is not False:
        source = items.as_dict(run, source)
    if isinstance(source, Dict):
        rows: Any = source.cells.items() if items.whole(run, source) is source and source.rest is MISSING else None
        if rows is not None and not down and not owner.cells and owner.rest is MISSING:
            _become(run, owner, dict(rows))
            return
    elif isinstance(source, str | bytes):  # of a long text, too
        rows = Counter(source).items()
    else:
        found = iteration.members(run, iteration.check(run, source))
        for value in found or ():
            items.check_key(run, value)
        rows = None if found is None or not all(map(items.can_be_key, found)) else [(v, 1) for v in found]
    if rows is None or owner.rest is not MISSING:
        _forget(run, owner)
        return
    for key, number in rows:
        before = owner.cells.get(key, 0)
        operands = (before, number) if down else (number, before)
        run.heap.write(owner.cells, key, run.operate("__sub__" if down else "__add__", *operands))


def _make(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Dict()
    made.kind = counters.KIND
    update(run, (made, *args), kwargs)
    return made


def _counted(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value], *, down: bool) -> Value:
    owner, *more = args
    if len(more) > 1:
        raise kinds.error("TypeError")
    for source in (*more, *([Dict(kwargs)] if kwargs else ())):
        _count(run, owner, source, down=down)
    return None


def update(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``counter.update(...)``."""
    return _counted(run, args, kwargs, down=False)


@method(Dict, "subtract")
def _subtract(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _counted(run, args, kwargs, down=True)


@method(Dict, "elements")
def _elements(run: Interpreter, self: Value, /) -> Value:
    held = counters.plain(self)
    if held is None or not all(isinstance(n, int) for n in held.values()) or sum(map(abs, held.values())) > LARGEST:
        guards.may_raise(run, guards.ANY)
        return Iterator(None, run.unknown("an item that was counted"))
    return Iterator(tuple(held.elements()))


@method(Dict, "total")
def _total(run: Interpreter, self: Value, /) -> Value:
    out: Value = 0
    for number in self.cells.values() if self.rest is MISSING else ():
        out = run.operate("__add__", out, run.resolve(number))
    return out if self.rest is MISSING else run.unknown("how many items were counted", "int", "data")


@method(Dict, "most_common")
def _most_common(run: Interpreter, self: Value, n: Value = None) -> Value:
    held = counters.plain(self)
    if held is None or not is_known(n):
        guards.may_raise(run, guards.ANY)
        return List(None, (run.unknown("an item that was counted"), run.unknown("how often", "int", "data")))
    return List(tuple(counters.computed(held.most_common, n)))


def _from_keys(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    raise kinds.error("NotImplementedError")


for _operator in ("add", "sub", "or", "and"):
    METHODS[Dict][f"__i{_operator}__"] = _in_place(f"__i{_operator}__")
library_class(
    "collections.Counter",
    ("builtins.dict",),
    make=_make,
    methods={"fromkeys": StaticMethod(Native("fromkeys", _from_keys))},
)
