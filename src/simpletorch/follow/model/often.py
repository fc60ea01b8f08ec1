"""Functions that are called an unknown number of times: by a library, or for the items of something without a length.

Their counters, and the lists that they add to, aren't known then. Other things are as the call leaves them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from simpletorch.follow import branches, loops
from simpletorch.follow.heap import now
from simpletorch.follow.memory import closures
from simpletorch.follow.values import Function, Instance, Method, Property, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["computed", "may_call", "repeat"]

T = TypeVar("T")
_COUNTS: Final = ("int", "float", "str")


def repeat(run: Interpreter, work: Callable[[], T]) -> T:
    """Follow ``work`` once for any number of times."""
    start = now()
    run.heap.begin()
    try:
        return work()
    finally:
        changed = loops.older(run.heap.keep(), start)
        counted = {p: e for p, e in changed.items() if e[1] == "items" or branches.type_name(e[2]) in _COUNTS}
        if counted:
            loops.widen(run, counted, forced=True)


def may_call(run: Interpreter, function: Value) -> None:
    """A function of the program's that isn't followed may be called, once or more often."""
    function = run.resolve(function)
    if isinstance(function, Instance) and (own := function.cls.find("__call__")) is not None:
        function = Method(own[0], function)
    if isinstance(function, Method) and isinstance(function.function, Function):
        if isinstance(function.receiver, Instance):
            run.escape(tuple(closures.changed_by_method(run, function.receiver, function.function)))
    elif isinstance(function, Function):
        run.escape(tuple(closures.changed(run, function)))


def own_methods(run: Interpreter, value: Value, names: tuple[str, ...]) -> tuple[Function, ...]:
    """The methods by these names that an object's class has from the program: a library calls them."""
    value = run.resolve(value)
    found = [value.cls.find(n) for n in names] if isinstance(value, Instance) else []
    return tuple(f[0] for f in found if f is not None and isinstance(f[0], Function))


def computed(run: Interpreter, owner: Value) -> None:
    """Any attribute of an object may be asked for, and with it the code of its properties."""
    for cls in owner.cls.mro if isinstance(owner, Instance) else ():
        for held in cls.cells.values():
            if isinstance(held, Property) and isinstance(held.getter, Function):
                may_call(run, Method(held.getter, owner))
