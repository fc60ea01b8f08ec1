"""Hints are tried before they are said: what a hint writes as code is applied to the call, and the rule is asked again.

A hint begins with its code, if it has any: an operand that is changed (``index.long()``), an argument
(``batch_first=True``), or the layer with other sizes (``Linear(128, 10) would fit``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final, TypeAlias

from simpletorch.rules.core.dtype import DTYPES, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch, Report
from simpletorch.rules.core.values import ANYTHING, TensorType, Value

__all__ = ["Arguments", "Infer", "fits", "most_fitting"]

Arguments: TypeAlias = Mapping[str, Value]
Infer: TypeAlias = "Callable[[str, Sequence[Value]], Value | Report]"

_PROSE: Final = r" (?:would|adds|has|keeps|makes|gives|is|if|in|for|as)\b"
_CODE: Final = re.compile(rf"(.+?)(?:{_PROSE}.*|[,;:] .*)?", re.DOTALL)
_SHAPES: Final = ("shape", "broadcast")
_DTYPES: Final[Mapping[str, DType]] = {str(dtype.torch_name): dtype for dtype in DTYPES}


class _Untried(Exception):
    """The hint has no code, or its code has an unknown result."""


def most_fitting(hints: Iterable[str], fits: Callable[[str], bool | None]) -> str | None:
    """The first hint that helps; one that can't be tried counts, one that fails doesn't."""
    return next((hint for hint in hints if fits(hint) is not False), None)


def fits(kind: str, hint: str, bound: Arguments, ask: Callable[[Arguments], Value], infer: Infer) -> bool | None:
    """Whether a call that was refused goes through with what a hint writes; None if that can't be tried.

    Args:
        kind: of the mismatch: a call that then fails for a reason of another kind is mended all the same.
        hint: what is said, with the operands by the names of the rule's parameters.
        bound: the arguments by name; a layer is the argument ``self``.
        ask: asks the rule about other arguments, and raises what it raises.
        infer: what another operation gives, by its name.
    """
    try:
        changed = _changed(_parsed(hint), bound, infer)
    except _Untried:
        return None
    except Mismatch:
        return False
    try:
        ask(changed)
    except CannotTell:
        pass
    except Mismatch as second:
        return second.kind != kind and not (second.kind in _SHAPES and kind in _SHAPES)
    return True


def _parsed(hint: str) -> ast.expr:
    found = _CODE.fullmatch(hint)
    code = "" if found is None else found[1]
    for text in (code, f"_({code})"):  # the second for an argument: ``batch_first=True``
        try:
            return ast.parse(text, mode="eval").body
        except SyntaxError:
            continue
    raise _Untried


def _changed(node: ast.expr, bound: Arguments, infer: Infer) -> Arguments:
    """The arguments with what the code says."""
    layer = bound.get("self")
    match node:
        case ast.Call(func=ast.Name(id="_"), args=[], keywords=[ast.keyword(arg=str(name), value=given)]):
            value = _value(given, bound, infer)
            settled = _with_field(layer, name, value) if _is_layer(layer) else None
            return {**bound, name: value} if settled is None else {**bound, "self": settled}
        case ast.Call(func=ast.Name(id=name), args=sizes, keywords=[]) if _is_layer(layer):
            return {**bound, "self": _resized(layer, name, [_value(size, bound, infer) for size in sizes])}
        case ast.Call() | ast.Attribute() if (name := _root(node)) in bound:
            return {**bound, name: _value(node, bound, infer)}
    raise _Untried


def _root(node: ast.expr) -> str:
    """The name that a chain of calls and attributes begins with."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_layer(value: Any) -> bool:
    return hasattr(type(value), "takes_parameters_dtype")  # a `ModuleRule`, which asks this module


def _with_field(layer: Any, name: str, value: Value) -> Any:
    """The layer, or the one that it repeats, made with another argument; None if neither has it."""
    held = {f.name: getattr(layer, f.name) for f in fields(layer)}
    if name in held:
        return replace(layer, **{name: value})
    inner = {k: found for k, v in held.items() if _is_layer(v) and (found := _with_field(v, name, value))}
    return replace(layer, **inner) if inner else None


def _resized(layer: Any, name: str, sizes: Sequence[Value]) -> Any:
    own = fields(layer)
    if name != type(layer).names[0].rpartition(".")[2] or len(sizes) > len(own):
        raise _Untried
    return replace(layer, **{f.name: size for f, size in zip(own, sizes, strict=False)})


def _value(node: ast.expr, bound: Arguments, infer: Infer) -> Value:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case ast.Tuple(elts=items):
            return tuple(_value(item, bound, infer) for item in items)
        case ast.Name(id=name) if name in bound:
            return bound[name]
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in _DTYPES:
            return _DTYPES[name]
        case ast.Attribute(value=owner, attr=name):
            return _attribute(_value(owner, bound, infer), name, infer)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name), args=args, keywords=[]):
            return _known(infer(f"torch.{name}", [_value(a, bound, infer) for a in args]))
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=[]):
            return _known(infer(f"Tensor.{name}", [_value(o, bound, infer) for o in (owner, *args)]))
    raise _Untried


def _attribute(owner: Value, name: str, infer: Infer) -> Value:
    if not isinstance(owner, TensorType):
        raise _Untried
    if name == "dtype":
        return ANYTHING if owner.dtype is None else owner.dtype
    return _known(infer(f"Tensor.{name}", [owner]))


def _known(found: Value | Report) -> Value:
    """A step of the code that fails itself is no way at all; of one that isn't known nothing can be said."""
    if isinstance(found, Report):
        raise Mismatch(found.reason, kind=found.kind)
    if found is ANYTHING:
        raise _Untried
    return found
