"""Attributes of tensors, fields of torch's named tuples, and the constructors of ``Tensor`` and ``Parameter``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from mypy.nodes import MemberExpr
from mypy.plugin import AttributeContext, FunctionSigContext
from mypy.typeops import bind_self
from mypy.types import CallableType, Instance, TupleType, Type, UnionType, get_proper_type

from simpletorch.mypy.annotate.classes import fields_of
from simpletorch.mypy.calls import containers, modules
from simpletorch.mypy.calls.arguments import last_assigned
from simpletorch.mypy.calls.reader import CallReader
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.diagnose.report import report
from simpletorch.mypy.hooks import AttributeHook, FunctionHook
from simpletorch.mypy.names import (
    MODULE,
    MODULES_PREFIX,
    OUR_PARAMETER,
    PACKED,
    PARAMETER,
    PHANTOM,
    RETURN_TYPES,
    TENSOR,
    TENSOR_BASE,
)
from simpletorch.mypy.program import computed_attributes
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules import RULES, Report, infer
from simpletorch.rules.core.values import TensorType

__all__ = ["ATTRIBUTES", "FUNCTIONS", "by_owner"]

_EXPORTING: Final = "simpletorch.nn._exporting"
_EXPORTS: Final = ("to_onnx", "to_torchscript")
_NAMED_TUPLES: Final = (RETURN_TYPES, f"{PHANTOM}.linalg_", f"{PACKED}_.", f"{PACKED}.")


def by_owner(fullname: str) -> AttributeHook | None:
    """The hook for any attribute of some classes: modules, which have more than they declare, and named tuples."""
    owner, _, name = fullname.rpartition(".")
    if fullname.startswith(_NAMED_TUPLES):
        return partial(_field, name)
    if name.startswith("_"):
        return None
    if owner == MODULE:
        return partial(_of_module, name)
    return partial(modules.attribute, name) if owner.startswith(MODULES_PREFIX) else None


def _of_module(name: str, context: AttributeContext, types: TypeTable) -> Type:
    """The type of an attribute that the module's class doesn't declare."""
    if name in _EXPORTS and (exporting := types.modules.get(_EXPORTING)) is not None:
        method = get_proper_type(exporting.names[name].type)
        return bind_self(method, context.type) if isinstance(method, CallableType) else context.default_attr_type
    found = containers.attribute(name, context) or modules.attribute(name, context, types)
    return computed_attributes.attribute(name, context, found)


def _receiver(context: AttributeContext) -> Instance | None:
    node = context.context
    assigned = last_assigned(node.expr, context.api) if isinstance(node, MemberExpr) else None
    typ = get_proper_type(assigned or context.type)
    return typ if isinstance(typ, Instance) and is_tensor(typ) and not context.is_lvalue else None


def _shape(context: AttributeContext, types: TypeTable) -> Type:
    """``x.shape``: a ``torch.Size`` that is a tuple of sizes."""
    receiver = _receiver(context)
    fallback = get_proper_type(context.default_attr_type)
    if receiver is None or not isinstance(fallback, Instance):
        return context.default_attr_type
    lifter = PlaceLifter(types, context.api, context.context.line)
    shape = lifter.tensor(receiver).shape
    if not shape.is_exact:
        return context.default_attr_type
    lowerer = Lowerer(lifter)
    return TupleType([lowerer.size(d) for d in shape.dims], fallback)


def _rank(context: AttributeContext, types: TypeTable) -> Type:
    """``x.ndim`` is what ``x.dim()`` gives."""
    receiver = _receiver(context)
    if receiver is None:
        return context.default_attr_type
    lifter = PlaceLifter(types, context.api, context.context.line)
    rank = lifter.tensor(receiver).shape.rank
    return context.default_attr_type if rank is None else Lowerer(lifter).size(rank)


def _same(context: AttributeContext, types: TypeTable) -> Type:
    """``x.data`` is like ``x``, but no parameter."""
    receiver = _receiver(context)
    if receiver is None or not is_tensor(context.default_attr_type):
        return context.default_attr_type
    lifter = PlaceLifter(types, context.api, context.context.line)
    return Lowerer(lifter).tensor(replace(lifter.tensor(receiver), is_parameter=False)) or context.default_attr_type


def _grad(context: AttributeContext, types: TypeTable) -> Type:
    """``x.grad`` is None, or as ``x`` is."""
    receiver, declared = _receiver(context), get_proper_type(context.default_attr_type)
    if receiver is None or not isinstance(declared, UnionType):
        return context.default_attr_type
    lifter = PlaceLifter(types, context.api, context.context.line)
    found = Lowerer(lifter).tensor(replace(lifter.tensor(receiver), is_parameter=False))
    return UnionType.make_union([found if found is not None and is_tensor(m) else m for m in declared.items])


def _by_rule(name: str, context: AttributeContext, types: TypeTable) -> Type:
    """An attribute that is an operation, such as ``x.T``; the method of that name is left alone."""
    receiver = _receiver(context)
    if receiver is None or isinstance(get_proper_type(context.default_attr_type), CallableType):
        return context.default_attr_type
    if not is_tensor(context.default_attr_type):
        return context.default_attr_type
    lifter = PlaceLifter(types, context.api, context.context.line)
    found = infer(name, [lifter.tensor(receiver)])
    if isinstance(found, Report):
        report(found, context.context, context.api)
        return context.default_attr_type
    return Lowerer(lifter).value(found, context.default_attr_type)


def _field(name: str, context: AttributeContext, types: TypeTable) -> Type:
    """A field of a named tuple whose items we know: ``x.max(dim=1).indices``."""
    receiver = get_proper_type(context.type)
    if not isinstance(receiver, TupleType) or context.is_lvalue:
        return context.default_attr_type
    names = fields_of(receiver.partial_fallback.type)
    if name not in names:
        return context.default_attr_type
    index = names.index(name)
    return receiver.items[index] if index < len(receiver.items) else context.default_attr_type


def _construct_tensor(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``nn.Parameter(x)`` has ``x``'s dtype and shape. ``torch.Tensor(...)`` means too much to be followed."""
    signature = context.default_signature
    built = get_proper_type(signature.ret_type)
    if not isinstance(built, Instance) or not built.type.has_type_var_tuple_type:
        return signature
    parameter = types.info(PARAMETER) if built.type.fullname == OUR_PARAMETER else None
    unknown = Instance(parameter or built.type, [any_type(), types.any_rest()])
    result: Type = unknown
    if context.args and len(context.args[0]) == 1 and built.type.fullname != TENSOR:
        reader = CallReader(types, context)
        values = reader.alternatives(context.args[0][0])
        if len(values) == 1 and isinstance(values[0], TensorType):
            result = reader.lowerer.tensor(replace(values[0], is_parameter=True)) or unknown
    return signature.copy_modified(ret_type=result, variables=[])


FUNCTIONS: Final[Mapping[str, FunctionHook]] = dict.fromkeys((PARAMETER, OUR_PARAMETER, TENSOR), _construct_tensor)
_OF_TENSORS: Final[Mapping[str, AttributeHook]] = {
    **{name.removeprefix("Tensor."): partial(_by_rule, name) for name in RULES if name.startswith("Tensor.")},
    "data": _same,
    "grad": _grad,
    "ndim": _rank,
    "shape": _shape,
}
ATTRIBUTES: Final[Mapping[str, AttributeHook]] = {
    f"{owner}.{name}": hook for owner in (TENSOR, TENSOR_BASE) for name, hook in _OF_TENSORS.items()
}
