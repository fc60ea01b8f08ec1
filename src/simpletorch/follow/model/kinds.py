"""Which methods and attributes a value has: the one place that decides "surely", "surely not" or "not known".

Python answers for its own classes: it is asked with a witness, an object of the same class. The program's classes are
known as far as their bases are. Of everything else nothing is sure.
"""

from __future__ import annotations

import builtins
import collections.abc
import inspect
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import AsyncGenerator, Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import guards
from simpletorch.follow.model import descriptors
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    Class,
    Dict,
    Fields,
    Instance,
    Iterator,
    List,
    Set,
    Sizes,
    Value,
    View,
    behind,
    is_tuple,
)
from simpletorch.rules.core.binding import Binder
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "check_arguments",
    "check_arity",
    "check_method",
    "collection_of",
    "error",
    "has",
    "has_attribute",
    "is_of_python",
    "is_plain",
    "need",
    "real",
    "witnesses",
]


def error(name: str) -> Raised:
    """An exception of Python's, by the name of its class."""
    return Raised(name, None, tuple(c.__name__ for c in getattr(builtins, name).__mro__[1:-1]))


# -- Python's classes ------------------------------------------------------------------------------------------------


class _StateDict(OrderedDict[Any, Any]):
    _metadata = None


class _Size(tuple[Any, ...]):
    __slots__ = ()

    def numel(self) -> None: ...

    __radd__ = numel


async def _asynchronous() -> AsyncGenerator[None]:
    yield


_GENERATOR: Final = (_ for _ in ())
_ASYNCHRONOUS: Final = _asynchronous()


_OF_GENERATORS: Final = ("send", "throw", "close")


def is_generator(value: Iterator) -> bool:
    """Whether it is what a generator function or expression gives."""
    return getattr(value.lazy, "is_generator", False)


_DICTS: Final[tuple[dict[Any, Any], ...]] = ({}, OrderedDict(), defaultdict(), _StateDict())
_COUNTER: Final[Counter[Any]] = Counter()
_VIEWS: Final = {"keys": ({}.keys(),), "values": ({}.values(),), "items": ({}.items(),)}
_WITNESSES: Final[dict[type, tuple[Any, ...]]] = {
    **{type(v): (v,) for v in (None, True, 1, 1.0, 1j, "a", b"a", ..., NotImplemented, range(1), slice(1))},
    Expr: (1,),
    tuple: ((),),
    Sizes: (_Size(), ()),
    Fields: ((),),
    List: ([], deque()),
    Dict: _DICTS,
    Set: (set(), frozenset()),
    frozenset: (frozenset(),),
}
_NUMBERS: Final = frozenset({bool, int, float, complex, Expr})
_OF_NUMPY: Final = frozenset({
    "T", "__array__", "__array_interface__", "__array_namespace__", "__array_priority__", "__array_struct__",
    "__array_wrap__", "__ceil__", "__class_getitem__", "__complex__", "__copy__", "__deepcopy__", "__setstate__",
    "all", "any", "argmax", "argmin", "argsort", "as_integer_ratio", "astype", "base", "bit_count", "byteswap",
    "choose", "clip", "compress", "conj", "copy", "cumprod", "cumsum", "data", "denominator", "device", "diagonal",
    "dtype", "dump", "dumps", "fill", "flags", "flat", "flatten", "fromhex", "getfield", "hex", "is_integer",
    "item", "itemsize", "max", "mean", "min", "nbytes", "ndim", "nonzero", "numerator", "prod", "put", "ravel",
    "repeat", "reshape", "resize", "round", "searchsorted", "setfield", "setflags", "shape", "size", "sort",
    "squeeze", "std", "strides", "sum", "swapaxes", "take", "to_device", "tobytes", "tofile", "tolist", "trace",
    "transpose", "var", "view",
})  # fmt: skip
"""What NumPy's numbers have beside Python's: a number that is known may be one of them."""


def witnesses(value: Value) -> tuple[Any, ...]:
    """Objects of Python's, one of each class that the value may be of; none where that isn't known."""
    if isinstance(value, View):
        return _VIEWS[value.kind]
    if isinstance(value, Dict) and value.kind == "Counter":
        return (_COUNTER,)
    if is_tuple(value) and not isinstance(value, tuple):
        return ((),)
    return _WITNESSES.get(type(value), ())


def is_of_python(value: Value) -> bool:
    """Whether it is an object of one of Python's own classes, and known to be one."""
    return bool(witnesses(value))


# -- the program's classes -------------------------------------------------------------------------------------------


def real(cls: Class) -> type | None:
    """Python's own class."""
    found = vars(builtins).get(cls.name) if cls.module == "builtins" else _OF_LIBRARIES.get(cls.qualified)
    return found if isinstance(found, type) else None


_OF_LIBRARIES: Final = {
    "abc.ABC": object,
    "typing.Generic": object,
    "collections.OrderedDict": OrderedDict,
    "collections.deque": deque,
    "collections.Counter": Counter,
    "collections.defaultdict": defaultdict,
    **{f"collections.abc.{n}": getattr(collections.abc, n) for n in collections.abc.__all__},
}


def _is_known(run: Interpreter, cls: Class) -> bool:
    """Whether a class has what the program says, and what Python's classes have, but nothing else."""
    if cls.unknown_base is not None or descriptors.META in cls.metadata:
        return False
    return all(c.module == run.program.main or real(c) is not None for c in cls.mro)


_ARGUMENTS: Final = {
    "bool": (0, 1, ()),
    "int": (0, 2, ("base",)),
    "float": (0, 1, ()),
    "complex": (0, 2, ("real", "imag")),
    "str": (0, 3, ("object", "encoding", "errors")),
    "list": (0, 1, ()),
    "tuple": (0, 1, ()),
    "set": (0, 1, ()),
    "frozenset": (0, 1, ()),
    "dict": (0, 1, None),
    "range": (1, 3, ()),
    "slice": (1, 3, ()),
    "bytes": (0, 3, ("source", "encoding", "errors")),
    "bytearray": (0, 3, ("source", "encoding", "errors")),
}
"""How many arguments Python's classes take, and which by name; None for any."""


def check_arguments(cls: Class, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    """One of Python's classes is called.

    Raises:
        Raised: it doesn't take so many arguments, or such names.
    """
    least, most, named = _ARGUMENTS.get(cls.name, (0, sys.maxsize, None)) if cls.module == "builtins" else (0, 99, None)
    if len(args) < least or len(args) > most or (named is not None and not set(kwargs) <= set(named)):
        raise error("TypeError")


_WITHOUT_SIGNATURE: Final[dict[str, Any]] = {
    **dict.fromkeys(("clear", "copy", "items", "keys", "values", "pop", "popleft", "reverse"), lambda self, /: None),
    **dict.fromkeys(
        (
            *("add", "remove", "discard", "issubset", "issuperset", "isdisjoint", "count", "__getitem__"),
            *("symmetric_difference", "symmetric_difference_update", "append", "appendleft", "extend", "extendleft"),
            "__contains__",
        ),
        lambda self, value, /: None,
    ),
    "index": lambda self, value, start=0, stop=9, /: None,
    "insert": lambda self, index, value, /: None,
    "rotate": lambda self, n=1, /: None,
}
"""What the methods of sets and deques take, and those of dicts; of these Python has no signature."""


@lru_cache(maxsize=512)
def _binder(kind: type, name: str) -> Binder | None:
    """The parameters of a method of Python's; None where they aren't known."""
    try:
        found = inspect.signature(getattr(kind, name))
    except ValueError:
        if name not in _WITHOUT_SIGNATURE or (name == "pop" and issubclass(kind, dict)):
            return None
        found = inspect.signature(_WITHOUT_SIGNATURE[name])
    return Binder.of(found)


def check_method(value: Value, name: str, count: int, names: Collection[str]) -> None:
    """A method of one of Python's collections is called with so many arguments by place, and these by name.

    Raises:
        Raised: it doesn't take them.
    """
    there = [type(w) for w in witnesses(value) if hasattr(w, name)]
    if isinstance(value, List) and list not in there:  # a list has no such method
        return
    if there and all(_misfits(kind, name, count + 1, names) for kind in there):
        raise error("TypeError")


def check_arity(kind: type, name: str, count: int, names: Collection[str]) -> None:
    """The same for a method of one class, with the object that it is called on.

    Raises:
        Raised: it doesn't take them.
    """
    if _misfits(kind, name, count, names):
        raise error("TypeError")


def _misfits(kind: type, name: str, count: int, names: Collection[str]) -> bool:
    binder = _binder(kind, name)
    return binder is not None and binder.misfit(count, names) is not None


def collection_of(cls: Class) -> Value:
    """The collection behind an object of a subclass of Python's; None for other classes."""
    for name, kind in (
        ("builtins.dict", Dict),
        ("collections.OrderedDict", Dict),
        ("builtins.list", List),
        ("builtins.set", Set),
    ):
        if cls.is_a(name):
            return kind()
    return None


def is_plain(run: Interpreter, cls: Class) -> bool:
    """Whether all that a class has is known."""
    return _is_known(run, cls)


def has(run: Interpreter, value: Value, method: str) -> bool | None:
    """Whether the class of a value has a special method; None where that isn't known."""
    found = witnesses(value)
    if found:
        there = {_defines(type(w), method) for w in found}
        return there.pop() if len(there) == 1 else None
    if not isinstance(value, Instance):
        return None
    own = value.cls.find(method)
    if own is not None:
        return own[0] is not None
    if not _is_known(run, value.cls) or "members" in value.cls.metadata:
        return None
    if behind(value) is not value or value.cls.metadata.get("tuple"):
        return None
    if "dataclass" in value.cls.metadata and method in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__"):
        return None
    return any(_defines(own, method) for c in value.cls.mro if (own := real(c)) is not None)


def _defines(cls: type, method: str) -> bool:
    """Whether objects of one of Python's classes have a method; what a class itself has by ``type`` isn't theirs."""
    return any(method in vars(c) for c in cls.__mro__)


def need(run: Interpreter, value: Value, *methods: str, raises: str = "TypeError") -> None:
    """An operation calls one of these special methods.

    Raises:
        Raised: the value surely has none of them.
    """
    answers = [has(run, value, m) for m in methods]
    if True in answers:
        return
    if None not in answers:
        raise error(raises)
    if run.takers:
        guards.may_raise(run, (error(raises),))


# -- attributes ------------------------------------------------------------------------------------------------------


def has_attribute(value: Value, name: str) -> bool | None:
    """Whether a value of Python's, or an object of the program's, has an attribute; None where that isn't known."""
    if isinstance(value, Iterator) and value.lazy is not None and not is_generator(value) and name in _OF_GENERATORS:
        return False
    found: tuple[Any, ...] = witnesses(value)
    if isinstance(value, Iterator) and is_generator(value):
        found = (_ASYNCHRONOUS if getattr(value.lazy, "is_asynchronous", False) else _GENERATOR,)
    if found:
        if isinstance(value, Fields) and (name in value.names or name.startswith("n_")):
            return True
        there = {hasattr(w, name) for w in found}
        if there == {False} and type(value) in _NUMBERS and name in _OF_NUMPY:
            return None
        return there.pop() if len(there) == 1 else None
    return None


def in_python(cls: Class, name: str) -> bool:
    """Whether one of Python's classes that a class derives from has an attribute."""
    return any(hasattr(own, name) for c in cls.mro if (own := real(c)) is not None)
