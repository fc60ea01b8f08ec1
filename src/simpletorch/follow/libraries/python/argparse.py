"""``argparse``: the command line is that of the program that is followed; what isn't given is its default."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import attributes, operators
from simpletorch.follow.libraries import VALUES, gives, library_class
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Class, Dict, Instance, List, Value, is_known

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

VALUES.update({f"argparse.{n}": getattr(argparse, n) for n in ("SUPPRESS", "REMAINDER", "OPTIONAL", "ZERO_OR_MORE")})
VALUES["argparse.ONE_OR_MORE"] = argparse.ONE_OR_MORE
_FLAGS: Final = {"store_true": False, "store_false": True}
_SILENT: Final = ("help", "version")


def _make_parser(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(cls)
    inherited = run.items(kwargs["parents"]) if "parents" in kwargs else ()
    parents = [p for p in map(run.resolve, inherited or ()) if isinstance(p, Instance)]
    made.cells.update(actions=tuple(a for p in parents for a in _actions(p)), defaults=Dict(), groups=())
    if inherited is None or len(parents) < len(inherited) or any(p.state.get("open") for p in parents):
        run.heap.write(made.state, "open", True)
    return made


def _actions(parser: Instance) -> tuple[Instance, ...]:
    """The arguments of a parser; none are known where unknown code had it."""
    found = parser.cells.get("actions")
    return found if isinstance(found, tuple) and all(isinstance(a, Instance) for a in found) else ()


def _add_argument(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    owner, *names = args
    made = Instance(run.program.library_class("argparse.Action"))
    flags = tuple(map(run.resolve, names))
    options = {k: run.resolve(v) for k, v in kwargs.items()}
    parser = owner.cells.get("parser", owner)
    if not all(isinstance(f, str) for f in flags):
        if isinstance(parser, Instance):
            run.heap.write(parser.state, "open", True)
        return made
    made.cells.update({**options, "flags": flags, "dest": options.get("dest") or _destination(flags)})
    if isinstance(parser, Instance):
        run.heap.write(parser.cells, "actions", (*_actions(parser), made))
    return made


def _destination(flags: Sequence[str]) -> str:
    long = next((f for f in flags if f.startswith("--")), flags[0] if flags else "")
    return long.lstrip("-").replace("-", "_") if long.startswith("-") else long


def _group(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(run.program.library_class("argparse._ArgumentGroup"))
    made.cells["parser"] = args[0].cells.get("parser", args[0])
    return made


def _set_defaults(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    parser = args[0]
    held = parser.cells.get("defaults")
    if isinstance(held, Dict):
        for name, value in kwargs.items():
            run.heap.write(held.cells, name, value)
    for action in _actions(parser):
        if action.cells["dest"] in kwargs:
            run.heap.write(action.cells, "default", kwargs[action.cells["dest"]])
            run.heap.write(action.cells, "required", False)
    return None


# -- what an argument is ---------------------------------------------------------------------------------------------


def _is_positional(action: Instance) -> bool:
    flags = action.cells["flags"]
    return bool(flags) and not flags[0].startswith("-")


def _convert(run: Interpreter, action: Instance, text: Value) -> Value:
    """A word of the command line by ``type=``."""
    kind = action.cells.get("type")
    if isinstance(text, list):
        return List(tuple(_convert(run, action, t) for t in text))
    return text if kind is None or not isinstance(text, str) else run.call(kind, (text,))


def _given(run: Interpreter, action: Instance, found: Any) -> Value:
    """What the command line says of an argument, added to its default where it counts or collects."""
    default = run.resolve(action.cells.get("default"))
    if action.cells.get("action") == "count" and isinstance(default, int):
        return default + found
    value = _convert(run, action, found)
    if action.cells.get("action") == "append" and default is not None:
        return run.operate("__add__", default, value)
    return value


def _missing(run: Interpreter, action: Instance) -> Value:
    """A value that the command line must give, and doesn't here."""
    kind = action.cells.get("type")
    several = action.cells.get("nargs") is not None and action.cells["nargs"] != "?"
    name = kind.name if isinstance(kind, Class) and kind.name in ("int", "float", "bool") else None
    one = run.unknown(f"--{action.cells['dest']} of the command line", "str" if kind is None else name)
    return List(None, one) if several else one


def _default(run: Interpreter, action: Instance) -> Value:
    kind = action.cells.get("action")
    if isinstance(kind, str) and kind in _FLAGS and "default" not in action.cells:
        return _FLAGS[kind]
    found = run.resolve(action.cells.get("default"))
    if found is None and (action.cells.get("required") is True or (_is_positional(action) and _needs_one(action))):
        return _missing(run, action)
    if found is None and _is_positional(action) and action.cells.get("nargs") == "*":
        return List()
    return _convert(run, action, found) if isinstance(found, str) else found


def _needs_one(action: Instance) -> bool:
    return action.cells.get("nargs") not in ("?", "*", argparse.REMAINDER)


# -- the command line ------------------------------------------------------------------------------------------------


def _words(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[str] | None:
    """The command line, None if it isn't known."""
    given = run.resolve(args[1] if len(args) > 1 else kwargs.get("args"))
    found = run.program.arguments if given is None else run.items(given)
    return list(found) if found is not None and all(isinstance(w, str) for w in found) else None


def _read(parser: Instance, words: list[str]) -> tuple[dict[str, Any], list[str]] | None:
    """What Python's own parser makes of the words: text by destination, and the words that it doesn't know.

    None where they don't fit the arguments, or an argument isn't known well enough.
    """
    real = argparse.ArgumentParser(add_help=False)
    for action in _actions(parser):
        cells = action.cells
        options = {k: cells[k] for k in ("action", "nargs", "const") if cells.get(k) is not None}
        if isinstance(options.get("action"), Class) and options["action"].name == "BooleanOptionalAction":
            options["action"] = argparse.BooleanOptionalAction
        if not all(is_known(v) or isinstance(v, type) for v in options.values()) or options.get("action") in _SILENT:
            continue
        if not _is_positional(action):
            options["dest"] = cells["dest"]
        try:
            real.add_argument(*cells["flags"], default=argparse.SUPPRESS, **options)
        except (ValueError, TypeError, argparse.ArgumentError):
            return None
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        try:
            found, rest = real.parse_known_args(words)
        except (SystemExit, TypeError):
            return None
    return vars(found), rest


def _parse(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> tuple[Instance, list[str]]:
    parser = args[0]
    given = run.resolve(args[2] if len(args) > 2 else kwargs.get("namespace"))
    made = given if isinstance(given, Instance) else Instance(run.program.library_class("argparse.Namespace"))
    words = _words(run, args, kwargs)
    read = ({}, []) if words == [] else None if words is None else _read(parser, words)
    for action in _actions(parser):
        name = action.cells["dest"]
        if action.cells.get("action") in _SILENT or action.cells.get("default") == argparse.SUPPRESS:
            continue
        if read is None:
            value: Value = run.unknown("an argument of the command line")
        elif name in read[0]:
            value = _given(run, action, read[0][name])
        else:
            value = _default(run, action)
        if name not in made.cells or (read is not None and name in read[0]):
            run.heap.write(made.cells, name, value)
    held = parser.cells.get("defaults")
    for name, value in held.cells.items() if isinstance(held, Dict) else ():
        if name not in made.cells:
            run.heap.write(made.cells, name, value)
    if not isinstance(held, Dict) or not isinstance(parser.cells.get("actions"), tuple) or parser.state.get("open"):
        run.heap.write(made.state, "open", True)
    return made, [] if read is None else read[1]


def _parse_args(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _parse(run, args, kwargs)[0]


def _parse_known_args(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made, rest = _parse(run, args, kwargs)
    return (made, List(tuple(rest)))


# -- subcommands -----------------------------------------------------------------------------------------------------


def _subparsers(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Which command is chosen isn't known: neither is what only one of them has."""
    made = Instance(run.program.library_class("argparse._SubParsersAction"))
    parser = args[0]
    dest = run.resolve(kwargs.get("dest"))
    if isinstance(dest, str) and isinstance(parser.cells.get("defaults"), Dict):
        run.heap.write(parser.cells["defaults"].cells, dest, run.unknown("the command that is chosen", "str"))
    run.heap.write(parser.state, "open", True)
    return made


def _add_parser(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _make_parser(run, run.program.library_class("argparse.ArgumentParser"), (), {})


def _get_default(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = next((a for a in _actions(args[0]) if a.cells["dest"] == run.resolve(args[1])), None)
    return run.unknown("a default") if found is None else found.cells.get("default")


def _stop(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    raise Raised("SystemExit", None, ("BaseException",))


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


_ADDING: Final = {
    "add_argument": _add_argument,
    "add_argument_group": _group,
    "add_mutually_exclusive_group": _group,
}
library_class(
    "argparse.ArgumentParser",
    make=_make_parser,
    methods={
        **_ADDING,
        "set_defaults": _set_defaults,
        "get_default": _get_default,
        "parse_args": _parse_args,
        "parse_known_args": _parse_known_args,
        "parse_intermixed_args": _parse_args,
        "add_subparsers": _subparsers,
        "print_help": _nothing,
        "print_usage": _nothing,
        "error": _stop,
        "exit": _stop,
    },
)
library_class("argparse._ArgumentGroup", methods=_ADDING)
library_class("argparse._SubParsersAction", methods={"add_parser": _add_parser})
for _name in ("Action", "BooleanOptionalAction", "ArgumentDefaultsHelpFormatter", "HelpFormatter",
              "RawTextHelpFormatter", "RawDescriptionHelpFormatter"):  # fmt: skip
    library_class(f"argparse.{_name}")
library_class("argparse.ArgumentTypeError", ("builtins.Exception",))
gives("argparse.FileType")


def _make_namespace(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(cls)
    for name, value in kwargs.items():
        run.heap.write(made.cells, name, value)
    return made


def _has(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return operators.contains(run, attributes.attributes_of(run, args[0]), args[1])


library_class("argparse.Namespace", make=_make_namespace, methods={"__contains__": _has}, exact=True)
