"""Hints are tried before they are said: what a hint writes as code is applied to the call, and the rule is asked again.

A hint begins with its code, if it has any: an operand that is changed (``index.long()``), an argument
(``batch_first=True``), or the layer with other sizes (``Linear(128, 10) would fit``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Final, TypeAlias

from simpletorch.rules.core.dtype import DTYPES, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch, Report
from simpletorch.rules.core.registry import RULES, ModuleRule, Rule, answer, forward_rule, infer, prepared
from simpletorch.rules.core.values import ANYTHING, TensorType, Value

__all__ = ["most_fitting", "try_hint"]

_Arguments: TypeAlias = Mapping[str, Value]

_PROSE: Final = r" (?:would|adds|has|keeps|makes|gives|is|if|in|for|as)\b"
_CODE: Final = re.compile(rf"(.+?)(?:{_PROSE}.*|[,;:] .*)?", re.DOTALL)
_SHAPES: Final = ("shape", "broadcast")
_DTYPES: Final[Mapping[str, DType]] = {str(dtype.torch_name): dtype for dtype in DTYPES}


class _Untried(Exception):
    """The hint has no code, or code of which nothing is known."""


def most_fitting(entry: Rule, bound: _Arguments, first: Mismatch) -> str | None:
    """Of a mismatch's hints the first that helps; one that can't be tried counts, one that fails doesn't."""
    return next((hint for hint in first.hints if _fits(entry, bound, first.kind, hint) is not False), None)


def try_hint(
    rule: str | ModuleRule, args: Sequence[Value], kwargs: Mapping[str, Value], kind: str, hint: str
) -> bool | None:
    """Whether a call that was refused goes through with what a hint writes.

    Args:
        rule: the operation's name, or the layer.
        args: the arguments by place.
        kwargs: those by name.
        kind: the kind of the mismatch: a call that then fails for a reason of another kind is mended all the same.
        hint: the hint, with the operands by the names of the rule's parameters.

    Returns:
        None where the hint has nothing in it that can be tried.
    """
    if isinstance(rule, str):
        entry, given = RULES.get(rule), args
    else:
        # as in `infer_module`; mypy can't see that a class is hashable
        entry, given = forward_rule(type(rule)), (rule, *args)  # type: ignore[arg-type]
    if entry is None:
        return None
    try:
        _, _, bound = prepared(entry, given, kwargs)  # type: ignore[arg-type]
    except CannotTell:
        return None
    return _fits(entry, bound, kind, hint)


def _fits(entry: Rule, bound: _Arguments, kind: str, hint: str) -> bool | None:
    try:
        changed = _changed(_parsed(hint), bound)
    except _Untried:
        return None
    except Mismatch:
        return False
    unnamed, named = entry.binder.split(changed)
    if not named.keys() <= entry.binder.by_name:
        return False
    try:
        answer(entry, changed, unnamed, named)
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


def _changed(node: ast.expr, bound: _Arguments) -> _Arguments:
    """The arguments with what the code says."""
    layer = bound.get("self")
    match node:
        case ast.Call(func=ast.Name(id="_"), args=[], keywords=[ast.keyword(arg=str(name), value=given)]):
            value = _value(given, bound)
            settled = _with_field(layer, name, value) if isinstance(layer, ModuleRule) else None
            return {**bound, name: value} if settled is None else {**bound, "self": settled}
        case ast.Call(func=ast.Name(id=name), args=sizes, keywords=[]) if isinstance(layer, ModuleRule):
            return {**bound, "self": _resized(layer, name, [_value(size, bound) for size in sizes])}
        case ast.Call() | ast.Attribute() if (name := _root(node)) in bound:
            return {**bound, name: _value(node, bound)}
    raise _Untried


def _root(node: ast.expr) -> str:
    """The name that a chain of calls and attributes begins with."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _with_field(layer: ModuleRule, name: str, value: Value) -> ModuleRule | None:
    """The layer, or the one that it repeats, made with another argument; None if neither has it."""
    held = {f.name: getattr(layer, f.name) for f in fields(layer)}
    if name in held:
        return replace(layer, **{name: value})
    inner = {k: found for k, v in held.items() if isinstance(v, ModuleRule) and (found := _with_field(v, name, value))}
    return replace(layer, **inner) if inner else None


def _resized(layer: ModuleRule, name: str, sizes: Sequence[Value]) -> ModuleRule:
    own = fields(layer)
    if name != type(layer).names[0].rpartition(".")[2] or len(sizes) > len(own):
        raise _Untried
    return replace(layer, **{f.name: size for f, size in zip(own, sizes, strict=False)})


def _value(node: ast.expr, bound: _Arguments) -> Value:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case ast.Tuple(elts=items):
            return tuple(_value(item, bound) for item in items)
        case ast.Name(id=name) if name in bound:
            return bound[name]
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in _DTYPES:
            return _DTYPES[name]
        case ast.Attribute(value=owner, attr=name):
            return _attribute(_value(owner, bound), name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name), args=args, keywords=[]):
            return _known(infer(f"torch.{name}", [_value(a, bound) for a in args]))
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=[]):
            return _known(infer(f"Tensor.{name}", [_value(owner, bound), *(_value(a, bound) for a in args)]))
    raise _Untried


def _attribute(owner: Value, name: str) -> Value:
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
