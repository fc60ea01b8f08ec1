"""Functions that promise to be pure (`simpletorch.pure`), and where they are not: `tensor-pure`.

While such a function runs, what it writes to must be younger than its call. What may or may not be memory of an
argument (``x.contiguous()``, ``x.reshape(…)``) is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from simpletorch.follow.heap import born
from simpletorch.follow.mistakes import events
from simpletorch.follow.values import (
    Class,
    Dict,
    Instance,
    Iterator,
    List,
    Namespace,
    Set,
    Tensor,
    Unknown,
    Value,
    behind,
)
from simpletorch.rules import RULES
from simpletorch.rules.core.cards import DRAWS, DROPS, WRITES
from simpletorch.rules.core.registry import card_of

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.training import Promise
    from simpletorch.rules import ModuleRule

__all__ = ["LISTENS"]

_CODE: Final = "tensor-pure"
_CHANGE: Final = {
    List: frozenset({"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"}),
    Dict: frozenset({"update", "pop", "popitem", "setdefault", "clear"}),
    Set: frozenset({"add", "update", "discard", "remove", "pop", "clear"}),
}
_OF_UNKNOWN: Final = frozenset({"append", "extend", "insert", "setdefault", "popitem"})
_SEEDS: Final = frozenset({"torch.manual_seed", "torch.seed"})
_DRAWING: Final = ("random.", "numpy.random.")


def _tell(run: Interpreter, held: Promise, what: str, hint: str) -> None:
    run.broken.append(run.finding(_CODE, f"{held.name} is pure, but {what}", hint))  # on whichever way it is


# -- what is changed ---------------------------------------------------------------------------------------------------


def _changes(run: Interpreter, value: Value, hint: str = "change a copy of it, and return that") -> None:
    """Something writes to a value."""
    value = run.resolve(value)
    for held in run.promises:
        if _is_older(value, held):
            _tell(run, held, f"it changes {_kind(value)}, which was there before the call", hint)
            return


def _is_older(value: Value, held: Promise) -> bool:
    if isinstance(value, Unknown):
        return id(value) in held.arguments
    if isinstance(value, Tensor):
        at: Tensor | None = value
        while at is not None:
            if born(at.cells) < held.start:
                return True
            at = at.base if at.is_view else None
        return False
    value = behind(value)
    return (
        isinstance(value, List | Dict | Set | Instance | Class | Namespace | Iterator)
        and born(value.cells) < held.start
    )


def _kind(value: Value) -> str:
    if isinstance(value, Tensor):
        return str(value.type)
    if isinstance(value, Instance | Class):
        return f"an object of {value.cls.name}" if isinstance(value, Instance) else f"the class {value.name}"
    if isinstance(value, Unknown | Namespace):
        return "an argument" if isinstance(value, Unknown) else f"the module {value.name}"
    return {List: "a list", Dict: "a dict", Set: "a set"}.get(type(behind(value)), "an object")


def _differentiated(run: Interpreter, loss: Tensor) -> None:
    _trains(run, "backward")


def _stepped(run: Interpreter, optimizer: Value, calls: bool) -> None:
    _trains(run, "step")


def _trains(run: Interpreter, what: str) -> None:
    """Gradients are computed, or an optimizer uses them."""
    if run.promises:
        _tell(run, run.promises[-1], f"{what} changes parameters or their gradients", "torch.autograd.grad gives them")


def _declares(run: Interpreter, name: str, cells: dict[str, Value]) -> None:
    """A name of another scope is assigned: ``global`` or ``nonlocal``."""
    if born(cells) < run.promises[-1].start:
        _tell(run, run.promises[-1], f"it assigns {name}, which isn't its own", "return the value instead")


def _method(run: Interpreter, name: str, receiver: Value) -> None:
    """A method of a list, dict or set is called."""
    if name in _CHANGE.get(type(receiver), ()):
        _changes(run, receiver)


def _calls_unknown(run: Interpreter, function: Value) -> None:
    """A method is called of an argument of which nothing is known."""
    if not isinstance(function, Unknown) or function.fact is None or not function.fact[0].startswith("."):
        return
    name = function.fact[0][1:]
    if name in _OF_UNKNOWN or (name.endswith("_") and not name.startswith("_")):
        _changes(run, function.fact[1])


def _operands(name: str) -> Callable[[Interpreter, tuple[Value, ...], Mapping[str, Value]], None]:
    """The listener to an operation."""
    return lambda run, args, kwargs: _operation(run, name, args, kwargs) if run.promises else None


def _operation(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    short = name.rpartition(".")[2]
    out = kwargs.get("out")
    _draws(run, name, args, kwargs)
    if isinstance(out, Tensor):
        _changes(run, out)
    elif args and (card_of(name).memory is WRITES or kwargs.get("inplace") is True):
        plain = short.strip("_")
        new = "x = x.clone() before it" if short == "__setitem__" else f"make a new tensor, with {plain}"
        _changes(run, args[0], "x = x + y makes a new tensor" if short.startswith("__i") else new)


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _draws(
    run: Interpreter, name: str, args: tuple[Value, ...] = (), kwargs: Mapping[str, Value] | None = None
) -> None:
    """A function is called that may draw random numbers."""
    short = name.rpartition(".")[2]
    kwargs = kwargs or {}
    random = card_of(name).random
    if random is DROPS:
        training = run.resolve(_training(name, args, kwargs))
        drawn = training is True
    else:
        drawn = random is DRAWS or name in _SEEDS or name.startswith(_DRAWING)
    if drawn and not short[0].isupper() and short != "default_rng":
        _tell(run, run.promises[-1], f"{short} draws random numbers", "pass the random values as an argument")


def _training(name: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Value:
    """The argument by which an operation drops; its default where it isn't given."""
    by_name = RULES[name].signature.parameters
    named = next((n for n in ("training", "train") if n in by_name), None)
    if named is None:
        return None
    at = list(by_name).index(named)
    return args[at] if len(args) > at else kwargs.get(named, by_name[named].default)


def _layer_operands(
    run: Interpreter, module: Instance, rule: ModuleRule | None, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> None:
    """In training, some layers of torch's draw random numbers, and some change what they hold."""
    if rule is None or not run.promises:
        return
    name = module.cls.name
    trains = run.attribute(module, "training")
    if trains is not True or born(module.cells) > run.promises[-1].start:
        return
    if "Dropout" in name:
        _tell(run, run.promises[-1], f"{name} draws random numbers in training", "model.eval() before it")
    elif name.startswith("BatchNorm"):
        _tell(run, run.promises[-1], f"{name} changes its running statistics in training", "model.eval() before it")


LISTENS: Final = (
    events.OPERANDS.to(_operands),
    events.LAYER_OPERANDS.to(_layer_operands),
    events.CHANGE.to(_changes),
    events.DECLARED.to(_declares),
    events.METHOD.to(_method),
    events.UNKNOWN.to(_calls_unknown),
    events.CALL.to(_draws),
    events.BACKWARD.to(_differentiated),
    events.STEP.to(_stepped),
)
