"""``interop.typed(model, signature)``, ``hub.load(…, signature=…)``: the signature's call, the model's attributes.

A class with a ``__call__`` would lose the sizes of the signature, which belong to the function. So the type is the
function's own, and what mypy looks attributes up in (its fallback) is the model's class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mypy.nodes import Expression, RefExpr, TypeAlias
from mypy.plugin import FunctionContext
from mypy.subtypes import find_member
from mypy.types import CallableType, Instance, ProperType, Type, get_proper_type

from simpletorch.mypy.convert.lift import is_module
from simpletorch.mypy.hooks import FunctionResultHook
from simpletorch.mypy.types import TypeTable

__all__ = ["FUNCTION_RESULTS"]

_MODULE: Final = "torch.nn.modules.module.Module"


def _typed(context: FunctionContext, types: TypeTable) -> Type:
    place = context.callee_arg_names.index("signature")
    if len(context.args[place]) != 1:
        return context.default_return_type
    model = get_proper_type(context.default_return_type)
    if not isinstance(model, Instance) or not is_module(model):
        model = types.instance(_MODULE)  # of a library without types
    call = _call(get_proper_type(context.arg_types[place][0]), context.args[place][0])
    if model is None or call is None:
        return context.default_return_type
    return call.copy_modified(fallback=model)


def _call(given: ProperType, node: Expression) -> CallableType | None:
    """The call that a function, a protocol or the alias of a ``Callable`` states."""
    if isinstance(node, RefExpr) and isinstance(node.node, TypeAlias):
        target = get_proper_type(node.node.target)
        # an alias's variables have no owner: here it is the call
        return target.copy_modified(variables=node.node.alias_tvars) if isinstance(target, CallableType) else None
    if not isinstance(given, CallableType):
        return None
    if not given.is_type_obj():
        return given
    instance = get_proper_type(given.ret_type)
    if not isinstance(instance, Instance):
        return None
    # of a module `__call__` takes anything
    name = "forward" if is_module(instance) else "__call__"
    found = get_proper_type(find_member(name, instance, instance, is_operator=True))
    return found if isinstance(found, CallableType) else None


FUNCTION_RESULTS: Final[Mapping[str, FunctionResultHook]] = {
    "simpletorch.interop._typed.typed": _typed,
    "simpletorch.interop.hub.load": _typed,
}
