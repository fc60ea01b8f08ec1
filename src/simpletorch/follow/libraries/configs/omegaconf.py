"""OmegaConf (`omegaconf.txt`): what its text asks for. ``${a.b}`` is looked up where it is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simpletorch.follow import files
from simpletorch.follow.disk import settings
from simpletorch.follow.disk.described import Unreadable
from simpletorch.follow.disk.entries import value as contents
from simpletorch.follow.libraries import MADE, VALUES, gives, library_class, native
from simpletorch.follow.libraries.configs import own
from simpletorch.follow.libraries.configs.readers import read_file
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    MISSING,
    Class,
    Dict,
    Function,
    Instance,
    List,
    Native,
    Unknown,
    Value,
    is_known,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["config_of", "plain_of"]

_NAMES: Final = ("DictConfig", "ListConfig", "OmegaConf", "open_dict", "read_write", "flag_override")
own("omegaconf.txt", {f"omegaconf.{n}": n for n in _NAMES} | {f"omegaconf.omegaconf.{n}": n for n in _NAMES})
VALUES.update({"omegaconf.MISSING": "???", "omegaconf.II": Native("omegaconf.II", lambda run, args, kwargs: (
    f"${{{args[0]}}}" if isinstance(args[0], str) else run.unknown("an interpolation", "str")))})  # fmt: skip
VALUES["omegaconf.SI"] = Native("omegaconf.SI", lambda run, args, kwargs: args[0])
for _module in ("omegaconf", "omegaconf.errors"):
    _base = f"{_module}.OmegaConfBaseException"
    library_class(_base, ("builtins.Exception",))
    for _name, *_more in (
        *(("MissingMandatoryValue",), ("ConfigAttributeError", "AttributeError"), ("ConfigKeyError", "KeyError")),
        *(("ValidationError", "ValueError"), ("UnsupportedInterpolationType", "ValueError")),
        ("InterpolationKeyError", "ValueError"),
    ):
        library_class(f"{_module}.{_name}", (_base, *(f"builtins.{n}" for n in _more)))
gives("simpletorch_omegaconf.some_text", "str")
gives("simpletorch_omegaconf.some_bool", "bool")
MADE["simpletorch_omegaconf._resolvers"] = lambda run: Dict()
_MOST_NESTED: Final = 20
_LONGEST: Final = 2_000  # characters of a text that refers to others
_INNERMOST: Final = re.compile(r"\$\{([^${}]*)\}")


def _is_node(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.name in ("DictConfig", "ListConfig") and "_content" in value.cells


def config_of(run: Interpreter, value: Value, parent: Value = None) -> Value:
    """A dict, list or dataclass as a configuration; plain values are themselves."""
    value = run.resolve(value)
    if _is_node(value):
        content = value.cells["_content"]
        value = Dict(content.cells, content.rest) if isinstance(content, Dict) else content
    if _is_record(value):
        value = _fields(run, value)
    if isinstance(value, Dict):
        name = "DictConfig"
    elif isinstance(value, List | tuple):
        name = "ListConfig"
    else:
        return value
    return run.call(run.program.library(run, f"omegaconf.{name}"), (value, parent))


def _is_record(value: Value) -> bool:
    cls = value.cls if isinstance(value, Instance) else value
    return isinstance(cls, Class) and any("dataclass" in c.metadata for c in cls.mro)


def _fields(run: Interpreter, value: Value) -> Value:
    """A dataclass, or an object of one, as a dict; what must be given is MISSING there."""
    cls = value.cls if isinstance(value, Instance) else value
    fields = next(c.metadata["dataclass"] for c in cls.mro if "dataclass" in c.metadata)
    made = Dict()
    for field in fields:
        if isinstance(value, Instance):
            made.cells[field.name] = run.attribute(value, field.name)
        elif field.factory is MISSING and field.default is MISSING:
            made.cells[field.name] = "???"
        else:
            made.cells[field.name] = field.initial(run)
    made.cells = {k: _fields(run, v) if _is_record(v) else v for k, v in made.cells.items()}
    return made


@native("simpletorch_omegaconf.create")
def _create(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[0])
    if isinstance(value, str):
        value = _read(run, value)
    return config_of(run, value)


@native("simpletorch_omegaconf.node")
def _node(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A value as it is kept below a configuration."""
    return run.each(args[1], lambda v: config_of(run, v, args[0]))


@native("simpletorch_omegaconf.plain")
def _plain(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The dict of what a `DictConfig` is made of."""
    value = run.resolve(args[0])
    if value is None:
        return Dict()
    if _is_node(value):
        return value.cells["_content"]
    return _fields(run, value) if _is_record(value) else value


@native("simpletorch_omegaconf.nodes")
def _nodes(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The same dict as it is kept below a configuration."""
    node, given = args[0], _plain(run, args[1:], {})
    if not isinstance(given, Dict):
        return Dict({}, run.unknown("a setting"))
    return Dict({k: run.each(v, lambda one: config_of(run, one, node)) for k, v in given.cells.items()}, given.rest)


@native("simpletorch_omegaconf.is_mapping")
def _is_mapping(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[0])
    if isinstance(value, Unknown):
        return run.derived("is a mapping", value, None)
    return isinstance(value, Dict) or _is_record(value) or (_is_node(value) and value.cls.name == "DictConfig")


def _read(run: Interpreter, text: str) -> Value:
    try:
        return contents(run, settings.yaml(text, newer=True))
    except Unreadable as error:
        return run.unknown(f"what a text says ({error})")


@native("simpletorch_omegaconf.file")
def _file(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return read_file(run, args[0], lambda text: settings.yaml(text, newer=True))


@native("simpletorch_omegaconf.parsed")
def _parsed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The value behind ``key=`` on the command line."""
    text = run.resolve(args[0])
    return _read(run, text) if isinstance(text, str) else text


@native("simpletorch_omegaconf.command_line")
def _command_line(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return List(run.program.arguments)


@native("simpletorch_omegaconf.resolvers")
def _resolvers(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.program.library(run, "simpletorch_omegaconf._resolvers")


@native("simpletorch_omegaconf.saved")
def _saved(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    target = run.resolve(args[0])
    if isinstance(target, Instance) and target.cls.is_a(files.STREAM):
        files.spoiled(run, (target,))
    else:
        files.written(run, files.path_of(run, target), run.unknown("a configuration that was saved"))
    return None


@native("simpletorch_omegaconf.as_object")
def _as_object(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``to_object``: of a structured configuration its dataclass is made, which isn't known here."""
    return run.unknown("a configuration as an object")


# -- interpolation -----------------------------------------------------------------------------------------------------


@native("simpletorch_omegaconf.resolved")
def _resolved(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A value as it is read: without ``${…}``."""
    node = args[0]
    return run.each(args[1], lambda v: _settled(run, node, v, 0))


def _settled(run: Interpreter, node: Instance, value: Value, depth: int) -> Value:
    if not isinstance(value, str):
        return value
    if value == "???":
        return run.unknown("a setting that must be given (???)")
    if "${" not in value:
        return value
    text = value
    while "${" in text:
        found = _INNERMOST.search(text)
        if found is None or depth > _MOST_NESTED or len(text) > _LONGEST:
            return run.unknown("what a setting refers to")
        depth += 1
        inner = run.resolve(_looked_up(run, node, found[1], depth))
        if found.span() == (0, len(text)):
            return inner
        if not is_known(inner) or isinstance(inner, tuple):
            return run.unknown("what a setting refers to", None if ":" in text else "str")
        text = f"{text[: found.start()]}{inner}{text[found.end() :]}"
    return text


def _looked_up(run: Interpreter, node: Instance, name: str, depth: int) -> Value:
    """The value of ``${name}``: one of the configuration, or the answer of a resolver."""
    resolver, colon, rest = name.partition(":")
    if colon:
        return _answered(run, resolver.strip(), [w.strip() for w in rest.split(",")] if rest else [])
    dots = len(name) - len(name.lstrip("."))
    at: Value = node
    for _ in range(dots - 1 if dots else _MOST_NESTED):
        above = at.cells.get("_parent") if _is_node(at) else None
        if not _is_node(above):
            break
        at = above
    for part in re.split(r"[.\[\]]+", name[dots:].rstrip("]")):
        if not _is_node(at):
            return run.unknown("what a setting refers to")
        content = at.cells["_content"]
        key = int(part) if isinstance(content, List) and part.isdecimal() else part
        held = content.items[key] if isinstance(content, List) and content.items and type(key) is int else (
            content.cells.get(key, MISSING) if isinstance(content, Dict) else MISSING)  # fmt: skip
        if held is MISSING:
            return run.unknown("what a setting refers to")
        at = _settled(run, at, run.resolve(held), depth + 1)
    return at


def _answered(run: Interpreter, name: str, words: list[str]) -> Value:
    if name in ("oc.env", "env"):
        if len(words) < 2:
            return run.unknown("an environment variable", "str")
        return None if words[1] == "null" else words[1].strip("'\"")
    if name == "oc.decode" and words:
        return _read(run, ",".join(words))
    known = run.program.library(run, "simpletorch_omegaconf._resolvers")
    function = run.resolve(known.cells.get(name)) if isinstance(known, Dict) else None
    if isinstance(function, Function | Native | Class):
        try:
            return run.call(function, tuple(_read(run, w) for w in words))
        except Raised:
            return run.unknown(f"what the resolver {name} gives")
    return run.unknown(f"what the resolver {name} gives")


def plain_of(run: Interpreter, value: Value) -> Value:
    """A configuration as dicts and lists, in its parts too, as they are read."""
    value = run.resolve(value)
    if _is_node(value):
        content = value.cells["_content"]
        if isinstance(content, Dict):
            return Dict({k: plain_of(run, _settled(run, value, run.resolve(v), 0)) for k, v in content.cells.items()},
                        content.rest)  # fmt: skip
        items = content.items if isinstance(content, List) else None
        if items is None:
            return List(None, run.unknown("an item of a configuration"))
        return List(tuple(plain_of(run, _settled(run, value, run.resolve(v), 0)) for v in items))
    return value
