"""Attributes of tensors, fields of torch's named tuples, and the constructors of ``Tensor`` and ``Parameter``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from mypy.nodes import MemberExpr
from mypy.plugin import AttributeContext, FunctionSigContext
from mypy.types import CallableType, Instance, TupleType, Type, get_proper_type

from simpletorch.mypy import containers, dynamic, modules
from simpletorch.mypy.calls import CallReader, last_assigned
from simpletorch.mypy.classes import fields_of
from simpletorch.mypy.lift import Lifter, is_tensor, scopes_around
from simpletorch.mypy.lower import Lowerer
from simpletorch.mypy.names import MODULE, MODULES_PREFIX, PACKED, PHANTOM, RETURN_TYPES, TENSOR, TENSOR_BASE, WRAPPERS
from simpletorch.mypy.report import report
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules import RULES, Report, infer
from simpletorch.rules.values import TensorType

__all__ = ["construct_tensor", "rule_for"]

Rule: TypeAlias = Callable[[AttributeContext, TypeTable], Type]
_SAME_TENSOR: Final = ("data", "grad")
_NAMED_TUPLES: Final = (RETURN_TYPES, f"{PHANTOM}.linalg_", f"{PACKED}_.", f"{PACKED}.")


def rule_for(fullname: str) -> Rule | None:
    """The rule for an attribute, by its full name as mypy gives it: that of the class that defines it."""
    owner, _, name = fullname.rpartition(".")
    if owner in (TENSOR_BASE, TENSOR):
        if name == "shape":
            return _shape
        if name in _SAME_TENSOR:
            return _same
        if f"Tensor.{name}" in RULES:
            return partial(_by_rule, f"Tensor.{name}")
        return None
    if fullname.startswith(_NAMED_TUPLES):
        return partial(_field, name)
    if owner == MODULE and not name.startswith("_"):
        return partial(_of_module, name)
    if owner.startswith(MODULES_PREFIX) and not name.startswith("_"):
        return partial(modules.attribute, name)
    if owner in WRAPPERS and name == "module":
        return modules.wrapped
    return None


def _of_module(name: str, context: AttributeContext, types: TypeTable) -> Type:
    """What is not declared in the module's class."""
    found = containers.attribute(name, context) or modules.attribute(name, context, types)
    return dynamic.attribute(name, context, found)


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
    lifter = Lifter(types, scopes_around(context.api))
    shape = lifter.tensor(receiver).shape
    if not shape.is_exact:
        return context.default_attr_type
    lowerer = Lowerer(lifter)
    return TupleType([lowerer.size(d) for d in shape.dims], fallback)


def _same(context: AttributeContext, types: TypeTable) -> Type:
    """``x.data`` is like ``x``, but no parameter."""
    receiver = _receiver(context)
    if receiver is None or not is_tensor(context.default_attr_type):
        return context.default_attr_type
    lifter = Lifter(types, scopes_around(context.api))
    return Lowerer(lifter).tensor(replace(lifter.tensor(receiver), is_parameter=False)) or context.default_attr_type


def _by_rule(name: str, context: AttributeContext, types: TypeTable) -> Type:
    """An attribute that is an operation, such as ``x.T``; the method of that name is left alone."""
    receiver = _receiver(context)
    if receiver is None or isinstance(get_proper_type(context.default_attr_type), CallableType):
        return context.default_attr_type
    if not is_tensor(context.default_attr_type):
        return context.default_attr_type
    lifter = Lifter(types, scopes_around(context.api))
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


def construct_tensor(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``nn.Parameter(x)`` has ``x``'s dtype and shape. ``torch.Tensor(...)`` means too much to be followed."""
    signature = context.default_signature
    built = get_proper_type(signature.ret_type)
    if not isinstance(built, Instance) or not built.type.has_type_var_tuple_type:
        return signature
    unknown = Instance(built.type, [any_type(), types.any_rest()])
    result: Type = unknown
    if context.args and len(context.args[0]) == 1 and built.type.fullname != TENSOR:
        reader = CallReader(types, context.api)
        values = reader.alternatives(context.args[0][0])
        if len(values) == 1 and isinstance(values[0], TensorType):
            result = reader.lowerer.tensor(replace(values[0], is_parameter=True)) or unknown
    return signature.copy_modified(ret_type=result, variables=[])
