"""``copy``: deep copies keep what is shared inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simpletorch.follow.libraries import native
from simpletorch.follow.values import Choice, Dict, Instance, Iterator, List, Method, Set, Tensor, Value, behind

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


@native("copy.copy")
def _copy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def one(value: Value) -> Value:
        own = value.cls.find("__copy__") if isinstance(value, Instance) else None
        if own is not None:
            return run.call(Method(own[0], value), ())
        return _twin(value)

    return run.each(args[0], one)


def _twin(value: Value) -> Value:
    """Another object with the same contents."""
    made: Any
    if isinstance(value, Tensor):
        made = Tensor(value.type, array=value.array)
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
        made = Instance(value.cls, value.native if behind(value) is value else _twin(value.native))
        made.state.update(value.state)
    else:
        return value
    made.cells.update(value.cells)
    return made


@native("copy.deepcopy")
def _deepcopy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return deep(run, args[0], {})


def deep(run: Interpreter, value: Value, done: dict[int, Value]) -> Value:
    """The value with copies of all objects in it; ``done`` are those that are copied already."""
    value = run.resolve(value)
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, Choice):
        return Choice(value.condition, deep(run, value.when_true, done), deep(run, value.when_false, done))
    if isinstance(value, tuple):
        return _tuple(run, value, done)
    if isinstance(value, Method):
        return Method(value.function, deep(run, value.receiver, done))
    own = value.cls.find("__deepcopy__") if isinstance(value, Instance) else None
    if own is not None:
        made = run.call(Method(own[0], value), (Dict(),))
    elif isinstance(value, Instance) and value.cls.metadata.get("members") is not None:
        return value  # of an enumeration there is one
    else:
        made = _twin(value)
    done[id(value)] = made
    if isinstance(made, Instance) and made is not value and own is None and behind(value) is not value:
        made.native = deep(run, value.native, done)
    if made is not value and own is None and not isinstance(value, Set | Tensor):
        for key, inner in list(made.cells.items()):
            made.cells[key] = deep(run, inner, done)
    if isinstance(made, Instance) and made is not value and "hooks" in made.state:
        made.state["hooks"] = deep(run, made.state["hooks"], done)  # methods of what is copied are the copy's
    return made


def _tuple(run: Interpreter, value: Any, done: dict[int, Value]) -> Value:
    parts = [deep(run, v, done) for v in value]
    if all(a is b for a, b in zip(parts, value, strict=True)):
        return value
    return tuple(parts) if type(value) is tuple else value
