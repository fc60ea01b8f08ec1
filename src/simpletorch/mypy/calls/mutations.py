"""Methods of tensors that stubs misread: ``x.squeeze_(1)``, after which x has another shape, and ``x.new(…)``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

from mypy.nodes import CallExpr, MemberExpr
from mypy.plugin import MethodSigContext
from mypy.types import FunctionLike, Instance, get_proper_type

from simpletorch.mypy.calls.arguments import type_of
from simpletorch.mypy.calls.reader import method_rule
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.diagnose.inferred import put
from simpletorch.mypy.hooks import MethodHook
from simpletorch.mypy.types import TypeTable
from simpletorch.rules import RULES

__all__ = ["TENSOR_METHODS"]

_RESHAPING: Final = (
    "as_strided_",
    "resize_",
    "resize_as_",
    "set_",
    "squeeze_",
    "swapaxes_",
    "swapdims_",
    "t_",
    "transpose_",
    "unsqueeze_",
)


def _reshape(method: str, context: MethodSigContext, types: TypeTable) -> FunctionLike:
    """``x.squeeze_(1)``: afterwards x has another shape. Which one isn't followed: mypy may ask more than once."""
    signature = method_rule(method, context, types) if f"Tensor.{method}" in RULES else context.default_signature
    match context.context:
        case CallExpr(callee=MemberExpr(expr=place)):
            typ = get_proper_type(type_of(place, context.api))
            if is_tensor(typ) and isinstance(typ, Instance) and typ.type.has_type_var_tuple_type:
                reshaped = typ.copy_modified(args=[typ.args[0], types.any_rest()])
                put(place, reshaped, context.api)
                cast(Any, context.api).binder.put(place, reshaped)
    return signature


def _new(context: MethodSigContext, types: TypeTable) -> FunctionLike:
    """``x.new(3, 5)`` has the dtype of x and nothing of its shape, though torch's stub says it is like x."""
    signature, receiver = context.default_signature, get_proper_type(context.type)
    if not isinstance(receiver, Instance) or not receiver.type.has_type_var_tuple_type:
        return signature
    return signature.copy_modified(ret_type=receiver.copy_modified(args=[receiver.args[0], types.any_rest()]))


TENSOR_METHODS: Final[Mapping[str, MethodHook]] = {
    **{method: partial(_reshape, method) for method in _RESHAPING},
    "new": _new,
}
"""By the names of the methods: what they do to the tensor comes on top of their rules."""
