"""Attributes that aren't there: `tensor-class`.

Each is told only of objects of which everything is known; an `AttributeError` also needs something that shows what was
meant.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards
from simpletorch.follow.libraries.pytorch.signatures import names_of
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import members, spelling
from simpletorch.follow.sources.syntax import walk
from simpletorch.follow.values import MISSING, Fields, Function, Instance, Tensor, Unknown, Value
from simpletorch.rules import ModuleRule

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS"]

_OF_DATASETS: Final = frozenset({"cache", "filter", "map", "zip"})
"""What simpletorch's ``Dataset`` has and torch's hasn't."""


def _lacks(run: Interpreter, value: Value, name: str) -> Unknown | None:
    """An object has no attribute of this name: told where it is sure, and where it shows what was meant."""
    if value is None:
        return _none_lacks(run, name)
    if isinstance(value, Tensor) and value.array and (meant := members.meant_of_arrays(name)) is not None:
        return guards.refuse(run, f"an array has no attribute {name!r}", f"did you mean {meant!r}?", "AttributeError")
    if isinstance(value, Tensor) and value.array:
        hint = "torch.from_numpy(...) makes a tensor of it"
        return guards.refuse(run, f"an array has no attribute {name!r}, which a tensor has", hint, "AttributeError")
    if isinstance(value, Tensor) and (
        members.is_misspelt(value, name) or (members.is_without(run, value, name) and members.is_alone(run, name))
    ):
        close = members.meant_of_tensors(name)
        hint = None if close is None else f"did you mean {close!r}?"
        return guards.refuse(run, f"a tensor has no attribute {name!r}", hint, "AttributeError")
    if isinstance(value, Fields) and not run.entry:
        close = spelling.closest(name, value.names)
        hint = None if close is None else f"did you mean {close!r}?"
        shown = f"({', '.join(value.names)})"
        return guards.refuse(run, f"the result {shown} has no attribute {name!r}", hint, "AttributeError")
    if isinstance(value, Instance) and not name.startswith("__"):
        of_torch = value.cls.is_a(members.MODULE) and (name in members.OF_MODULES or name[0] == "_")
        if name == "module" and value.cls.is_a(members.MODULE):  # of a DataParallel, where the machine has several GPUs
            return run.unknown("the module in a DataParallel")
        of_torch = of_torch or (name in _OF_DATASETS and value.cls.is_a("torch.utils.data.Dataset"))
        hint = _meant(run, value, name) if not of_torch and members.is_complete(run, value) else None
        if hint is not None or (name[0] != "_" and not of_torch and _surely_lacks(run, value)):
            hint = hint or _inside(run, value, name) or _of_layer(run, value, name)
            return _said_once(run, value, name, hint)
    return None


def _said_once(run: Interpreter, value: Instance, name: str, hint: str | None) -> Unknown:
    """An object lacks an attribute: where it is asked again, that is the same mistake."""
    said = f"lacks {name}"
    if value.state.get(said):
        return run.unknown("an error was found here")
    refused = guards.refuse(run, f"{value.cls.name} has no attribute {name!r}", hint, "AttributeError")
    run.heap.write(value.state, said, True)
    return refused


def _of_layer(run: Interpreter, value: Instance, name: str) -> str | None:
    """An attribute of a layer of torch's that is spelt nearly so."""
    if not isinstance(value.native, ModuleRule):
        return None
    close = spelling.closest(name, [*vars(value.native), "weight", "bias", *_held(value), *_in_class(run, value)])
    return None if close is None else f"did you mean {close!r}?"


def _surely_lacks(run: Interpreter, value: Instance) -> bool:
    """Whether an attribute is certainly missing, though nothing shows what was meant.

    In code that the program doesn't call it isn't: a subclass elsewhere may define the attribute.
    """
    return not run.entry and (
        members.is_layer_of_torchs(value)
        or members.derives_from_torchs(run, value)
        or members.is_complete(run, value)
        or members.is_named_tuple(run, value)
    )


def _inside(run: Interpreter, value: Instance, name: str) -> str | None:
    """Which of the modules in a container has the attribute."""
    for key, inner in value.cells.items():
        one = run.resolve(inner)
        if isinstance(one, Instance) and isinstance(key, str) and key.isdecimal() and _has(one, name):
            return f"its layer [{key}] has one"
    return None


def _has(value: Instance, name: str) -> bool:
    rule = value.native
    return name in value.cells or (isinstance(rule, ModuleRule) and name in {*vars(rule), *rule.attributes()})


def _none_lacks(run: Interpreter, name: str) -> Unknown | None:
    """None is asked for what tensors have."""
    if name not in _OF_TENSORS or run.entry:
        return None
    hint = "a function that returns nothing gives None: is a return missing?"
    return guards.refuse(run, f"None has no {name}, which a tensor has", hint, "AttributeError")


def _read(run: Interpreter, value: Value, name: str) -> None:
    """A method of tensors is asked of one of torch's layers, as in ``x = nn.ReLU(); x.view(-1)``; ``opt.steps()``."""
    if isinstance(value, Instance) and value.cls.module == _OPTIMIZERS and name not in _OF_OPTIMIZERS:
        close = spelling.closest(name, sorted(_OF_OPTIMIZERS), most=1)
        if close is not None and name not in value.cells and members.is_alone(run, name):
            message = f"{value.cls.name} has no attribute {name!r}"
            guards.refuse(run, message, f"did you mean {close!r}?", "AttributeError")
        return
    if name in _OF_TENSORS and isinstance(value, Instance) and value.cls.qualified in _OF_DATA:
        message = f"{value.cls.name} has no {name}: that is a tensor's"
        guards.refuse(run, message, _OF_DATA[value.cls.qualified], "AttributeError")
        return
    if (
        name in _OF_TENSORS
        and isinstance(value, Instance)
        and value.cls.native is not None
        and members.takes_no_operator(value)
    ):
        message = f"{value.cls.name} is a module, which has no {name}: that is a tensor's"
        guards.refuse(run, message, f"use its output: {value.cls.name}(...)(x).{name}", "AttributeError")


_OF_DATA: Final = {
    "torch.utils.data.DataLoader": "its batches have: next(iter(loader))",
    "torch.utils.data.TensorDataset": "its tensors have: dataset.tensors",
}
_OPTIMIZERS: Final = "torch.optim"
_OF_OPTIMIZERS: Final = frozenset({
    "add_param_group", "defaults", "load_state_dict", "param_groups", "state", "state_dict", "step", "zero_grad",
})  # fmt: skip
_OF_TENSORS: Final = frozenset({
    "view", "reshape", "permute", "transpose", "unsqueeze", "squeeze", "mean", "sum", "backward", "item",
    "detach", "contiguous", "argmax", "shape", "numpy",
})  # fmt: skip
"""Attributes of tensors that none of torch's layers has."""


def _meant(run: Interpreter, value: Instance, name: str) -> str | None:
    """What shows that an attribute was meant to be there, and how it is right; None where nothing does."""
    misspelt = spelling.misspelt_constructor(value.cls)
    if misspelt is not None and name in spelling.assigned(value.cls, misspelt):
        run.heap.write(value.state, "open", True)  # said once
        return f"rename {misspelt} to __init__"
    held = _held(value)
    if run.entry:  # a class that derives from this one, elsewhere, may have it
        close = spelling.closest(name, [n for n in held if _letters(n) != _letters(name) and len(n) > 4], most=1)
        return None if close is None else f"did you mean {close!r}?"
    found = value.cls.find("__init__")
    init = found[0].node if found is not None and isinstance(found[0], Function) else None
    if init is not None and name in _locals(init):
        return f"{value.cls.name}.__init__ assigns {name}, which is gone when it ends: self.{name} = ..."
    close = spelling.closest(name, [*held, *_in_class(run, value)])
    return None if close is None else f"did you mean {close!r}?"


def _held(value: Instance) -> list[str]:
    """The attributes that the program gave an object."""
    return [k for k, v in value.cells.items() if isinstance(k, str) and v is not MISSING]


def _in_class(run: Interpreter, value: Instance) -> list[str]:
    """The attributes that the program's classes give it."""
    return [k for c in value.cls.mro for k in c.cells if c.module == run.program.main and not k.startswith("__")]


def _letters(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalpha())


def _locals(node: ast.AST) -> set[str]:
    """The variables that a function assigns."""
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _in_torch(run: Interpreter, module: str, name: str, error: str) -> Unknown | None:
    """A name that one of torch's modules lacks, and another has, or that is misspelt: ``nn.relu``, ``torch.sofmax``.

    Nothing is said of other names: another version of torch may have them.
    """
    if run.takers or run.questions or run.path in run.program.own:  # texts of ours use torch's names for unknown values
        return None
    hint = _meant_of_torch(module, name)
    if hint is None or not members.is_alone(run, name):
        return None
    return guards.refuse(run, f"{module} has no {name!r}", hint, error)


@cache
def _meant_of_torch(module: str, name: str) -> str | None:
    """The name that was meant by one that a module of torch's lacks; None where nothing shows it."""
    names = names_of(module)
    if not names or name in names or name[0] == "_" or name in _REMOVED:
        return None
    if (found := _elsewhere(module, name)) is not None:
        return found
    is_long = len(name) >= (_SHORTEST_CLASS if name[0].isupper() else _SHORTEST)
    close = spelling.closest(name, sorted(names)) if is_long else None
    return None if close is None else f"did you mean {close!r}?"


_SHORTEST: Final = 5
"""Letters of a name that may be misspelt: backends add short ones, as ``torch.npu``."""
_SHORTEST_CLASS: Final = 3
_REMOVED: Final = frozenset({"nll_loss2d"})
"""Names that torch had, near to those that it has: their programs need an older torch."""
_BESIDE: Final = ("torch.nn.functional", "torch", "torch.nn")


def _elsewhere(module: str, name: str) -> str | None:
    if module not in _BESIDE:
        return None
    found = next((other for other in _BESIDE if name in names_of(other)), None)
    return None if found is None else f"{found}.{name}"


LISTENS: Final = (events.LACKS.to(_lacks), events.ATTRIBUTE.to(_read), events.NO_NAME.to(_in_torch))
