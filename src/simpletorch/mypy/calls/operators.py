"""``@kernels.operator``: what is decorated stays the function it was, with the attributes of an operator.

A class with a ``__call__`` would lose the sizes of the signature, which belong to the function. So the type of the
operator is the function's own type, and what mypy looks attributes up in (its fallback) is `Operator`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mypy.plugin import AttributeContext, FunctionContext, FunctionSigContext, MethodContext
from mypy.type_visitor import TypeTranslator
from mypy.types import CallableType, Instance, Type, TypeAliasType, get_proper_type
from mypy.typevars import fill_typevars_with_any

from simpletorch.mypy.calls.arguments import type_of
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.hooks import AttributeHook, FunctionResultHook, MethodResultHook
from simpletorch.mypy.names import DIM, DTYPES_MODULE
from simpletorch.mypy.program.autocast import autocast_at
from simpletorch.mypy.types import TypeTable, any_type, walk
from simpletorch.rules.core.dtype import ABSTRACT

__all__ = ["ATTRIBUTES", "FUNCTION_RESULTS", "METHOD_RESULTS", "with_dtypes"]

_HOME: Final = "simpletorch.kernels._operator"
_OPERATOR: Final = f"{_HOME}.Operator"
_SHIPPED: Final = "simpletorch.kernels.shipped."
_ATTENTION: Final = f"{_SHIPPED}attention.attention"
_LOSSES: Final = frozenset(("cross_entropy", "linear_cross_entropy"))
_KINDS: Final = frozenset(kind.name for kind in ABSTRACT)


def _decorate(context: FunctionContext | MethodContext, types: TypeTable) -> Type:
    """``@operator`` and ``@operator(...)`` above a function."""
    made = get_proper_type(context.default_return_type)
    function = _only(context.arg_types)
    # ``operator("mylib::name")`` isn't given the function yet
    if function is None or not isinstance(made, Instance) or made.type.fullname != _OPERATOR:
        return context.default_return_type
    fallback = get_proper_type(fill_typevars_with_any(made.type))
    assert isinstance(fallback, Instance)
    return function.copy_modified(fallback=fallback)


def _only(given: Sequence[Sequence[Type]]) -> CallableType | None:
    """The one function that a decorator is given."""
    found = [get_proper_type(t) for formal in given for t in formal]
    return found[0] if len(found) == 1 and isinstance(found[0], CallableType) else None


# -- dtypes ------------------------------------------------------------------------------------------------------------


def with_dtypes(signature: CallableType, context: FunctionSigContext, types: TypeTable, fullname: str) -> CallableType:
    """A kind of dtypes in the result of an operator, such as ``Float``, is the dtype of the first argument of it.

    The same holds for the plain functions around operators that `simpletorch.kernels` ships, but for losses.
    """
    declared = context.default_signature
    is_shipped = fullname.startswith(_SHIPPED)
    if not isinstance(declared, CallableType) or not (is_shipped or declared.fallback.type.fullname == _OPERATOR):
        return signature
    dtypes: dict[str, Type] = {}
    for formal, nodes in zip(declared.arg_types, context.args, strict=True):
        kinds = {_kind(t) for t in walk(formal)} - {""}
        for kind in kinds - dtypes.keys():
            given = get_proper_type(type_of(nodes[0], context.api)) if len(nodes) == 1 else None
            known = given is not None and _kind(formal) == kind and is_tensor(given)
            # what isn't known of the first one isn't taken from the second
            dtypes[kind] = given.args[0] if known and isinstance(given, Instance) and given.args else any_type()
    if fullname == _ATTENTION and autocast_at(context.context, context.api):
        dtypes = dict.fromkeys(dtypes, any_type())  # it is torch's own, no operator
    elif is_shipped and fullname.rpartition(".")[2] in _LOSSES:
        dtypes = {kind: _widened(dtype, types) for kind, dtype in dtypes.items()}
    return signature.copy_modified(ret_type=signature.ret_type.accept(_Put(dtypes))) if dtypes else signature


def _widened(dtype: Type, types: TypeTable) -> Type:
    """The dtype in which a loss is computed: float64 for float64 scores, float32 for all others."""
    dtype = get_proper_type(dtype)
    if not isinstance(dtype, Instance) or dtype.type.name in _KINDS or dtype.type.name == "Float64":
        return dtype if isinstance(dtype, Instance) and dtype.type.name == "Float64" else any_type()
    return types.instance(f"{DTYPES_MODULE}.Float32") or any_type()


def _kind(typ: Type) -> str:
    """The kind of dtypes that a tensor has, such as ``Float``; "" for a concrete one and for what is no tensor."""
    typ = get_proper_type(typ)
    dtype = get_proper_type(typ.args[0]) if isinstance(typ, Instance) and is_tensor(typ) and typ.args else None
    if not isinstance(dtype, Instance) or not dtype.type.fullname.startswith(f"{DTYPES_MODULE}."):
        return ""
    return dtype.type.name if dtype.type.name in _KINDS else ""


class _Put(TypeTranslator):
    """Puts dtypes in place of the kinds that they are of."""

    def __init__(self, dtypes: Mapping[str, Type]) -> None:
        super().__init__()
        self.dtypes = dtypes

    def visit_instance(self, t: Instance, /) -> Type:
        dtype = get_proper_type(self.dtypes.get(_kind(t)))
        return super().visit_instance(t) if dtype is None else t.copy_modified(args=[dtype, *t.args[1:]])

    def visit_type_alias_type(self, t: TypeAliasType, /) -> Type:
        return t


# -- attributes --------------------------------------------------------------------------------------------------------


def _plain(context: AttributeContext, types: TypeTable) -> Type:
    """``relu_add.reference`` takes what the operator takes; mypy asks no hook for its calls, so sizes are open."""
    operator = get_proper_type(context.type)
    if not isinstance(operator, CallableType):
        return context.default_attr_type
    loose = _Loose(types)
    return operator.copy_modified(
        arg_types=[t.accept(loose) for t in operator.arg_types],
        ret_type=operator.ret_type.accept(loose),
        variables=[],
        fallback=types.instance("builtins.function") or operator.fallback,
    )


class _Loose(TypeTranslator):
    """Leaves of tensors nothing but that they are tensors, and of a ``Dim`` that it is an int."""

    def __init__(self, types: TypeTable) -> None:
        super().__init__()
        self.types = types

    def visit_instance(self, t: Instance, /) -> Type:
        if is_tensor(t):
            return self.types.any_tensor() or t
        return self.types.int_() if t.type.fullname == DIM else super().visit_instance(t)

    def visit_type_alias_type(self, t: TypeAliasType, /) -> Type:
        return get_proper_type(t).accept(self) if not t.is_recursive else t


ATTRIBUTES: Final[Mapping[str, AttributeHook]] = {f"{_OPERATOR}.{name}": _plain for name in ("reference",)}
FUNCTION_RESULTS: Final[Mapping[str, FunctionResultHook]] = {f"{_HOME}.operator": _decorate}
METHOD_RESULTS: Final[Mapping[str, MethodResultHook]] = {f"{_HOME}.Decorator.__call__": _decorate}
