"""``optparse``, ``getopt`` and ``configargparse``: as ``argparse``, with their own names."""

from __future__ import annotations

import getopt
import re
from typing import TYPE_CHECKING

from simpletorch.follow import files
from simpletorch.follow.libraries import ALIASES, by_name, library_class, native
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Class, Dict, Instance, List, Native, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: tuple[str, ...] = ()


def _argparse(run: Interpreter, name: str) -> Value:
    found = run.program.library_class("argparse.ArgumentParser").find(name)
    return found[0] if found is not None else None


# -- optparse ----------------------------------------------------------------------------------------------------------


def _add_option(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given, kind = dict(kwargs), run.resolve(kwargs.get("type"))
    if isinstance(kind, str):
        name = {"string": "str", "choice": "str", "long": "int"}.get(kind, kind)
        given["type"] = run.program.builtin(run, name)
    return run.call(_argparse(run, "add_argument"), args, given)


def _parse_options(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(_argparse(run, "parse_known_args"), args, kwargs)


library_class(
    "optparse.OptionParser",
    ("argparse.ArgumentParser",),
    methods={"add_option": _add_option, "parse_args": _parse_options},
)
library_class("optparse.OptionGroup", unknown="a group of options")

# -- getopt ------------------------------------------------------------------------------------------------------------


@native("getopt.getopt", "getopt.gnu_getopt")
def _getopt(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("args shortopts longopts", args, kwargs)
    words, short = run.items(given.get("args")), run.resolve(given.get("shortopts"))
    long = run.items(given.get("longopts", ()))
    if words is None or long is None or not all(isinstance(w, str) for w in (*words, short, *long)):
        return run.unknown("what the command line gives")
    try:
        found, rest = getopt.gnu_getopt(list(words), str(short), [str(n) for n in long])
    except getopt.GetoptError:
        raise Raised("GetoptError", None, ("Exception", "BaseException")) from None
    return List(tuple(found)), List(tuple(rest))


library_class("getopt.GetoptError", ("builtins.Exception",))
ALIASES["getopt.error"] = "getopt.GetoptError"

# -- configargparse ----------------------------------------------------------------------------------------------------

_LINE = re.compile(r"\s*(?:--)?([\w-]+)\s*[:=]?\s*(.*?)\s*")


def _add_argument(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = dict(kwargs)
    is_file = given.pop("is_config_file", False) or given.pop("is_config_file_arg", False)
    given.pop("env_var", None)
    made = run.call(_argparse(run, "add_argument"), args, given)
    if isinstance(made, Instance):
        made.cells["is_file"] = is_file
    return made


def _with_files(name: str) -> Native:
    """The words of files of settings come before those of the command line."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        given = by_name("self args namespace", args, kwargs)
        said = run.resolve(given.get("args"))
        words = run.program.arguments if said is None else run.items(said)
        parser = args[0]
        first = run.resolve(run.call(_argparse(run, "parse_known_args"), (parser, List(words) if words else List())))
        actions = parser.cells.get("actions")
        if words is None or not isinstance(first, tuple) or not isinstance(actions, tuple):
            return run.unknown("what the command line gives")
        more: list[str] = []
        for path in (*_default_files(run, parser), *_named_files(run, actions, first[0])):
            text = files.text_of(run, path)
            found = None if text is None else _words_in(text)
            if found is None:
                return run.unknown(f"what {path} says")
            more += found
        return run.call(_argparse(run, name), (parser, List((*more, *words))))

    return Native(name, work)


def _named_files(run: Interpreter, actions: tuple[Instance, ...], made: Value) -> list[Value]:
    named = [a for a in actions if a.cells.get("is_file")] if isinstance(made, Instance) else []
    paths = [run.resolve(made.cells.get(a.cells["dest"])) for a in named]
    return [p for p in paths if p is not None]


def _default_files(run: Interpreter, parser: Instance) -> list[Value]:
    """Those of ``default_config_files`` that are there."""
    found = parser.cells.get("files")
    return [p for p in found if files.text_of(run, p) is not None] if isinstance(found, tuple) else []


def _words_in(text: str) -> list[str] | None:
    """``name = value`` on each line as words of a command line; None where lines aren't so plain."""
    words: list[str] = []
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if not line or line.startswith(("[", ";", "---")):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        name, value = match.groups()
        value = value.strip("'\"")
        if value.lower() == "true" or not value:
            words.append(f"--{name}")
        elif value.startswith("[") and value.endswith("]"):
            words += [f"--{name}", *(w.strip().strip("'\"") for w in value[1:-1].split(","))]
        elif value.lower() != "false":
            words.append(f"--{name}={value}")
    return words


def _make(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(cls)
    listed = run.items(kwargs["default_config_files"]) if "default_config_files" in kwargs else ()
    made.cells.update(actions=(), defaults=Dict(), files=tuple(listed or ()))
    return made


_METHODS = {
    "add_argument": _add_argument,
    **{n: _with_files(n).work for n in ("parse_args", "parse_known_args")},
    "add": _add_argument,
    "add_arg": _add_argument,
}
for _name in ("ArgumentParser", "ArgParser", "Parser"):
    library_class(f"configargparse.{_name}", ("argparse.ArgumentParser",), make=_make, methods=_METHODS)
ALIASES["configargparse.Namespace"] = "argparse.Namespace"
