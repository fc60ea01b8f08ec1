"""``dataclasses``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow.libraries import library_class, model, native
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources.syntax import parse
from simpletorch.follow.values import MISSING, Class, Dict, Instance, List, Method, Native, Unknown, Value

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
    notes = cls.notes.items()
    shown = {name: note.value if isinstance(note, ast.Constant) else ast.unparse(note) for name, note in notes}
    return {n: str(t) for n, t in shown.items() if "ClassVar" not in str(t)}


library_class("dataclasses.FrozenInstanceError", ("builtins.AttributeError",))
library_class("dataclasses.Field")
library_class("dataclasses.KW_ONLY")
library_class("dataclasses.InitVar")


@native("dataclasses.field")
def _field(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return Instance(run.program.library_class("dataclasses.Field"), tuple(kwargs.items()))


@native("dataclasses.dataclass")
def _dataclass(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        cls = run.resolve(given[0])
        if isinstance(cls, Class):
            _make_dataclass(run, cls, kwargs)
        return cls

    return decorate(run, args, {}) if args else Native("dataclass", decorate)


def _make_dataclass(run: Interpreter, cls: Class, options: dict[str, Value]) -> None:
    fields: dict[str, Field] = {}
    for base in reversed(cls.mro[1:]):
        fields.update({f.name: f for f in base.metadata.get("dataclass", ())})
    by_name = run.resolve(options.get("kw_only", False)) is True
    for name, note in own_annotations(cls).items():
        if note.rpartition(".")[2] == "KW_ONLY":
            by_name = True
        else:
            fields[name] = _made(run, cls, name, note, by_name)
    given = {name: run.resolve(options.get(name, True)) is True for name in ("eq", "init")}
    define(cls, tuple(fields.values()), **given)
    frozen = run.resolve(options.get("frozen", False)) is True
    cls.metadata["frozen"] = frozen
    hashed = frozen or "__hash__" in cls.cells or run.resolve(options.get("unsafe_hash", False)) is not False
    cls.metadata["unhashable"] = given["eq"] and not hashed
    if run.resolve(options.get("slots", False)) is True:
        cls.metadata["slots"] = tuple(f.name for f in fields.values())


def define(cls: Class, fields: tuple[Field, ...], *, eq: bool, init: bool) -> None:
    """Make a class the dataclass that has these fields."""
    cls.metadata["dataclass"] = fields
    cls.fields = tuple((f.name, f.default) for f in fields if not f.for_init_only)
    cls.metadata["eq"] = eq
    cls.cells["__dataclass_fields__"] = Dict({f.name: None for f in fields})
    if init:
        cls.cells.setdefault("__init__", Native("__init__", _initialise(cls)))


def _made(run: Interpreter, cls: Class, name: str, note: str, by_name: bool) -> Field:
    default = run.resolve(cls.cells.get(name, MISSING))
    for_init_only = note.partition("[")[0].rpartition(".")[2] == "InitVar"
    if not (isinstance(default, Instance) and default.cls.is_a("dataclasses.Field")):
        return Field(name, default, by_name_only=by_name, for_init_only=for_init_only)
    options: dict[str, Value] = {k: run.resolve(v) for k, v in default.native}
    made = Field(
        name,
        options.get("default", MISSING),
        options.get("default_factory", MISSING),
        options.get("init", True) is True,
        options.get("kw_only", by_name) is True,
        for_init_only,
        options.get("compare", True) is True,
    )
    run.heap.write(cls.cells, name, made.default)  # what the class itself has
    return made


def _initialise(cls: Class) -> Any:
    """The ``__init__`` that the decorator writes."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        made, *given = args
        fields: tuple[Field, ...] = cls.metadata["dataclass"]
        places = [f.name for f in fields if f.in_init and not f.by_name_only]
        values = dict(zip(places, given, strict=False))
        allowed = {f.name for f in fields if f.in_init}
        if len(given) > len(places) or not kwargs.keys() <= allowed or kwargs.keys() & values.keys():
            raise Raised("TypeError", None, _TYPE_ERROR)
        values.update(kwargs)
        passed_on = []
        for f in fields:
            if not f.in_init and f.default is MISSING and f.factory is MISSING:
                continue
            value = values[f.name] if f.name in values else f.initial(run)
            if f.for_init_only:
                passed_on.append(value)
            else:
                run.heap.write(made.cells, f.name, value)
        after = made.cls.find("__post_init__")
        if after is not None:
            run.call(Method(after[0], made), tuple(passed_on))
        return None

    return work


def _names(value: Value) -> list[str] | None:
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, Class):
        return None
    found = next((c.metadata["dataclass"] for c in cls.mro if "dataclass" in c.metadata), None)
    return None if found is None else [f.name for f in found if not f.for_init_only]


def _copied(run: Interpreter, value: Value) -> Value:
    """Dataclasses as dicts, inside of collections too."""
    value = run.resolve(value)
    names = _names(value) if isinstance(value, Instance) else None
    if names is not None:
        return Dict({n: _copied(run, value.cells[n]) for n in names if n in value.cells})
    if isinstance(value, List):
        return List(None if value.items is None else tuple(_copied(run, v) for v in value.items), value.item)
    if isinstance(value, Dict):
        return Dict({k: _copied(run, v) for k, v in value.cells.items()}, value.rest)
    if type(value) is tuple:
        return tuple(_copied(run, v) for v in value)
    return value


@native("dataclasses.asdict")
def _as_dict(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[0])
    if _names(value) is None or value.state.get("open") or kwargs:
        return run.unknown("a dataclass as a dict")
    return _copied(run, value)


@model("dataclasses.astuple")
def _as_tuple(run: Interpreter, obj: Value, *, tuple_factory: Value = None) -> Value:
    names = _names(obj)
    if names is None or any(_names(obj.cells.get(n)) is not None for n in names):
        return run.unknown("a dataclass as a tuple")
    return tuple(run.attribute(obj, n) for n in names)


@native("dataclasses.replace")
def _replace(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[0])
    if _names(value) is None or not isinstance(value, Instance):
        return run.unknown("a dataclass with other values")
    fields: tuple[Field, ...] = next(c.metadata["dataclass"] for c in value.cls.mro if "dataclass" in c.metadata)
    kept = {
        f.name: run.attribute(value, f.name)
        for f in fields
        if f.in_init and not f.for_init_only and f.name not in kwargs
    }
    return run.call(value.cls, (), {**kept, **kwargs})


@model("dataclasses.fields")
def _fields(run: Interpreter, class_or_instance: Value) -> Value:
    cls = class_or_instance.cls if isinstance(class_or_instance, Instance) else class_or_instance
    names = _names(class_or_instance)
    if names is None:
        return run.unknown("the fields of a dataclass")
    known = {f.name: f for c in reversed(cls.mro) for f in c.metadata.get("dataclass", ())}
    rows = []
    for name in names:
        made = Instance(run.program.library_class("dataclasses.Field"))
        made.cells["name"] = name
        owner = next((c for c in cls.mro if name in own_annotations(c)), None)
        if owner is not None:
            made.cells["type"] = _type_of(run, owner, own_annotations(owner)[name])
        if known[name].default is not MISSING:
            made.cells["default"] = known[name].default
        rows.append(made)
    return tuple(rows)


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
    return run.derived("is_dataclass", obj, None) if isinstance(obj, Unknown) else _names(obj) is not None
