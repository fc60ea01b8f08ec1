"""Modules that are converted in place: after ``model.half()`` the dtype that the constructor was given is history.

The type of a variable can't change at that statement, so what is known of a dtype or device isn't used for a variable,
attribute or class that the file converts anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, TypeAlias, cast

from mypy.nodes import (
    CallExpr,
    Expression,
    IndexExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    RefExpr,
    SymbolNode,
    TypeInfo,
    Var,
)
from mypy.plugin import CheckerPluginInterface

from simpletorch.mypy.program.constants import constant
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_of
from simpletorch.rules import ANYTHING, ModuleRule
from simpletorch.rules.core.dtype import BY_TORCH_NAME

__all__ = ["as_cast"]

_TO_DTYPE: Final = frozenset({"half", "double", "bfloat16", "float", "type"})
_TO_DEVICE: Final = frozenset({"cuda", "cpu", "xpu", "ipu", "mtia", "to", "to_empty"})
_DEFAULT_DTYPE: Final = "set_default_dtype"

Converted: TypeAlias = frozenset[SymbolNode | str | None]


def _converted(node: Expression, tree: MypyFile) -> Iterator[SymbolNode | str]:
    match node:
        case MemberExpr(name=name):
            yield name
        case NameExpr(node=Var() as variable):
            yield variable
            once = constant(node, tree)
            if isinstance(once, CallExpr):
                yield from _class_of(once)
        case CallExpr():
            yield from _class_of(node)


def _has_dtype(call: CallExpr) -> bool:
    """Whether ``.to(...)`` may be given a dtype."""
    return "dtype" in call.arg_names or any(
        isinstance(a, NameExpr | MemberExpr) and (a.name in BY_TORCH_NAME or "dtype" in a.name) for a in call.args
    )


def _class_of(call: CallExpr) -> Iterator[SymbolNode]:
    # the types of torch's own classes follow the conversion of a new object
    made = call.callee.node if isinstance(call.callee, RefExpr) else None
    if isinstance(made, TypeInfo) and not made.fullname.startswith("torch."):
        yield made


@once_a_tree
def _conversions(tree: MypyFile) -> tuple[Converted, Converted]:
    """The objects that the file converts to another dtype, and to another device; ``None`` stands for everything."""
    by_dtype: set[SymbolNode | str | None] = set()
    by_device: set[SymbolNode | str | None] = set()
    for call in all_of(CallExpr, tree):
        if not isinstance(call.callee, NameExpr | MemberExpr):
            continue
        name = call.callee.name
        if name == _DEFAULT_DTYPE:
            by_dtype.add(None)
        elif isinstance(call.callee, MemberExpr):
            if name in _TO_DTYPE or (name == "to" and _has_dtype(call)):
                by_dtype.update(_converted(call.callee.expr, tree))
            if name in _TO_DEVICE:
                by_device.update(_converted(call.callee.expr, tree))
    return frozenset(by_dtype), frozenset(by_device)


def _chain(node: Expression) -> Iterator[SymbolNode | str | None]:
    """The names in an expression: for ``net.encoder.fc``, the two attributes and the variable ``net``."""
    while isinstance(node, MemberExpr | IndexExpr):
        if isinstance(node, MemberExpr):
            yield node.name
            node = node.expr
        else:
            node = node.base
    if isinstance(node, NameExpr):
        yield node.node


def _is_among(node: Expression, found: Converted, api: CheckerPluginInterface) -> bool:
    """Whether these hold the module that the expression stands for, or one that it is part of."""
    return bool(found) and (None in found or any(p in found for p in (*_chain(node), *_classes(api))))


def _classes(api: CheckerPluginInterface) -> list[TypeInfo]:
    return [node for node in cast(Any, api).scope.stack if isinstance(node, TypeInfo)]


def as_cast(rule: ModuleRule, node: Expression, api: CheckerPluginInterface) -> ModuleRule:
    """The module that an expression stands for, without the dtype and device that it may have no more."""
    if not hasattr(rule, "dtype"):
        return rule
    by_dtype, by_device = _conversions(cast(Any, api).tree)
    changes = {}
    if _is_among(node, by_dtype, api):
        changes["dtype"] = ANYTHING
    if _is_among(node, by_device, api):
        changes["device"] = ANYTHING
    return replace(rule, **changes) if changes else rule
