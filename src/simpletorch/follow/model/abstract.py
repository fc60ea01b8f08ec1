"""``isinstance`` of Python's abstract classes, which ask for methods, and of the classes in ``types``.

Python itself is asked, with an object of the value's class, or with a class that has the methods of the program's.
"""

from __future__ import annotations

import collections.abc
import contextlib
import numbers
import os
import types
import typing
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.model import kinds, members
from simpletorch.follow.values import (
    BoundNative,
    Class,
    Function,
    Instance,
    Iterator,
    Method,
    Native,
    Tensor,
    Value,
)
from simpletorch.rules.core.attributes import is_of_tensors

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["asked_class", "derives", "has_members", "is_of"]

_MODULES: Final = {m.__name__: m for m in (collections.abc, contextlib, numbers, os, types, typing)}
_ASKED: Final = frozenset({
    "__abs__", "__aenter__", "__aexit__", "__aiter__", "__anext__", "__await__", "__bytes__", "__call__", "__complex__",
    "__contains__", "__enter__", "__eq__", "__exit__", "__float__", "__fspath__", "__hash__", "__index__", "__int__",
    "__iter__", "__len__", "__next__", "__reversed__", "__round__", "aclose", "asend", "athrow", "close", "send",
    "throw",
})  # fmt: skip
"""The methods that Python's abstract classes ask for."""
_OF_ARRAYS: Final = frozenset({
    "__abs__", "__complex__", "__contains__", "__eq__", "__float__", "__index__", "__int__", "__iter__", "__len__",
})  # fmt: skip


def _some() -> Any:
    yield


class _Plain:
    def method(self) -> None: ...


_WITNESSES: Final[dict[type, tuple[Any, ...]]] = {
    Function: (_some,),
    Method: (_Plain().method,),
    Native: (len, _some, _Plain),
    BoundNative: ([].append, _Plain().method),
    Iterator: (iter(()), zip(), reversed(()), _some()),
}
"""Objects that `kinds.witnesses` has none of."""


def asked_class(cls: Class) -> type | None:
    """Python's own class that asks objects for methods, or one of ``types``."""
    module, _, name = cls.qualified.rpartition(".")
    found = getattr(_MODULES.get(module), name, None)
    return found if isinstance(found, type) else None


def is_of(run: Interpreter, value: Value, asked: type) -> bool | None:
    """``isinstance(value, asked)``; None where that isn't known."""
    found = kinds.witnesses(value) or _WITNESSES.get(type(value), ())
    if found:
        there = {isinstance(w, asked) for w in found}
        return there.pop() if len(there) == 1 else None
    if isinstance(value, Tensor):
        if value.array and value.type.shape.rank in (0, None):  # it may be a number
            return None
        return issubclass(_of_arrays() if value.array else _of_tensors(), asked)
    if isinstance(value, Class):
        return True if isinstance(_Plain, asked) else None
    if not isinstance(value, Instance):
        return None
    return derives(run, value.cls, asked)


def derives(run: Interpreter, cls: Class, asked: type) -> bool | None:
    """``issubclass(cls, asked)``; None where that isn't known."""
    if (own_class := kinds.real(cls)) is not None:
        return issubclass(own_class, asked)
    own = {n: cls.find(n) for n in _ASKED}
    if "dataclass" in cls.metadata and own["__hash__"] is None:
        return None
    methods = [n for n, found in own.items() if found is not None and found[0] is not None]
    without = [n for n, found in own.items() if found is not None and found[0] is None]
    bases = tuple({b: None for c in cls.mro if (b := kinds.real(c)) is not None and b is not object})
    if cls.is_a(members.MODULE):
        methods.append("__call__")
    try:
        known = issubclass(_like(methods, *without, bases=bases), asked)
    except TypeError:  # bases that don't go together: Python says so where the class is made
        return None
    has_others = "members" in cls.metadata or "tuple" in cls.metadata or not kinds.is_plain(run, cls)
    return None if has_others and not known else known


def _like(methods: Iterable[str], *without: str, bases: tuple[type, ...] = ()) -> type:
    """A class that has these methods, and surely doesn't have those."""
    return type("_Like", bases, {**dict.fromkeys(methods, _some), **dict.fromkeys(without)})


@cache
def _of_arrays() -> type:
    return _like(_OF_ARRAYS, "__hash__")


@cache
def _of_tensors() -> type:
    return _like(n for n in _ASKED if n in ("__eq__", "__hash__") or is_of_tensors(n))


def has_members(run: Interpreter, value: Value, protocol: Class) -> bool | None:
    """Whether a value has all members that a protocol of the program's names; None where that isn't known."""
    if protocol.module != run.program.main:
        return None
    names = {
        name
        for c in protocol.mro
        if c.module == run.program.main
        for name in (*c.cells, *c.notes)
        if name not in _OF_CLASSES
    }
    answers = {_has(run, value, n) for n in names}
    return False if False in answers else None if None in answers else True


_OF_CLASSES: Final = frozenset({"__annotations__", "__doc__", "__module__", "__qualname__", "__slots__", "__init__"})


def _has(run: Interpreter, value: Value, name: str) -> bool | None:
    if isinstance(value, Instance):
        there = name in value.cells or kinds.has(run, value, name)
        return there or (None if value.state.get("open") else there)
    return kinds.has_attribute(value, name)
