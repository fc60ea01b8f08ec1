"""From the frames of a traceback to the failed operation or layer, its operands and its place."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import torch
from torch import nn

from simpletorch.errors._compiled import compiled_failure
from simpletorch.errors._description import short
from simpletorch.errors._failure import Failure, Judge, Value
from simpletorch.errors._lift import lift, rule_name, rule_of
from simpletorch.errors._lookup import lookup
from simpletorch.errors._module_path import CALL, modules_in, path_of
from simpletorch.errors._operation import UNKNOWN_OPERATION, Operation, operation_in
from simpletorch.errors._origin import is_from_compiler
from simpletorch.errors._source import expression, location
from simpletorch.errors._stack import Step, is_torch, is_user, steps, user_step
from simpletorch.rules import Report, infer_module

__all__ = ["diagnosis"]


def diagnosis(error: BaseException, inner: Sequence[Step], outer: Sequence[Step]) -> Failure:
    """Find out what failed.

    Args:
        error: torch's.
        inner: the frames from the border to the failure.
        outer: the frames still running around the border, from the inside out.
    """
    at = next((i for i in reversed(range(len(inner))) if is_user(inner[i].frame.f_code)), -1)
    step = inner[at] if at >= 0 else user_step(outer)
    node = None if step is None else expression(step)
    frames = [*reversed(inner), *outer]
    modules = modules_in(outer, inner)
    module_path = path_of(modules, frames)
    below = inner[at + 1 :]
    # the layer that the program called comes first, though the failure may lie deeper
    layer_step = _objecting_step(below) or _layer_step(modules, below)
    if is_from_compiler(error):
        return _compiled(error, inner, modules, module_path)
    if layer_step is not None and step is not None:
        found = _in_layer(layer_step, step, node, module_path)
    else:
        # no code of the user's below the border: it was simpletorch that called torch
        own = steps(error.__traceback__) if at < 0 else ()
        said = _objecting_operation(own) or _called_function(own)
        said = said or (UNKNOWN_OPERATION if step is None else operation_in(node, step, below))
        found = Failure(
            "", said.name, tuple(said.values), step=step, node=node, module_path=module_path, judge=said.judge
        )
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
    return ((path_of(modules[:1], frames) or type(modules[0]).__name__, modules[0]),) if modules else ()


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


def _objecting_operation(frames: Sequence[Step]) -> Operation | None:
    """An operation that simpletorch called for the user, such as a trainer's loss, if its rule objects."""
    for i in reversed(range(len(frames))):
        if not is_torch(frames[i].frame.f_code):
            said = operation_in(expression(frames[i]), frames[i], frames[i + 1 :])
            return said if isinstance(said.judge(), Report) else None
    return None


def _called_function(frames: Sequence[Step]) -> Operation | None:
    """The function of torch's that simpletorch called for the user, by torch's parameters, if it has a rule.

    Only the values say what is wrong with it: a label that is no class. A partial of a function leaves no frame, so the
    function's own is read.
    """
    last = next((i for i in reversed(range(len(frames))) if not is_torch(frames[i].frame.f_code)), len(frames))
    if last + 1 >= len(frames):
        return None
    frame = frames[last + 1].frame
    code, local = frame.f_code, frame.f_locals
    rule = rule_name(frame.f_globals.get(code.co_name))
    if rule is None:
        return None
    roles = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name in local]
    values = [Value(role, role, local[role], lift(local[role])) for role in roles]
    return Operation(code.co_name, values, Judge(rule, [], {v.role: v.known for v in values}))


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
    judge = Judge()
    if rule is not None:
        judge = Judge(rule, [v.known for v in positional], {k: v.known for k, v in named.items()})
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
