"""Live values are read past all that their classes may do: by Python's own descriptors, and by identity.

``value.__class__``, ``cls.__name__``, ``key in table``, ``isinstance(value, …)`` and ``kind == …`` may each run code of
the user's: a property, a ``__getattribute__``, a metaclass's ``__hash__`` or ``__eq__``. Nothing here does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

__all__ = [
    "attributes_of",
    "home_of",
    "is_a",
    "is_one_of",
    "items",
    "members_of",
    "mro_of",
    "name_of",
    "own_of",
    "plain_dict",
    "qualified",
    "text",
]

_MRO: Final[Any] = type.__dict__["__mro__"].__get__
_MEMBERS: Final[Any] = type.__dict__["__dict__"].__get__
_IS_SUBCLASS: Final[Any] = type.__subclasscheck__  # which asks no metaclass
_NAME: Final[Any] = type.__dict__["__name__"].__get__
_QUALNAME: Final[Any] = type.__dict__["__qualname__"].__get__
_MODULE: Final[Any] = type.__dict__["__module__"].__get__


def text(given: Any) -> str:
    """A text; "" for all else, also for one of a class of the user's."""
    return given if type(given) is str else ""


def mro_of(kind: type) -> tuple[type, ...]:
    """The classes that a class is made of."""
    found: tuple[type, ...] = _MRO(kind)
    return found


def name_of(kind: type) -> str:
    """A class's name."""
    return text(_NAME(kind))


def home_of(kind: type) -> str:
    """The name of the module that a class is of."""
    try:
        return text(_MODULE(kind))
    except AttributeError:  # it was deleted
        return ""


def qualified(kind: type) -> str:
    """A class's name with those of the classes and functions around it."""
    return text(_QUALNAME(kind))


def _are_plain(keys: Iterable[Any]) -> bool:
    for key in keys:  # noqa: SIM110  # `all` would make a generator for each dict
        if type(key) is not str:
            return False
    return True


def members_of(kind: type) -> Mapping[str, Any]:
    """A class's own names with their values."""
    found: Mapping[str, Any] = _MEMBERS(kind)
    return found if _are_plain(found) else {k: v for k, v in found.items() if type(k) is str}


def is_a(kind: type, other: type) -> bool:
    """Whether objects of a class are those of another."""
    found: bool = _IS_SUBCLASS(other, kind)
    return found


def is_one_of(given: Any, others: Iterable[Any]) -> bool:
    """Whether it is one of these objects."""
    for each in others:  # noqa: SIM110  # `any` would make a generator for each question
        if each is given:
            return True
    return False


def items(given: Any) -> tuple[Any, ...]:
    """The items of a tuple or list of any class; none of any other value."""
    kind = type(given)
    if is_a(kind, tuple):
        return tuple(tuple.__iter__(given))
    return tuple(list.__iter__(given)) if is_a(kind, list) else ()


def plain_dict(given: Any) -> dict[str, Any]:
    """A dict of Python's own with keys that are texts of Python's own; of others what is so in it."""
    kind = type(given)
    if kind is not dict and kind is not OrderedDict:
        return {}
    if _are_plain(dict.keys(given)):
        found: dict[str, Any] = given
        return found
    return {key: value for key, value in dict.items(given) if type(key) is str}


def own_of(given: Any) -> dict[str, Any] | None:
    """The ``__dict__`` of an object; None if it has none, or one that its class made up."""
    if any(map(_makes_up, mro_of(type(given)))):
        return None
    try:
        held = object.__getattribute__(given, "__dict__")
    except AttributeError:
        return None
    return plain_dict(held) if type(held) is dict else None


def _makes_up(kind: type) -> bool:
    """Whether a class has another ``__dict__`` for its objects than Python's."""
    known = _READ.get(id(kind))
    if known is None:
        own = members_of(kind)
        known = kind, "__dict__" in own and type(own["__dict__"]) is not GetSetDescriptorType
        if home_of(kind).startswith(("torch.", "simpletorch.")):  # which never vanish, and have many members
            _READ[id(kind)] = known
    return known[1]


_READ: Final[dict[int, tuple[type, bool]]] = {}


def attributes_of(given: Any) -> Mapping[str, Any] | None:
    """The attributes that an object itself holds, in slots and in its ``__dict__``; None if it isn't known."""
    kinds = mro_of(type(given))
    if any(map(_makes_up, kinds)):
        return None
    found: dict[str, Any] = {}
    for kind in kinds:
        for name, slot in _MEMBERS(kind).items():
            if type(slot) is MemberDescriptorType and type(name) is str:
                try:
                    found.setdefault(name, slot.__get__(given))
                except (AttributeError, TypeError):  # nothing was put into it; it is of another class
                    continue
    held = own_of(given)
    return found if held is None else {**found, **held} if found else held
