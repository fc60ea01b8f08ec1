"""A call whose star hides how many arguments there are, or a double star under which names: ``model(*batch)``.

A function of the program's is followed all the same. Each parameter that the star may fill isn't known then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import classes, layers
from simpletorch.follow.model import metaclasses
from simpletorch.follow.values import Class, Function, Instance, List, Method, StaticMethod, Value, as_tuple

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["DOUBLE", "STAR", "call"]

STAR: Final = "*"
"""The name of an argument that stands for an unknown number of further ones."""
DOUBLE: Final = "**"
"""The same of arguments that have names."""


def call(
    run: Interpreter, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value], *, star: bool, double: bool
) -> Value:
    """``function(*args, *hidden, **kwargs, **hidden)``, with the stars that there are."""
    function = run.resolve(function)
    code, bound = _code(function)
    if code is None:
        return run.call_in_the_dark(function, args, kwargs)
    spec = code.node.args

    def given(name: str) -> Value:
        return run.unknown(f"{name}, which a star may give")

    if star:
        args = (*args, *(given(a.arg) for a in spec.posonlyargs[len(args) + bound :]))
    names = [a.arg for a in spec.args][max(0, len(args) + bound - len(spec.posonlyargs)) :]
    if double:
        names += [a.arg for a in spec.kwonlyargs]
    more: dict[str, Value] = {name: given(name) for name in names if name not in kwargs}
    if star and spec.vararg is not None:
        more[STAR] = as_tuple(List(None, given(f"an item of {spec.vararg.arg}")))
    if double and spec.kwarg is not None:
        more[DOUBLE] = given(f"an item of {spec.kwarg.arg}")
    return run.call(function, args, {**kwargs, **more})


def _code(function: Value) -> tuple[Function | None, int]:
    """The function of the program's that runs in a call, and how many arguments it gets before those of the call."""
    match function:
        case Function():
            return function, 0
        case Method(function=Function() as inner):
            return inner, 1
        case Class() if _is_plain(function):
            inner = function.find("__init__")
        case Instance() if layers.is_module(function):
            is_other = "around" in function.state or "forward" in function.cells
            inner = None if is_other else function.cls.find("forward")
        case Instance():
            inner = function.cls.find("__call__")
        case _:
            inner = None
    return (inner[0], 1) if inner is not None and isinstance(inner[0], Function) else (None, 0)


def _is_plain(cls: Class) -> bool:
    """Whether nothing but its constructor gets the arguments of a call."""
    new = cls.find("__new__")
    is_made = new is not None and isinstance(new[0], Function | StaticMethod)
    otherwise = metaclasses.special(cls, "__call__") or metaclasses.behaves_otherwise(cls)
    return not is_made and otherwise is None and classes.maker(cls) is None
