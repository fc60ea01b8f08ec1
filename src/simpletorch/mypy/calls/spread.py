"""``DTensor``: tensors over a mesh of processes, with the dtype and the shape of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import TypeInfo
from mypy.plugin import FunctionSigContext, MethodSigContext
from mypy.types import CallableType, Instance, Type, get_proper_type

from simpletorch.mypy.calls.arguments import type_of
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.hooks import FunctionHook, MethodHook
from simpletorch.mypy.names import DTENSOR, TENSOR
from simpletorch.mypy.types import TypeTable
from simpletorch.rules.common.positions import unknown_dims

__all__ = ["FUNCTIONS", "METHODS"]

_PACKAGE: Final = DTENSOR.rpartition(".")[0]


def _as(info: TypeInfo | None, tensor: Type) -> Type | None:
    """The same dtype and shape as another class of tensors."""
    tensor = get_proper_type(tensor)
    if info is None or not info.type_vars or not isinstance(tensor, Instance) or not is_tensor(tensor):
        return None
    base = next(i for i in tensor.type.mro if i.fullname == TENSOR)
    return Instance(info, map_instance_to_supertype(tensor, base).args)


def _distribute(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``distribute_tensor(x, mesh, placements)`` has the shape of ``x``."""
    signature = context.default_signature
    if not context.args or len(context.args[0]) != 1:
        return signature
    made = _as(types.info(DTENSOR), type_of(context.args[0][0], context.api))
    return signature if made is None else signature.copy_modified(ret_type=made)


def _full(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``full_tensor()`` is the whole as a plain tensor."""
    made = _as(types.info(TENSOR), context.type)
    return context.default_signature if made is None else context.default_signature.copy_modified(ret_type=made)


def _redistribute(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``redistribute(…)`` is the same whole in other parts."""
    made = _as(types.info(DTENSOR), context.type)
    return context.default_signature if made is None else context.default_signature.copy_modified(ret_type=made)


def _local(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``to_local()`` has as many dims; their sizes depend on the mesh and the placements."""
    lifter = PlaceLifter(types, context.api, context.context.line)
    whole = get_proper_type(context.type)
    if not isinstance(whole, Instance) or not is_tensor(whole):
        return context.default_signature
    value = lifter.tensor(whole)
    made = Lowerer(lifter).tensor(value.with_shape(*unknown_dims(value.shape).items))
    return context.default_signature if made is None else context.default_signature.copy_modified(ret_type=made)


FUNCTIONS: Final[Mapping[str, FunctionHook]] = {f"{_PACKAGE}.distribute_tensor": _distribute}
METHODS: Final[Mapping[str, MethodHook]] = {
    f"{DTENSOR}.full_tensor": _full,
    f"{DTENSOR}.redistribute": _redistribute,
    f"{DTENSOR}.to_local": _local,
}
