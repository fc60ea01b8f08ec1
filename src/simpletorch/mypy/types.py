"""The types that the plugin builds, found through mypy's table of modules; nothing is kept between look-ups, so that
the daemon may replace a module at any time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from mypy.nodes import Decorator, FuncDef, MypyFile, TypeInfo
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    LiteralType,
    Overloaded,
    ProperType,
    TupleType,
    Type,
    TypeAliasType,
    TypeOfAny,
    TypeVarId,
    TypeVarTupleType,
    TypeVarType,
    UnionType,
    UnpackType,
    get_proper_type,
)

from simpletorch.mypy.names import TENSOR, UNKNOWN_SIZE

__all__ = ["NAMED_SCOPE", "TypeTable", "any_type", "definition_of", "is_named", "walk"]

NAMED_SCOPE: Final = "jaxtyping"
"""The namespace of jaxtyping's names in an alias, which belong to whatever function uses it."""
_NAMED_IDS: Final = -1000  # raw ids below are ours; mypy's own are -1, -2, …


_any_rest: UnpackType | None = None
_OF_ITEMS: Final = (UnionType, TupleType, Overloaded)


def any_type() -> AnyType:
    """``Any`` as the plugin means it: nothing is known, and that is no fault."""
    return AnyType(TypeOfAny.special_form)


def definition_of(signature: CallableType) -> FuncDef | None:
    """The function that a signature was taken from, also if it is decorated; None if there is no single one."""
    definition = signature.definition
    definition = definition.func if isinstance(definition, Decorator) else definition
    return definition if isinstance(definition, FuncDef) else None


def _named_id(name: str, namespace: str) -> TypeVarId:
    # stable between runs, because types with it are kept in mypy's cache
    return TypeVarId(_NAMED_IDS - zlib.crc32(name.encode()), namespace=namespace)


def is_named(variable: TypeVarType | TypeVarTupleType) -> bool:
    """Whether this type variable is a name of a jaxtyping string."""
    return variable.id.raw_id <= _NAMED_IDS


def walk(typ: Type) -> Iterator[ProperType]:
    """The type and every type inside it, outermost first. A recursive alias has no end, and is not entered."""
    waiting = [typ]  # asked of every type of every call: a generator in a generator would take twice as long
    while waiting:
        typ = waiting.pop()
        if isinstance(typ, TypeAliasType) and typ.is_recursive:
            continue
        typ = get_proper_type(typ)
        yield typ
        if isinstance(typ, Instance):
            waiting += typ.args[::-1]
        elif isinstance(typ, _OF_ITEMS):
            waiting += typ.items[::-1]
        elif isinstance(typ, UnpackType):
            waiting.append(typ.type)
        elif isinstance(typ, CallableType):
            waiting.append(typ.ret_type)
            waiting += typ.arg_types[::-1]


class TypeTable:
    """Builds types out of the classes that mypy has loaded."""

    def __init__(self, modules: Mapping[str, MypyFile]) -> None:
        self.modules = modules

    def info(self, fullname: str) -> TypeInfo | None:
        """The class with this full name, if its module is loaded."""
        module, _, name = fullname.rpartition(".")
        file = self.modules.get(module)
        symbol = file.names.get(name) if file is not None else None
        return symbol.node if symbol is not None and isinstance(symbol.node, TypeInfo) else None

    @property
    def tensor(self) -> TypeInfo | None:
        """``torch.Tensor``, once it has been made generic."""
        info = self.info(TENSOR)
        return info if info is not None and info.has_type_var_tuple_type else None

    def instance(self, fullname: str, *args: Type) -> Instance | None:
        """An instance of a loaded class."""
        info = self.info(fullname)
        return None if info is None else Instance(info, list(args))

    def _builtin(self, name: str, *args: Type) -> Instance:
        found = self.instance(f"builtins.{name}", *args)
        assert found is not None, f"mypy has not loaded builtins.{name}"
        return found

    def int_(self) -> Instance:
        """``int``"""
        return self._builtin("int")

    def object_(self) -> Instance:
        """``object``"""
        return self._builtin("object")

    def tuple_(self, item: Type) -> Instance:
        """``tuple[item, ...]``"""
        return self._builtin("tuple", item)

    def literal(self, value: int | str | bool) -> LiteralType:
        """``Literal[value]``"""
        return LiteralType(value, self._builtin(type(value).__name__))

    def any_tensor(self) -> Instance | None:
        """An unknown tensor; None while torch.Tensor isn't loaded."""
        info = self.tensor
        return None if info is None else Instance(info, [any_type(), self.any_rest()])

    def unknown_size(self) -> Type:
        """A size of a tensor that is not known."""
        return self.instance(UNKNOWN_SIZE) or any_type()

    def any_rest(self) -> UnpackType:
        """``*tuple[Any, ...]``: any number of dims. Most tensors have it, and share it."""
        global _any_rest
        inner = None if _any_rest is None else get_proper_type(_any_rest.type)
        if _any_rest is None or not isinstance(inner, Instance) or inner.type is not self.info("builtins.tuple"):
            _any_rest = UnpackType(self.tuple_(any_type()))
        return _any_rest

    def named(self, name: str, namespace: str = NAMED_SCOPE) -> TypeVarType:
        """The type variable that stands for a name of a jaxtyping string; mypy prints it as that name."""
        any_ = AnyType(TypeOfAny.from_omitted_generics)
        return TypeVarType(name, f"{namespace}.{name}", _named_id(name, namespace), [], self.object_(), any_)

    def named_rest(self, name: str, namespace: str = NAMED_SCOPE) -> TypeVarTupleType:
        """The variadic type variable that stands for ``*name`` of a jaxtyping string."""
        fallback = self.tuple_(self.object_())
        default = UnpackType(self.tuple_(AnyType(TypeOfAny.from_omitted_generics)))
        identity = _named_id("*" + name, namespace)
        return TypeVarTupleType(name, f"{namespace}.*{name}", identity, fallback, fallback, default)
