"""Mistakes with classes and modules that Python or torch refuses: `tensor-class`.

A module whose class forgets ``super().__init__()``, one without ``forward``, a class where a module is needed. Each is
told only of objects of which everything is known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import guards
from simpletorch.follow.mistakes import events
from simpletorch.follow.mistakes.no_tensors import described
from simpletorch.follow.model import members, spelling
from simpletorch.follow.sources.syntax import walk
from simpletorch.follow.values import (
    ASKED_FOR,
    BoundNative,
    Class,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    Native,
    Tensor,
    Unknown,
    Value,
)
from simpletorch.rules import Device
from simpletorch.rules.core import due

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.rules import ModuleRule

__all__ = ["LISTENS"]

_TAKES_TENSORS: Final = frozenset({"weight", "pos_weight", "_weight", "data", "device", "dtype"})
_CALLED_ALONE: Final = frozenset({"backward", "step", "zero_grad", "train", "eval"})


def _is_module(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_a(members.MODULE)


def _assigned(run: Interpreter, module: Instance, name: str, new: Value) -> None:
    """``module.name = new`` before ``Module.__init__`` has run: torch has nowhere to put modules and parameters."""
    if not members.is_bare(module):
        return
    new = run.resolve(new)
    is_parameter = isinstance(new, Tensor) and new.type.is_parameter
    if module.state.get("open") or not (is_parameter or _is_module(new)):
        return
    kind = "parameter" if is_parameter else "module"
    cls = module.cls.name
    members.begun(run, module)  # said once
    message = f"{cls}.{name} is a {kind}, but super().__init__() has not been called: torch can't register it"
    guards.refuse(run, message, f"call super().__init__() in the first line of {cls}.__init__", "AttributeError")


def _called(run: Interpreter, module: Instance) -> Unknown | None:
    """A call of a module whose constructor hasn't called that of ``nn.Module``; None where nothing is said."""
    cls = module.cls
    if not members.is_bare(module) or module.state.get("open"):
        return None
    members.begun(run, module)  # said once
    hint = f"call super().__init__() in the first line of {cls.name}.__init__"
    message = f"{cls.name} is called, but its constructor has not called super().__init__()"
    return guards.refuse(run, message, hint, "AttributeError")


def _lacks_forward(run: Interpreter, module: Instance) -> Unknown | None:
    """A call of a module that has no ``forward``: what is said, None where it isn't sure that it has none."""
    cls = module.cls
    if module.state.get("open") or not members.is_plain(cls) or not members.is_own(run, cls):
        return None
    return guards.refuse(
        run, f"{cls.name} has no forward, so it can't be called", _why_no_forward(cls), "NotImplementedError"
    )


def _why_no_forward(cls: Class) -> str | None:
    own = [name for c in cls.mro for name, v in c.cells.items() if isinstance(v, Function)]
    close = spelling.closest("forward", own)
    if close is not None:
        return f"rename {close} to forward"
    for c in cls.mro:
        for name, value in c.cells.items():
            inner = value.node if isinstance(value, Function) else None
            if inner and any(isinstance(n, ast.FunctionDef) and n.name == "forward" for n in walk(inner)):
                return f"forward is defined inside {name}: it belongs one level further out"
    if cls.is_a("torch.nn.ModuleList"):
        return "call its layers one after the other: for layer in layers: x = layer(x), or take an nn.Sequential"
    if cls.is_a("torch.nn.ModuleDict"):
        return "call one of its modules: modules[name](x)"
    return f"def forward(self, x) in {cls.name}"


def _held(run: Interpreter, container: Instance, value: Value) -> Value:
    """A container of modules is given something else."""
    name = container.cls.name
    found = run.resolve(value)
    if isinstance(found, Class) and found.is_a(members.MODULE):
        return guards.refuse(run, f"{name} holds modules, but it is given the class {found.name}", f"{found.name}(...)")
    if isinstance(found, Function | Native | Method):
        shown = _name_of(found)
        lower = shown.rpartition(".")[2]
        hint = f"the module that does the same, such as {_MODULE_OF[lower]}()" if lower in _MODULE_OF else None
        hint = hint or "a module that calls it in its forward"
        return guards.refuse(run, f"{name} holds modules, but it is given the function {lower}", hint)
    if isinstance(found, List) and container.cls.is_a("torch.nn.Sequential"):
        return guards.refuse(run, f"{name} takes its modules one by one, but it is given a list", f"{name}(*layers)")
    if type(found) in _NO_MODULES:
        hint = "nn.ParameterList holds parameters" if isinstance(found, Tensor) else None
        return guards.refuse(run, f"{name} holds modules, but it is given {described(found)}", hint)
    return None


_NO_MODULES: Final = frozenset({bool, int, float, str, tuple, Tensor})


_MODULE_OF: Final = {
    **{
        name.lower(): f"nn.{name}" for name in ("ReLU", "Sigmoid", "Tanh", "GELU", "SiLU", "ELU", "Flatten", "Softplus")
    },
    "leaky_relu": "nn.LeakyReLU",
    "softmax": "nn.Softmax",
    "log_softmax": "nn.LogSoftmax",
    "dropout": "nn.Dropout",
}


def _name_of(value: Value) -> str:
    if isinstance(value, Method):
        return _name_of(value.function)
    return str(getattr(value, "name", value))


def _given_options(run: Interpreter, name: str, arguments: Mapping[str, Value]) -> Unknown | None:
    """A layer is made with a tensor in the place of an option: ``nn.ReLU(x)``, ``nn.MSELoss(x, y)``."""
    for key, value in arguments.items():
        if type(value) is not Tensor or value.array or key in _TAKES_TENSORS or not _has_several(value):
            continue
        short = name.rpartition(".")[2]
        message = f"{short}(...) makes a module, but {value.type} is given to it as its {key}"
        return guards.refuse(run, message, f"make it first: {short}()(...)")
    return None


def _has_several(value: Tensor) -> bool:
    """Whether a tensor surely has more than one element, so that it stands for no number."""
    shape = value.type.shape
    return bool(shape.min_rank) and any(isinstance(d, int) and d > 1 for d in shape.items)


def _constructed(
    run: Interpreter, made: Instance, init: tuple[Any, Class], args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Unknown | None:
    """A module is made, by the constructor that was found in a class."""
    if isinstance(init[0], Function):
        return _call_of_class(run, made.cls, init[0], args)
    return _without_constructor(run, made.cls, args, kwargs) if init[1].qualified == members.MODULE else None


def _call_of_class(run: Interpreter, cls: Class, init: Function, args: tuple[Value, ...]) -> Unknown | None:
    """A constructor is given more than it takes, and tensors among it, which were meant for ``forward``."""
    if members.TOLD in cls.metadata:
        return run.unknown("an error was found here")
    spec = init.node.args
    if spec.vararg is not None or len(args) < len([*spec.posonlyargs, *spec.args]) or not members.is_plain(cls):
        return None
    given = next((a for a in map(run.resolve, args) if isinstance(a, Tensor)), None)
    if given is None:
        return None
    cls.metadata[members.TOLD] = True
    message = f"{cls.name} is a class, but it is called with {given.type} as a module would be"
    return guards.refuse(run, message, f"make a module first: model = {cls.name}(...)")


def _of_class(run: Interpreter, cls: Class, method: Native) -> Native | None:
    """A method of modules that a class is asked for: it needs a module in front."""
    if method.name.rpartition(".")[2] not in _OF_A_MODULE:
        return None

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        first = run.resolve(args[0]) if args else None
        if (not args or isinstance(first, Device | str)) and members.TOLD in cls.metadata:
            return run.unknown("an error was found here")
        if not args or isinstance(first, Device | str):
            cls.metadata[members.TOLD] = True
            hint = f"make a module first: model = {cls.name}(...)"
            return guards.refuse(run, f"{cls.name} is a class, but {_short(method)} is called on it", hint)
        return method.work(run, args, kwargs)

    return Native(method.name, work)


def _short(value: Native) -> str:
    return value.name.rpartition(".")[2]


_OF_A_MODULE: Final = frozenset(
    {"parameters", "named_parameters", "to", "cuda", "train", "eval", "zero_grad", "state_dict"}
)


def _without_constructor(
    run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Unknown | None:
    """A class of modules without a constructor is given arguments, which ``Module.__init__`` refuses."""
    if not (args or kwargs) or not members.is_plain(cls) or cls.find("__new__") is not None:
        return None
    misspelt = spelling.misspelt_constructor(cls)
    hint = f"rename {misspelt} to __init__" if misspelt else f"def __init__(self, ...) in {cls.name}"
    given = next((a for a in map(run.resolve, args) if isinstance(a, Tensor)), None)
    if given is not None and misspelt is None:
        hint = f"make it first: {cls.name}()(...)"
    return guards.refuse(run, f"{cls.name} is given arguments, but it has no __init__ that takes them", hint)


def _operands(name: str) -> Callable[[Interpreter, tuple[Value, ...], Mapping[str, Value]], Unknown | None] | None:
    """The listener to an operation."""
    short = name.rpartition(".")[2]
    return None if short == "is_tensor" else lambda run, args, kwargs: _instead(run, short, args)


def _layer_operands(
    run: Interpreter, layer: Instance, rule: ModuleRule | None, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Unknown | None:
    return _instead(run, layer.cls.name, args)


def _instead(run: Interpreter, name: str, args: tuple[Value, ...]) -> Unknown | None:
    """A module or a class of modules in the place of an operation's tensor: what is said, None where it is none."""
    value = args[0] if args else None
    if isinstance(value, Class) and value.is_a(members.MODULE):
        kind, hint = f"the class {value.name}", f"{value.name}(...)(x)"
    elif isinstance(value, Instance) and members.takes_no_operator(value):
        kind, hint = f"the module {value.cls.name}", f"call it: {value.cls.name}(...)(x)"
    else:
        return None
    return guards.refuse(run, f"{name} {due.refusal(kind)}", hint)


def _parameters(run: Interpreter, optimizer: Instance, params: Value) -> Unknown | None:
    """An optimizer is given a model, or the method that gives its parameters."""
    name = optimizer.cls.name
    if isinstance(params, Method | BoundNative) and _name_of(params).endswith("parameters"):
        message = f"{name} takes parameters, but it is given the method that gives them"
        return guards.refuse(run, message, "call it: model.parameters()")
    if isinstance(params, Iterator) and params.items == ():
        hint = "layers in a plain list or dict aren't the model's: put them into an nn.ModuleList or nn.ModuleDict"
        return guards.refuse(run, f"{name} is given a model without parameters", hint, "ValueError")
    if isinstance(params, List) and params.items == () and ASKED_FOR not in params.cells and not run.entry:
        return guards.refuse(run, f"{name} is given no parameters", "model.parameters()", "ValueError")
    rows = params.items or () if isinstance(params, List) else ()
    held = next((v for v in map(run.resolve, rows) if isinstance(v, Instance) and v.cls.is_a(members.MODULE)), None)
    if held is not None:
        message = f"{name} takes parameters, but it is given a list with the module {held.cls.name}"
        return guards.refuse(run, message, "nn.ModuleList(...).parameters() gives those of all")
    if isinstance(params, Instance) and members.takes_no_operator(params) and params.cls.find("__iter__") is None:
        hint = "model.parameters()"
        layer = params.cls.native is not None and params.cls.qualified.startswith("torch.nn.")
        if params.cls.find("__getitem__") is not None or not (layer or members.is_own(run, params.cls)):
            return None
        return guards.refuse(run, f"{name} takes parameters, but it is given the module {params.cls.name}", hint)
    return None


def _statement(run: Interpreter, node: ast.Attribute, value: Value) -> None:
    """``optimizer.step`` as a statement: a method that isn't called."""
    if node.attr not in _CALLED_ALONE or not isinstance(value, Method | BoundNative):
        return
    receiver = run.resolve(value.receiver)
    if isinstance(receiver, Tensor) or (
        isinstance(receiver, Instance)
        and any(
            receiver.cls.is_a(c)
            for c in (members.MODULE, "torch.optim.Optimizer", "torch.optim.lr_scheduler.LRScheduler")
        )
    ):
        shown = ast.unparse(node)
        run.find("tensor-training", f"{shown} is named here, but not called: nothing happens", f"{shown}()")


LISTENS: Final = (
    events.ASSIGN.to(_assigned),
    events.MODULE.to(_called),
    events.NO_FORWARD.to(_lacks_forward),
    events.HELD.to(_held),
    events.OPTIONS.to(_given_options),
    events.CONSTRUCT.to(_constructed),
    events.CLASS_METHOD.to(_of_class),
    events.OPERANDS.to(_operands),
    events.LAYER_OPERANDS.to(_layer_operands),
    events.PARAMETERS.to(_parameters),
    events.STATEMENT.to(_statement),
)
