"""``fire``, ``click``, ``typer`` and ``absl``: functions that a library calls with what the command line says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches
from simpletorch.follow.libraries import MADE, OWN, VALUES, Work, by_name, gives, library_class, model, native
from simpletorch.follow.libraries.configs.words import Option, kind_of, literal, parameters, read, value
from simpletorch.follow.libraries.python.argparse import missing
from simpletorch.follow.sources.switches import offer
from simpletorch.follow.values import (
    MISSING,
    Class,
    Dict,
    Function,
    Instance,
    List,
    Method,
    Namespace,
    Native,
    Value,
    is_known,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_OPTIONS: Final = "__click_params__"


def _one_of(run: Interpreter, named: dict[str, Value]) -> Value:
    """One of several functions, where the command line doesn't say which."""
    found: Value = MISSING
    for name, function in reversed(named.items()):
        condition = run.unknown(f"whether the command is {name}", "bool", "data")  # each is called in some run
        found = function if found is MISSING else branches.merge(condition, function, found)
    return found


# -- fire --------------------------------------------------------------------------------------------------------------


@native("fire.Fire")
def _fire(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("component command", args, kwargs)
    component, command = run.resolve(given.get("component")), run.resolve(given.get("command"))
    words = list(run.program.arguments) if command is None else command.split() if isinstance(command, str) else None
    if words is None:
        return run.unknown("what fire calls")
    if component is None:
        module = run.program.modules.get(run.program.main)
        component = Dict({} if module is None else dict(module.cells))
        if not words:  # it lists what there is
            return None
    return _ignite(run, component, words)


def _ignite(run: Interpreter, component: Value, words: list[str]) -> Value:
    """Call what the words name, part by part."""
    component = run.resolve(component)
    if isinstance(component, Function | Method):
        function = component.function if isinstance(component, Method) else component
        names = [n for n, *_ in parameters(run, function)][isinstance(component, Method) :]
        given = _given(words, names) if isinstance(function, Function) else None
        return run.call_in_the_dark(component, (), {}) if given is None else run.call(component, *given[:2])
    if isinstance(component, Class):
        init = component.find("__init__")
        known = init is not None and isinstance(init[0], Function)
        names = [n for n, *_ in parameters(run, init[0])][1:] if init is not None and known else []
        given = _given(words, names, by_place=False)
        if given is None:
            return run.call_in_the_dark(component, (), {})
        made = run.call(component, *given[:2])
        return _ignite(run, made, given[2]) if given[2] else made
    plain = [w for w in words if not w.startswith("-")]
    name = plain[0].replace("-", "_") if plain else None
    if name is None:
        return component
    words.remove(plain[0])
    if isinstance(component, Dict):
        found = run.resolve(component.cells.get(name, component.cells.get(plain[0], MISSING)))
    else:
        found = run.attribute(component, name) if isinstance(component, Instance) else MISSING
    return run.unknown("what fire calls") if found is MISSING else _ignite(run, found, words)


def _given(
    words: list[str], names: list[str], *, by_place: bool = True
) -> tuple[tuple[Value, ...], dict[str, Value], list[str]] | None:
    """Arguments by place and by name, and the words that are left; None for a value that isn't plain."""
    placed: list[Value] = []
    named: dict[str, Value] = {}
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("--"):
            (placed if by_place else rest).append(literal(word) if by_place else word)
            continue
        name, equals, text = word[2:].partition("=")
        name = name.replace("-", "_")
        flag: Value = True
        if not equals and name.startswith("no") and name not in names and name[2:] in names:
            name, flag = name[2:], False
        elif not equals and left and not left[0].startswith("--"):
            text, equals = left.pop(0), "="
        if by_place or name in names:
            named[name] = literal(text) if equals else flag
        else:
            rest.append(f"--{name}={text}" if equals else word)
    made = {k: _value(v) for k, v in named.items()}
    return tuple(map(_value, placed)), made, rest


def _value(found: Any) -> Value:
    if isinstance(found, list):
        return List(tuple(map(_value, found)))
    if isinstance(found, dict):
        return Dict({k: _value(v) for k, v in found.items()})
    return found if is_known(found) else str(found)


# -- click -------------------------------------------------------------------------------------------------------------


def _described(name: str) -> Work:
    """``@click.option(...)``: kept beside the function until it is called."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
            function = run.resolve(given[0])
            if isinstance(function, Function):
                _note(run, function, (name, tuple(map(run.resolve, args)), tuple(kwargs.items())))
            elif isinstance(function, Instance) and isinstance(function.cells.get("function"), Function):
                _note(run, function.cells["function"], (name, tuple(map(run.resolve, args)), tuple(kwargs.items())))
            return function

        return Native(name, decorate)

    return work


def _note(run: Interpreter, function: Function, row: Value) -> None:
    run.heap.write(function.attributes, _OPTIONS, (row, *function.attributes.get(_OPTIONS, ())))


native("click.option")(_described("option"))
native("click.argument")(_described("argument"))
native("click.version_option", "click.help_option", "click.confirmation_option")(_described("other"))


def _handed(what: str) -> Work:
    """``@click.pass_context``, ``@click.pass_obj``: the function gets it before its options."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        function = run.resolve(args[0])
        if isinstance(function, Function):
            _note(run, function, (what, (), ()))
        return function

    return work


native("click.pass_context")(_handed("context"))
native("click.pass_obj")(_handed("obj"))


def _decorator(cls: str) -> Work:
    """``@click.command()``, ``@click.group()``, with or without parentheses."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
            function = run.resolve(given[0])
            made = Instance(run.program.library_class(f"click.{cls}"))
            named = next((run.resolve(v) for v in (*args, kwargs.get("name")) if isinstance(v, str)), None)
            shown = function.name.replace("_", "-") if isinstance(function, Function) else None
            made.cells.update(function=function, name=named or shown, commands=Dict())
            made.cells["alone"] = run.resolve(kwargs.get("invoke_without_command", False)) is True
            made.cells["callback"] = function
            return made

        return decorate(run, args, {}) if args and isinstance(args[0], Function) else Native(cls, decorate)

    return work


native("click.command")(_decorator("Command"))
native("click.group")(_decorator("Group"))


def _inner(cls: str) -> Work:
    """``@cli.command()``, ``@cli.group()``."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        owner, *rest = args
        decorate = _decorator(cls)(run, tuple(rest), kwargs)

        def add(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
            return _added(run, owner, run.call(decorate, given))

        return _added(run, owner, decorate) if isinstance(decorate, Instance) else Native(cls, add)

    return work


def _added(run: Interpreter, owner: Instance, made: Value, name: Value = None) -> Value:
    key = name or (made.cells.get("name") if isinstance(made, Instance) else None)
    commands = owner.cells.get("commands")
    if isinstance(commands, Dict):
        run.heap.write(commands.cells, key, made)
    return made


def _add_command(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("self cmd name", args, kwargs)
    _added(run, args[0], run.resolve(given.get("cmd")), run.resolve(given.get("name")))
    return None


def _call_command(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = kwargs.get("args", args[1] if len(args) > 1 else None)
    words = run.program.arguments if given is None else run.items(given)
    known = words is not None and all(isinstance(w, str) for w in words)
    context: dict[str, Value] = {k: v for k, v in kwargs.items() if k in ("obj", "parent")}
    return _invoke(run, args[0], list(words or ()) if known else None, context)


def _invoke(run: Interpreter, command: Value, words: list[str] | None, context: dict[str, Value]) -> Value:
    """Call a command, whose context gets these arguments."""
    command = run.resolve(command)
    if not isinstance(command, Instance):
        return run.call_in_the_dark(command, (), {})
    name = command.cells.get("name") if "parent" in context else run.unknown("the program's name", "str", "data")
    context = {"command": command, "info_name": name, **context}
    commands, function = command.cells.get("commands"), command.cells.get("function")
    if not command.cls.is_a("click.Group") or not isinstance(commands, Dict):
        return _with_options(run, function, words, _context(run, context))
    place = next((i for i, w in enumerate(words or ()) if w in commands.cells), None)
    is_alone = place is None and (command.cells.get("alone") is True or not commands.cells)
    named = None if is_alone else run.unknown("the name of a command", "str", "data")
    if words is not None and place is not None:
        named = words[place]
    made = _context(run, {**context, "invoked_subcommand": named})
    _with_options(run, function, None if words is None else words[:place], made)
    if words is not None and place is not None:
        return _invoke(run, commands.cells[words[place]], words[place + 1 :], {"parent": made})
    if is_alone:
        return None
    each = {
        str(k): Native(str(k), lambda run, args, kwargs, c=c: _invoke(run, c, words, {"parent": made}))
        for k, c in commands.cells.items()
    }
    return run.call(_one_of(run, each), ())


def _context(run: Interpreter, given: dict[str, Value]) -> Value:
    return run.call(run.program.library(run, "click.Context"), (), given)


@native("click._invoked")
def _invoked(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``context.invoke(callback, ...)``: what a command isn't given has the defaults of its options."""
    context, callback, *rest = args
    command = run.resolve(callback)
    if not isinstance(command, Instance) or not command.cls.is_a("click.Command"):
        return run.call(command, tuple(rest), kwargs)
    made = _context(run, {"command": command, "info_name": command.cells.get("name"), "parent": context})
    return _with_options(run, command.cells.get("function"), [], made, tuple(rest), kwargs)


def _with_options(
    run: Interpreter,
    function: Value,
    words: list[str] | None,
    context: Value,
    placed: tuple[Value, ...] = (),
    named: Mapping[str, Value] = MappingProxyType({}),
) -> Value:
    function = run.resolve(function)
    if not isinstance(function, Function):
        return run.call_in_the_dark(function, (), {})
    options: list[Option] = []
    first: list[Value] = []
    for kind, names, rows in function.attributes.get(_OPTIONS, ()):
        if kind in ("context", "obj"):
            first.append(context if kind == "context" else run.attribute(context, "obj"))
        elif kind != "other":
            option = _option(run, kind, names, dict(rows))
            if option is None:
                return run.call_in_the_dark(function, (), {})
            options.append(option)
    found = None if words is None else read(words, options)
    given = {o.name: value(run, o, None if found is None else found[0]) for o in options if o.name not in named}
    given.update(named)
    params = run.attribute(context, "params")
    if isinstance(params, Dict):
        for name, one in given.items():
            run.heap.write(params.cells, name, one)
    return run.call(function, (*first, *placed), given)


def _option(run: Interpreter, kind: str, names: tuple[Value, ...], given: dict[str, Value]) -> Option | None:
    """One of click's options or arguments."""
    if not names or not all(isinstance(n, str) for n in names):
        return None
    on, _, off = next((str(n) for n in names if "/" in str(n)), str(names[0])).partition("/")
    flags = tuple(str(n).partition("/")[0] for n in names if str(n).startswith("-"))
    plain = next((str(n) for n in names if not str(n).startswith("-")), None)
    long = next((f for f in flags if f.startswith("--")), flags[0] if flags else on)
    name = (plain or long.lstrip("-").replace("-", "_")).lower()
    default = run.resolve(given.get("default", MISSING))
    is_flag = bool(off) or run.resolve(given.get("is_flag")) is True
    several = run.resolve(given.get("multiple")) is True
    count = run.resolve(given.get("nargs"))
    note = "bool" if is_flag else _type(run.resolve(given.get("type")), default)
    if several or (type(count) is int and count != 1):
        note = f"Tuple[{note}, ...]"
    required = run.resolve(given.get("required", kind == "argument")) is True
    if default is MISSING and not required:
        default = False if is_flag else () if several else None
    if isinstance(default, str) and note in ("int", "float"):
        default = run.call(run.program.builtin(run, note), (default,))
    if isinstance(default, List) and default.items is not None:
        default = default.items
    taken = None if count in (1, None) else "*" if count == -1 else count if type(count) is int else None
    if is_flag:
        taken = 0
    return Option(name, flags if kind == "option" else (), note, default, (off.strip(),) if off else (), several, taken)


def _type(kind: Value, default: Value) -> str:
    if kind in (None, MISSING):
        first = default[0] if isinstance(default, tuple) and default else default
        return type(first).__name__ if type(first) in (int, float, bool) else "str"
    if isinstance(kind, Class):
        named = {"IntRange": "int", "FloatRange": "float", "Choice": "str", "Path": "str"}
        return named.get(kind.name, kind.name)
    if isinstance(kind, Instance):
        return _type(kind.cls, default)
    if isinstance(kind, str):
        return kind
    return "unknown"


VALUES.update({f"click.{n}": t for n, t in {"INT": "int", "FLOAT": "float", "STRING": "str", "BOOL": "bool"}.items()})
for _name in ("IntRange", "FloatRange", "Choice", "Path"):
    library_class(f"click.{_name}", methods={"__init__": lambda run, args, kwargs: None}, unknown="a type of click's")
OWN["click.Context"] = Path(__file__).with_name("click.txt")
gives("click._unknown click.echo click.secho click.style click.progressbar click.prompt click.confirm")
library_class(
    "click.Command",
    methods={"__call__": _call_command, "main": _call_command},
    unknown="a command",
)
library_class(
    "click.Group",
    ("click.Command",),
    methods={"command": _inner("Command"), "group": _inner("Group"), "add_command": _add_command},
    unknown="a group of commands",
)


# -- typer -------------------------------------------------------------------------------------------------------------


@native("typer.Option", "typer.Argument")
def _typed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A default and the names of its flags, until the function is called."""
    made = Instance(run.program.library_class("typer.models.ParameterInfo"))
    default = run.resolve(args[0] if args else kwargs.get("default", ...))
    made.cells["default"] = MISSING if default is ... else default
    made.cells["flags"] = tuple(f for f in map(run.resolve, args[1:]) if isinstance(f, str))
    return made


library_class("typer.models.ParameterInfo")


def _typer_option(run: Interpreter, name: str, note: str, default: Value) -> Option:
    """A parameter of a function as an option; as an argument by place, if it has no default."""
    words: tuple[str, ...] = ()
    annotated = re.fullmatch(r"(?:\w+\.)?Annotated\[(.*)\]", note, re.DOTALL)
    is_argument = default is MISSING and "Option(" not in note
    if annotated is not None:
        words = tuple(re.findall(r"'(--?[\w-]+(?:/--?[\w-]+)?)'", note))
        note = re.split(r",\s*(?:typer\.)?(?:Option|Argument)\(", annotated[1])[0]
        is_argument = is_argument or "Argument(" in annotated[1]
    if isinstance(default, Instance) and default.cls.name == "ParameterInfo":
        words = default.cells.get("flags", ())
        default = default.cells.get("default", MISSING)
        is_argument = False
    dashed = name.replace("_", "-")
    flags = tuple(w.partition("/")[0] for w in words if w.startswith("-")) or (f"--{dashed}",)
    is_bool = kind_of(note) == ("bool", False)
    several = kind_of(note)[1]
    off = tuple(w.partition("/")[2] for w in words if "/" in w) or ((f"--no-{dashed}",) if is_bool else ())
    return Option(name, () if is_argument else flags, note, default, off, several and not is_argument,
                  0 if is_bool and not is_argument else None)  # fmt: skip


@native("typer.run")
def _run(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _typer_call(run, args[0], list(run.program.arguments))


def _typer_call(run: Interpreter, function: Value, words: list[str] | None) -> Value:
    function = run.resolve(function)
    if not isinstance(function, Function):
        return run.call_in_the_dark(function, (), {})
    rows = [row for row in parameters(run, function) if not row[1].endswith("Context")]
    options = [_typer_option(run, *row) for row in rows]
    found = None if words is None else read(words, options)
    given = {o.name: value(run, o, None if found is None else found[0]) for o in options}
    context = {n: run.unknown("a context of typer") for n, note, _ in parameters(run, function) if n not in given}
    return run.call(function, (), {**context, **given})


def _typer_command(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    app, name = args[0], run.resolve(args[1] if len(args) > 1 else kwargs.get("name"))

    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        function = run.resolve(given[0])
        if isinstance(function, Function):
            shown = name if isinstance(name, str) else function.name.replace("_", "-")
            run.heap.write(app.cells, "commands", (*app.cells.get("commands", ()), (shown, function)))
        return function

    return Native("command", decorate)


def _typer_callback(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        run.heap.write(args[0].cells, "callback", given[0])
        return given[0]

    return Native("callback", decorate)


def _add_typer(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("self typer_instance name", args, kwargs)
    row = (run.resolve(given.get("name")), run.resolve(given.get("typer_instance")))
    run.heap.write(args[0].cells, "commands", (*args[0].cells.get("commands", ()), row))
    return None


def _call_app(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _typer_invoke(run, args[0], list(run.program.arguments))


def _typer_invoke(run: Interpreter, app: Value, words: list[str]) -> Value:
    commands = app.cells.get("commands", ()) if isinstance(app, Instance) else ()
    if not isinstance(commands, tuple) or not commands:
        return _typer_call(run, app, words)
    callback = app.cells.get("callback")
    if len(commands) == 1 and callback is None:
        return _typer_invoke(run, commands[0][1], words)
    known = dict(commands)
    place = next((i for i, w in enumerate(words) if w in known), None)
    if callback is not None:
        _typer_call(run, callback, words[:place])
    if place is not None:
        return _typer_invoke(run, known[words[place]], words[place + 1 :])
    each = {str(k): Native(str(k), lambda run, args, kwargs, c=c: _typer_invoke(run, c, words)) for k, c in
            known.items()}  # fmt: skip
    return run.call(_one_of(run, each), ())


library_class(
    "typer.Typer",
    methods={
        "__init__": lambda run, args, kwargs: None,
        "command": _typer_command,
        "callback": _typer_callback,
        "add_typer": _add_typer,
        "__call__": _call_app,
    },
)
gives("typer.echo typer.secho typer.style typer.prompt typer.confirm")


# -- absl --------------------------------------------------------------------------------------------------------------

library_class("absl.flags.FlagValues", methods={"__call__": lambda run, args, kwargs: List((run.program.shown,))})
MADE["absl.flags.FLAGS"] = lambda run: Instance(run.program.library_class("absl.flags.FlagValues"))
_MULTI: Final = {"multi_integer": "int", "multi_float": "float", "multi_string": "str", "multi_enum": "str"}
_SINGLE: Final = {"integer": "int", "float": "float", "string": "str", "bool": "bool", "boolean": "bool",
                  "enum": "str", "list": "list", "spaceseplist": "list", "alias": "unknown",
                  "enum_class": "unknown"}  # fmt: skip


def _words_of(run: Interpreter, name: str, *, is_bool: bool) -> list[str | bool]:
    """The command line's words for a flag, each time that it is given."""
    found: list[str | bool] = []
    words = list(run.program.arguments)
    while words:
        word = words.pop(0)
        if word == "--":
            break
        key, equals, text = word.lstrip("-").partition("=")
        if not word.startswith("-") or key not in (name, f"no{name}"):
            continue
        if equals and key == name:
            found.append(text)
        elif is_bool:
            found.append(key == name)
        elif words and key == name:
            found.append(words.pop(0))
    return found


def _define(kind: str) -> Work:
    multi, type_name = kind in _MULTI, _MULTI.get(kind, _SINGLE.get(kind, "unknown"))

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        said = by_name("name default", args, kwargs)
        name, default = run.resolve(said.get("name")), run.resolve(said.get("default"))
        made = Instance(run.program.library_class("absl.flags.FlagHolder"))
        if not isinstance(name, str):
            return made
        words = _words_of(run, name, is_bool=type_name == "bool")
        note = f"List[{type_name}]" if multi else type_name
        option = Option(name, (f"--{name}",), note)
        if words and type_name == "list":
            found: Value = List(tuple(str(words[-1]).split("," if kind == "list" else None)))
        elif words:
            found = value(run, option, {name: [str(w) for w in words] if multi else words[-1]})
        elif default is None and run.resolve(kwargs.get("required", False)) is True:
            found = missing(run, name, type_name)
        elif isinstance(default, str | int) and type_name in ("int", "float"):
            found = run.call(run.program.builtin(run, type_name), (default,))
        elif isinstance(default, str) and type_name == "list":
            found = List(tuple(default.split(","))) if default else List()
        else:
            found = List((default,)) if multi and isinstance(default, int | float | str) else default
        if not words:
            found = offer(run, name, f"--{name}", found)
        _set_flag(run, name, found)
        made.cells.update(value=found, default=default, name=name)
        return made

    return work


def _set_flag(run: Interpreter, name: str, found: Value) -> None:
    flags = run.program.library(run, "absl.flags.FLAGS")
    if isinstance(flags, Instance):
        run.heap.write(flags.cells, name, found)


library_class("absl.flags.FlagHolder")
for _name in (*_SINGLE, *_MULTI):
    native(f"absl.flags.DEFINE_{_name}")(_define(_name))


@native("absl.flags.mark_flag_as_required", "absl.flags.mark_flags_as_required")
def _required(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A flag that must be given, and isn't, is unknown."""
    given = by_name("flag_name", args, kwargs)
    flags, names = (
        run.program.library(run, "absl.flags.FLAGS"),
        run.resolve(given.get("flag_name", kwargs.get("flag_names"))),
    )
    for name in (names,) if isinstance(names, str) else run.items(names) or ():
        if isinstance(flags, Instance) and isinstance(name, str) and run.resolve(flags.cells.get(name)) is None:
            _set_flag(run, name, run.unknown(f"--{name} of the command line"))
    return None


@model("absl.app.run")
def _app_run(run: Interpreter, main: Value, argv: Value = None, flags_parser: Value = None) -> Value:
    run.call(main, (List((run.program.shown,)),))
    return None


@native("ml_collections.config_flags.DEFINE_config_file")
def _config_file(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The configuration that ``get_config()`` of a file gives, with the command line's overrides."""
    said = by_name("name default", args, kwargs)
    name, path = run.resolve(said.get("name")), run.resolve(said.get("default"))
    if not isinstance(name, str):
        return run.unknown("a flag")
    words = _words_of(run, name, is_bool=False)
    path = words[-1] if words else path
    file, colon, text = path.partition(":") if isinstance(path, str) else ("", "", "")
    loader = run.program.library(run, "importlib.machinery.SourceFileLoader")
    module = run.call(run.attribute(run.call(loader, (name, file)), "load_module"), ()) if file else None
    make = run.resolve(module.cells.get("get_config")) if isinstance(module, Namespace) else None
    found = run.call(make, (text,) if colon else ()) if isinstance(make, Function) else run.unknown("a configuration")
    for word in run.program.arguments:
        match = re.fullmatch(rf"--{re.escape(name)}\.([\w.]+)=(.*)", word, re.DOTALL)
        if match is not None and isinstance(found, Instance):
            row = Dict({match[1]: _value(literal(match[2]))})
            run.call(run.attribute(found, "update_from_flattened_dict"), (row,))
    _set_flag(run, name, found)
    holder = Instance(run.program.library_class("absl.flags.FlagHolder"))
    holder.cells.update(value=found, name=name)
    return holder
