"""What stands where a tensor is due, and is none: a tuple of several results, a batch that is a list, None, a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.marks import modules
from simpletorch.follow.model import kinds
from simpletorch.follow.values import Dict, Fields, Function, List, Set, Sizes, Tensor, Unknown, Value, View
from simpletorch.rules import RULES, ModuleRule, Report, TensorType, infer, infer_module
from simpletorch.rules.core.registry import Rule, forward_rule, spoken_name

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "NO_TENSORS",
    "OF_LAYERS",
    "check",
    "check_layer",
    "check_operator",
    "check_several",
    "is_meant",
    "lacks",
    "lacks_attribute",
    "of_layer",
    "of_rule",
]

NO_TENSORS: Final = frozenset((tuple, Fields, Sizes, List, Dict, Set, str, bytes, type(None), Function))
"""The types of what torch takes for no tensor, whatever it holds. An object may know how to be one."""

OF_LAYERS: Final = NO_TENSORS | {int, float, bool}
"""The same where a layer is called: some operations take a number too."""

_ON_ALL: Final = ("__eq__", "__ne__")  # Python answers these itself
_REPEATS: Final = ("__mul__", "__rmul__", "__imul__")  # a whole number in a tensor says how often
_REPEATED: Final = (tuple, Fields, Sizes, List, str, bytes)


def of_rule(rule: Rule) -> tuple[int, ...]:
    """The places of the arguments that an operation takes as tensors alone."""
    return tuple(i for i, name in enumerate(rule.signature.parameters) if name in rule.tensor_parameters)


def of_layer(rule: ModuleRule) -> tuple[int, ...]:
    """The same of a layer's ``forward``."""
    found = _of_layers.get(rule.names)
    if found is None:  # the first parameter is the layer itself
        forward = forward_rule(type(rule))  # type: ignore[arg-type]
        found = _of_layers[rule.names] = tuple(i - 1 for i in of_rule(forward))
    return found


_of_layers: Final[dict[tuple[str, ...], tuple[int, ...]]] = {}


def is_meant(run: Interpreter, value: Value) -> bool:
    """Whether the program gives it. Who calls a function that nobody calls in sight gives another than None."""
    return value is not None or not run.entry


def check(run: Interpreter, name: str, at: int, args: tuple[Value, ...]) -> Unknown:
    """An operation is given something else than a tensor as its argument ``at``."""
    return _refuse(run, spoken_name(name), args[at], lambda one: infer(name, _with(args, at, one)))


def check_layer(run: Interpreter, rule: ModuleRule, at: int, args: tuple[Value, ...]) -> Unknown:
    """The same of a layer."""
    return _refuse(run, str(rule), args[at], lambda one: infer_module(rule, _with(args, at, one)))


def check_operator(run: Interpreter, name: str, tensor: Tensor, other: Value) -> Unknown | None:
    """``tensor + (a, b)``; ``name`` is the tensor's method."""
    if type(other) not in NO_TENSORS or name in _ON_ALL or tensor.array or not is_meant(run, other):
        return None
    if name in _REPEATS and isinstance(other, _REPEATED) and tensor.type.shape.rank in (0, None):
        return None
    return _refuse(run, spoken_name(name), other, lambda one: infer(f"Tensor.{name}", (tensor.type, one)))


def check_several(run: Interpreter, name: str, left: Value, right: Value) -> Unknown | None:
    """``x.max(1) + 1``: what gives several tensors is a tuple, which has no arithmetic."""
    value, other = (left, right) if isinstance(left, Fields) else (right, left)
    known = isinstance(other, int | float) and not isinstance(other, bool)
    if not known or name not in _ARITHMETIC or not any(isinstance(v, Tensor) for v in value):
        return None
    if name == "__mul__" and isinstance(other, int):
        return None
    return _refuse(run, spoken_name(name), value, lambda one: infer(f"Tensor.{name}", (one, other)))


_OPERATIONS: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge")
_ARITHMETIC: Final = frozenset(f"__{name}__" for name in _OPERATIONS)


def lacks(value: Value, name: str) -> bool:
    """Whether a collection of Python's is asked for what a tensor has, and it hasn't."""
    of_tensors = f"Tensor.{name}" in RULES or name in _OF_TENSORS
    return of_tensors and type(value) in _COLLECTIONS and kinds.has_attribute(value, name) is False


def lacks_attribute(run: Interpreter, value: Value, name: str) -> Unknown:
    """Such a collection was asked for it.

    Raises:
        Raised: somebody may catch it.
    """
    message = f"{_described(value)} has no attribute {name!r}, which a tensor has"
    return modules.refuse(run, message, _hint(value, lambda one: None), "AttributeError")


_OF_TENSORS: Final = ("shape", "dtype", "device", "ndim", "grad", "data", "requires_grad")
_COLLECTIONS: Final = frozenset({tuple, Fields, List, View, Dict})


def _with(args: tuple[Value, ...], at: int, one: TensorType) -> tuple[Any, ...]:
    given = [a.type if isinstance(a, Tensor) else a for a in args]
    return (*given[:at], one, *given[at + 1 :])


def _refuse(run: Interpreter, name: str, value: Value, ask: Callable[[TensorType], Any]) -> Unknown:
    return modules.refuse(run, f"{name} takes a tensor, but it is given {_described(value)}", _hint(value, ask))


def _described(value: Value) -> str:
    if value is None:
        return "None"
    if isinstance(value, Sizes):
        return f"the shape {value}"
    if isinstance(value, tuple):
        shown = ", ".join(str(v.type) if isinstance(v, Tensor) else "…" for v in value[:4])
        return f"a tuple of {len(value)}: ({shown}{', …' if len(value) > 4 else ''})"
    if isinstance(value, List):
        return "a list" if value.items is None else f"a list of {len(value.items)}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, Function):
        return f"the function {value.name}"
    return {Dict: "a dict", Set: "a set", str: "a text", bytes: "bytes"}[type(value)]


def _hint(value: Value, ask: Callable[[TensorType], Any]) -> str | None:
    """How to take the tensor that fits out of several."""
    for shown, one in _items(value):
        if isinstance(one, Tensor) and not one.array and not isinstance(ask(one.type), Report):
            return f"take {shown} of it, {one.type}"
    if isinstance(value, List) and value.items and all(isinstance(v, int | float) for v in value.items):
        return "torch.tensor(...) makes one of numbers"
    return None


def _items(value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Fields):
        yield from ((f".{name}", one) for name, one in zip(value.names, value, strict=True))
    elif isinstance(value, Dict):
        yield from ((f"[{key!r}]", one) for key, one in value.cells.items())
    else:
        rows = value.items if isinstance(value, List) else value if isinstance(value, tuple) else None
        yield from ((f"[{i}]", one) for i, one in enumerate(rows or ()))
