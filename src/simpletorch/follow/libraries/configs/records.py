"""Dataclasses filled from a command line: ``HfArgumentParser``, ``tyro``, ``simple_parsing`` and ``draccus``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.disk import settings
from simpletorch.follow.libraries import by_name, library_class, native
from simpletorch.follow.libraries.configs.readers import read_file
from simpletorch.follow.libraries.configs.words import Option, kind_of, parameters, read, value
from simpletorch.follow.libraries.python.dataclasses import own_annotations
from simpletorch.follow.values import MISSING, Class, Dict, Function, Instance, List, Native, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()


def _words(run: Interpreter, given: Value) -> list[str] | None:
    given = run.resolve(given)
    found = run.program.arguments if given is None else run.items(given)
    return list(found) if found is not None and all(isinstance(w, str) for w in found) else None


def _fields(cls: Value) -> tuple[Any, ...] | None:
    """The fields of a dataclass."""
    if not isinstance(cls, Class):
        return None
    return next((c.metadata["dataclass"] for c in cls.mro if "dataclass" in c.metadata), None)


def _notes(cls: Class) -> dict[str, str]:
    notes: dict[str, str] = {}
    for base in reversed(cls.mro):
        notes.update(own_annotations(base))
    return notes


def _named(run: Interpreter, cls: Class, note: str) -> Value:
    """The dataclass that an annotation names."""
    module = run.program.modules.get(cls.module or run.program.main)
    found = None if module is None else run.resolve(module.cells.get(note.strip("'\"")))
    return found if _fields(found) is not None else None


def _flags(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((f"--{name}", f"--{name.replace('_', '-')}")))


def _off(name: str) -> tuple[str, ...]:
    above, _, last = name.rpartition(".")
    before = f"{above}." if above else ""
    return tuple(dict.fromkeys(f"--{before}{no}{n}" for no, n in (
        ("no_", last), ("no-", last.replace("_", "-")), ("no-", last), ("no", last))))  # fmt: skip


def _option(name: str, note: str, default: Value) -> Option:
    several = kind_of(note)[1]
    off = _off(name) if kind_of(note)[0] == "bool" else ()
    return Option(name, _flags(name), note, default, off, count="*" if several else None)


class _Filling:
    """A dataclass, and those in it, from words. ``nested`` says how an option of an inner one is named."""

    def __init__(self, run: Interpreter, words: list[str] | None, *, nested: bool) -> None:
        self.run, self.words, self.nested = run, words, nested
        self.used: list[Option] = []

    def options(self, cls: Class, prefix: str, held: Instance | None = None) -> Iterator[Option]:
        """The options of a dataclass."""
        notes = _notes(cls)
        for field in _fields(cls) or ():
            name = f"{prefix}{field.name}"
            inner, default = self._inner(cls, field, notes.get(field.name, ""), held)
            if inner is not None:
                start = f"{name}." if self.nested else ""
                yield from self.options(inner, start, default if isinstance(default, Instance) else None)
            elif field.in_init:
                yield _option(name, notes.get(field.name, ""), default)

    def _inner(self, cls: Class, field: Any, note: str, held: Instance | None) -> tuple[Class | None, Value]:
        run = self.run
        if held is not None and field.name in held.cells:
            default: Value = run.resolve(held.cells[field.name])
        elif field.default is MISSING and field.factory is MISSING:
            default = MISSING
        else:
            default = run.resolve(field.initial(run))
        if isinstance(default, Instance) and _fields(default.cls) is not None:
            return default.cls, default
        named = _named(run, cls, note) if default is MISSING else None
        return (named if isinstance(named, Class) else None), default

    def made(self, cls: Class, prefix: str, given: dict[str, Any] | None, held: Instance | None = None) -> Value:
        """An object of the dataclass, by what was read."""
        notes, kwargs = _notes(cls), dict[str, Value]()
        for field in _fields(cls) or ():
            if not field.in_init:
                continue
            name, note = f"{prefix}{field.name}", notes.get(field.name, "")
            inner, default = self._inner(cls, field, note, held)
            if inner is not None:
                start = f"{name}." if self.nested else ""
                kwargs[field.name] = self.made(inner, start, given, default if isinstance(default, Instance) else None)
            elif given is None or name in given or default is MISSING or held is not None:
                kwargs[field.name] = value(self.run, _option(name, note, default), given)
        return self.run.call(cls, (), kwargs)


def _filled(
    run: Interpreter, classes: list[Value], words: list[str] | None, *, nested: bool, defaults: tuple[Value, ...] = ()
) -> list[Value]:
    """An object of each dataclass; unknown for what is none."""
    filling = _Filling(run, words, nested=nested)
    known = [(c, defaults[i] if i < len(defaults) else None) for i, c in enumerate(classes)]
    pairs = [(c, d if isinstance(d, Instance) else None) for c, d in known]
    records = [(c, d) for c, d in pairs if _fields(c) is not None]
    unique = list({o.name: o for c, d in records for o in filling.options(c, "", d)}.values())
    found = None if words is None else read(words, unique)
    given = None if found is None else found[0]
    return [
        filling.made(c, "", given, d) if _fields(c) is not None else run.unknown(f"an object of {c!r}")
        for c, d in pairs
    ]


# -- transformers ------------------------------------------------------------------------------------------------------


def _hf_init(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    types = run.resolve(by_name("self dataclass_types", args, kwargs).get("dataclass_types"))
    classes = (types,) if isinstance(types, Class) else run.items(types) if isinstance(types, tuple | List) else None
    run.heap.write(args[0].cells, "_classes", None if classes is None else tuple(map(run.resolve, classes)))
    return None


def _hf_parse(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("self args return_remaining_strings", args, kwargs)
    classes = args[0].cells.get("_classes")
    if not isinstance(classes, tuple):
        return run.unknown("what the command line gives")
    made = _filled(run, list(classes), _words(run, given.get("args")), nested=False)
    if run.resolve(given.get("return_remaining_strings", False)) is not False:
        made.append(List(None, run.unknown("a word of the command line", "str")))
    return tuple(made)


def _hf_of_dict(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``parse_dict(args)``."""
    return _by_dict(run, args[0], run.resolve(by_name("self args", args, kwargs).get("args")))


def _by_dict(run: Interpreter, parser: Value, found: Value) -> Value:
    classes = parser.cells.get("_classes")
    if not isinstance(classes, tuple) or not isinstance(found, Dict) or found.rest is not MISSING:
        return run.unknown("what a dict gives")
    made = []
    for cls in classes:
        fields = _fields(cls)
        if fields is None:
            made.append(run.unknown(f"an object of {cls!r}"))
        else:
            names = {f.name for f in fields if f.in_init}
            made.append(run.call(cls, (), {k: v for k, v in found.cells.items() if k in names}))
    return tuple(made)


def _hf_of_file(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``parse_json_file(path)``, ``parse_yaml_file(path)``: JSON is YAML, as far as settings are."""
    path = next(iter((*args[1:], *kwargs.values())), None)
    return _by_dict(run, args[0], read_file(run, path, settings.yaml))


library_class(
    "transformers.HfArgumentParser",
    methods={
        "__init__": _hf_init,
        "parse_args_into_dataclasses": _hf_parse,
        "parse_dict": _hf_of_dict,
        **dict.fromkeys(("parse_json_file", "parse_yaml_file"), _hf_of_file),
    },
    unknown="a parser of transformers",
)


# -- tyro, simple_parsing, draccus -------------------------------------------------------------------------------------


def _by_signature(run: Interpreter, function: Function, words: list[str] | None) -> Value:
    """Call a function with what the command line gives."""
    options = [_option(name, note, default) for name, note, default in parameters(run, function)]
    found = None if words is None else read(words, options)
    given = None if found is None else found[0]
    return run.call(function, (), {o.name: value(run, o, given) for o in options})


@native("tyro.cli")
def _tyro(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("f", args, kwargs)
    target, words = run.resolve(given.get("f")), _words(run, given.get("args"))
    if isinstance(target, Function):
        return _by_signature(run, target, words)
    if _fields(target) is None:
        return run.call_in_the_dark(run.unknown("what the command line gives"), args, kwargs)
    return _filled(run, [target], words, nested=True, defaults=(run.resolve(given.get("default")),))[0]


@native("simple_parsing.parse")
def _simple(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("config_class config_path args default", args, kwargs)
    if _fields(run.resolve(given.get("config_class"))) is None or given.get("config_path") is not None:
        return run.unknown("what the command line gives")
    default = run.resolve(given.get("default"))
    words = _words(run, given.get("args"))
    return _filled(run, [run.resolve(given["config_class"])], words, nested=False, defaults=(default,))[0]


@native("draccus.parse", "pyrallis.parse")
def _draccus(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("config_class config_path args", args, kwargs)
    target, words = run.resolve(given.get("config_class")), _words(run, given.get("args"))
    with_file = given.get("config_path") is not None or any(w.startswith("--config") for w in words or ())
    if _fields(target) is None or with_file:
        return run.unknown("what the command line gives")
    return _filled(run, [target], words, nested=True)[0]


@native("draccus.wrap", "pyrallis.wrap")
def _wrap(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``@draccus.wrap()``: the first parameter's annotation says which dataclass is filled."""

    def call(run: Interpreter, function: Value, given: tuple[Value, ...]) -> Value:
        if given or not isinstance(function, Function):
            return run.call(function, given)
        ((_, note, _), *_) = parameters(run, function) or [("", "", None)]
        cls = run.resolve(function.scope.globals.cells.get(note))
        return run.call(function, (_draccus(run, (cls,), {}),))

    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        return Native("main", lambda run, args, kwargs: call(run, given[0], args))

    return Native("wrap", decorate)


def _add_records(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``parser.add_arguments(Options, dest="options")`` of ``simple_parsing``."""
    given = by_name("self dataclass dest", args, kwargs)
    cls, dest = run.resolve(given.get("dataclass")), run.resolve(given.get("dest"))
    if _fields(cls) is not None and isinstance(dest, str):
        held = args[0].cells.get("_records", ())
        run.heap.write(args[0].cells, "_records", (*held, (dest, cls, run.resolve(given.get("default")))))
    else:
        run.heap.write(args[0].state, "open", True)
    return None


def _parse_records(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = _known_records(run, args, kwargs)
    return found[0] if isinstance(found, tuple) else found


def _known_records(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    parser = run.program.library_class("argparse.ArgumentParser")
    method = parser.find("parse_known_args")
    made = run.call(method[0], args, kwargs) if method is not None else None
    records = args[0].cells.get("_records", ())
    if not isinstance(made, tuple) or not isinstance(made[0], Instance) or not isinstance(records, tuple):
        return run.unknown("what the command line gives")
    words = _words(run, args[1] if len(args) > 1 else kwargs.get("args"))
    objects = _filled(run, [c for _, c, _ in records], words, nested=False, defaults=tuple(d for *_, d in records))
    for (dest, *_), one in zip(records, objects, strict=True):
        run.heap.write(made[0].cells, dest, one)
    return made


library_class(
    "simple_parsing.ArgumentParser",
    ("argparse.ArgumentParser",),
    methods={"add_arguments": _add_records, "parse_args": _parse_records, "parse_known_args": _known_records},
)
native("simple_parsing.field")(lambda run, args, kwargs: _field(run, args, kwargs))
native("simple_parsing.choice", "simple_parsing.list_field")(lambda run, args, kwargs: run.unknown("a field"))


def _field(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    known = ("default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")
    given = {k: v for k, v in by_name("default", args, kwargs).items() if k in known}
    return run.call(run.program.library(run, "dataclasses.field"), (), given)
