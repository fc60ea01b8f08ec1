"""``heapq`` and ``bisect``."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from simpletorch.follow.libraries import NATIVES, Work, model, native
from simpletorch.follow.libraries.python.builtins import in_order, pure
from simpletorch.follow.values import List, Native, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


@native("heapq.heapify")
def _heapify(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    owner = run.resolve(args[0])
    if isinstance(owner, List) and owner.items is not None:
        # a sorted list is a heap: what pops is the same
        run.heap.write(owner.cells, "items", in_order(run, owner.items, {}))
    return None


@native("heapq.heappush")
def _push(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    owner = run.resolve(args[0])
    if isinstance(owner, List):
        run.call(run.attribute(owner, "append"), (args[1],))
        _heapify(run, (owner,), {})
    return None


@model("heapq.heappop")
def _pop(run: Interpreter, heap: Value, /) -> Value:
    if isinstance(heap, List):
        return run.call(run.attribute(heap, "pop"), (0,))
    return run.unknown("the least item")


def _extreme(*, largest: bool) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        count, found = run.resolve(args[0]), run.items(args[1])
        key = {"key": args[2] if len(args) > 2 else kwargs.get("key")}
        if found is None or not isinstance(count, int):
            return List(None, run.unknown("an item of a list"))
        return List(in_order(run, found, {**key, "reverse": largest})[:count])

    return work


native("heapq.nlargest")(_extreme(largest=True))
native("heapq.nsmallest")(_extreme(largest=False))


def _found(name: str, function: Callable[..., Any]) -> Native:
    inner = pure(name, function, "int")

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        rows = run.items(args[0])
        return run.unknown("a place in a list", "int") if rows is None else inner.work(run, (rows, *args[1:]), kwargs)

    return Native(name, work)


for _name in ("bisect", "bisect_left", "bisect_right"):
    NATIVES[f"bisect.{_name}"] = _found(f"bisect.{_name}", getattr(bisect, _name))


@native("bisect.insort", "bisect.insort_left", "bisect.insort_right")
def _insort(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _push(run, args, kwargs)
