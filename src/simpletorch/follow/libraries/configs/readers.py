"""``yaml``, ``toml``, ``configparser`` and ``dotenv``: settings in files beside the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import files
from simpletorch.follow.disk import entries, settings
from simpletorch.follow.disk.described import Unreadable
from simpletorch.follow.libraries import VALUES, Work, by_name, gives, library_class, native
from simpletorch.follow.libraries.configs import own
from simpletorch.follow.values import MISSING, Class, Dict, Instance, Native, Saved, StaticMethod, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["read_file", "read_text", "texts_of"]

_MOST_NAMED: Final = 6


def read_text(run: Interpreter, text: Value, read: Callable[[str], Any]) -> Value:
    """The settings in a text; unknown, with the reason, where it can't be read."""
    if not isinstance(text, str):
        return run.unknown("what a text says")
    try:
        found = read(text)
    except Unreadable as error:
        return run.unknown(f"what a file of settings says ({error})")
    if isinstance(found, dict):
        names = [str(k) for k in found]
        more = "" if len(names) <= _MOST_NAMED else " …"
        entries.describe(run, text, f"settings: {', '.join(names[:_MOST_NAMED])}{more}")
    return entries.value(run, found)


def read_file(run: Interpreter, path: Value, read: Callable[[str], Any]) -> Value:
    """The settings in a file, by its path or a stream."""
    return read_text(run, files.text_of(run, path), read)


def texts_of(run: Interpreter, source: Value) -> Value:
    """The text that ``load(source)`` reads: a text is itself, a stream holds one; a `Saved` value stands for one."""
    source = run.resolve(source)
    if isinstance(source, str):
        return source
    if isinstance(source, Unknown) and source.written is not None:
        return source.written
    if isinstance(source, Instance) and source.cls.is_a(files.STREAM):
        held = files.holds(run, source)
        return held.value if isinstance(held, Saved) and held.kind == files.TEXT else held
    return None


def _load(kind: str, read: Callable[[str], Any], by_path: bool = False) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        source = run.resolve(next(iter((*args, *kwargs.values())), None))
        if by_path and (isinstance(source, str) or not _is_stream(source)):
            return read_file(run, source, read)
        found = texts_of(run, source)
        if isinstance(found, Saved):
            return files.copied(run, found.value) if found.kind == kind else run.unknown("what a file holds")
        return read_text(run, found, read)

    return work


def _is_stream(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_a(files.STREAM)


# -- YAML --------------------------------------------------------------------------------------------------------------

_YAML: Final = _load("yaml", settings.yaml)
_YAML_WITH_RESOLVERS: Final = _load("yaml", lambda text: settings.yaml(text, newer=True))
for _name in ("safe_load", "full_load", "unsafe_load"):
    native(f"yaml.{_name}")(_YAML)
for _name in ("SafeLoader", "FullLoader", "Loader", "UnsafeLoader", "CLoader", "CSafeLoader", "BaseLoader"):
    more = {"add_implicit_resolver": StaticMethod(Native("add", lambda *a: _add_resolver(*a)), of_class=True)}
    library_class(f"yaml.{_name}", methods=more, unknown="a loader of YAML")
for _name in ("SafeDumper", "Dumper", "CDumper", "CSafeDumper"):
    library_class(f"yaml.{_name}", unknown="a writer of YAML")
library_class("yaml.YAMLError", ("builtins.Exception",))
gives("yaml.safe_load_all yaml.load_all yaml.add_constructor yaml.add_representer")


@native("yaml.load")
def _yaml(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("stream Loader", args, kwargs)
    loader = run.resolve(given.get("Loader"))
    if isinstance(loader, Class) and loader.is_a("yaml.BaseLoader"):
        return run.unknown("YAML whose values are texts")
    is_newer = isinstance(loader, Class) and any(c.metadata.get("resolvers") for c in loader.mro)
    return (_YAML_WITH_RESOLVERS if is_newer else _YAML)(run, (given.get("stream"),), {})


def _add_resolver(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``loader.add_implicit_resolver(…)``: floats are those of YAML 1.2, as people want them."""
    if isinstance(args[0], Class):
        args[0].metadata["resolvers"] = True
    return None


@native("yaml.dump", "yaml.safe_dump")
def _dump(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("data stream", args, kwargs)
    entry = Saved("yaml", files.copied(run, given.get("data")))
    target = run.resolve(given.get("stream"))
    if target is None:
        made = run.unknown("what yaml.dump gives", "str")
        made.written = entry
        return made
    if _is_stream(target):
        files.put_into(run, target, entry)
    return None


def _newer(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``ruamel.yaml.YAML(typ="safe").load(path)``."""
    return _load("ruamel", lambda text: settings.yaml(text, newer=True), by_path=True)(run, args[1:], kwargs)


library_class("ruamel.yaml.YAML", methods={"load": _newer}, unknown="a reader of YAML")

# -- TOML --------------------------------------------------------------------------------------------------------------

for _name in ("tomllib", "tomli", "toml", "tomlkit", "pytoml", "rtoml"):
    native(f"{_name}.load")(_load("toml", settings.toml, by_path=_name in ("toml", "rtoml")))
    native(f"{_name}.loads")(_load("toml", settings.toml))
for _name in ("tomllib.TOMLDecodeError", "tomli.TOMLDecodeError", "toml.TomlDecodeError"):
    library_class(_name, ("builtins.ValueError",))

# -- INI ---------------------------------------------------------------------------------------------------------------


@native("configparser._in_file")
def _ini(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return read_file(run, args[0], settings.ini)


@native("configparser._in_text")
def _ini_of(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return read_text(run, texts_of(run, args[0]), settings.ini)


own(
    "parsers.txt",
    {
        "configparser.ConfigParser": "ConfigParser",
        "configparser.SafeConfigParser": "ConfigParser",
        "configparser.RawConfigParser": "ConfigParser",
        "configparser.SectionProxy": "SectionProxy",
    },
)
for _name in ("NoSectionError", "NoOptionError", "ParsingError"):
    library_class(f"configparser.{_name}", ("configparser.Error",))
library_class("configparser.Error", ("builtins.Exception",))
for _name in ("ExtendedInterpolation", "BasicInterpolation"):
    library_class(f"configparser.{_name}", unknown="how options refer to others")
VALUES["configparser.DEFAULTSECT"] = "DEFAULT"

# -- .env --------------------------------------------------------------------------------------------------------------


def _variables(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("dotenv_path", args, kwargs)
    path = run.resolve(given.get("dotenv_path"))
    return read_file(run, ".env" if path is None else path, settings.dotenv)


@native("dotenv.load_dotenv")
def _load_dotenv(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The variables are in the environment, unless somebody sets them otherwise."""
    found, environment = _variables(run, args, kwargs), run.program.library(run, "os.environ")
    if isinstance(found, Dict) and isinstance(environment, Dict):
        for name, value in found.cells.items():
            if name not in environment.cells:
                text = run.unknown(f"{name} of .env", "str") if value is None else value
                run.heap.write(environment.cells, name, text)
    return run.unknown("whether there is an .env file", "bool")


@native("dotenv.dotenv_values")
def _dotenv_values(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = _variables(run, args, kwargs)
    return found if isinstance(found, Dict) and MISSING is found.rest else run.unknown("what .env says")


@native("dotenv.find_dotenv")
def _find_dotenv(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return ".env"
