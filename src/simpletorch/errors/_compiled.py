"""Failures while torch.compile traces: the program's frames aren't on the stack, dynamo has them in its own objects."""

from __future__ import annotations

import ast
import linecache
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from traceback import FrameSummary
from types import BuiltinFunctionType
from typing import Any, Final

import torch
from torch import nn

from simpletorch.errors._description import short
from simpletorch.errors._failure import Failure, Judge, Value
from simpletorch.errors._fields import Location
from simpletorch.errors._lift import lift, rule_name, rule_of
from simpletorch.errors._source import relative
from simpletorch.errors._stack import Step, is_user_file
from simpletorch.rules import ANYTHING

__all__ = ["compiled_failure"]

# Where dynamo runs a node of its graph with fake tensors. Private, and nothing public tells the operation that failed;
# without it (a rename) the error keeps torch's own text and the place in the program.
_RUNS_NODE: Final = "_get_fake_value_impl"
_COMPILES: Final = "_compile"  # has the arguments of the function being compiled
# how dynamo quotes the exception of the operation that it ran with fake tensors (torch/_dynamo/utils.py)
_SAID: Final = re.compile(r"got (\w+)\((['\"])(.*?)\2\)\s*$", re.MULTILINE)
_OPERATORS: Final = frozenset(f for f in vars(operator).values() if isinstance(f, BuiltinFunctionType))


def compiled_failure(error: BaseException, inner: Sequence[Step], modules: Sequence[nn.Module]) -> Failure:
    """The failure while a model or function was compiled.

    Args:
        error: dynamo's.
        inner: the frames from the border to the failure, dynamo's own.
        modules: the modules being called when the compiler came in.
    """
    said = _SAID.search(str(error))
    summary = _user_frame(error)
    node = None if summary is None else _node(summary)
    found = Failure(
        said[3] if said else str(error),
        node=node,
        location=None if summary is None else _location(summary),
        error=error,
    )
    local = next((s.frame.f_locals for s in reversed(inner) if s.frame.f_code.co_name == _RUNS_NODE), None)
    if local is None or "args" not in local:
        return found
    compiling = next((s.frame.f_locals for s in inner if s.frame.f_code.co_name == _COMPILES), {})
    arguments = compiling.get("locals")
    layer, path = _layer(local["tx"], modules, arguments if isinstance(arguments, dict) else {})
    return _with_operation(found, local, node, layer, path)


def _user_frame(error: BaseException) -> FrameSummary | None:
    # where dynamo puts the program's frames, which it traces and doesn't run (torch/_dynamo/exc.py)
    stack = list(getattr(error, "real_stack", None) or ())
    return next((s for s in reversed(stack) if is_user_file(s.filename)), None)


def _node(summary: FrameSummary) -> ast.expr | None:
    """The expression at a frame's columns."""
    start, end = getattr(summary, "colno", None), getattr(summary, "end_colno", None)
    try:
        tree = ast.parse("".join(linecache.getlines(summary.filename)))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and (node.lineno, node.col_offset, node.end_col_offset) == (
            summary.lineno,
            start,
            end,
        ):
            return node
    return None


def _location(summary: FrameSummary) -> Location:
    line = linecache.getline(summary.filename, summary.lineno or 0)
    start, end = getattr(summary, "colno", None), getattr(summary, "end_colno", None)
    # columns count bytes of UTF-8, not characters
    failing = line.encode()[start:end].decode(errors="replace") if start is not None and end is not None else ""
    return Location(
        relative(summary.filename),
        summary.lineno or 0,
        line.strip(),
        summary.name,
        summary.lineno,
        start,
        end,
        failing.strip(),
    )


def _layer(tx: Any, modules: Sequence[nn.Module], arguments: Mapping[str, Any]) -> tuple[nn.Module | None, str | None]:
    """The innermost module that was being traced, and its path below the outermost one."""
    stack = list(getattr(tx, "nn_module_stack", {}).values())
    if not stack:
        return None, None
    # dynamo names a module by how it is reached: ``L['self']._modules['fc']``
    where = re.sub(r"\._modules\['([^']*)'\]", r".\1", stack[-1][0])
    found = re.match(r"L\['(\w+)'\](?:\.(.*))?$", where)
    if found is None:
        return None, None
    root = modules[-1] if modules else None
    path = found[2] or ""
    if root is None or found[1] != "self":
        root = arguments.get(found[1], root)
        path = f"{found[1]}.{path}".rstrip(".")
    if not isinstance(root, nn.Module):
        return None, path
    try:
        return root.get_submodule(found[2] or ""), path
    except AttributeError:
        return None, path


def _with_operation(
    found: Failure, local: Mapping[str, Any], node: ast.expr | None, layer: nn.Module | None, path: str | None
) -> Failure:
    args, kwargs = tuple(local["args"]), dict(local.get("kwargs") or {})
    rule = None if layer is None else rule_of(layer)
    if layer is not None and rule is not None:
        # dynamo traces through a layer to the functional call, which has the layer's weights among its arguments
        tensors = [a for a in args if isinstance(a, torch.Tensor) and not isinstance(a, nn.Parameter)]
        names = _argument_names(node, len(tensors)) if _is_call_of(node, path) else ["input"] * len(tensors)
        values = [Value(n, "input", a, lift(a)) for n, a in zip(names, tensors, strict=True)]
        judge = Judge(rule, [v.known for v in values])
        name = ast.unparse(node.func) if isinstance(node, ast.Call) and _is_call_of(node, path) else path or ""
        return replace(found, values=tuple(values), layer=layer, layer_name=name, module_path=path, judge=judge)
    name, spoken = _rule_of_node(local["node"])
    flat = [b for a in args for b in (a if isinstance(a, list | tuple) else [a]) if isinstance(b, torch.Tensor)]
    names = _argument_names(node, len(flat))
    values = [Value(n, n, a, lift(a)) for n, a in zip(names, flat, strict=True)]
    # by identity: ``==`` of tensors is a tensor
    known = {id(v.value): v.known for v in values}
    judge = Judge(name, [_known(a, known) for a in args], {k: _known(v, known) for k, v in kwargs.items()})
    return replace(found, operation=spoken, values=tuple(values), module_path=path, judge=judge)


def _known(value: Any, known: Mapping[int, Any]) -> Any:
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, list | tuple):
        return tuple(_known(v, known) for v in value)
    return lift(value) if not isinstance(value, torch.Tensor) else ANYTHING


def _is_call_of(node: ast.expr | None, path: str | None) -> bool:
    """Whether the program calls the layer itself: ``self.fc(x)``, not a `Sequential` that holds it."""
    return isinstance(node, ast.Call) and path is not None and f".{ast.unparse(node.func)}".endswith(f".{path}")


def _rule_of_node(node: Any) -> tuple[str, str]:
    """The rule's name and the spoken one of an operation in dynamo's graph."""
    if node.op == "call_method":
        return f"Tensor.{node.target}", str(node.target)
    name = getattr(node.target, "__name__", str(node.target))
    if node.target in _OPERATORS:
        return f"Tensor.__{name.strip('_')}__", name.strip("_")
    return rule_name(node.target) or "", name


def _argument_names(node: ast.expr | None, count: int) -> list[str]:
    """The operands' names in the program, ``operand 1`` where unknown."""
    parts: list[ast.expr] = []
    match node:
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Call(func=function, args=args):
            parts = [a for arg in args for a in (arg.elts if isinstance(arg, ast.List | ast.Tuple) else [arg])]
            parts = [p for p in parts if not isinstance(p, ast.Constant | ast.Starred)]
            if len(parts) == count - 1 and isinstance(function, ast.Attribute):
                parts = [function.value, *parts]
        case ast.Subscript(value=owner):
            parts = [owner]
    names = [short(ast.unparse(p)) for p in parts]
    return names[:count] if len(names) >= count else [f"operand {i + 1}" for i in range(count)]
