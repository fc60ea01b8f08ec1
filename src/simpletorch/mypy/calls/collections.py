"""Python's own lists and dicts of tensors: once something unknown was put there, nothing is known of what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mypy.plugin import MethodSigContext
from mypy.types import AnyType, FunctionLike, Instance, Type, UnionType, get_proper_type

from simpletorch.mypy.calls.arguments import type_of
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.diagnose.inferred import widen_place
from simpletorch.mypy.hooks import MethodHook
from simpletorch.mypy.types import TypeTable, walk

__all__ = ["METHODS"]


def _put(context: MethodSigContext, types: TypeTable) -> FunctionLike:
    """``skips.append(layer(x))``, where the result of ``layer`` is unknown, after ``skips = [x]``."""
    receiver = get_proper_type(context.type)
    if not isinstance(receiver, Instance) or not any(is_tensor(part) for a in receiver.args for part in walk(a)):
        return context.default_signature
    given = [type_of(node, context.api) for nodes in context.args for node in nodes]
    if any(_may_be_anything(typ) for typ in given):
        widen_place(context.context.line, context.api)
    return context.default_signature


def _may_be_anything(typ: Type) -> bool:
    """Whether the type is Any, or a union with it, or a collection of such things."""
    typ = get_proper_type(typ)
    match typ:
        case AnyType():
            return True
        case UnionType(items=items):
            return any(map(_may_be_anything, items))
        case Instance(args=args) if typ.type.fullname.startswith("builtins."):
            return any(map(_may_be_anything, args))
    return False


METHODS: Final[Mapping[str, MethodHook]] = {
    **{f"builtins.list.{name}": _put for name in ("append", "extend", "insert", "__setitem__", "__iadd__")},
    **{f"builtins.dict.{name}": _put for name in ("setdefault", "update", "__setitem__")},
    **{f"collections.deque.{name}": _put for name in ("append", "appendleft", "extend")},
}
