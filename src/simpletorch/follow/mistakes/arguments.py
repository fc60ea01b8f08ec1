"""Arguments that a function of the program doesn't take, or lacks: Python's ``TypeError``, said before it is raised.

Only of calls that stand in the program as they are made. What a library calls back, and what ``*args`` hide, gets other
arguments than those that one sees, of which nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards, layers
from simpletorch.follow.libraries import Model
from simpletorch.follow.libraries.pytorch.signatures import PARAMETERS
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import members
from simpletorch.follow.values import Class, Function, Instance, Native, Tensor, Unknown, Value
from simpletorch.rules import MODULES, ModuleRule
from simpletorch.rules.core.binding import Binder
from simpletorch.rules.core.registry import forward_rule

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS", "of_layer"]


def _of_function(
    run: Interpreter, function: Function, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Unknown | None:
    """A call that doesn't fit; nothing is said where the arguments aren't seen."""
    wrong = _misfit(run, function, args, kwargs)
    if wrong is None:
        return None
    if args and isinstance(args[0], Instance):
        _never_ran(run, function, args[0])
    if args and _may_be_another(function, args[0]):
        return run.unknown(f"{function.name} of a class with a base that isn't known")
    if function.node in run.replaceable and not _is_named(run.node, function):
        return run.unknown(f"what a caller gives for {function.name}, which doesn't fit here")
    return guards.refuse(run, *wrong)


def _never_ran(run: Interpreter, function: Function, owner: Instance) -> None:
    """Its object, and the modules there, may lack what the method would have set: that is no second mistake."""
    if function.name == "__init__":
        members.begun(run, owner)
    for one in [m for _, m in layers.named_modules(run, owner)] if layers.is_module(owner) else [owner]:
        run.heap.write(one.state, "open", True)


def _misfit(
    run: Interpreter, function: Function, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> tuple[str, str | None] | None:
    """Why a call that doesn't fit fails, and what would be right."""
    own = _receivers(run.node, args, kwargs, function.owner is not None)
    if own is None:
        return None
    binder, shown = _binder(function), _shown(function)
    names = binder.positional
    if own and not names:
        return f"{shown} takes no argument, not even the object that it is called on", _signature(function, "self")
    if len(args) > len(names) and binder.star is None and own and names[0] not in ("self", "cls"):
        counted = (binder.misfit(len(names) + 1, ()) or "").partition(", but it is given")[0]
        hint = _signature(function, "self", *names)
        return f"{shown} {counted}, but it is given {len(args) - own} and the object", hint
    wrong = binder.misfit(len(args), kwargs, own)
    return None if wrong is None else (f"{shown} {wrong}", None)


def _may_be_another(function: Function, receiver: Value) -> bool:
    """Whether a base that isn't known may have the method too, and come first: ``class Net(Unknown, Base)``."""
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    if not isinstance(cls, Class) or function.owner is None or function.owner not in cls.mro:
        return False
    return cls.unknown_base is not None and function.owner.unknown_base is None


def _is_named(node: ast.AST, function: Function) -> bool:
    """Whether a call names the function, or its class, itself: a parameter may stand for another one."""
    own = function.name if function.owner is None else function.owner.name
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name == own
    return False


def _of_model(run: Interpreter, model: Model, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Unknown | None:
    """The same of a library's function, whose model has the library's whole signature."""
    binder = model.binder
    own = _receivers(run.node, args, kwargs, model.is_method)
    wrong = None if own is None else binder.misfit(len(args), kwargs, own)
    if own is None or wrong is None:
        return None
    return guards.refuse(run, f"{model.shown} {wrong}", _meant(binder, kwargs))


def _meant(binder: Binder, names: Collection[str]) -> str | None:
    """The parameter that an argument's name is near to."""
    odd = next((k for k in names if k not in binder.by_name), None)
    close = get_close_matches(odd, sorted(binder.by_name), 1) if odd is not None else ()
    return f"did you mean {close[0]}?" if close else None


def _of_constructor(run: Interpreter, name: str, arguments: Mapping[str, Value]) -> Unknown | None:
    """The same of a constructor of torch's layers: ``nn.Conv2d(3, 8)``, ``nn.Conv2d(3, 8, kernal_size=3)``."""
    node, binder = run.node, _constructor(name)
    if binder is None or not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    match node.func:
        case ast.Attribute(attr="__init__", value=ast.Name() | ast.Attribute()):
            return None  # ``nn.Linear.__init__(self, 3, 4)``, whose first argument is the object
    named = [k.arg for k in node.keywords if k.arg is not None]
    if len(named) < len(node.keywords) or {*binder.order[: len(node.args)], *named} != arguments.keys():
        return None  # some come from elsewhere
    wrong = binder.misfit(len(node.args), named)
    return None if wrong is None else guards.refuse(run, f"{MODULES[name].__name__} {wrong}", _meant(binder, named))


@cache
def _constructor(name: str) -> Binder | None:
    """The parameters of a layer's constructor; None where it takes any."""
    short = name.rpartition(".")[2]
    order = PARAMETERS.get(short, ())
    if not order or short in _TAKE_MORE or not name.startswith("torch.nn."):
        return None
    needed = [f.name for f in fields(MODULES[name]) if f.default is MISSING and f.default_factory is MISSING]
    return Binder(order, order, frozenset(order), tuple(needed), None, None)


_TAKE_MORE: Final = frozenset({"GRU", "LSTM", "RNN"})
"""Layers with ``**kwargs``."""


def of_layer(run: Interpreter, binder: Binder, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> str | None:
    """The same of a layer of torch's, which is the first of its ``forward``'s parameters."""
    own = _receivers(run.node, args, kwargs, is_method=False)
    return None if own is None else binder.misfit(len(args) + 1, kwargs, 1)


def _of_batch(run: Interpreter, module: Instance, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> str | None:
    """The same of a batch's inputs, which stand in no call of the program."""
    found = module.cls.find("forward")
    if found is None or "forward" in module.cells or any(map(module.state.get, _MAY_CHANGE_ARGUMENTS)):
        return None
    forward = found[0]
    if isinstance(forward, Function):
        own = None if _may_be_another(forward, module) else (_binder(forward), _shown(forward))
    elif isinstance(module.native, ModuleRule):
        own = forward_rule(type(module.native)).binder, str(module.native)  # type: ignore[arg-type]
    else:
        work = forward.work if isinstance(forward, Native) else None
        own = (work.binder, work.shown) if isinstance(work, Model) else None
    wrong = None if own is None else own[0].misfit(len(args) + 1, kwargs, 1)
    return None if own is None or wrong is None else f"{own[1]} {wrong}"


_MAY_CHANGE_ARGUMENTS: Final = ("hooked", "pre_hooks", "around", "open")
"""What the state of a module has whose call isn't the one of its ``forward``."""


def _binder(function: Function) -> Binder:
    spec = function.node.args
    names = tuple(a.arg for a in (*spec.posonlyargs, *spec.args))
    keywords = tuple(a.arg for a in spec.kwonlyargs)
    needed = (
        *names[: len(names) - len(function.defaults)],
        *(k for k in keywords if k not in function.keyword_defaults),
    )
    by_name = frozenset((*names[len(spec.posonlyargs) :], *keywords))
    star, double = (None if a is None else a.arg for a in (spec.vararg, spec.kwarg))
    return Binder((*names, *keywords), names, by_name, needed, star, double)


def _receivers(node: ast.AST, args: tuple[Value, ...], kwargs: Mapping[str, Value], is_method: bool) -> int | None:
    """How many arguments stand before those of the call (1: the object of a method); None if it isn't this call."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    if {k.arg for k in node.keywords} != set(kwargs):
        return None
    own = len(args) - len(node.args)
    bound = own == 1 and is_method and isinstance(args[0], Instance | Tensor)
    return own if own == 0 or bound else None


def _shown(function: Function) -> str:
    if function.owner is None:
        return function.name if not isinstance(function.node, ast.Lambda) else "the lambda"
    return function.owner.name if function.name == "__init__" else f"{function.owner.name}.{function.name}"


def _signature(function: Function, *names: str) -> str:
    return f"def {function.name}({', '.join(names)})"


LISTENS: Final = (
    events.MISFIT.to(_of_function),
    events.MODEL_MISFIT.to(_of_model),
    events.BATCH.to(_of_batch),
    events.OPTIONS.to(_of_constructor),
)
