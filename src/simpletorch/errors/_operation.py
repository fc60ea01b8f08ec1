"""The operation that an expression of the program stands for, with its operands and the rule that judges it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch import nn

from simpletorch.errors._description import short
from simpletorch.errors._failure import Judge, Value
from simpletorch.errors._inference import COMPARISONS, OPERATORS, infer_expression
from simpletorch.errors._lift import lift, public_class, rule_name
from simpletorch.errors._lookup import MISSING, lookup
from simpletorch.errors._stack import Step, is_torch
from simpletorch.rules import Report, TensorType, new_module
from simpletorch.rules import Value as RuleValue

__all__ = ["UNKNOWN_OPERATION", "Operation", "operation_in"]


class Operation(NamedTuple):
    """An operation: its name in errors, its operands, and its rule's answer."""

    name: str | None
    values: Sequence[Value]
    judge: Judge = Judge()


UNKNOWN_OPERATION: Final = Operation(None, ())
_ATTEMPT: Final = "simpletorch.errors._result.attempt"  # by its name: its module leads here

_SPOKEN: Final = {
    **OPERATORS,
    **COMPARISONS,
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "bitwise_left_shift",
    ast.RShift: "bitwise_right_shift",
    ast.Invert: "bitwise_not",
}


def operation_in(node: ast.AST | None, step: Step, below: Sequence[Step]) -> Operation:
    """The operation that an expression stands for.

    Args:
        node: the expression.
        step: the frame that was evaluating it.
        below: the frames that it called, to the failure.
    """

    def value(part: ast.expr, role: str) -> Value:
        return _value(part, role, step)

    match node:
        case ast.Call():
            return _in_call(node, step, below)
        case ast.BinOp(left=left, op=op, right=right):
            return _operator(op, [value(left, "input"), value(right, "other")])
        case ast.AugAssign(target=left, op=op, value=right):
            return _operator(op, [value(left, "input"), value(right, "other")], in_place=True)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _operator(op, [value(left, "input"), value(right, "other")])
        case ast.UnaryOp(op=op, operand=operand):
            return _operator(op, [value(operand, "input")])
        case ast.Subscript():
            return _subscript(node, step)
        case _:
            return UNKNOWN_OPERATION


def _value(part: ast.expr, role: str, step: Step) -> Value:
    found = lookup(part, step.frame)
    known = infer_expression(part, step.frame) if found is MISSING else lift(found)
    return Value(short(ast.unparse(part)), role, found, known)


def _operator(op: ast.AST, values: list[Value], *, in_place: bool = False) -> Operation:
    spoken, dunder = _SPOKEN.get(type(op)), OPERATORS.get(type(op)) or COMPARISONS.get(type(op))
    operands = [v.known for v in values]
    if dunder is None:
        return Operation(spoken, values)
    if isinstance(operands[0], TensorType):
        name = f"__i{dunder}__" if in_place else f"__{dunder}__"
    else:
        # Python asks the right operand where the left one is a number
        name, operands = f"__r{dunder}__", operands[::-1]
    return Operation(f"{spoken}_" if in_place and spoken else spoken, values, Judge(f"Tensor.{name}", operands))


def _subscript(node: ast.Subscript, step: Step) -> Operation:
    owner = _value(node.value, "input", step)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    indices = [_value(p, "index", step) for p in parts]
    index: RuleValue = tuple(v.known for v in indices)
    if len(indices) == 1 and not isinstance(node.slice, ast.Tuple | ast.List):
        index = indices[0].known
        if isinstance(indices[0].value, list):  # to a rule a list is a tuple, but x[[1, 2]] is not x[1, 2]
            index = (index,)
    values = [owner, *(v for v, p in zip(indices, parts, strict=True) if not isinstance(p, ast.Slice))]
    assignment = getattr(node, "parent", None)  # set by executing
    if isinstance(assignment, ast.Assign) and node in assignment.targets:
        stored = _value(assignment.value, "value", step)
        judge = Judge("Tensor.__setitem__", [owner.known, index, stored.known])
        return Operation("index", [*values, stored], judge)
    return Operation("index", values, Judge("Tensor.__getitem__", [owner.known, index]))


def _in_call(node: ast.Call, step: Step, below: Sequence[Step]) -> Operation:
    function = lookup(node.func, step.frame)
    if (
        node.args and inspect.isfunction(function) and _qualified(function) == _ATTEMPT
    ):  # ``attempt(torch.mm, a, b)`` stands for ``torch.mm(a, b)``
        node = ast.Call(node.args[0], node.args[1:], node.keywords)
        function = lookup(node.func, step.frame)
    rule = None if function is MISSING else rule_name(function)
    if isinstance(function, type) and issubclass(function, nn.Module):
        return _construction(node, function, step)
    owner: list[Value] = []
    if isinstance(node.func, ast.Attribute):
        name = node.func.attr if rule is None else rule.rpartition(".")[2]
        receiver = _value(node.func.value, "input", step)
        if isinstance(receiver.known, TensorType):
            owner, rule = [receiver], f"Tensor.{name}"
        # it may be a tensor whose value is gone; a gap keeps the places of the other operands right
        elif receiver.value is MISSING and function is MISSING:
            owner = [receiver]
    elif isinstance(node.func, ast.Name):
        name = getattr(function, "__name__", node.func.id)
    else:
        return UNKNOWN_OPERATION
    arguments = _fill_gaps(_arguments(node, step, _roles(function, name, offset=len(owner))), below)
    values = [*owner, *(v for argument in arguments for v in argument.values)]
    if rule is None or any(a.is_spread for a in arguments):
        return Operation(name, values)
    args = [v.known for v in owner] + [a.known for a in arguments if a.keyword is None]
    kwargs = {a.keyword: a.known for a in arguments if a.keyword is not None}
    return Operation(name, values, Judge(rule, args, kwargs))


def _qualified(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _construction(node: ast.Call, cls: type[nn.Module], step: Step) -> Operation:
    """``nn.MultiheadAttention(7, 3)``: torch checks the arguments of some modules, and rules do."""
    arguments = _arguments(node, step, list(inspect.signature(cls).parameters))
    values = [v for argument in arguments for v in argument.values]
    name = public_class(cls)
    if name is None or any(a.is_spread for a in arguments):
        return Operation(cls.__name__, values)
    given = {(a.keyword or a.values[0].role): a.known for a in arguments if a.values}
    made = new_module(name, given)
    return Operation(cls.__name__, values, Judge(said=made if isinstance(made, Report) else None))


class _Argument:
    """One argument of a call; a list of tensors, written out or in a variable, as its items."""

    def __init__(self, node: ast.expr, role: str, step: Step, keyword: str | None = None) -> None:
        self.keyword = keyword
        self.is_list = False
        self.is_spread = isinstance(node, ast.Starred)
        self.values = list(self._values(node, role, step))

    def _values(self, node: ast.expr, role: str, step: Step) -> Iterator[Value]:
        if isinstance(node, ast.Starred):
            return
        if isinstance(node, ast.List | ast.Tuple):
            self.is_list = True
            self.is_spread = any(isinstance(item, ast.Starred) for item in node.elts)
            for item in node.elts:
                if not isinstance(item, ast.Starred):
                    yield _value(item, role, step)
            return
        found = _value(node, role, step)
        items = found.value
        if type(items) in (list, tuple) and 0 < len(items) <= 64 and all(isinstance(v, torch.Tensor) for v in items):
            self.is_list = True
            for i, item in enumerate(items):
                yield Value(f"{found.name}[{i}]", role, item, lift(item))
        else:
            yield found

    @property
    def known(self) -> RuleValue:
        """Its value for rules."""
        return tuple(v.known for v in self.values) if self.is_list else self.values[0].known


def _arguments(node: ast.Call, step: Step, roles: Sequence[str]) -> list[_Argument]:
    found = [
        _Argument(argument, roles[position] if position < len(roles) else str(position), step)
        for position, argument in enumerate(node.args)
    ]
    found += [_Argument(k.value, k.arg or "", step, k.arg) for k in node.keywords]
    for argument, keyword in zip(found[len(node.args) :], node.keywords, strict=True):
        argument.is_spread = argument.is_spread or keyword.arg is None
    return found


def _roles(function: Any, name: str, offset: int) -> list[str]:
    """The names of a function's parameters from ``offset`` on; torch's C functions tell none, so by the usual ones."""
    if inspect.isfunction(function):
        try:
            return list(inspect.signature(function).parameters)[offset:]
        except (ValueError, TypeError):
            pass
    usual = ["tensors"] if name in ("cat", "concat", "concatenate", "stack", "hstack", "vstack") else ["input", "other"]
    return usual[offset:]


def _fill_gaps(arguments: list[_Argument], below: Sequence[Step]) -> list[_Argument]:
    """Operands that are expressions themselves: the torch function that got them has them as its locals."""
    if not below or not is_torch(below[0].frame.f_code):
        return arguments
    local = below[0].frame.f_locals
    for argument in arguments:
        # a list has a name for each item already, which the function's one local would replace
        if argument.is_list or argument.is_spread:
            continue
        (v,) = argument.values
        if v.value is MISSING and v.role in local:
            argument.values = [Value(v.name, v.role, local[v.role], lift(local[v.role]))]
    return arguments
