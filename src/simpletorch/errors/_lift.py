"""From the values and expressions of a failed program to the values that rules understand.

An operand may be an expression itself (``x.flatten(1) @ w``), whose value is gone when the failure is looked at. What
it was is inferred as the static check infers it, from what its parts still are: no code of the user's runs.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib import import_module
from types import FrameType
from typing import Any, Final

import torch
from torch import nn

from simpletorch.errors._frames import MISSING, lookup
from simpletorch.rules import ANYTHING, MODULES, RULES, Device, ModuleRule, Report, TensorType, Value, infer
from simpletorch.rules.dtype import BY_TORCH_NAME, DType
from simpletorch.rules.registry import infer_module
from simpletorch.rules.values import Named
from simpletorch.shapes import UNKNOWN, Shape

__all__ = ["COMPARISONS", "OPERATORS", "infer_expression", "lift", "public_class", "rule_name", "rule_of"]

OPERATORS: Final[Mapping[type, str]] = {
    ast.MatMult: "matmul",
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.Invert: "invert",
    ast.USub: "neg",
    ast.UAdd: "pos",
}
COMPARISONS: Final[Mapping[type, str]] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_ARITHMETIC: Final[Mapping[type, Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_MOST_ITEMS: Final = 64


# -- values -----------------------------------------------------------------------------------------------------------


def lift(value: object) -> Value:
    """The rules' view of a value: a tensor by shape, dtype and device, a container item by item."""
    match value:
        case torch.Tensor():
            return _tensor(value)
        case torch.dtype():
            return _dtype(value) or ANYTHING
        case torch.device():
            return Device(value.type, value.index)
        case torch.SymInt():
            return UNKNOWN
        case list() | tuple():
            if len(value) > _MOST_ITEMS:
                return ANYTHING
            return tuple(lift(v) for v in value)
        case None | bool() | int() | float() | complex() | str() | slice():
            return value
        case _ if value is Ellipsis:
            return value  # type: ignore[return-value]  # Ellipsis stands for itself
    return ANYTHING


def _tensor(value: torch.Tensor) -> TensorType:
    try:
        shape = Shape(tuple(size if type(size) is int else UNKNOWN for size in value.shape))
    except RuntimeError:  # a nested tensor has no one shape
        return TensorType(dtype=_dtype(value.dtype))
    return TensorType(shape, _dtype(value.dtype), Device(value.device.type, value.device.index))


def _dtype(dtype: torch.dtype) -> DType | None:
    return BY_TORCH_NAME.get(str(dtype).removeprefix("torch."))


def rule_of(layer: nn.Module) -> ModuleRule | None:
    """The rule of a layer of torch's, with the sizes that the layer has; None for a class without one."""
    name = public_class(type(layer))
    if name is None or type(layer).forward is not _forward_of(name):
        return None
    cls = MODULES[name]
    try:
        return cls(**{f.name: _field(layer, f.name, f.default) for f in fields(cls)})
    except TypeError:  # a rule of its own making, built otherwise
        return None


def public_class(cls: type) -> str | None:
    """The public name of the torch class with a rule that a class is, or comes from: ``"torch.nn.Linear"``."""
    names = (f"torch.nn.{c.__qualname__}" for c in cls.__mro__ if c.__module__.startswith("torch.nn."))
    return next((name for name in names if name in MODULES), None)


@cache
def _forward_of(name: str) -> object:
    return getattr(nn, name.rpartition(".")[2]).forward


# torch stores one number given for all dims as a tuple; an argument left out as the one that it falls back to.
_FOR_EVERY_DIM: Final = frozenset(("kernel_size", "stride", "padding", "dilation", "output_padding"))
_FALLS_BACK_TO: Final = {"stride": "kernel_size", "kdim": "embed_dim", "vdim": "embed_dim"}
# the sizes that a transformer's layer leaves to its parts
_HELD_BY: Final = {
    "d_model": ("self_attn", "embed_dim"),
    "nhead": ("self_attn", "num_heads"),
    "dim_feedforward": ("linear1", "out_features"),
    "batch_first": ("self_attn", "batch_first"),
}


def _field(layer: nn.Module, name: str, default: object) -> Value:
    """A constructor argument, read back from the layer: ``kernel_size=(5, 5)`` was 5."""
    own = vars(layer)
    if name == "bias" and "bias" not in own:
        has_weights = own.get("affine", own.get("elementwise_affine", True))
        return True if not has_weights else _has_bias(layer)
    if name in ("encoder_layer", "decoder_layer"):
        stack = layer._modules.get("layers")
        part = next(iter(stack._modules.values()), None) if isinstance(stack, nn.ModuleList) else None
        return (None if part is None else rule_of(part)) or ANYTHING  # type: ignore[return-value]  # a rule's own rule
    if name in _HELD_BY and name not in own:
        holder, attribute = _HELD_BY[name]
        part = layer._modules.get(holder)
        return lift(default) if part is None else lift(getattr(part, attribute, None))
    value = own.get(name, default)
    if default is None and name in _FALLS_BACK_TO and value == own.get(_FALLS_BACK_TO[name]):
        return None
    same = type(value) is tuple and value and all(v == value[0] for v in value)
    return lift(value[0] if same and (len(value) == 1 or name in _FOR_EVERY_DIM) else value)


def _has_bias(layer: nn.Module) -> bool:
    return any(p is not None for n, p in layer._parameters.items() if n in ("bias", "in_proj_bias"))


# -- operations -------------------------------------------------------------------------------------------------------


@cache
def _names() -> Mapping[int, str]:
    """The public name of each torch function that has a rule, by the function's identity."""
    found: dict[int, str] = {}
    for name in RULES:
        head, _, rest = name.partition(".")
        if head != "torch":
            continue
        function: Any = torch
        for part in rest.split("."):
            function = getattr(function, part, None)
        if function is None:
            continue
        known = found.get(id(function))
        own = getattr(function, "__name__", "")
        if known is None or name.rpartition(".")[2] == own:
            found[id(function)] = name
    return found


def rule_name(function: object) -> str | None:
    """The public torch name of a function that has a rule: ``"torch.matmul"``; None for any other."""
    module = getattr(function, "__module__", None)
    if isinstance(module, str) and module.startswith("einops."):
        name = f"einops.{getattr(function, '__name__', '')}"
        return name if name in RULES and getattr(import_module("einops"), name[7:], None) is function else None
    return _names().get(id(function))


# -- expressions ------------------------------------------------------------------------------------------------------


def infer_expression(node: ast.expr | None, frame: FrameType) -> Value:
    """What is known of an expression's value; `ANYTHING` where that would take running it."""
    try:
        found = lookup(node, frame)
        return lift(found) if found is not MISSING else _inferred(node, frame)
    except RecursionError:  # a program that was written by a program
        return ANYTHING


def _inferred(node: ast.expr | None, frame: FrameType) -> Value:
    match node:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(_items(items, frame))
        case ast.Slice(lower=lower, upper=upper, step=step):
            bounds = [None if bound is None else infer_expression(bound, frame) for bound in (lower, upper, step)]
            return slice(*bounds)
        case ast.Attribute(value=owner, attr=name):
            return _attribute(infer_expression(owner, frame), name)
        case ast.Subscript(value=owner, slice=index):
            return _item(infer_expression(owner, frame), _index(index, frame))
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(type(op), infer_expression(left, frame), infer_expression(right, frame))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return _unary(type(op), infer_expression(operand, frame))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
            return _method(
                f"__{COMPARISONS[type(op)]}__", [infer_expression(left, frame), infer_expression(right, frame)]
            )
        case ast.Call():
            return _called(node, frame)
    return ANYTHING


def _items(nodes: Sequence[ast.expr], frame: FrameType) -> Iterator[Value]:
    for node in nodes:
        if isinstance(node, ast.Starred):
            spread = infer_expression(node.value, frame)
            yield from spread if isinstance(spread, tuple) else (ANYTHING,)
        else:
            yield infer_expression(node, frame)


def _index(node: ast.expr, frame: FrameType) -> Value:
    """An index as its rule takes it, to which a list is a tuple: ``x[[1, 2]]`` is not ``x[1, 2]``."""
    found = infer_expression(node, frame)
    return (found,) if isinstance(node, ast.List) or isinstance(lookup(node, frame), list) else found


def _attribute(owner: Value, name: str) -> Value:
    if isinstance(owner, TensorType):
        if name == "shape":
            return owner.shape.dims if owner.shape.is_exact else ANYTHING
        if name in ("data", "grad"):
            return owner
        return _sound(infer(f"Tensor.{name}", [owner]))
    if isinstance(owner, Named):
        return dict(owner.fields).get(name, ANYTHING)
    return ANYTHING


def _item(owner: Value, index: Value) -> Value:
    if isinstance(owner, Named):
        owner = tuple(value for _, value in owner.fields)
    if isinstance(owner, TensorType):
        return _sound(infer("Tensor.__getitem__", [owner, index]))
    if not isinstance(owner, tuple):
        return ANYTHING
    if isinstance(index, slice) and all(b is None or type(b) is int for b in (index.start, index.stop, index.step)):
        return owner[index]
    return owner[index] if type(index) is int and -len(owner) <= index < len(owner) else ANYTHING


def _binary(op: type, left: Value, right: Value) -> Value:
    if isinstance(left, TensorType):
        return _method(f"__{OPERATORS.get(op)}__", [left, right])
    if isinstance(right, TensorType):
        return _method(f"__r{OPERATORS.get(op)}__", [right, left])
    if type(left) is int and type(right) is int and op in _ARITHMETIC:
        try:
            return _ARITHMETIC[op](left, right)
        except ZeroDivisionError:
            return ANYTHING
    if op is ast.Add and isinstance(left, tuple) and isinstance(right, tuple):
        return (*left, *right)
    return ANYTHING


def _unary(op: type, operand: Value) -> Value:
    if op is ast.USub and type(operand) in (int, float):
        return -operand  # type: ignore[operator]  # a number
    return _method(f"__{OPERATORS[op]}__", [operand])


def _method(name: str, values: Sequence[Value]) -> Value:
    if not values or not isinstance(values[0], TensorType):
        return ANYTHING
    return _sound(infer(f"Tensor.{name}", values))


def _called(node: ast.Call, frame: FrameType) -> Value:
    function = lookup(node.func, frame)
    given = _arguments(node, frame)
    if given is None:
        return ANYTHING
    args, kwargs = given
    if isinstance(function, nn.Module):
        return _layer(function, args, kwargs)
    if function is len and len(args) == 1:
        return _length(args[0])
    name = None if function is MISSING else rule_name(function)
    if name is not None:
        return _sound(infer(name, args, kwargs))
    if isinstance(node.func, ast.Attribute):
        owner = infer_expression(node.func.value, frame)
        if isinstance(owner, TensorType):
            return _sound(infer(f"Tensor.{node.func.attr}", [owner, *args], kwargs))
    return ANYTHING


def _arguments(node: ast.Call, frame: FrameType) -> tuple[list[Value], dict[str, Value]] | None:
    """What is known of a call's arguments; None if they can't be told apart (``f(**options)``)."""
    args = list(_items(node.args, frame))
    if any(k.arg is None for k in node.keywords):
        return None
    return args, {k.arg: infer_expression(k.value, frame) for k in node.keywords if k.arg is not None}


def _layer(layer: nn.Module, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    if type(layer).forward is nn.Sequential.forward and len(args) == 1 and not kwargs:
        value = args[0]
        for part in layer._modules.values():
            value = ANYTHING if part is None else _layer(part, [value], {})
        return value
    rule = rule_of(layer)
    return ANYTHING if rule is None else _sound(infer_module(rule, args, kwargs))


def _length(value: Value) -> Value:
    if isinstance(value, TensorType):
        return value.shape.dim(0) if value.shape.min_rank else ANYTHING
    return len(value) if isinstance(value, tuple) else ANYTHING


def _sound(found: Value | Report) -> Value:
    return ANYTHING if isinstance(found, Report) else found
