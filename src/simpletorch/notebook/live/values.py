"""From a live value to the follower's: by its exact class, in a table; what isn't in it is unknown."""

from __future__ import annotations

import enum
import functools
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.sources.lazy_cells import LazyCells
from simpletorch.follow.values import (
    MISSING,
    Class,
    Dict,
    Function,
    Instance,
    List,
    Method,
    Namespace,
    Set,
    Unknown,
    Value,
)
from simpletorch.notebook.live.classes import class_of
from simpletorch.notebook.live.functions import function_of, library_function
from simpletorch.notebook.live.reading import attributes_of, is_a, items, name_of, plain_dict, text
from simpletorch.notebook.live.sources import is_own_module

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Live"]

_LONGEST: Final = 1_000_000  # characters of a text, bits of an int
_MOST_PLAIN: Final = 100_000  # numbers and texts in a list
_MOST_ITEMS: Final = 1_000  # of a list of anything else
_DEEPEST: Final = 60  # a list in a list, and so on

# classes by their ids: to look one up by itself would ask its metaclass for a hash
_SCALARS: Final = frozenset(map(id, (bool, float, complex, type(None), type(...))))
_PLAIN: Final = _SCALARS | {id(int), id(str), id(bytes)}


class Live:
    """The converter of the values of one namespace, for one follow. The same object becomes the same object.

    Args:
        namespace: the variables of the notebook.
        name: what a file is called in reports, by the name that Python has for it.
    """

    run: Interpreter

    def __init__(self, namespace: Mapping[str, Any], name: Callable[[str], str]) -> None:
        self.namespace, self.name = namespace, name
        self.files: dict[str, None] = {}  # and earlier cells, by Python's names: where functions come from
        self._known: dict[int, tuple[Any, Value]] = {}  # with the live object, so that its id stays its own
        self._globals: dict[int, LazyCells] = {}
        self._depth = 0
        self._of_torch: Callable[[Live, Any], Value] | None = None

    def value(self, given: Any) -> Value:
        """The value as the follower has it."""
        kind = type(given)
        if id(kind) in _SCALARS:
            return given
        if kind is int:
            return given if given.bit_length() < _LONGEST else Unknown("a very long int", "int")
        if kind is str or kind is bytes:
            return given if len(given) < _LONGEST else Unknown("a very long text", name_of(kind))
        known = self._known.get(id(given))
        if known is not None:
            return known[1]
        if self._depth > _DEEPEST:
            return Unknown("something deep in what is alive")
        self._depth += 1
        try:
            made = self._converted(kind, given)
        finally:
            self._depth -= 1
        self.keep(given, made)
        return made

    def keep(self, given: Any, made: Any) -> Any:
        """Remember what a live object became, before what is in it is converted: it may hold itself."""
        self._known.setdefault(id(given), (given, made))
        return self._known[id(given)][1]

    def _converted(self, kind: type, given: Any) -> Value:
        work = _BY_ID.get(id(kind))
        if work is not None:
            return work(self, given)
        if is_a(kind, type):
            return class_of(self, given)
        if "torch" in sys.modules:
            if self._of_torch is None:
                from simpletorch.notebook.live.tensors import of_torch

                self._of_torch = of_torch
            found = self._of_torch(self, given)
            if found is not MISSING:
                return found
        return self.object(given)

    # -- namespaces ---------------------------------------------------------------------------------------------------

    def scope(self, variables: dict[str, Any], file: str) -> Scope:
        """The variables of a module, as code of a file sees them."""
        cells = self._globals.get(id(variables))
        if cells is None:
            cells = self._globals[id(variables)] = LazyCells(plain_dict(variables), self.value)
        return Scope(None, file, cells)

    def module(self, given: ModuleType) -> Value:
        """A module: of the user's, with its variables; of a library, by its name."""
        name = text(plain_dict(given.__dict__).get("__name__"))
        if is_own_module(given):
            file = given.__dict__["__file__"]
            return Namespace(name, self.scope(given.__dict__, self.name(file)).cells, file)
        found = self.run.program.library(self.run, name)
        return Unknown(f"{name} isn't followed") if found is MISSING else found

    # -- objects ------------------------------------------------------------------------------------------------------

    def object(self, given: Any) -> Value:
        """An object of a class of the user's, or of a library's class that is nothing but its attributes."""
        kind = type(given)
        cls = self.value(kind)
        if is_a(kind, enum.Enum):  # its class has made its members; several flags are none of them
            return self._known[id(given)][1] if id(given) in self._known else Unknown(f"a {name_of(kind)}")
        ours = isinstance(cls, Class) and cls.module == "simpletorch"  # what it does is followed in a file of ours
        attributes = None if not ours and any(is_a(kind, each) for each in _MORE_INSIDE) else attributes_of(given)
        plain = isinstance(cls, Class) and (cls.metadata.get("live") or cls.qualified in _OF_ATTRIBUTES or ours)
        if not isinstance(cls, Class) or not plain or attributes is None:
            return Unknown(f"a {name_of(kind)}")
        if is_a(kind, tuple):
            attributes = {**attributes, **dict(zip((n for n, _ in cls.fields or ()), items(given), strict=False))}
        made = Instance(cls, self._collection(given))
        made.cells = LazyCells(attributes, self.value)
        made.state = {"open": True} if cls.unknown_base is not None else {}
        return made

    def _collection(self, given: Any) -> Value:
        """The contents of an object whose class derives from one of Python's collections."""
        kind = next((k for k in (dict, list, set) if is_a(type(given), k)), None)
        return None if kind is None else _TABLE[kind](self, given)


_MORE_INSIDE: Final = (functools.partial, property, classmethod, staticmethod, ModuleType)
_OF_ATTRIBUTES: Final = frozenset({"argparse.Namespace", "types.SimpleNamespace"})


# -- collections -----------------------------------------------------------------------------------------------------


def _is_plain(values: Any) -> bool:
    return len(values) <= _MOST_PLAIN and all(id(type(v)) in _PLAIN for v in values)


def _list(live: Live, given: list[Any]) -> Value:
    made = List()
    made.cells = {"items": (), "item": None}
    live.keep(given, made)
    rows = tuple(list.__iter__(given))
    if _is_plain(rows):
        made.cells["items"] = rows
    elif len(rows) <= _MOST_ITEMS:
        made.cells["items"] = tuple(map(live.value, rows))
    else:
        made.cells.update({"items": None, "item": Unknown("an item of a long list")})
    return made


def _tuple(live: Live, given: tuple[Any, ...]) -> Value:
    if len(given) > (_MOST_PLAIN if _is_plain(given) else _MOST_ITEMS):
        return Unknown("a long tuple")
    return tuple(map(live.value, given))


def _is_key(value: Any) -> bool:
    return id(type(value)) in _PLAIN or (type(value) is tuple and all(map(_is_key, value)))


def _dict(live: Live, given: dict[Any, Any]) -> Value:
    made = Dict()
    made.cells, made.state = {}, {}
    live.keep(given, made)
    rows = dict.items(given)
    if len(rows) > _MOST_ITEMS and not _is_plain(dict.values(given)):
        made.state["open"] = Unknown("an item of a long dict")
        return made
    for key, value in rows:
        if _is_key(key):
            made.cells[key] = live.value(value)
        else:
            made.state["open"] = Unknown("an item under a key that isn't followed")
    return made


def _defaultdict(live: Live, given: defaultdict[Any, Any]) -> Value:
    made = _dict(live, given)
    made.default = None if given.default_factory is None else live.value(given.default_factory)
    return made


def _set(live: Live, given: set[Any]) -> Value:
    rows = tuple(set.__iter__(given))
    made = Set(rows if _is_plain(rows) else (), open=not _is_plain(rows))
    made.cells, made.state = dict(made.cells), dict(made.state)
    return made


def _slice(live: Live, given: slice) -> Value:
    return slice(live.value(given.start), live.value(given.stop), live.value(given.step))


# -- functions -------------------------------------------------------------------------------------------------------


def _method(live: Live, given: MethodType) -> Value:
    function, receiver = live.value(given.__func__), live.value(given.__self__)
    return Method(function, receiver) if isinstance(function, Function) else Unknown("a method")


def _partial(live: Live, given: functools.partial[Any]) -> Value:
    cls = live.run.program.library_class("functools.partial")
    arguments = tuple(map(live.value, (given.func, *items(given.args))))
    keywords = {k: live.value(v) for k, v in plain_dict(given.keywords).items()}
    return live.run.call(cls, arguments, keywords)


def _builtin(live: Live, given: BuiltinFunctionType) -> Value:
    return library_function(live, given)


_TABLE: Final[dict[type, Callable[[Live, Any], Value]]] = {
    list: _list,
    tuple: _tuple,
    dict: _dict,
    OrderedDict: _dict,
    defaultdict: _defaultdict,
    set: _set,
    slice: _slice,
    range: lambda live, given: given,
    FunctionType: function_of,
    BuiltinFunctionType: _builtin,
    MethodType: _method,
    functools.partial: _partial,
    functools._lru_cache_wrapper: lambda live, given: live.value(plain_dict(given.__dict__).get("__wrapped__", ...)),
    type: class_of,
    ModuleType: Live.module,
}
_BY_ID: Final = {id(kind): work for kind, work in _TABLE.items()}
