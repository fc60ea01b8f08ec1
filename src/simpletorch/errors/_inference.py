"""The type of an expression whose value is gone.

An operand may be an expression itself (``x.flatten(1) @ w``), and when the failure is looked at, its value has been
freed. Its type is inferred, as in the static check, from the values of its parts that are still there. No code of the
user's runs.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Final

from torch import nn

from simpletorch.errors._lift import lift, rule_name, rule_of
from simpletorch.errors._lookup import MISSING, lookup
from simpletorch.rules import ANYTHING, Report, TensorType, Value, infer, infer_module
from simpletorch.rules.core.values import Named

__all__ = ["COMPARISONS", "OPERATORS", "infer_expression"]

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


def infer_expression(node: ast.expr | None, frame: FrameType) -> Value:
    """An expression's value, as far as known; `ANYTHING` if only running it would tell."""
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
    """A call's arguments, as far as known; None if they can't be told apart (``f(**options)``)."""
    # a starred list that isn't known stands as one unknown argument, which the rules take for any
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
