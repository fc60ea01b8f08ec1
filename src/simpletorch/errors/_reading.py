"""Reading a failure: from torch's message and the frames of the traceback to the operation and its operands."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

import torch
from torch import nn

from simpletorch.errors._compiled import compiled_failure, is_compilers
from simpletorch.errors._describe import short
from simpletorch.errors._failure import Failure, Value
from simpletorch.errors._frames import MISSING, Step, expression, is_torch, is_user, location, lookup
from simpletorch.errors._lift import COMPARISONS, OPERATORS, infer_expression, lift, public_class, rule_name, rule_of
from simpletorch.errors._modules import CALL, chain, path
from simpletorch.rules import ANYTHING, Report, TensorType, infer, infer_module, new_module
from simpletorch.rules import Value as RuleValue

__all__ = ["failure"]


_Judge: TypeAlias = Callable[[], "RuleValue | Report"]
_Read: TypeAlias = tuple[str | None, list[Value], _Judge]


def _nobody() -> RuleValue | Report:
    """No rule judges it."""
    return ANYTHING


def failure(error: BaseException, inner: Sequence[Step], outer: Sequence[Step]) -> Failure:
    """Find out what failed.

    Args:
        error: torch's.
        inner: the frames from the border to the failure.
        outer: the frames still running around the border, from the inside out.
    """
    at = next((i for i in reversed(range(len(inner))) if is_user(inner[i].frame.f_code)), -1)
    step = inner[at] if at >= 0 else next((s for s in outer if is_user(s.frame.f_code)), None)
    node = None if step is None else expression(step)
    frames = [*reversed(inner), *outer]
    modules = chain(outer, inner)
    module_path = path(modules, frames)
    below = inner[at + 1 :]
    layer_step = _objecting_step(below) or _layer_step(modules, below)
    if is_compilers(error):
        return _compiled(error, inner, modules, module_path)
    if layer_step is not None and step is not None:
        found = _in_layer(layer_step, step, node, module_path)
    else:
        operation, values, judge = _nothing() if step is None else _in_expression(node, step, below)
        found = Failure("", operation, tuple(values), step=step, node=node, module_path=module_path, judge=judge)
    return replace(
        found,
        message=str(error),
        error=error,
        frames=tuple(s.frame for s in frames if is_user(s.frame.f_code)),
        models=_root(modules, frames),
        batch_size=_batch_size(frames),
        location=None if step is None else location(step, node),
    )


def _compiled(
    error: BaseException, inner: Sequence[Step], modules: Sequence[nn.Module], outside: str | None
) -> Failure:
    found = compiled_failure(error, inner, modules)
    path = ".".join(part for part in (outside, found.module_path) if part)
    return replace(found, module_path=path or None, layer_name=found.layer_name or path)


def _root(modules: Sequence[nn.Module], frames: Sequence[Step]) -> tuple[tuple[str, nn.Module], ...]:
    return ((path(modules[:1], frames) or type(modules[0]).__name__, modules[0]),) if modules else ()


def _batch_size(frames: Sequence[Step]) -> int | None:
    """The first size of the first tensor that the outermost module was given."""
    outermost = next((s.frame for s in reversed(frames) if s.frame.f_code is CALL), None)
    for value in () if outermost is None else outermost.f_locals.get("args", ()):
        if isinstance(value, torch.Tensor) and value.ndim > 1:
            return int(value.shape[0])
    return None


def _objecting_step(below: Sequence[Step]) -> Step | None:
    """The frame that called the module that the user's code calls, if the rule of that one objects already.

    That is where mypy sees the mistake, too: at a transformer's layer, not at the attention inside of it.
    """
    call = next((s for s in below if s.frame.f_code is CALL), None)
    module = None if call is None else call.frame.f_locals.get("self")
    rule = rule_of(module) if isinstance(module, nn.Module) else None
    if call is None or rule is None:
        return None
    args, kwargs = call.frame.f_locals.get("args", ()), call.frame.f_locals.get("kwargs", {})
    said = infer_module(rule, [lift(a) for a in args], {k: lift(v) for k, v in kwargs.items()})
    return call if isinstance(said, Report) else None


def _layer_step(modules: Sequence[nn.Module], below: Sequence[Step]) -> Step | None:
    """The frame that called the innermost module, if that is a layer of torch's below the user's code."""
    if not modules or not is_torch(_code_of(type(modules[-1]).forward)):
        return None
    calls = [s for s in below if s.frame.f_code is CALL]
    return calls[-1] if calls and calls[-1].frame.f_locals.get("self") is modules[-1] else None


def _code_of(function: Callable[..., Any]) -> Any:
    return inspect.unwrap(function).__code__


# what torch calls the operation of a layer; any other layer goes by its class
_LAYER_OPERATIONS: Final = {
    **{f"Conv{n}d": f"conv{n}d" for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": f"conv_transpose{n}d" for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": "batch_norm" for n in (1, 2, 3)},
    **{f"MaxPool{n}d": f"max_pool{n}d" for n in (1, 2, 3)},
    **{f"AvgPool{n}d": f"avg_pool{n}d" for n in (1, 2, 3)},
    "Linear": "linear",
    "NonDynamicallyQuantizableLinear": "linear",
    "Bilinear": "bilinear",
    "Embedding": "embedding",
    "LayerNorm": "layer_norm",
    "RMSNorm": "rms_norm",
    "GroupNorm": "group_norm",
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "MSELoss": "mse_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
}


def _in_layer(call: Step, step: Step, node: ast.AST | None, module_path: str | None) -> Failure:
    local = call.frame.f_locals
    layer: nn.Module = local["self"]
    args: tuple[Any, ...] = tuple(local.get("args", ()))
    kwargs: dict[str, Any] = dict(local.get("kwargs", {}))
    roles = list(inspect.signature(layer.forward).parameters)[: len(args)]
    roles += ["input"] * (len(args) - len(roles))
    keywords: dict[str, str]
    direct = isinstance(node, ast.Call) and lookup(node.func, step.frame) is layer
    if isinstance(node, ast.Call) and direct:
        name = ast.unparse(node.func)
        names = [ast.unparse(a) for a in node.args]
        if len(names) != len(args) or any(isinstance(a, ast.Starred) for a in node.args):
            names = roles
        keywords = {k.arg: ast.unparse(k.value) for k in node.keywords if k.arg}
    else:
        name, names, keywords = module_path or type(layer).__name__, roles, {}
    positional = [Value(short(n), r, v, lift(v)) for n, r, v in zip(names, roles, args, strict=True)]
    named = {role: Value(short(keywords.get(role, role)), role, v, lift(v)) for role, v in kwargs.items()}
    rule = rule_of(layer)
    judge: _Judge = _nobody
    if rule is not None:
        judge = partial(infer_module, rule, [v.known for v in positional], {k: v.known for k, v in named.items()})
    kind = type(layer).__name__
    return Failure(
        "",
        _LAYER_OPERATIONS.get(kind, kind),
        (*positional, *named.values()),
        layer,
        short(name),
        step,
        node,
        module_path,
        judge,
    )


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


def _in_expression(node: ast.AST | None, step: Step, below: Sequence[Step]) -> _Read:
    """The operation that an expression stands for, its operands, and the rule for it."""

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
            return _nothing()


def _nothing() -> _Read:
    return None, [], _nobody


def _value(part: ast.expr, role: str, step: Step) -> Value:
    found = lookup(part, step.frame)
    known = infer_expression(part, step.frame) if found is MISSING else lift(found)
    return Value(short(ast.unparse(part)), role, found, known)


def _operator(op: ast.AST, values: list[Value], *, in_place: bool = False) -> _Read:
    spoken, dunder = _SPOKEN.get(type(op)), OPERATORS.get(type(op)) or COMPARISONS.get(type(op))
    operands = [v.known for v in values]
    if dunder is None:
        return spoken, values, _nobody
    if isinstance(operands[0], TensorType):
        name = f"__i{dunder}__" if in_place else f"__{dunder}__"
    else:
        name, operands = f"__r{dunder}__", operands[::-1]
    return (
        f"{spoken}_" if in_place and spoken else spoken,
        values,
        partial(infer, f"Tensor.{name}", operands),
    )


def _subscript(node: ast.Subscript, step: Step) -> _Read:
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
        return "index", [*values, stored], partial(infer, "Tensor.__setitem__", [owner.known, index, stored.known])
    return "index", values, partial(infer, "Tensor.__getitem__", [owner.known, index])


def _in_call(node: ast.Call, step: Step, below: Sequence[Step]) -> _Read:
    function = lookup(node.func, step.frame)
    rule = None if function is MISSING else rule_name(function)
    if isinstance(function, type) and issubclass(function, nn.Module):
        return _construction(node, function, step)
    owner: list[Value] = []
    if isinstance(node.func, ast.Attribute):
        name = node.func.attr
        receiver = _value(node.func.value, "input", step)
        if isinstance(receiver.known, TensorType):
            owner, rule = [receiver], f"Tensor.{name}"
        elif receiver.value is MISSING and function is MISSING:
            owner = [receiver]
    elif isinstance(node.func, ast.Name):
        name = getattr(function, "__name__", node.func.id)
    else:
        return _nothing()
    arguments = _fill_gaps(_arguments(node, step, _roles(function, name, offset=len(owner))), below)
    values = [*owner, *(v for argument in arguments for v in argument.values)]
    if rule is None or any(a.is_spread for a in arguments):
        return name, values, _nobody
    args = [v.known for v in owner] + [a.known for a in arguments if a.keyword is None]
    kwargs = {a.keyword: a.known for a in arguments if a.keyword is not None}
    return name, values, partial(infer, rule, args, kwargs)


def _construction(node: ast.Call, cls: type[nn.Module], step: Step) -> _Read:
    """``nn.MultiheadAttention(7, 3)``: torch checks the arguments of some modules, and rules do."""
    arguments = _arguments(node, step, list(inspect.signature(cls).parameters))
    values = [v for argument in arguments for v in argument.values]
    name = public_class(cls)
    if name is None or any(a.is_spread for a in arguments):
        return cls.__name__, values, _nobody
    given = {(a.keyword or a.values[0].role): a.known for a in arguments if a.values}
    return cls.__name__, values, lambda: _report_only(new_module(name, given))


def _report_only(made: object) -> RuleValue | Report:
    return made if isinstance(made, Report) else ANYTHING


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
        """What rules know of it."""
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
        if argument.is_list or argument.is_spread:
            continue
        (v,) = argument.values
        if v.value is MISSING and v.role in local:
            argument.values = [Value(v.name, v.role, local[v.role], lift(local[v.role]))]
    return arguments
