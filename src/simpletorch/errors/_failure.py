"""A failed operation as far as it can be known: what was called, with which values, by what names."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import nn

from simpletorch.dtypes import dtype_of
from simpletorch.errors._frames import MISSING, Step, expression, is_torch, is_user, lookup
from simpletorch.errors._kinds import Operand
from simpletorch.errors._modules import CALL, chain, path

__all__ = ["Failure", "Value", "describe", "failure"]


@dataclass(frozen=True, slots=True)
class Value:
    """An argument: its name in the source, the parameter it is for, and itself."""

    name: str
    role: str
    value: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape, () for what is no tensor."""
        return tuple(self.value.shape) if isinstance(self.value, torch.Tensor) else ()


@dataclass(frozen=True, slots=True)
class Failure:
    """What is known of a failed operation. Everything may be missing but torch's message."""

    message: str
    operation: str | None = None
    values: tuple[Value, ...] = ()
    layer: nn.Module | None = None
    layer_name: str = ""
    step: Step | None = None
    node: ast.AST | None = None
    module_path: str | None = None

    @property
    def tensors(self) -> list[Value]:
        """The arguments that are tensors, in the order of the call."""
        return [v for v in self.values if isinstance(v.value, torch.Tensor)]

    def role(self, *names: str) -> Value | None:
        """The argument for the first of these parameters that has one."""
        return next((v for name in names for v in self.values if v.role == name and v.value is not MISSING), None)

    def tensor(self, index: int, *roles: str) -> Value | None:
        """The tensor that was given for one of ``roles``, else the ``index``-th tensor, if it is known."""
        found = self.role(*roles)
        if found is not None and isinstance(found.value, torch.Tensor):
            return found
        tensors = self.tensors
        return tensors[index] if index < len(tensors) and not self._has_gaps else None

    def with_shape(self, shape: Sequence[int]) -> Value | None:
        """The one tensor among the arguments that has this shape."""
        found = [v for v in self.tensors if v.shape == tuple(shape)]
        return found[0] if len(found) == 1 else None

    @property
    def _has_gaps(self) -> bool:
        return any(v.value is MISSING for v in self.values)

    def operands(self) -> list[Operand]:
        """The tensors and the layer, described."""
        out = [describe(v.name, v.value) for v in self.tensors]
        if self.layer is not None:
            out.append(Operand(self.layer_name, text=_layer_text(self.layer)))
        return out


def describe(name: str, value: object) -> Operand:
    """An operand for a value: a tensor's dtype, shape and device; of anything else its class."""
    if isinstance(value, torch.Tensor):
        return Operand(name, dtype_name(value.dtype), tuple(value.shape), str(value.device))
    return Operand(name, text=type(value).__name__)


def dtype_name(dtype: torch.dtype) -> str:
    """The name of a dtype in annotations; torch's where we have none."""
    try:
        return dtype_of(dtype).__name__
    except TypeError:
        return str(dtype).removeprefix("torch.")


def _layer_text(layer: nn.Module) -> str:
    text = repr(layer).replace(", bias=True", "")
    return text if "\n" not in text and len(text) <= 120 else f"{type(layer).__name__}(…)"


def failure(message: str, inner: Sequence[Step], outer: Sequence[Step]) -> Failure:
    """Find out what failed.

    Args:
        message: torch's.
        inner: the frames from the border to the failure.
        outer: the frames still running around the border, from the inside out.
    """
    at = next((i for i in reversed(range(len(inner))) if is_user(inner[i].frame.f_code)), -1)
    step = inner[at] if at >= 0 else next((s for s in outer if is_user(s.frame.f_code)), None)
    node = None if step is None else expression(step)
    modules = chain(outer, inner)
    module_path = path(modules, [*reversed(inner), *outer])
    below = inner[at + 1 :]
    layer_step = _layer_step(modules, below)
    if layer_step is not None and step is not None:
        return _in_layer(message, layer_step, step, node, module_path)
    if step is None:
        return Failure(message, module_path=module_path)
    operation, values = _in_expression(node, step, below)
    return Failure(message, operation, tuple(values), step=step, node=node, module_path=module_path)


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


def _in_layer(message: str, call: Step, step: Step, node: ast.AST | None, module_path: str | None) -> Failure:
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
    values = [Value(_short(n), r, v) for n, r, v in zip(names, roles, args, strict=True)]
    values += [Value(_short(keywords.get(role, role)), role, v) for role, v in kwargs.items()]
    kind = type(layer).__name__
    return Failure(
        message,
        _LAYER_OPERATIONS.get(kind, kind),
        tuple(values),
        layer,
        _short(name),
        step,
        node,
        module_path,
    )


_BINARY: Final[dict[type, str]] = {
    ast.MatMult: "matmul",
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "bitwise_left_shift",
    ast.RShift: "bitwise_right_shift",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Invert: "bitwise_not",
    ast.USub: "neg",
}


def _in_expression(node: ast.AST | None, step: Step, below: Sequence[Step]) -> tuple[str | None, list[Value]]:
    """The operation that an expression stands for, and its operands."""
    frame = step.frame

    def value(part: ast.expr, role: str) -> Value:
        return Value(_short(ast.unparse(part)), role, lookup(part, frame))

    match node:
        case ast.Call():
            return _in_call(node, step, below)
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY.get(type(op)), [value(left, "input"), value(right, "other")]
        case ast.AugAssign(target=left, op=op, value=right):
            name = _BINARY.get(type(op))
            return f"{name}_" if name else None, [value(left, "input"), value(right, "other")]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _BINARY.get(type(op)), [value(left, "input"), value(right, "other")]
        case ast.UnaryOp(op=op, operand=operand):
            return _BINARY.get(type(op)), [value(operand, "input")]
        case ast.Subscript(value=owner, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            values = [value(owner, "input"), *(value(p, "index") for p in parts if not isinstance(p, ast.Slice))]
            assignment = getattr(node, "parent", None)  # set by executing
            if isinstance(assignment, ast.Assign):
                values.append(value(assignment.value, "value"))
            return "index", values
        case _:
            return None, []


def _in_call(node: ast.Call, step: Step, below: Sequence[Step]) -> tuple[str | None, list[Value]]:
    function = lookup(node.func, step.frame)
    values: list[Value] = []
    if isinstance(node.func, ast.Attribute):
        name = node.func.attr
        owner = lookup(node.func.value, step.frame)
        if isinstance(owner, torch.Tensor) or (owner is MISSING and function is MISSING):
            values.append(Value(_short(ast.unparse(node.func.value)), "input", owner))
    elif isinstance(node.func, ast.Name):
        name = getattr(function, "__name__", node.func.id)
    else:
        return None, []
    values += _arguments(node, step, _roles(function, name, offset=len(values)))
    return name, _fill_gaps(values, below)


def _roles(function: Any, name: str, offset: int) -> list[str]:
    """The names of a function's parameters from ``offset`` on; torch's C functions tell none, so by the usual ones."""
    if inspect.isfunction(function):
        try:
            return list(inspect.signature(function).parameters)
        except (ValueError, TypeError):
            pass
    usual = ["tensors"] if name in ("cat", "concat", "concatenate", "stack", "hstack", "vstack") else ["input", "other"]
    return usual[offset:]


def _arguments(node: ast.Call, step: Step, roles: Sequence[str]) -> Iterator[Value]:
    for position, argument in enumerate(node.args):
        if isinstance(argument, ast.Starred):
            continue
        role = roles[position] if position < len(roles) else str(position)
        yield from _expanded(argument, role, step)
    for keyword in node.keywords:
        if keyword.arg is not None:
            yield from _expanded(keyword.value, keyword.arg, step)


def _expanded(argument: ast.expr, role: str, step: Step) -> Iterator[Value]:
    """An argument; a list of tensors, written out or in a variable, as its items."""
    if isinstance(argument, ast.List | ast.Tuple):
        for item in argument.elts:
            yield Value(_short(ast.unparse(item)), role, lookup(item, step.frame))
        return
    value, name = lookup(argument, step.frame), ast.unparse(argument)
    if type(value) in (list, tuple) and value and all(isinstance(v, torch.Tensor) for v in value):
        for i, item in enumerate(value[:8]):
            yield Value(f"{name}[{i}]", role, item)
    else:
        yield Value(_short(name), role, value)


def _fill_gaps(values: list[Value], below: Sequence[Step]) -> list[Value]:
    """Operands that are expressions themselves: the torch function that got them has them as its locals."""
    if not below or not is_torch(below[0].frame.f_code):
        return values
    local = below[0].frame.f_locals
    return [
        Value(v.name, v.role, local.get(v.role, MISSING)) if v.value is MISSING and v.role in local else v
        for v in values
    ]


def _short(name: str) -> str:
    return name if len(name) <= 48 else name[:47] + "…"
