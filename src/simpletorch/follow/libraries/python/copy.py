"""``copy``: deep copies keep what is shared inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards
from simpletorch.follow.libraries import model
from simpletorch.follow.model import kinds
from simpletorch.follow.values import (
    MISSING,
    Choice,
    Dict,
    Fields,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    Object,
    Set,
    Tensor,
    Unknown,
    Value,
    View,
    behind,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


@model("copy.copy")
def _copy(run: Interpreter, x: Value) -> Value:
    def one(value: Value) -> Value:
        own = value.cls.find("__copy__") if isinstance(value, Instance) else None
        if own is not None:
            return run.call(Method(own[0], value), ())
        if isinstance(value, Instance) and (ways := _of_pickle(value)):
            return _by_pickle(run, value, ways, lambda state: state)
        return value if _is_member(value) else twin_of(value)

    return run.each(x, one)


_PICKLED: Final = (
    *("__getstate__", "__setstate__"),
    *("__reduce_ex__", "__reduce__", "__getnewargs_ex__", "__getnewargs__"),
)
"""The methods of pickle's that make a copy."""


def _of_pickle(value: Instance) -> dict[str, Any]:
    """Those of these methods that its class defines."""
    found = {name: own[0] for name in _PICKLED if (own := value.cls.find(name)) is not None}
    return {name: method for name, method in found.items() if isinstance(method, Function)}


def _by_pickle(run: Interpreter, value: Instance, ways: dict[str, Any], copied: Callable[[Value], Value]) -> Value:
    """A copy that the object's class makes in its own way: of its state, or in a way that isn't followed."""
    if not ways.keys() <= {"__getstate__", "__setstate__"} or behind(value) is not value or value.native is not None:
        run.escape((value, *ways.values()))
        guards.may_raise(run, guards.ANY)
        return run.unknown("a copy that a class makes in its own way")
    get, put = ways.get("__getstate__"), ways.get("__setstate__")
    state = run.call(Method(get, value), ()) if get is not None else Dict(value.cells)
    state, made = copied(run.resolve(state)), Instance(value.cls)
    if put is not None:
        run.call(Method(put, made), (state,))
    elif isinstance(state, Dict) and state.rest is MISSING:
        made.cells.update(state.cells)
    elif state is not None:
        return run.unknown("a copy that a class makes in its own way")
    return made


def _is_member(value: Value) -> bool:
    """Whether it is a member of an enumeration, whose copy is itself."""
    return isinstance(value, Instance) and value.cls.metadata.get("members") is not None


def twin_of(value: Value) -> Value:
    """Another object with the same contents.

    Raises:
        Raised: it can't be copied.
    """
    if isinstance(value, View) or (isinstance(value, Iterator) and kinds.is_generator(value)):
        raise kinds.error("TypeError")
    made: Any
    if isinstance(value, Tensor):
        made = value.like(value.type)
        made.base = value.base
    elif isinstance(value, List):
        made = List()
    elif isinstance(value, Dict):
        made = Dict()
        made.state.update(value.state)
        made.default, made.kind = value.default, value.kind
    elif isinstance(value, Set):
        made = Set()
        made.state.update(value.state)
    elif isinstance(value, Iterator):
        made = Iterator(None, None, value.count)
    elif isinstance(value, Instance):
        made = Instance(value.cls, value.native if behind(value) is value else twin_of(value.native))
        made.state.update(value.state)
    else:
        return value
    made.cells.update(value.cells)
    return made


@model("copy.deepcopy")
def _deepcopy(run: Interpreter, x: Value, memo: Value = None) -> Value:
    if memo is not None:
        run.escape((memo,))
    return deep(run, x, {})


def deep(run: Interpreter, value: Value, done: dict[int, Value], twin: Callable[[Value], Value] | None = None) -> Value:
    """The value with copies of all objects in it.

    Args:
        run: the interpreter.
        value: what to copy.
        done: the objects that are copied already, by identity.
        twin: gives another object with the same contents, in the place of what ``copy`` does; nothing of the program's
            (``__deepcopy__``) is called then.
    """
    decided = branches.decision(run, value.condition) if isinstance(value, Choice) else None
    if isinstance(value, Choice) and decided is not None:
        return deep(run, value.when_true if decided else value.when_false, done, twin)
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, Choice):  # what may not be there may not be there in the copy
        return Choice(value.condition, deep(run, value.when_true, done, twin), deep(run, value.when_false, done, twin))
    if isinstance(value, tuple):
        return _tuple(run, value, done, twin)
    if isinstance(value, slice):
        return slice(*(deep(run, part, done, twin) for part in (value.start, value.stop, value.step)))
    if isinstance(value, Method):
        return Method(value.function, deep(run, value.receiver, done, twin))
    own = value.cls.find("__deepcopy__") if isinstance(value, Instance) and twin is None else None
    if own is not None:
        made = run.call(Method(own[0], value), (Dict(),))
    elif isinstance(value, Instance) and twin is None and (ways := _of_pickle(value)):
        return _by_pickle(run, value, ways, lambda state: deep(run, state, done, twin))
    elif _is_member(value):
        return value
    else:
        made = (twin or twin_of)(value)
    done[id(value)] = made
    if isinstance(made, Instance) and made is not value and own is None and behind(value) is not value:
        made.native = deep(run, value.native, done, twin)
    if made is not value and own is None and not isinstance(value, Set | Tensor) and isinstance(made, Object):
        for key, inner in list(made.cells.items()):
            made.cells[key] = deep(run, inner, done, twin)
    if isinstance(made, Instance) and made is not value:
        for kind in {"hooks", "pre_hooks"} & made.state.keys():
            made.state[kind] = deep(run, made.state[kind], done, twin)  # methods of what is copied are the copy's
    return made


def _tuple(run: Interpreter, value: Any, done: dict[int, Value], twin: Callable[[Value], Value] | None) -> Value:
    done[id(value)] = Unknown("a tuple that holds itself")
    parts = [deep(run, v, done, twin) for v in value]
    del done[id(value)]
    if all(a is b for a, b in zip(parts, value, strict=True)):
        return value
    if isinstance(value, Fields):
        return Fields(value.names, tuple(parts))
    return tuple(parts) if type(value) is tuple else value
