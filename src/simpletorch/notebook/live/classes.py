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


def class_of(live: Live, given: type) -> Value:
    """A class."""
    name, public = _library_name(given), _public_name(given)
    if name is not None and public not in OWN:
        return live.run.program.library_class(name)
    if given.__module__ == "builtins":
        found = live.run.program.builtin(live.run, given.__name__)
        return Unknown(f"the class {given.__name__}") if found is MISSING else found
    found = live.run.program.library(live.run, public)
    if found is not MISSING:
        return found
    if type(given) not in _PLAIN_KINDS or not _is_own_class(given):
        return _foreign(live, given)
    return _own(live, given)


def _library_name(given: type) -> str | None:
    """The name that the follower knows a library's class by; of ours the class of torch that it is made of."""
    for cls in given.__mro__:
        ours = cls.__module__.startswith("simpletorch.")
        places = [cls.__module__, ".".join(cls.__module__.split(".")[:2])] if ours else [cls.__module__]
        for name in (canonical(f"{place}.{cls.__qualname__}") for place in places):
            if name == "torch.nn.Module" and given.__qualname__ != "Module":
                return None  # it is made of no layer of torch's: what it does isn't known
            if name in CLASSES or name in MODULES:
                return name
        if not ours:
            return None
    return None


def _public_name(given: type) -> str:
    """The dotted name of a class; of ours that of the package which it is in."""
    package = given.__module__.partition("._")[0]
    public = f"{package}.{given.__qualname__}"
    return public if public in OWN else f"{given.__module__}.{given.__qualname__}"


def _is_own_class(given: type) -> bool:
    """Whether the user wrote it, in a cell or a file."""
    module = sys.modules.get(given.__module__)
    return given.__module__ == "__main__" or (type(module) is ModuleType and is_own_module(module))


def _bases(live: Live, given: type) -> tuple[list[Class], Unknown | None]:
    """The bases that are known, and what isn't known of one."""
    found = [live.value(base) for base in given.__bases__]
    strange = next((b for b in found if not isinstance(b, Class)), None)
    known = [b for b in found if isinstance(b, Class)]
    unknown = None if strange is None else strange if isinstance(strange, Unknown) else Unknown("a base of a class")
    return known or [live.run.program.library_class("builtins.object")], unknown


def _foreign(live: Live, given: type) -> Class:
    """A class of a library that isn't followed: of its objects the attributes are known, and nothing that it does."""
    bases, _ = _bases(live, given)
    made = Class(given.__name__, tuple(bases), {}, given.__module__)
    made.unknown_base = Unknown(f"{given.__module__}.{given.__qualname__} isn't followed", harmless=False)
    return made


def _own(live: Live, given: type) -> Class:
    names = _names_of_items(given)
    plain = given.__bases__ == (tuple,) and names  # what makes it a tuple isn't a base for the follower
    bases, strange = ([live.run.program.library_class("typing.NamedTuple")], None) if plain else _bases(live, given)
    made = Class(given.__name__, tuple(bases), {}, live.run.program.main)
    made.metadata["live"] = True
    if strange is not None:
        made.unknown_base = strange
    live.keep(given, made)
    members = vars(given).get("_member_map_", {}) if isinstance(given, enum.EnumMeta) else {}
    if members:
        _enumerate(live, made, members)
    for name, value in vars(given).items():
        if name not in _LEFT_OUT and name not in members and name not in names and not _is_generated(value):
            made.cells[name] = _member(live, made, value)
    if names:
        defaults = given._field_defaults  # type: ignore[attr-defined]  # of a named tuple
        make_named_tuple(made, tuple((n, live.value(defaults[n]) if n in defaults else MISSING) for n in names))
    fields = vars(given).get("__dataclass_fields__")
    if fields is not None:
        options = vars(given)["__dataclass_params__"]
        rows = [_field(live, f) for f in fields.values() if f._field_type is not dataclasses._FIELD_CLASSVAR]  # type: ignore[attr-defined]
        define(made, tuple(rows), eq=options.eq, init=options.init)
    return made


def _names_of_items(given: type) -> tuple[str, ...]:
    """The names of a named tuple's items."""
    if not issubclass(given, tuple):
        return ()
    found = next((vars(c)["_fields"] for c in given.__mro__ if "_fields" in vars(c)), ())
    return found if type(found) is tuple else ()


def _enumerate(live: Live, made: Class, members: dict[str, enum.Enum]) -> None:
    """The members of an enumeration, each one object; a name more for one is the same object."""
    known: dict[int, Instance] = {}
    for name, member in members.items():
        one = known.get(id(member))
        if one is None:
            one = known[id(member)] = Instance(made)
            live.keep(member, one)
            held = object.__getattribute__(member, "__dict__")
            one.cells.update({k: live.value(v) for k, v in held.items() if not k.startswith("__")})
            one.cells.update(name=name, value=one.cells["_value_"])
        made.cells[name] = one
    define_members(made, tuple(known.values()))


def _is_generated(value: Any) -> bool:
    """Whether a method was written by ``dataclasses``, ``collections`` or ``enum``."""
    inner = getattr(value, "__func__", value) if type(value) in (classmethod, staticmethod) else value
    if type(inner) is not FunctionType:
        return False
    file = inner.__code__.co_filename
    return file in _GENERATORS or (file == "<string>" and not text_of("<string>"))


_GENERATORS: Final = (collections.__file__, enum.__file__)


def _member(live: Live, owner: Class, value: Any) -> Value:
    """What a class has under a name."""
    if type(value) is property:
        getter, setter = (None if f is None else _method(live, owner, f) for f in (value.fget, value.fset))
        return Property(getter, setter)
    if type(value) is functools.cached_property:
        return Property(_method(live, owner, value.func), cached=True)
    if type(value) in (staticmethod, classmethod):
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
    return Field(field.name, default, factory, field.init, by_name, field._field_type is dataclasses._FIELD_INITVAR)  # type: ignore[attr-defined]
