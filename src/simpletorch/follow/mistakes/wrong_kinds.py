"""Values that are called, indexed or gone over as no value of their kind can be: `tensor-class`.

Python's own exceptions are said only where a tensor, a module or a number of a loop takes part.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards
from simpletorch.follow.branches import type_name
from simpletorch.follow.memory import stand_ins
from simpletorch.follow.mistakes import events
from simpletorch.follow.mistakes.no_tensors import described
from simpletorch.follow.model import kinds, members
from simpletorch.follow.values import (
    ASKED_FOR,
    BoundNative,
    Class,
    Dict,
    Fields,
    Instance,
    List,
    Method,
    Set,
    Sizes,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS"]

_UNCALLABLE: Final = frozenset({tuple, Fields, Sizes, List, Dict, Set, str, int, float, type(None)})
_LACKS_RETURN: Final = "a function that returns nothing gives None: is a return missing?"


def _called(run: Interpreter, function: Value, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Unknown | None:
    """``x.shape(0)``, ``layers(x)`` of a list, ``loss = loss(x, y)`` in the second round of a loop."""
    kind = type(function)
    if run.entry or not (kind is Tensor or kind in _UNCALLABLE):
        return None
    if isinstance(function, Tensor):
        if not members.is_of_torchs_own(function):
            return None
    elif kind is not Sizes and not any(isinstance(run.resolve(v), Tensor) for v in (*args, *kwargs.values())):
        return None
    return guards.refuse(run, f"{described(function)} can't be called", _hint_of_call(run, function))


def _hint_of_call(run: Interpreter, function: Value) -> str | None:
    if isinstance(function, Sizes):
        return "size(...) can be called, and a shape has items: shape[0]"
    if isinstance(function, List | tuple):
        items = function.items if isinstance(function, List) else function
        are_modules = items and all(isinstance(v, Instance) and v.cls.is_a(members.MODULE) for v in items)
        return "nn.Sequential(*...) makes one module of them" if are_modules else None
    if isinstance(function, Tensor) and isinstance(run.node, ast.Call) and isinstance(run.node.func, ast.Name):
        return f"if {run.node.func.id} was a function before, give its result another name"
    return None


def _indexed(run: Interpreter, owner: Value, index: Value) -> Unknown | None:
    """``x.size[0]``; an item of None, or of an object without items, is asked for."""
    if isinstance(owner, BoundNative):
        if not isinstance(owner.receiver, Tensor):
            return None
        message = f"{owner.name} of a tensor is a method, which has no items"
        return guards.refuse(run, message, f"call it: {owner.name}()")
    if isinstance(owner, Instance) and kinds.has(run, owner, "__getitem__") is False and not run.entry:
        hint = f".{index}" if isinstance(index, str) and index in owner.cells else None
        return guards.refuse(run, f"{described(owner)} has no items", hint)
    if owner is None and not run.entry and isinstance(index, int | slice):
        return guards.refuse(run, "None has no items", _LACKS_RETURN)
    return None


def _in_sequence(run: Interpreter, owner: Value, index: Value) -> Unknown | None:
    """A list, or a text, from one float to another; ``batch["x"]`` of a list, ``rows[:, 0]``, ``batch[2]`` of two."""
    if isinstance(index, slice):
        for bound in (index.start, index.stop, index.step):
            if type_name(bound) == "float":
                shown = bound if isinstance(bound, float) else "a float"
                message = f"a bound of a slice must be an int, not {shown}"
                return guards.refuse(run, message, "divide with //, or use int()")
        return None
    items = owner.items if type(owner) is List else owner
    if run.entry or not isinstance(items, tuple) or not any(isinstance(run.resolve(v), _HELD) for v in items):
        return None
    if isinstance(index, str | tuple):
        return guards.refuse(
            run, f"{described(owner)} takes an int or a slice as its index", _hint_of_index(items, index)
        )
    asks_more = isinstance(owner, List) and ASKED_FOR in owner.cells
    if type(index) is int and not -len(items) <= index < len(items) and not asks_more:
        message = f"index {index} is out of range for {described(owner)}"
        answer = guards.refuse(run, message, None, "IndexError", "tensor-shape")
        if isinstance(owner, List):  # it has too few items: that is said once
            run.heap.write(owner.cells, ASKED_FOR, answer)
        return answer
    return None


_HELD: Final = (Tensor, List, Dict, tuple)


def _hint_of_index(items: tuple[Value, ...], index: str | tuple[Value, ...]) -> str | None:
    if isinstance(index, tuple):
        return "an array or a tensor of it has several dims"
    inner = next((i for i, v in enumerate(items) if isinstance(v, Dict) and index in v.cells), None)
    return None if inner is None else f"[{inner}] of it has the key"


def _next_of(run: Interpreter, source: Value) -> Unknown | None:
    """``next(loader)``."""
    is_loader = isinstance(source, Instance) and source.cls.is_a("torch.utils.data.DataLoader")
    if not is_loader and not isinstance(source, Tensor):  # a list may stand for an iterator of a library's
        return None
    shown = source.cls.name if isinstance(source, Instance) else described(source)
    return guards.refuse(run, f"next takes an iterator, but it is given {shown}", "next(iter(...))")


def _gone_over(run: Interpreter, source: Value) -> Unknown | None:
    """``for name, p in net.named_parameters:``, ``for i in len(names):``, a loop over a number in a tensor."""
    if not isinstance(source, Method | BoundNative):
        if isinstance(source, Instance):
            lacks = all(kinds.has(run, source, name) is False for name in ("__iter__", "__getitem__"))
            lacks = (lacks or members.takes_no_operator(source)) and not run.entry
            return guards.refuse(run, f"{described(source)} has no items", None) if lacks else None
        is_number = type_name(source) in ("int", "float", "bool")
        if isinstance(source, Unknown) and source.reason == stand_ins.ANY_ITEM:
            return None  # the unknown index may be a slice
        if run.entry or not (is_number or (isinstance(source, Tensor) and source.type.shape.rank == 0)):
            return None
        hint = "range(...) counts" if type_name(source) == "int" else None
        return guards.refuse(run, f"{described(source)} has no items", hint)
    name = source.name if isinstance(source, BoundNative) else getattr(source.function, "name", "")
    name = name.rpartition(".")[2]
    return guards.refuse(run, f"{name} is a method, which can't be gone over", f"call it: {name}()")


def _entered(run: Interpreter, manager: Value) -> Unknown | None:
    """``with torch.no_grad:``, whose class is a context manager only when it is called."""
    if (
        not isinstance(manager, Class)
        or manager.find("__enter__") is None
        or not manager.qualified.startswith("torch.")
    ):
        return None
    return guards.refuse(run, f"{manager.name} is a class, which is no context manager", f"call it: {manager.name}()")


LISTENS: Final = (
    events.NO_MANAGER.to(_entered),
    events.UNCALLABLE.to(_called),
    events.NO_ITEMS.to(_indexed),
    events.NO_ITERATOR.to(_next_of),
    events.UNITERABLE.to(_gone_over),
    events.INDEX.to(_in_sequence),
)
