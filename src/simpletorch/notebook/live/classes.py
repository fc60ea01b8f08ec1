"""Live classes: the user's as they are now, method by method; libraries' by their names."""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import functools
import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.libraries import CLASSES, OWN
from simpletorch.follow.libraries.python.collections import make_named_tuple
from simpletorch.follow.libraries.python.dataclasses import Field, define
from simpletorch.follow.libraries.python.enum import define as define_members
from simpletorch.follow.sources.program import canonical
from simpletorch.follow.values import (
    MISSING,
    Class,
    Function,
    Instance,
    Property,
    StaticMethod,
    Unknown,
    Value,
)
from simpletorch.notebook.live.reading import (
    home_of,
    is_a,
    is_one_of,
    members_of,
    mro_of,
    name_of,
    own_of,
    plain_dict,
    qualified,
    text,
)
from simpletorch.notebook.live.sources import is_own_module, text_of
from simpletorch.rules import MODULES

if TYPE_CHECKING:
    from simpletorch.notebook.live.values import Live

__all__ = ["class_of"]

_PLAIN_KINDS: Final = (type, abc.ABCMeta, enum.EnumMeta)  # metaclasses that change nothing, or are known
_LEFT_OUT: Final = frozenset({
    "__abstractmethods__", "__annotations__", "__dataclass_fields__", "__dataclass_params__", "__dict__", "__doc__",
    "__firstlineno__", "__hash__", "__match_args__", "__module__", "__orig_bases__", "__parameters__", "__qualname__",
    "__slots__", "__static_attributes__", "__weakref__", "_abc_impl", "_member_map_", "_member_names_", "_member_type_",
    "_value2member_map_", "_unhashable_values_", "_hashable_values_", "_new_member_", "_value_repr_", "_use_args_",
})  # fmt: skip


_BASES: Final[Any] = type.__dict__["__bases__"].__get__


def class_of(live: Live, given: type) -> Value:
    """A class."""
    name, public = _library_name(given), _public_name(given)
    if name is not None and public not in OWN:
        return live.run.program.library_class(name)
    home, own_name = home_of(given), name_of(given)
    if home == "builtins":
        found = live.run.program.builtin(live.run, own_name)
        return Unknown(f"the class {own_name}") if found is MISSING else found
    found = live.run.program.library(live.run, public)
    if found is not MISSING:
        return found
    if not is_one_of(type(given), _PLAIN_KINDS) or not _is_own_class(given):
        return _foreign(live, given)
    return _own(live, given)


def _library_name(given: type) -> str | None:
    """The name that the follower knows a library's class by; of ours the class of torch that it is made of."""
    for cls in mro_of(given):
        home = home_of(cls)
        ours = home.startswith("simpletorch.")
        places = [home, ".".join(home.split(".")[:2])] if ours else [home]
        for name in (canonical(f"{place}.{qualified(cls)}") for place in places):
            if name == "torch.nn.Module" and qualified(given) != "Module":
                return None  # it is made of no layer of torch's: what it does isn't known
            if name in CLASSES or name in MODULES:
                return name
        if not ours:
            return None
    return None


def _public_name(given: type) -> str:
    """The dotted name of a class; of ours that of the package which it is in."""
    home, name = home_of(given), qualified(given)
    public = f"{home.partition('._')[0]}.{name}"
    return public if public in OWN else f"{home}.{name}"


def _is_own_class(given: type) -> bool:
    """Whether the user wrote it, in a cell or a file."""
    home = home_of(given)
    module = sys.modules.get(home)
    return home == "__main__" or (type(module) is ModuleType and is_own_module(module))


def _bases(live: Live, given: type) -> tuple[list[Class], Unknown | None]:
    """The bases that are known, and what isn't known of one."""
    found = [live.value(base) for base in _BASES(given)]
    strange = next((b for b in found if not isinstance(b, Class)), None)
    known = [b for b in found if isinstance(b, Class)]
    unknown = None if strange is None else strange if isinstance(strange, Unknown) else Unknown("a base of a class")
    return known or [live.run.program.library_class("builtins.object")], unknown


def _foreign(live: Live, given: type) -> Class:
    """A class of a library that isn't followed: of its objects the attributes are known, and nothing that it does."""
    bases, _ = _bases(live, given)
    made = Class(name_of(given), tuple(bases), {}, home_of(given))
    made.unknown_base = Unknown(f"{home_of(given)}.{qualified(given)} isn't followed", harmless=False)
    return made


def _own(live: Live, given: type) -> Class:
    names = _names_of_items(given)
    plain = _BASES(given)[0] is tuple and names  # what makes it a tuple isn't a base for the follower
    bases, strange = ([live.run.program.library_class("typing.NamedTuple")], None) if plain else _bases(live, given)
    made = Class(name_of(given), tuple(bases), {}, live.run.program.main)
    made.metadata["live"] = True
    if strange is not None:
        made.unknown_base = strange
    live.keep(given, made)
    held = members_of(given)
    members = plain_dict(held.get("_member_map_")) if type(given) is enum.EnumMeta else {}
    if members:
        _enumerate(live, made, members)
    for name, value in held.items():
        if name not in _LEFT_OUT and name not in members and name not in names and not _is_generated(value):
            made.cells[name] = _member(live, made, value)
    if names:
        defaults = plain_dict(_inherited(given, "_field_defaults"))
        make_named_tuple(
            live.run, made, tuple((n, live.value(defaults[n]) if n in defaults else MISSING) for n in names)
        )
    fields: Any = held.get("__dataclass_fields__")
    options: Any = held.get("__dataclass_params__")
    if type(fields) is dict and is_one_of(type(options), (_OPTIONS,)):
        known = [f for f in dict.values(fields) if type(f) is dataclasses.Field and type(f.name) is str]
        rows = [_field(live, f) for f in known if f._field_type is not dataclasses._FIELD_CLASSVAR]  # type: ignore[attr-defined]
        define(made, tuple(rows), eq=options.eq is not False, init=options.init is not False)
    return made


_OPTIONS: Final[type] = dataclasses._DataclassParams  # type: ignore[attr-defined]  # has no public name


def _inherited(given: type, name: str) -> Any:
    """The value of a name in a class or its bases; None if there is none."""
    return next((own[name] for cls in mro_of(given) if name in (own := members_of(cls))), None)


def _names_of_items(given: type) -> tuple[str, ...]:
    """The names of a named tuple's items."""
    found = _inherited(given, "_fields") if is_a(given, tuple) else ()
    return found if type(found) is tuple and all(map(text, found)) else ()


def _enumerate(live: Live, made: Class, members: dict[str, Any]) -> None:
    """The members of an enumeration, each one object; a name more for one is the same object."""
    known: dict[int, Instance] = {}
    for name, member in members.items():
        one = known.get(id(member))
        if one is None:
            one = known[id(member)] = Instance(made)
            live.keep(member, one)
            held = own_of(member) or {}
            one.cells.update({k: live.value(v) for k, v in held.items() if not k.startswith("__")})
            one.cells.update(name=name, value=one.cells.get("_value_", Unknown("the value of a member")))
        made.cells[name] = one
    define_members(made, tuple(known.values()))


def _is_generated(value: Any) -> bool:
    """Whether a method was written by ``dataclasses``, ``collections`` or ``enum``."""
    inner = value.__func__ if is_one_of(type(value), (classmethod, staticmethod)) else value
    if type(inner) is not FunctionType:
        return False
    file = text(inner.__code__.co_filename)
    return file in _GENERATORS or (file == "<string>" and not text_of("<string>"))


_GENERATORS: Final = (collections.__file__, enum.__file__)


def _member(live: Live, owner: Class, value: Any) -> Value:
    """The value that a class has under a name."""
    if type(value) is property:
        getter, setter = (None if f is None else _method(live, owner, f) for f in (value.fget, value.fset))
        return Property(getter, setter)
    if type(value) is functools.cached_property:
        return Property(_method(live, owner, value.func), cached=True)
    if is_one_of(type(value), (staticmethod, classmethod)):
        return StaticMethod(_method(live, owner, value.__func__), of_class=type(value) is classmethod)
    return _method(live, owner, value)


def _method(live: Live, owner: Class, value: Any) -> Value:
    made = live.value(value)
    if isinstance(made, Function):
        made.owner = owner
    return made


def _field(live: Live, field: Any) -> Field:
    """One field of a dataclass: ``dataclasses`` has no public name for its kind."""
    default = MISSING if field.default is dataclasses.MISSING else live.value(field.default)
    factory = MISSING if field.default_factory is dataclasses.MISSING else live.value(field.default_factory)
    by_name = field.kw_only is True
    of_init = field._field_type is dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]
    return Field(field.name, default, factory, field.init is not False, by_name, of_init)
