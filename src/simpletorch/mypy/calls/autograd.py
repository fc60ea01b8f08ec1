"""``Square.apply(x)`` of an ``autograd.Function``: what ``forward`` takes and gives.

Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.Function
"""

from __future__ import annotations

from typing import Final

from mypy.nodes import Decorator, FuncDef, SymbolNode, TypeInfo
from mypy.plugin import AttributeContext
from mypy.types import AnyType, CallableType, Instance, Type, TypeType, get_proper_type

from simpletorch.mypy.calls.functions import has_sizes
from simpletorch.mypy.types import TypeTable

__all__ = ["apply", "is_apply"]

_FUNCTION: Final = "torch.autograd.function.Function"
_OF_TORCH: Final = "torch.autograd.function."


def is_apply(fullname: str) -> bool:
    """Whether a class attribute may be the ``apply`` of a function of the user's."""
    return fullname.endswith(".apply") and not fullname.startswith("torch.")


def apply(context: AttributeContext, types: TypeTable) -> Type:
    """The type of ``Square.apply``.

    A ``forward`` that states no size says only what it gives: programs pass what its annotations don't mention.
    """
    info, anything = _class_of(context), get_proper_type(context.default_attr_type)
    if info is None or not info.has_base(_FUNCTION) or not isinstance(anything, CallableType):
        return context.default_attr_type
    forward = _annotated(_defined("forward", info))
    if forward is None:
        return anything
    if not has_sizes(forward):
        return anything.copy_modified(ret_type=forward.ret_type)
    if _defined("setup_context", info) is None:  # then the context comes first
        if not forward.arg_types:
            return anything
        kinds, names = forward.arg_kinds[1:], forward.arg_names[1:]
        return forward.copy_modified(arg_types=forward.arg_types[1:], arg_kinds=kinds, arg_names=names)
    return forward


def _class_of(context: AttributeContext) -> TypeInfo | None:
    """The class in ``Square.apply``, or in ``cls.apply``."""
    owner = context.type
    if isinstance(owner, CallableType) and owner.is_type_obj():
        return owner.type_object()
    item = owner.item if isinstance(owner, TypeType) else None
    return item.type if isinstance(item, Instance) else None


def _defined(name: str, info: TypeInfo) -> SymbolNode | None:
    """A method that the program has written; None for what it inherits from torch."""
    symbol = info.get(name)
    node = None if symbol is None else symbol.node
    return None if node is None or node.fullname.startswith(_OF_TORCH) else node


def _annotated(node: SymbolNode | None) -> CallableType | None:
    typ = get_proper_type(node.type) if isinstance(node, FuncDef | Decorator) else None
    if not isinstance(typ, CallableType) or isinstance(get_proper_type(typ.ret_type), AnyType):
        return None
    return typ
