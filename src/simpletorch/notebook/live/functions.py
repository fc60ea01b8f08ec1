"""Live functions: the user's with their syntax and what they close over, libraries' by their names."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.libraries import NATIVES
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.values import MISSING, Function, Unknown, Value
from simpletorch.notebook.live.reading import home_of, is_a, items, name_of, own_of, plain_dict, qualified, text
from simpletorch.notebook.live.sources import definition, is_own
from simpletorch.rules import RULES

if TYPE_CHECKING:
    from simpletorch.notebook.live.values import Live

__all__ = ["function_of", "library_function"]

_TRANSPARENT: Final = ("simpletorch", "jaxtyping", "beartype", "typeguard")
"""Whose decorators check a function's arguments and call it."""


def function_of(live: Live, given: FunctionType) -> Value:
    """A function that was made by ``def`` or ``lambda``."""
    file = text(given.__code__.co_filename)
    if not is_own(file):
        return _decorated(live, given)
    node = definition(given.__code__)
    if node is None or type(given.__globals__) is not dict:
        return Unknown(f"the function {text(given.__name__)}, whose source isn't known")
    live.files[file] = None
    outer = live.scope(given.__globals__, live.name(file))
    made = Function(node, outer, text(given.__name__))
    live.keep(given, made)
    if given.__closure__ is not None:
        inner = Scope(outer, outer.path, _closed_over(live, given))
        inner.globals = outer
        made.scope = inner
    made.defaults = tuple(map(live.value, items(given.__defaults__)))
    made.keyword_defaults = {k: live.value(v) for k, v in plain_dict(given.__kwdefaults__).items()}
    made.attributes = {k: live.value(v) for k, v in plain_dict(given.__dict__).items() if k != "__wrapped__"}
    return made


def _cells(given: FunctionType) -> dict[str, Any]:
    return dict(zip(given.__code__.co_freevars, items(given.__closure__), strict=False))


def _closed_over(live: Live, given: FunctionType) -> dict[str, Value]:
    """The variables of enclosing functions that a function uses."""
    out: dict[str, Value] = {}
    for name, cell in _cells(given).items():
        try:
            out[name] = live.value(cell.cell_contents)
        except ValueError:  # nothing was put into it
            continue
    return out


# -- decorators of libraries -------------------------------------------------------------------------------------------


def _decorated(live: Live, given: FunctionType) -> Value:
    """A function of a library: by its name; or what a library's decorator has made of one of the user's."""
    inner = plain_dict(given.__dict__).get("__wrapped__")
    if type(inner) is not FunctionType:
        return library_function(live, given)
    if not is_own(text(_innermost(inner).__code__.co_filename)):
        return library_function(live, given)
    home = text(plain_dict(given.__globals__).get("__name__"))
    found = live.value(inner)
    if not isinstance(found, Function):
        return Unknown(f"what a decorator made of {text(given.__name__)}")
    if home == "torch.utils._contextlib":
        return _in_grad_mode(given, found)
    if home == "contextlib" and given.__code__.co_name == "helper":
        return replace(found, context_manager=True)
    if home.partition(".")[0] in _TRANSPARENT:
        return found
    return Unknown(f"what a decorator made of {text(given.__name__)}")


def _innermost(function: FunctionType) -> FunctionType:
    seen = {id(function)}
    while type(inner := plain_dict(function.__dict__).get("__wrapped__")) is FunctionType and id(inner) not in seen:
        function = inner
        seen.add(id(function))
    return function


def _in_grad_mode(given: FunctionType, inner: Function) -> Value:
    """``@torch.no_grad()`` and its like: the manager is in what torch's wrapper closes over."""
    cell = _cells(given).get("ctx_factory")
    try:
        factory = None if cell is None else cell.cell_contents
    except ValueError:  # nothing was put into it
        factory = None
    manager: Any = factory.__self__ if type(factory) is MethodType else factory
    cls: type = manager if is_a(type(manager), type) else type(manager)
    name = name_of(cls) if home_of(cls) == "torch.autograd.grad_mode" else ""
    mode = (own_of(manager) or {}).get("mode") is not False
    if name == "enable_grad":
        return replace(inner, grad=True)
    if name == "no_grad" or (name in ("inference_mode", "set_grad_enabled") and mode):
        return replace(inner, grad=name == "set_grad_enabled")
    return Unknown(f"what {name or 'a context manager'} made of a function")


# -- functions of libraries --------------------------------------------------------------------------------------------


def library_function(live: Live, given: Any) -> Value:
    """A library's function: what the follower has under one of its names, else unknown."""
    names = [_names_of_torch().get(id(given)), _own_name(given)]
    for name in names:
        found = MISSING if name is None else live.run.program.library(live.run, name)
        if found is not MISSING:
            return found
    return Unknown(f"{names[-1]} isn't known to the follower")


def _own_name(given: Any) -> str:
    """The name that a function has by itself."""
    if type(given) is FunctionType:
        return f"{text(given.__module__)}.{text(given.__qualname__)}"
    owner = given.__self__  # of a method, Python would ask the owner's class for its name
    if owner is None or type(owner) is ModuleType:
        return f"{text(given.__module__)}.{text(given.__name__)}"
    cls = owner if is_a(type(owner), type) else type(owner)
    return f"{text(given.__module__)}.{qualified(cls)}.{given.__name__}"


@cache
def _names_of_torch() -> Mapping[int, str]:
    """The public names of torch's functions, which don't know them themselves, by identity."""
    found: dict[int, str] = {}
    for name in (*RULES, *NATIVES):
        first, *rest = name.split(".")
        value: Any = sys.modules.get(first) if first == "torch" else None
        for part in rest:
            value = getattr(value, "__dict__", {}).get(part)
        if value is not None:
            found.setdefault(id(value), name)
    return found
