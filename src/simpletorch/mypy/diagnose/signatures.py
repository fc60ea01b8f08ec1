"""Names of sizes in a signature: whose choice they are, and signatures that differ in nothing but such names.

The names of jaxtyping's strings are bound anew in each call, so an overriding method may call a size what it likes.
mypy knows nothing of that and takes ``"b n"`` and ``"b m"`` for two types.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final, cast

from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ClassDef, Decorator, FuncDef, FuncItem, MypyFile, OverloadedFuncDef, Statement, TypeInfo
from mypy.subtypes import is_callable_compatible, is_subtype
from mypy.type_visitor import TypeTranslator
from mypy.typeops import bind_self
from mypy.types import (
    CallableType,
    FunctionLike,
    Instance,
    NoneType,
    Overloaded,
    Type,
    TypeAliasType,
    TypeVarId,
    TypeVarTupleType,
    TypeVarType,
    UnionType,
    UnpackType,
    get_proper_type,
)
from mypy.typevars import fill_typevars

from simpletorch.mypy.convert.lift import is_expression, is_tensor
from simpletorch.mypy.names import DIMS_MODULE, DTYPES_MODULE
from simpletorch.mypy.program.syntax import all_statements
from simpletorch.mypy.types import any_type, is_named, walk
from simpletorch.rules.core.dtype import ABSTRACT

_FAMILIES: Final = frozenset(f"{DTYPES_MODULE}.{family.name}" for family in ABSTRACT)

__all__ = ["agree_but_for_names", "chosen_sizes", "is_size_of_protocol"]


def chosen_sizes(function: FuncItem) -> frozenset[str]:
    """The sizes that only the result of a function has: it chooses them. ``*name`` stands for a variadic one.

    A parameter that is None binds no size either.
    """
    signature = function.type
    if not isinstance(signature, CallableType):
        return frozenset()
    own = {v.id for v in signature.variables}
    given = {name for formal in signature.arg_types if not _is_optional(formal) for name in _names(formal, own)}
    tensors = filter(is_tensor, walk(signature.ret_type))
    return frozenset(name for tensor in tensors for name in _names(tensor, own) if name not in given)


def _is_optional(formal: Type) -> bool:
    formal = get_proper_type(formal)
    return isinstance(formal, UnionType) and any(isinstance(get_proper_type(m), NoneType) for m in formal.items)


def _names(typ: Type, own: Set[TypeVarId]) -> Iterator[str]:
    for part in walk(typ):
        if isinstance(part, TypeVarType | TypeVarTupleType) and (is_named(part) or part.id in own):
            yield part.name if isinstance(part, TypeVarType) else f"*{part.name}"


class _Nameless(TypeTranslator):
    """Puts any size in the place of every name of jaxtyping's, and of every expression over sizes.

    And any dtype in the place of a family such as ``Float``: an override may well be for the floats among ``Shaped``.
    """

    def visit_instance(self, t: Instance, /) -> Type:
        return any_type() if is_expression(t) or t.type.fullname in _FAMILIES else super().visit_instance(t)

    def visit_type_var(self, t: TypeVarType, /) -> Type:
        return any_type() if is_named(t) else t

    def visit_unpack_type(self, t: UnpackType, /) -> Type:
        inner = get_proper_type(t.type)
        if isinstance(inner, TypeVarTupleType) and is_named(inner):
            return UnpackType(inner.tuple_fallback.copy_modified(args=[any_type()]))
        return super().visit_unpack_type(t)

    def visit_type_alias_type(self, t: TypeAliasType, /) -> Type:
        return t if t.is_recursive else get_proper_type(t).accept(self)


def agree_but_for_names(line: int, tree: MypyFile, *, in_results: bool) -> bool:
    """Whether the method on this line fits those that it overrides, or its overloads, with any sizes for its names.

    Args:
        line: a line of the method's head.
        tree: the file.
        in_results: whether only the results of the method and of what it overrides are compared.
    """
    found = next((s for s in all_statements(tree) if _begins_on(s, line)), None)
    if isinstance(found, OverloadedFuncDef) and found.impl is not None and not _fits_overloads(found):
        return False
    if not isinstance(found, FuncDef | Decorator | OverloadedFuncDef):
        return False
    if not any(isinstance(t, TypeVarType | TypeVarTupleType) and is_named(t) for t in walk(found.type or any_type())):
        return False
    own = _method_type(found, found.info) if found.info else None
    return own is None or all(
        (in_results and _fits_result(own, overridden)) or is_subtype(own, overridden, ignore_pos_arg_names=True)
        for overridden in _overridden(found.name, found.info)
    )


def is_size_of_protocol(name: str, line: int, tree: MypyFile) -> bool:
    """Whether the protocol on this line has this size as a parameter: sizes have no subtypes, any variance is right."""
    return any(
        variable.name == name and variable.fullname.startswith(DIMS_MODULE)
        for s in all_statements(tree)
        if isinstance(s, ClassDef) and s.line == line
        for variable in s.type_vars
    )


def _fits_result(own: FunctionLike, overridden: FunctionLike) -> bool:
    if not isinstance(own, CallableType) or not isinstance(overridden, CallableType):
        return False
    return is_subtype(own.ret_type, overridden.ret_type)


def _begins_on(s: Statement, line: int) -> bool:
    """Whether the head of a function, with its parameters, is on this line."""
    match s:
        case OverloadedFuncDef(items=items, impl=impl):
            return any(_begins_on(item, line) for item in [*items, *([impl] if impl is not None else [])])
        case Decorator(func=function):
            return s.line <= line <= function.line or _begins_on(function, line)
        case FuncDef(body=body):
            return s.line <= line <= body.line
    return False


def _overridden(name: str, info: TypeInfo) -> Iterator[FunctionLike]:
    for base in info.mro[1:]:
        symbol = base.names.get(name)
        typ = None if symbol is None else _method_type(symbol.node, info)
        if typ is not None:
            yield typ


def _method_type(node: object, info: TypeInfo) -> FunctionLike | None:
    """The type of a method as instances of a class have it."""
    if not isinstance(node, FuncDef | Decorator | OverloadedFuncDef):
        return None
    typ = get_proper_type(node.type)
    receiver = fill_typevars(info)
    if not isinstance(typ, FunctionLike) or not isinstance(receiver, Instance):
        return None
    defined = cast(FunctionLike, expand_type_by_instance(typ, map_instance_to_supertype(receiver, node.info)))
    function = node.func if isinstance(node, Decorator) else node
    return _nameless(defined if function.is_static else bind_self(defined, receiver, is_classmethod=function.is_class))


def _nameless(typ: FunctionLike) -> FunctionLike:
    found = get_proper_type(typ.accept(_Nameless()))
    assert isinstance(found, FunctionLike)
    return found


def _fits_overloads(definition: OverloadedFuncDef) -> bool:
    """Whether what implements the overloads takes what each of them takes, and may give what it gives."""
    assert definition.impl is not None
    implementation, variants = get_proper_type(definition.impl.type), get_proper_type(definition.type)
    if not isinstance(implementation, CallableType) or not isinstance(variants, Overloaded):
        return False
    whole = _nameless(implementation)
    assert isinstance(whole, CallableType)
    return all(_fits_variant(whole, variant) for variant in map(_nameless, variants.items))


def _fits_variant(whole: CallableType, variant: FunctionLike) -> bool:
    assert isinstance(variant, CallableType)
    results = variant.ret_type, whole.ret_type
    takes = is_callable_compatible(whole, variant, is_compat=is_subtype, is_proper_subtype=False, ignore_return=True)
    return takes and (is_subtype(*results) or is_subtype(*reversed(results)))
