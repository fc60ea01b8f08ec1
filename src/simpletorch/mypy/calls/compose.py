"""``Compose([RandomCrop(32), ToTensor()])``: what an image becomes on its way through the transforms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mypy.nodes import ListExpr, StarExpr, TupleExpr
from mypy.plugin import FunctionSigContext, MethodSigContext
from mypy.types import AnyType, CallableType, Instance, Type, get_proper_type

from simpletorch.mypy.calls.arguments import type_of
from simpletorch.mypy.calls.layers import chain, repeated
from simpletorch.mypy.hooks import FunctionHook, MethodHook
from simpletorch.mypy.types import TypeTable

__all__ = ["FUNCTIONS", "METHODS"]

_COMPOSE: Final = "simpletorch.transforms._compose.Compose"


def _construct(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """The type of a `Compose` says which transforms it applies, if they are written at its call."""
    signature = context.default_signature
    made = get_proper_type(signature.ret_type)
    given = context.args[0][0] if context.args and len(context.args[0]) == 1 else None
    if not isinstance(made, Instance) or not made.type.type_vars:
        return signature
    parts: list[Type] = [types.any_rest()]
    if isinstance(given, ListExpr | TupleExpr) and not any(isinstance(item, StarExpr) for item in given.items):
        parts = [type_of(item, context.api) for item in given.items]
    return signature.copy_modified(ret_type=made.copy_modified(args=parts), variables=[])


def _call(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``augment(image)``: through one after the other."""
    signature, receiver = context.default_signature, get_proper_type(context.type)
    image = context.args[0][0] if context.args and len(context.args[0]) == 1 else None
    if not isinstance(receiver, Instance) or image is None or not isinstance(signature, CallableType):
        return signature
    if any(isinstance(get_proper_type(part), AnyType) or repeated(part) is not None for part in receiver.args):
        return signature
    result = chain(receiver.args, type_of(image, context.api), context.context, context.api)
    return signature if result is None else signature.copy_modified(ret_type=result)


FUNCTIONS: Final[Mapping[str, FunctionHook]] = {_COMPOSE: _construct}
METHODS: Final[Mapping[str, MethodHook]] = {f"{_COMPOSE}.__call__": _call}
