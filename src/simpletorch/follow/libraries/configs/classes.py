"""``attrs`` and ``pydantic``: classes whose annotated names are the arguments of their constructor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import files
from simpletorch.follow.libraries import ALIASES, by_name, gives, library_class, native
from simpletorch.follow.libraries.configs.omegaconf import plain_of
from simpletorch.follow.libraries.configs.words import cast, kind_of
from simpletorch.follow.libraries.python.dataclasses import Field, define, own_annotations
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import MISSING, Class, Dict, Instance, List, Method, Native, StaticMethod, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: tuple[str, ...] = ()

# -- attrs -------------------------------------------------------------------------------------------------------------

library_class("attrs.Attribute")
library_class("attrs.Factory", methods={"__init__": lambda run, args, kwargs: _keep(run, args[0], "factory takes_self",
                                                                                   args[1:], kwargs)})  # fmt: skip
ALIASES.update({"attr.Factory": "attrs.Factory", "attr.ib": "attrs.field", "attr.attrib": "attrs.field"})
ALIASES.update({"attr.field": "attrs.field", "attr.asdict": "attrs.asdict", "attr.evolve": "attrs.evolve"})
gives("attrs.validators.instance_of attrs.validators.in_ attr.validators.instance_of attr.validators.in_")


def _keep(run: Interpreter, made: Instance, names: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    for name, value in by_name(names, args, kwargs).items():
        run.heap.write(made.cells, name, value)


@native("attrs.field")
def _field(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(run.program.library_class("attrs.Attribute"))
    made.cells.update(by_name("default", args, kwargs))
    return made


def _decorator(*, annotated: bool) -> Any:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        uses = run.resolve(kwargs.get("auto_attribs", annotated)) is True

        def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
            cls = run.resolve(given[0])
            if isinstance(cls, Class):
                _define(run, cls, annotated=uses, by_name_only=run.resolve(kwargs.get("kw_only", False)) is True)
            return cls

        return (
            decorate(run, args, {}) if args and isinstance(run.resolve(args[0]), Class) else Native("attrs", decorate)
        )

    return work


for _name in ("attrs.define", "attrs.frozen", "attrs.mutable", "attr.define", "attr.frozen", "attr.dataclass"):
    native(_name)(_decorator(annotated=True))
for _name in ("attr.s", "attr.attrs", "attr.attributes"):
    native(_name)(_decorator(annotated=False))


def _is_attribute(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_a("attrs.Attribute")


def _define(run: Interpreter, cls: Class, *, annotated: bool, by_name_only: bool) -> None:
    fields = {f.name: f for base in reversed(cls.mro[1:]) for f in base.metadata.get("attrs", ())}
    marked = [n for n, v in cls.cells.items() if _is_attribute(run.resolve(v))]
    names = list(own_annotations(cls)) if annotated else marked
    for name in names or marked:
        held = run.resolve(cls.cells.get(name, MISSING))
        said = held.cells if _is_attribute(held) else {"default": held}
        default = run.resolve(said.get("default", MISSING))
        factory = said.get("factory", MISSING)
        if isinstance(default, Instance) and default.cls.is_a("attrs.Factory"):
            if run.resolve(default.cells.get("takes_self", False)) is True:
                factory, default = default, MISSING
            else:
                factory, default = default.cells.get("factory"), MISSING
        in_init = run.resolve(said.get("init", True)) is True
        only = by_name_only or run.resolve(said.get("kw_only", False)) is True
        fields[name] = Field(name, default, MISSING if factory is None else factory, in_init, only)
        cls.metadata.setdefault("converters", {})[name] = run.resolve(said.get("converter"))
        if _is_attribute(held):
            run.heap.write(cls.cells, name, MISSING)
            cls.cells.pop(name, None)
    cls.metadata["attrs"] = tuple(fields.values())
    define(cls, cls.metadata["attrs"], eq=True, init=False)
    cls.cells.setdefault("__init__", Native("__init__", _initialise(cls)))


def _initialise(cls: Class) -> Any:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        made, *given = args
        fields: tuple[Field, ...] = cls.metadata["attrs"]
        takes = [f for f in fields if f.in_init]
        places = [f.name.lstrip("_") for f in takes if not f.by_name_only]
        values = {**dict(zip(places, given, strict=False)), **kwargs}
        if len(given) > len(places) or not values.keys() <= {f.name.lstrip("_") for f in takes}:
            raise Raised("TypeError", None, ("Exception", "BaseException"))
        for f in fields:
            short = f.name.lstrip("_")
            if f.in_init and short in values:
                value = values[short]
            elif isinstance(f.factory, Instance):
                value = run.call(f.factory.cells["factory"], (made,))
            elif f.default is MISSING and f.factory is MISSING and not f.in_init:
                continue
            else:
                value = f.initial(run)
            converter = next((c.metadata["converters"].get(f.name) for c in cls.mro
                              if f.name in c.metadata.get("converters", {})), None)  # fmt: skip
            run.heap.write(made.cells, f.name, value if converter is None else run.call(converter, (value,)))
        after = made.cls.find("__attrs_post_init__")
        if after is not None:
            run.call(Method(after[0], made), ())
        return None

    return work


@native("attrs.asdict")
def _asdict(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.library(run, "dataclasses.asdict"), args[:1], kwargs)


@native("attrs.evolve")
def _evolve(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.library(run, "dataclasses.replace"), args[:1], kwargs)


# -- pydantic ----------------------------------------------------------------------------------------------------------

_VALIDATOR = "validator"
_NONE: Final = re.compile(r"\|\s*None\b|\bNone\s*\|")
_OPTIONAL: Final = re.compile(r"(?:typing\.)?Optional\[(.*)\]")
_LIST: Final = re.compile(r"(?:list|(?:typing\.)?List)\[(.*)\]")
_WORD: Final = re.compile(r"\w+")
_PLAIN: Final = frozenset(  # of these a dict or list stays itself
    "Any Dict List Mapping None Optional Sequence Tuple Union bool dict float int list object str tuple typing".split()  # noqa: SIM905
)
library_class("pydantic.fields.FieldInfo")


@native("pydantic.dataclasses.dataclass")
def _dataclass(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """As ``dataclasses.dataclass``, where no field says more than its default."""
    cls = run.resolve(args[0]) if args else None
    held = map(run.resolve, cls.cells.values()) if isinstance(cls, Class) else ()
    if kwargs or not isinstance(cls, Class) or any(_is_field(v) for v in held):
        run.escape((*args, *kwargs.values()))
        return run.unknown("a dataclass of pydantic")
    return run.call(run.program.library(run, "dataclasses.dataclass"), args)


def _is_field(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_a("pydantic.fields.FieldInfo")


@native("pydantic.Field")
def _pydantic_field(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(run.program.library_class("pydantic.fields.FieldInfo"))
    made.cells.update(by_name("default", args, kwargs))
    return made


def _init(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Each annotated name is what is given, by its annotation, or a copy of its default."""
    made = args[0]
    if any(isinstance(v, Unknown) and v.type == _VALIDATOR for c in made.cls.mro for v in c.cells.values()):
        run.heap.write(made.state, "open", True)
        return None
    notes: dict[str, tuple[str, Class]] = {}
    for base in reversed(made.cls.mro):
        if base.module != "pydantic":
            notes.update(
                {n: (t, base) for n, t in own_annotations(base).items() if not n.startswith(("_", "model_con"))}
            )
    for name, (note, owner) in notes.items():
        found = made.cls.find(name)
        default = MISSING if found is None else run.resolve(found[0])
        said = (
            default.cells if isinstance(default, Instance) and default.cls.is_a("pydantic.fields.FieldInfo") else None
        )
        alias = run.resolve(said.get("alias")) if said else None
        key = alias if isinstance(alias, str) and alias in kwargs else name
        if key in kwargs:
            value = _valid(run, owner, note, kwargs[key])
        elif said is not None and "default_factory" in said:
            value = run.call(said["default_factory"], ())
        else:
            value = default if said is None else run.resolve(said.get("default", MISSING))
            if value is MISSING or value is ...:
                raise Raised("ValidationError", None, ("ValueError", "Exception", "BaseException"))
            value = files.copied(run, value) if isinstance(value, List | Dict) else value
        run.heap.write(made.cells, name, value)
    return None


def _valid(run: Interpreter, owner: Class, note: str, value: Value) -> Value:
    """A value that is given, as the annotation wants it."""
    value, note = run.resolve(value), _NONE.sub("", note.strip("'\"")).strip()
    if value is None:
        return None
    if (inner := _OPTIONAL.fullmatch(note)) is not None:
        return _valid(run, owner, inner[1], value)
    if (inner := _LIST.fullmatch(note)) is not None and isinstance(value, List) and value.items is not None:
        return List(tuple(_valid(run, owner, inner[1], v) for v in value.items))
    module = run.program.modules.get(owner.module or run.program.main)
    named = None if module is None else run.resolve(module.cells.get(note))
    is_model = isinstance(named, Class) and named.is_a("pydantic.BaseModel")
    value = plain_of(run, value) if is_model else value
    if is_model and isinstance(value, Dict):
        whole = value.rest is MISSING and all(isinstance(k, str) for k in value.cells)
        return run.call(named, (), dict(value.cells)) if whole else run.unknown(f"an object of {note}")
    if isinstance(value, Dict | List | tuple) and not _PLAIN.issuperset(_WORD.findall(note)):
        return run.unknown(f"what {note} makes of a value")
    kind, several = kind_of(note)
    if several or kind is None:
        plain = isinstance(value, str | int | float | bool | None | Instance)
        return value if plain or isinstance(value, Unknown | List | Dict | tuple) else run.unknown("a valid value")
    if isinstance(value, str):
        return cast(run, kind, value)
    if kind == "float" and type(value) is int:
        return float(value)
    return value


def _dumped(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _plain(run, args[0]) if not kwargs else run.unknown("a model as a dict")


def _plain(run: Interpreter, value: Value) -> Value:
    value = run.resolve(value)
    if isinstance(value, Instance) and value.cls.is_a("pydantic.BaseModel") and not value.state.get("open"):
        return Dict({k: _plain(run, v) for k, v in value.cells.items()})
    if isinstance(value, List) and value.items is not None:
        return List(tuple(_plain(run, v) for v in value.items))
    return value


def _of_dict(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``model_validate(dict)``."""
    found = run.resolve(args[1]) if len(args) > 1 else None
    if isinstance(found, Dict) and found.rest is MISSING and all(isinstance(k, str) for k in found.cells):
        return run.call(args[0], (), dict(found.cells))
    return run.unknown("an object of a model")


def _changed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``model_copy(update=…)``."""
    made, more = Instance(args[0].cls), run.resolve(kwargs.get("update"))
    made.cells.update(args[0].cells)
    if isinstance(more, Dict):
        made.cells.update(more.cells)
    elif more is not None:
        made.state["open"] = True
    return made


def _validator(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``@field_validator("name")``: what a validator makes of values isn't followed, so the objects stay open."""

    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        return run.unknown("a validator", _VALIDATOR)

    return Native("validator", decorate)


for _name in ("validator", "field_validator", "model_validator", "root_validator", "computed_field"):
    native(f"pydantic.{_name}")(_validator)
library_class(
    "pydantic.BaseModel",
    methods={
        "__init__": _init,
        **dict.fromkeys(("model_dump", "dict"), _dumped),
        **dict.fromkeys(("model_copy", "copy"), _changed),
        **dict.fromkeys(
            ("model_validate", "parse_obj"), StaticMethod(Native("model_validate", _of_dict), of_class=True)
        ),
    },
)
library_class("pydantic_settings.BaseSettings", ("pydantic.BaseModel",))
ALIASES["pydantic.BaseSettings"] = "pydantic_settings.BaseSettings"
library_class("pydantic.ValidationError", ("builtins.ValueError",))
gives("pydantic.ConfigDict pydantic_settings.SettingsConfigDict")
