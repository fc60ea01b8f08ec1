"""Mistakes with classes and modules that Python or torch refuses: `tensor-class`.

A module whose class forgets ``super().__init__()``, one without ``forward``, a class where a module is needed. Each is
told only of objects of which everything is known.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards
from simpletorch.follow.model import members, spelling
from simpletorch.follow.sources.syntax import walk
from simpletorch.follow.values import (
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

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "check_arguments",
    "check_call_of_class",
    "check_held",
    "check_operands",
    "check_options",
    "check_parameters",
    "check_statement",
    "lacks_forward",
    "misfit",
    "of_class",
    "starts_late",
]

_TAKES_TENSORS: Final = frozenset({"weight", "pos_weight", "_weight", "data", "device", "dtype"})
_CALLED_ALONE: Final = frozenset({"backward", "step", "zero_grad", "train", "eval"})


def _is_module(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_a(members.MODULE)


def starts_late(run: Interpreter, module: Instance, name: str, new: Value) -> None:
    """``module.name = new`` before ``Module.__init__`` has run: torch has nowhere to put modules and parameters."""
    is_parameter = isinstance(new, Tensor) and new.type.is_parameter
    if module.state.get("open") or not (is_parameter or _is_module(new)):
        return
    kind = "parameter" if is_parameter else "module"
    cls = module.cls.name
    members.begun(run, module)  # said once
    message = f"{cls}.{name} is a {kind}, but super().__init__() has not been called: torch can't register it"
    guards.refuse(run, message, f"super().__init__() as the first line of {cls}.__init__", "AttributeError")


def misfit(run: Interpreter, module: Instance) -> Unknown | None:
    """A call of a module whose constructor hasn't called that of ``nn.Module``; None where nothing is said."""
    cls = module.cls
    if module.state.get("open"):
        return None
    members.begun(run, module)  # said once
    hint = f"super().__init__() as the first line of {cls.name}.__init__"
    message = f"{cls.name} is called, but its constructor has not called super().__init__()"
    return guards.refuse(run, message, hint, "AttributeError")


def lacks_forward(run: Interpreter, module: Instance) -> Unknown | None:
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
        return f"{close} is spelt forward"
    for c in cls.mro:
        for name, value in c.cells.items():
            inner = value.node if isinstance(value, Function) else None
            if inner and any(isinstance(n, ast.FunctionDef) and n.name == "forward" for n in walk(inner)):
                return f"forward is defined inside {name}: it belongs one level further out"
    if cls.is_a("torch.nn.ModuleList"):
        return "call what it holds one after the other: for layer in layers: x = layer(x), or take an nn.Sequential"
    if cls.is_a("torch.nn.ModuleDict"):
        return "call one of its modules: modules[name](x)"
    return f"def forward(self, x) in {cls.name}"


def check_held(run: Interpreter, container: Instance, value: Value) -> Value:
    """What a container of modules is given, or what isn't known where it is no module."""
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
    return value


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


def check_arguments(run: Interpreter, name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a layer is made with a tensor in the place of an option: ``nn.ReLU(x)``, ``nn.MSELoss(x, y)``."""
    for key, value in arguments.items():
        if type(value) is not Tensor or value.array or key in _TAKES_TENSORS or not _has_several(value):
            continue
        short = name.rpartition(".")[2]
        message = f"{short}(...) makes a module, but {value.type} is given to it as its {key}"
        guards.refuse(run, message, f"make it first: {short}()(...)")
        return True
    return False


def _has_several(value: Tensor) -> bool:
    """Whether a tensor surely has more than one element, so that it stands for no number."""
    shape = value.type.shape
    return bool(shape.min_rank) and any(isinstance(d, int) and d > 1 for d in shape.items)


def check_call_of_class(run: Interpreter, cls: Class, init: Function, args: tuple[Value, ...]) -> bool:
    """Whether a constructor is given more than it takes, and tensors among it, which were meant for ``forward``."""
    if members.TOLD in cls.metadata:
        return True
    spec = init.node.args
    if spec.vararg is not None or len(args) < len([*spec.posonlyargs, *spec.args]) or not members.is_plain(cls):
        return False
    given = next((a for a in map(run.resolve, args) if isinstance(a, Tensor)), None)
    if given is None:
        return False
    cls.metadata[members.TOLD] = True
    message = f"{cls.name} is a class, but it is called with {given.type} as a module would be"
    guards.refuse(run, message, f"make a module first: model = {cls.name}(...)")
    return True


def of_class(run: Interpreter, cls: Class, method: Native) -> Native:
    """A method of modules that a class is asked for: it needs a module in front."""
    if method.name.rpartition(".")[2] not in _OF_A_MODULE:
        return method

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


def check_options(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> bool:
    """Whether a class of modules without a constructor is given arguments, which ``Module.__init__`` refuses."""
    if not (args or kwargs) or not members.is_plain(cls) or cls.find("__new__") is not None:
        return False
    misspelt = spelling.misspelt_constructor(cls)
    hint = f"{misspelt} is spelt __init__" if misspelt else f"def __init__(self, ...) in {cls.name}"
    given = next((a for a in map(run.resolve, args) if isinstance(a, Tensor)), None)
    if given is not None and misspelt is None:
        hint = f"make it first: {cls.name}()(...)"
    guards.refuse(run, f"{cls.name} is given arguments, but it has no __init__ that takes them", hint)
    return True


def check_operands(run: Interpreter, name: str, args: tuple[Value, ...]) -> Unknown | None:
    """A module or a class of modules in the place of an operation's tensor: what is said, None where it is none."""
    value = args[0]
    if name == "is_tensor":
        return None
    if isinstance(value, Class) and value.is_a(members.MODULE):
        kind, hint = f"the class {value.name}", f"{value.name}(...)(x)"
    elif isinstance(value, Instance) and members.takes_no_operator(value):
        kind, hint = f"the module {value.cls.name}", f"call it: {value.cls.name}(...)(x)"
    else:
        return None
    return guards.refuse(run, f"{name} takes a tensor, but it is given {kind}", hint)


def check_parameters(run: Interpreter, optimizer: str, params: Value) -> bool:
    """Whether an optimizer is given a model, or the method that gives its parameters."""
    if isinstance(params, Method | BoundNative) and _name_of(params).endswith("parameters"):
        message = f"{optimizer} takes parameters, but it is given the method that gives them"
        guards.refuse(run, message, "call it: model.parameters()")
        return True
    if isinstance(params, Iterator) and params.items == ():
        hint = "layers in a plain list or dict aren't the model's: put them into an nn.ModuleList or nn.ModuleDict"
        guards.refuse(run, f"{optimizer} is given a model without parameters", hint, "ValueError")
        return True
    if isinstance(params, Instance) and members.takes_no_operator(params) and params.cls.find("__iter__") is None:
        hint = "model.parameters()"
        layer = params.cls.native is not None and params.cls.qualified.startswith("torch.nn.")
        if params.cls.find("__getitem__") is not None or not (layer or members.is_own(run, params.cls)):
            return False
        guards.refuse(run, f"{optimizer} takes parameters, but it is given the module {params.cls.name}", hint)
        return True
    return False


def check_statement(run: Interpreter, value: Value, node: ast.Attribute) -> None:
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
