"""``dataclasses``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow import attributes, branches, items
from simpletorch.follow.libraries import library_class, model, native
from simpletorch.follow.model import descriptors, kinds
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources.syntax import parse
from simpletorch.follow.values import (
    MISSING,
    Class,
    Dict,
    Instance,
    List,
    Method,
    Native,
    Property,
    Set,
    Unknown,
    Value,
    View,
    as_tuple,
    behind,
    is_tuple,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ("Field", "define", "own_annotations")

_TYPE_ERROR: Final = ("Exception", "BaseException")


@final
@dataclass(frozen=True, slots=True)
class Field:
    """One field: its default or the function that makes it (MISSING where there is none), and who takes it."""

    name: str
    default: Any = MISSING
    factory: Any = MISSING
    in_init: bool = True
    by_name_only: bool = False
    for_init_only: bool = False  # an InitVar
    compared: bool = True
    shown: Instance | None = None  # what ``fields()`` gives

    def initial(self, run: Interpreter) -> Value:
        """What it holds if nothing is given.

        Raises:
            Raised: something must be given.
        """
        if self.factory is not MISSING:
            return run.call(self.factory, ())
        if self.default is MISSING:
            raise Raised("TypeError", None, _TYPE_ERROR)
        return self.default


def own_annotations(cls: Class) -> dict[str, str]:
    """The annotated names of a class, each with its annotation as text; class variables are left out."""
    return {n: t for n, t in _all_annotations(cls).items() if _head(t) != "ClassVar"}


def _all_annotations(cls: Class) -> dict[str, str]:
    notes = cls.notes.items()
    return {n: str(t.value) if isinstance(t, ast.Constant) else ast.unparse(t) for n, t in notes}


def _head(note: str) -> str:
    """The last name of what an annotation takes parts of: ``ClassVar`` of ``typing.ClassVar[int]``."""
    return note.partition("[")[0].rpartition(".")[2].strip()


library_class("dataclasses.FrozenInstanceError", ("builtins.AttributeError",))
library_class("dataclasses.Field")
library_class("dataclasses.KW_ONLY")
library_class("dataclasses.InitVar")
library_class("dataclasses.MISSING")


@model("dataclasses.field")
def _field(
    run: Interpreter,
    *,
    default: Value = MISSING,
    default_factory: Value = MISSING,
    init: Value = True,
    repr: Value = True,
    hash: Value = None,
    compare: Value = True,
    metadata: Value = None,
    kw_only: Value = MISSING,
) -> Value:
    named = {"default": default, "default_factory": default_factory, "init": init, "repr": repr, "hash": hash}
    named |= {"compare": compare, "metadata": metadata, "kw_only": kw_only}
    given = {name: value for name, value in named.items() if not _is_missing(value)}
    if metadata is not None and kinds.is_of_python(metadata) and not isinstance(behind(metadata), Dict):
        raise kinds.error("TypeError")
    if "default" in given and "default_factory" in given:
        raise kinds.error("ValueError")
    return Instance(run.program.library_class("dataclasses.Field"), tuple(given.items()))


def _is_missing(value: Value) -> bool:
    return value is MISSING or (isinstance(value, Class) and value.qualified == "dataclasses.MISSING")


@native("dataclasses.dataclass")
def _dataclass(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        cls = run.resolve(given[0])
        if isinstance(cls, Class):
            _make_dataclass(run, cls, kwargs)
        return cls

    if len(args) > 1 or not kwargs.keys() <= _DEFAULTS.keys():
        raise kinds.error("TypeError")
    return decorate(run, args, {}) if args and args[0] is not None else Native("dataclass", decorate)


_DEFAULTS: Final = {
    **dict.fromkeys(("init", "repr", "eq", "match_args"), True),
    **dict.fromkeys(("order", "unsafe_hash", "frozen", "kw_only", "slots", "weakref_slot"), False),
}
_ORDER: Final = ("__lt__", "__le__", "__gt__", "__ge__")


def _flags(run: Interpreter, options: dict[str, Value]) -> dict[str, bool]:
    """The decorator's options; one that isn't known has its default."""
    found = {name: branches.truth(run, value) for name, value in options.items()}
    return _DEFAULTS | {name: value for name, value in found.items() if isinstance(value, bool)}


def _make_dataclass(run: Interpreter, cls: Class, options: dict[str, Value]) -> None:
    flags = _flags(run, options)
    if not isinstance(cls.cells.get("__annotations__", {}), dict):
        cls.unknown_base = run.unknown("the annotations of a class")
        return
    fields: dict[str, Field] = {}
    for base in reversed(cls.mro[1:]):
        fields.update({f.name: f for f in base.metadata.get("dataclass", ())})
    by_name, separators = flags["kw_only"], 0
    for name, note in _all_annotations(cls).items():
        if note.rpartition(".")[2] == "KW_ONLY":
            by_name, separators = True, separators + 1
        elif _head(note) == "ClassVar":
            _class_variable(run, cls, name)
        else:
            fields[name] = _made(run, cls, name, note, by_name)
    _refuse(cls, flags, tuple(fields.values()), separators)
    slots = tuple(n for n in own_annotations(cls) if n in fields) if flags["slots"] else None
    define(cls, tuple(fields.values()), eq=flags["eq"], init=flags["init"], slots=flags["slots"])
    cls.metadata["frozen"] = flags["frozen"]
    if not flags["init"]:
        cls.fields = None
    if flags["match_args"]:
        cls.cells.setdefault("__match_args__", tuple(n for n, f in fields.items() if f.in_init and not f.by_name_only))
    hashed = flags["frozen"] or "__hash__" in cls.cells or flags["unsafe_hash"]
    cls.metadata["unhashable"] = flags["eq"] and not hashed
    if slots is not None:
        _put_slots(run, cls, (*slots, *["__weakref__"] * flags["weakref_slot"]))


def _put_slots(run: Interpreter, cls: Class, names: tuple[str, ...]) -> None:
    """The class has slots; a base may have some of them already."""
    taken = {n for c in cls.mro[1:] for n in c.metadata.get("slots") or ()}
    cls.metadata["slots"] = tuple(n for n in names if n not in taken)
    run.heap.write(cls.cells, "__slots__", cls.metadata["slots"])
    for name in names:
        run.heap.write(cls.cells, name, MISSING)


def _refuse(cls: Class, flags: dict[str, bool], fields: tuple[Field, ...], separators: int) -> None:
    """Refuse a class as the decorator does.

    Raises:
        Raised: the class can't be a dataclass.
    """
    stray = any(_is_field(v) and n not in cls.notes for n, v in cls.cells.items())
    bases = [c.metadata["frozen"] for c in cls.mro[1:] if "frozen" in c.metadata and "dataclass" in c.metadata]
    mixed = bool(bases) and any(bases) is not flags["frozen"]
    own = {n for n, v in cls.cells.items() if v is not MISSING}
    taken = (flags["order"] and not own.isdisjoint(_ORDER)) or (flags["slots"] and "__slots__" in own)
    taken |= flags["frozen"] and not own.isdisjoint(("__setattr__", "__delattr__"))
    taken |= flags["weakref_slot"] and not flags["slots"]
    taken |= flags["unsafe_hash"] and own & {"__hash__", "__eq__"} == {"__hash__"}
    by_place = [f.default is MISSING and f.factory is MISSING for f in fields if f.in_init and not f.by_name_only]
    unordered = flags["init"] and cls.unknown_base is None and by_place != sorted(by_place, reverse=True)
    if stray or separators > 1 or mixed or taken or unordered:
        raise kinds.error("TypeError")
    if flags["order"] and not flags["eq"]:
        raise kinds.error("ValueError")


def define(cls: Class, fields: tuple[Field, ...], *, eq: bool, init: bool, slots: bool = False) -> None:
    """Make a class the dataclass that has these fields."""
    cls.metadata["dataclass"] = fields
    cls.fields = tuple((f.name, f.default) for f in fields if not f.for_init_only)
    cls.metadata["eq"] = eq
    cls.cells["__dataclass_fields__"] = Dict({f.name: f.shown for f in fields})
    if init:
        cls.cells.setdefault("__init__", Native("__init__", _initialise(cls, slots)))


def _is_field(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_a("dataclasses.Field")


def _class_variable(run: Interpreter, cls: Class, name: str) -> None:
    held = run.resolve(cls.cells.get(name, MISSING))
    if not isinstance(held, Instance) or not _is_field(held):
        return
    options = dict(held.native)
    if "default_factory" in options or "kw_only" in options:
        raise kinds.error("TypeError")
    run.heap.write(cls.cells, name, options.get("default", MISSING))


def _made(run: Interpreter, cls: Class, name: str, note: str, by_name: bool) -> Field:
    found = cls.find(name)
    default = MISSING if found is None else run.resolve(found[0])
    if type(default) is Instance and default.cls.find("__get__") is not None:
        default = _of_descriptor(run, cls, name)
    for_init_only = _head(note) == "InitVar"
    options: dict[str, Value] = {"default": default}
    if isinstance(default, Instance) and _is_field(default):
        options = {k: run.resolve(v) for k, v in default.native}
        _name_default(run, cls, name, options.get("default"))
        run.heap.write(cls.cells, name, options.get("default", MISSING))  # what the class itself has
    made = Field(
        name,
        options.get("default", MISSING),
        options.get("default_factory", MISSING),
        options.get("init", True) is True,
        options.get("kw_only", by_name) is True,
        for_init_only,
        options.get("compare", True) is True,
        Instance(run.program.library_class("dataclasses.Field")),
    )
    if for_init_only and made.factory is not MISSING:
        raise kinds.error("TypeError")
    if not for_init_only and _is_mutable(run, made.default):
        raise kinds.error("ValueError")
    _show(run, cls, made, note)
    return made


def _of_descriptor(run: Interpreter, cls: Class, name: str) -> Value:
    """The default that a descriptor gives; none where it refuses."""
    try:
        return run.resolve(run.attribute(cls, name))
    except Raised as error:
        if "AttributeError" in (error.name, *error.bases):
            return MISSING
        raise


def _name_default(run: Interpreter, cls: Class, name: str, default: Value) -> None:
    """A descriptor within ``field()`` is told its name, too."""
    if type(default) is Instance and (hook := default.cls.find("__set_name__")) is not None:
        run.call(Method(hook[0], default), (cls, name))


def _is_mutable(run: Interpreter, default: Value) -> bool:
    """Whether the decorator refuses a default: its class has no hash."""
    if isinstance(default, Instance) and sys.version_info < (3, 11):
        default = behind(default)
        return isinstance(default, List | Dict | Set)
    return isinstance(default, List | Dict | Set | Instance) and items.is_unhashable(run, default)


def _show(run: Interpreter, cls: Class, made: Field, note: str) -> None:
    """Fill in what ``fields()`` gives of a field."""
    assert made.shown is not None
    missing = run.program.library_class("dataclasses.MISSING")
    made.shown.cells["name"] = made.name
    made.shown.cells["type"] = _type_of(run, cls, note)
    made.shown.cells["init"] = made.in_init
    made.shown.cells["default"] = missing if made.default is MISSING else made.default
    made.shown.cells["default_factory"] = missing if made.factory is MISSING else made.factory


def _initialise(cls: Class, slots: bool) -> Any:
    """The ``__init__`` that the decorator writes."""
    goes_on = cls.find("__post_init__") is not None

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        made, *given = args
        fields: tuple[Field, ...] = cls.metadata["dataclass"]
        places = [f.name for f in fields if f.in_init and not f.by_name_only]
        values = dict(zip(places, given, strict=False))
        allowed = {f.name for f in fields if f.in_init}
        if len(given) > len(places) or not kwargs.keys() <= allowed or kwargs.keys() & values.keys():
            raise Raised("TypeError", None, _TYPE_ERROR)
        values.update(kwargs)
        lacking = (f for f in fields if f.name in allowed and f.name not in values)
        if any(f.default is MISSING and f.factory is MISSING for f in lacking):
            raise Raised("TypeError", None, _TYPE_ERROR)
        passed_on = []
        for f in fields:
            if not f.in_init and f.factory is MISSING and (f.default is MISSING or not slots):
                continue
            value = values[f.name] if f.name in values else f.initial(run)
            if f.for_init_only:
                passed_on.append(value)
            else:
                _put(run, made, f.name, value, is_frozen=bool(cls.metadata.get("frozen")))
        if goes_on:
            run.call(run.attribute(made, "__post_init__"), tuple(passed_on))
        return None

    return work


def _put(run: Interpreter, made: Instance, name: str, value: Value, *, is_frozen: bool) -> None:
    """``self.name = value`` in ``__init__``; the decorator goes around the ``__setattr__`` of a frozen class."""
    found, hook = made.cls.find(name), made.cls.find("__setattr__")
    if not is_frozen and (hook is not None or (found is not None and isinstance(found[0], Property | Instance))):
        attributes.put(run, made, name, value)
    elif not descriptors.store(run, made, name, value):
        run.heap.write(made.cells, name, value)


def _fields_of(value: Value) -> tuple[Field, ...] | None:
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, Class):
        return None
    return next((c.metadata["dataclass"] for c in cls.mro if "dataclass" in c.metadata), None)


def _names(value: Value) -> list[str] | None:
    fields = _fields_of(value)
    return None if fields is None else [f.name for f in fields if not f.for_init_only]


def _check(run: Interpreter, value: Value, *, or_class: bool = False) -> bool:
    """Whether it is known to be an object of a dataclass, or one itself.

    Raises:
        Raised: it surely is none.
    """
    if _names(value) is not None and (or_class or isinstance(value, Instance)):
        return not isinstance(value, Instance) or not value.state.get("open")
    plain = value.cls if isinstance(value, Instance) else value
    if kinds.is_of_python(value) or (isinstance(plain, Class) and kinds.is_plain(run, plain)):
        raise kinds.error("TypeError")
    return False


def _copied(run: Interpreter, value: Value, make: Callable[[dict[str, Value]], Value]) -> Value:
    """Dataclasses as dicts or tuples, inside of collections too."""
    value = run.resolve(value)
    names = _names(value) if isinstance(value, Instance) else None
    if names is not None:
        return make({n: _copied(run, run.attribute(value, n), make) for n in names})
    if isinstance(value, Instance) and value.cls.metadata.get("tuple"):
        made = Instance(value.cls)
        made.cells.update({n: _copied(run, v, make) for n, v in value.cells.items()})
        return made
    if isinstance(value, List) and not isinstance(value, View):
        held = value.items
        made_list = List(None if held is None else tuple(_copied(run, v, make) for v in held), value.item)
        return as_tuple(made_list) if is_tuple(value) else made_list
    if isinstance(value, Dict) and value.kind == "dict" and value.default is None:
        return Dict({k: _copied(run, v, make) for k, v in value.cells.items()}, value.rest)
    if type(value) is tuple:
        return tuple(_copied(run, v, make) for v in value)
    return run.call(run.program.library(run, "copy.deepcopy"), (value,))


@model("dataclasses.asdict")
def _as_dict(run: Interpreter, obj: Value, *, dict_factory: Value = None) -> Value:
    if not _check(run, obj) or dict_factory is not None:
        return run.unknown("a dataclass as a dict")
    return _copied(run, obj, Dict)


@model("dataclasses.astuple")
def _as_tuple(run: Interpreter, obj: Value, *, tuple_factory: Value = None) -> Value:
    if not _check(run, obj) or tuple_factory is not None:
        return run.unknown("a dataclass as a tuple")
    return _copied(run, obj, lambda values: tuple(values.values()))


@native("dataclasses.replace")
def _replace(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[0]) if args else None
    if not _check(run, value) or not isinstance(value, Instance):
        return run.unknown("a dataclass with other values")
    kept: dict[str, Value] = {}
    for f in _fields_of(value) or ():
        if f.name in kwargs and f.in_init:
            continue
        if f.name in kwargs or (f.in_init and f.for_init_only and f.default is MISSING):
            raise kinds.error("ValueError")
        if f.in_init:
            kept[f.name] = run.attribute(value, f.name)
    return run.call(value.cls, (), {**kept, **kwargs})


@model("dataclasses.fields")
def _fields(run: Interpreter, class_or_instance: Value) -> Value:
    if not _check(run, class_or_instance, or_class=True):
        return run.unknown("the fields of a dataclass")
    found = [f for f in _fields_of(class_or_instance) or () if not f.for_init_only]
    if any(f.shown is None for f in found):
        return run.unknown("the fields of a dataclass")
    return tuple(f.shown for f in found)


def _type_of(run: Interpreter, cls: Class, note: str) -> Value:
    """``field.type``: the annotation itself, as a text where the module says that annotations are texts."""
    module = run.program.modules.get(cls.module or run.program.main)
    tree = None if module is None or module.path is None else parse(Path(module.path))
    if tree is None:
        return run.unknown("an annotation")
    if any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body):
        return note
    found = run.program.builtin(run, note) if note in ("int", "float", "str", "bool", "list", "dict") else MISSING
    return run.unknown("an annotation") if found is MISSING else found


@model("dataclasses.is_dataclass")
def _is_dataclass(run: Interpreter, obj: Value) -> Value:
    cls = obj.cls if isinstance(obj, Instance) else obj
    if isinstance(obj, Unknown) or (isinstance(cls, Class) and cls.unknown_base is not None and _names(cls) is None):
        return run.derived("is_dataclass", obj, None)
    return _names(obj) is not None
