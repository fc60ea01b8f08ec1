"""Making torch's own classes generic, before mypy analyses their bodies.

``torch.Tensor`` gets a dtype and a shape, ``torch.nn.Parameter`` the same, and each ``torch.nn`` class that has a
rule the constructor arguments that decide its shapes. Every parameter defaults to ``Any``, so that an annotation
without them is the gradual type, assignable both ways. `torch.nn.Parameter` then derives from ``Tensor[DT, *Shape]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from mypy.nodes import ARG_POS, COVARIANT, Decorator, FuncDef, OverloadedFuncDef, Statement, TypeInfo
from mypy.plugin import ClassDefContext
from mypy.plugins.common import add_method_to_class
from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    TupleType,
    Type,
    TypeVarId,
    TypeVarLikeType,
    TypeVarTupleType,
    TypeVarType,
    UnboundType,
    UnpackType,
    get_proper_type,
)

from simpletorch.mypy.names import (
    DICTS,
    DISTRIBUTIONS,
    DTENSOR,
    INDEPENDENT,
    LISTS,
    MODULE_DICT,
    MODULE_LIST,
    OUR_MODULE,
    PACKED,
    PARAMETER,
    RETURN_TYPES,
    SEQUENTIAL,
    SEQUENTIALS,
    TENSOR,
    UNKNOWN_SIZE,
    WRAPPERS,
    public_class,
)
from simpletorch.mypy.types import any_type
from simpletorch.rules import MODULES
from simpletorch.rules.core.registry import field_names

__all__ = ["customizer", "fields_of"]

_METADATA: Final = "simpletorch"
_GIVE_ITEMS: Final = frozenset({"__iter__", "__getitem__", "values", "items", "pop"})


def _object(context: ClassDefContext) -> Instance:
    return context.api.named_type("builtins.object")


def _type_variable(name: str, index: int, context: ClassDefContext) -> TypeVarType:
    namespace = context.cls.fullname
    return TypeVarType(
        name,
        f"{namespace}.{name}",
        TypeVarId(index, namespace=namespace),
        [],
        _object(context),
        any_type(),
        COVARIANT,
    )


def _variadic(name: str, index: int, context: ClassDefContext) -> TypeVarTupleType:
    namespace = context.cls.fullname
    tuple_type = context.api.named_type("builtins.tuple", [_object(context)])
    default = UnpackType(Instance(tuple_type.type, [any_type()]))
    return TypeVarTupleType(
        name,
        f"{namespace}.{name}",
        TypeVarId(index, namespace=namespace),
        tuple_type,
        tuple_type,
        default,
    )


def _set_type_variables(info: TypeInfo, variables: Sequence[TypeVarLikeType]) -> None:
    info.defn.type_vars = list(variables)
    info.type_vars = []
    info.add_type_vars()


def make_tensor_generic(context: ClassDefContext) -> None:
    """Give ``torch.Tensor`` (or ``Parameter``) a covariant ``DT`` and a variadic ``Shape``."""
    info = context.cls.info
    dtype, shape = _type_variable("DT", 1, context), _variadic("Shape", 2, context)
    _set_type_variables(info, [dtype, shape])
    arguments: list[Type] = [dtype, UnpackType(shape)]
    info.bases = [
        base.copy_modified(args=arguments) if base.type.fullname == TENSOR and base.type.type_vars else base
        for base in info.bases
    ]
    if info.fullname == TENSOR:
        add_method_to_class(context.api, context.cls, "to_dlpack", [], any_type())


def make_distribution_generic(context: ClassDefContext) -> None:
    """Give a distribution the dtype and the shape of its samples."""
    if not context.cls.info.type_vars:
        _set_type_variables(context.cls.info, [_type_variable("DT", 1, context), _variadic("Shape", 2, context)])


def make_independent_generic(context: ClassDefContext) -> None:
    """Give ``Independent`` the number of dims that it takes from the batch."""
    info = context.cls.info
    if len(info.type_vars) == 1:
        _set_type_variables(info, [*info.defn.type_vars, _type_variable("Count", 2, context)])


def make_module_generic(context: ClassDefContext) -> None:
    """Give a ``torch.nn`` class one covariant type variable for each field of its rule."""
    info = context.cls.info
    names = field_names(MODULES[public_class(info.fullname)])
    variables: list[TypeVarLikeType] = [_type_variable(name, i, context) for i, name in enumerate(names, 1)]
    _set_type_variables(info, variables)


def make_sequential_generic(context: ClassDefContext) -> None:
    """Give ``Sequential`` (torch's, or ours that derives from it) the types of its layers."""
    info = context.cls.info
    layers = _variadic("Layers", 1, context)
    _set_type_variables(info, [layers])
    info.bases = [
        base.copy_modified(args=[UnpackType(layers)]) if base.type.fullname == SEQUENTIAL else base
        for base in info.bases
    ]
    for statement in context.cls.defs.body:
        if isinstance(statement, FuncDef) and statement.name == "forward" and statement.unanalyzed_type is None:
            statement.type = statement.unanalyzed_type = _anything_to_anything(context)


def _anything_to_anything(context: ClassDefContext) -> CallableType:
    """A type for a method that torch has left without: any override fits it, and calling it isn't "untyped"."""
    function = context.api.named_type("builtins.function")
    anything: list[Type] = [any_type(), any_type()]
    return CallableType(anything, [ARG_POS, ARG_POS], ["self", "input"], any_type(), function)


def note_fields(context: ClassDefContext) -> None:
    """Keep the order of the fields of ``torch.return_types.max``: mypy's cache sorts the names of a class."""
    properties = [node.name for node in context.cls.defs.body if isinstance(node, Decorator)]
    context.cls.info.metadata[_METADATA] = {"fields": [name for name in properties if not name.startswith("_")]}


def fields_of(info: TypeInfo) -> list[str]:
    """The names of a named tuple's items, in order."""
    match_args = info.get("__match_args__")
    typ = get_proper_type(match_args.type) if match_args is not None else None
    if isinstance(typ, TupleType):  # a typing.NamedTuple
        return [str(literal.value) for item in typ.items if isinstance(literal := get_proper_type(item), LiteralType)]
    return list(info.metadata.get(_METADATA, {}).get("fields", ()))


def make_container_generic(context: ClassDefContext) -> None:
    """Give ``ModuleList`` and its like what their items have in common, and the items one by one.

    The return types of the methods have not been analysed yet, so they can be written anew: iteration gives the former.
    """
    info = context.cls.info
    is_modules = info.fullname in (MODULE_LIST, MODULE_DICT)
    common = _type_variable("Item", 1, context).copy_modified(default=info.bases[0] if is_modules else any_type())
    _set_type_variables(info, [common, _variadic("Items", 2, context)])
    written = "Module" if is_modules else "Any"
    for statement in context.cls.defs.body:
        for function in _functions(statement):
            typ = function.unanalyzed_type
            if function.name in _GIVE_ITEMS and isinstance(typ, CallableType):
                result = _with_item(typ.ret_type, written, common)
                function.type = function.unanalyzed_type = typ.copy_modified(ret_type=result)


def _with_item(typ: Type, written: str, item: Type) -> Type:
    """An annotation that has not been analysed, with the item's type for ``Module`` or ``Any``."""
    if isinstance(typ, UnboundType):
        if typ.name == written:
            return item
        typ.args = tuple(_with_item(a, written, item) for a in typ.args)
    return typ


def make_wrapper_generic(context: ClassDefContext) -> None:
    """Give ``DistributedDataParallel`` the type of the module in it."""
    if not context.cls.info.type_vars:
        _set_type_variables(context.cls.info, [_type_variable("Wrapped", 1, context)])


def make_our_module_generic(context: ClassDefContext) -> None:
    """Give `simpletorch.nn.Module` what a call takes and what it gives."""
    _set_type_variables(context.cls.info, [_type_variable("In", 1, context), _type_variable("Out", 2, context)])


def make_packed_generic(context: ClassDefContext) -> None:
    """Give ``PackedSequence`` the size of its batch."""
    info = context.cls.info
    _set_type_variables(info, [_type_variable("Batch", 1, context)])
    if info.tuple_type is not None and info.special_alias is not None:
        # what an annotation stands for was made when there was no variable, and would have one that is never bound
        info.update_tuple_type(info.tuple_type)
        info.special_alias.alias_tvars = list(info.defn.type_vars)


def make_compatible(context: ClassDefContext) -> None:
    """Make an unknown size fit every other; as a protocol without members it takes every other already."""
    context.cls.info.fallback_to_any = True


def _functions(statement: Statement) -> Iterator[FuncDef]:
    match statement:
        case FuncDef():
            yield statement
        case Decorator(func=function):
            yield function
        case OverloadedFuncDef(items=items):
            for item in items:
                yield from _functions(item)


_MADE_GENERIC: Final[Mapping[str, Callable[[ClassDefContext], None]]] = {
    **dict.fromkeys((TENSOR, PARAMETER, DTENSOR), make_tensor_generic),
    **dict.fromkeys(SEQUENTIALS, make_sequential_generic),
    **dict.fromkeys((*LISTS, *DICTS), make_container_generic),
    **dict.fromkeys(WRAPPERS, make_wrapper_generic),
    OUR_MODULE: make_our_module_generic,
    PACKED: make_packed_generic,
    **dict.fromkeys(DISTRIBUTIONS, make_distribution_generic),
    INDEPENDENT: make_independent_generic,
    UNKNOWN_SIZE: make_compatible,
}


def customizer(fullname: str) -> Callable[[ClassDefContext], None] | None:
    """The function that changes the class ``fullname`` while its MRO is made, or None."""
    if fullname in _MADE_GENERIC:
        return _MADE_GENERIC[fullname]
    if not fullname.startswith("torch."):
        return None
    if fullname.startswith(RETURN_TYPES):
        return note_fields
    rule = MODULES.get(public_class(fullname))
    return make_module_generic if rule is not None and field_names(rule) else None
