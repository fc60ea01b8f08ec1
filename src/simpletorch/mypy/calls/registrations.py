"""Attributes that a module gets by name: ``self.register_buffer("mask", torch.ones(3, 3))`` makes ``self.mask``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mypy.nodes import MDEF, CallExpr, MemberExpr, NameExpr, StrExpr, SymbolTableNode, TypeInfo, Var
from mypy.plugin import MethodSigContext
from mypy.types import CallableType, Instance, NoneType, Type, get_proper_type

from simpletorch.mypy.calls.arguments import type_of
from simpletorch.mypy.convert.lift import is_module, is_tensor
from simpletorch.mypy.diagnose.inferred import widen
from simpletorch.mypy.hooks import MethodHook
from simpletorch.mypy.names import MODULE
from simpletorch.mypy.types import TypeTable

__all__ = ["INHERITED_METHODS"]


def _register(context: MethodSigContext, types: TypeTable) -> CallableType:
    """Note the attribute in the class, with the type of what is registered."""
    signature = context.default_signature
    receiver = get_proper_type(context.type)
    named = context.args[0] if context.args else []
    if len(context.args) < 2 or len(named) != 1 or not isinstance(named[0], StrExpr) or not context.args[1]:
        return signature
    if isinstance(receiver, Instance) and _is_self(context):
        found = _registered(type_of(context.args[1][0], context.api), types)
        if found is not None:
            _define(named[0].value, found, receiver.type, types)
    return signature


def _is_self(context: MethodSigContext) -> bool:
    match context.context:
        case CallExpr(callee=MemberExpr(expr=NameExpr(node=Var(is_self=True)))):
            return True
    return False


def _registered(given: Type, types: TypeTable) -> Type | None:
    """The attribute's type: what is registered; for None a tensor that comes later."""
    given = get_proper_type(given)
    if isinstance(given, NoneType):
        return types.any_tensor()
    return given if is_tensor(given) or is_module(given) else None


def _define(name: str, typ: Type, info: TypeInfo, types: TypeTable) -> None:
    symbol = info.get(name)
    node = None if symbol is None else symbol.node
    if node is None:
        variable = Var(name, typ)
        variable.info = info
        variable._fullname = f"{info.fullname}.{name}"
        variable.is_inferred = True
        info.names[name] = SymbolTableNode(MDEF, variable, implicit=True)
    elif isinstance(node, Var) and node.is_inferred and node.info is info and node.type != typ:
        node.type = widen(node.type or typ, types)  # without a type: a method assigns it, which hasn't been read yet


INHERITED_METHODS: Final[Mapping[str, MethodHook]] = {
    f"{MODULE}.{method}": _register
    for method in ("register_buffer", "register_parameter", "add_module", "register_module")
}
