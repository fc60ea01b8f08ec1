"""``copy``: deep copies keep what is shared inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from simpletorch.follow import branches
from simpletorch.follow.libraries import model
from simpletorch.follow.values import (
    Choice,
    Dict,
    Fields,
    Instance,
    Iterator,
    List,
    Method,
    Object,
    Set,
    Tensor,
    Value,
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
        return value if _is_member(value) else twin_of(value)

    return run.each(x, one)


def _is_member(value: Value) -> bool:
    """Whether it is a member of an enumeration, whose copy is itself."""
    return isinstance(value, Instance) and value.cls.metadata.get("members") is not None


def twin_of(value: Value) -> Value:
    """Another object with the same contents."""
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
    if isinstance(value, Method):
        return Method(value.function, deep(run, value.receiver, done, twin))
    own = value.cls.find("__deepcopy__") if isinstance(value, Instance) and twin is None else None
    if own is not None:
        made = run.call(Method(own[0], value), (Dict(),))
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
    if isinstance(made, Instance) and made is not value and "hooks" in made.state:
        made.state["hooks"] = deep(run, made.state["hooks"], done, twin)  # methods of what is copied are the copy's
    return made


def _tuple(run: Interpreter, value: Any, done: dict[int, Value], twin: Callable[[Value], Value] | None) -> Value:
    parts = [deep(run, v, done, twin) for v in value]
    if all(a is b for a, b in zip(parts, value, strict=True)):
        return value
    if isinstance(value, Fields):
        return Fields(value.names, tuple(parts))
    return tuple(parts) if type(value) is tuple else value
