"""``fire``, ``click``, ``typer``, ``hydra`` and ``absl``: functions that a library calls with the command line says."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import MADE, Work, by_name, library_class, native
from simpletorch.follow.values import Class, Function, Instance, List, Native, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_OPTIONS: Final = "__click_params__"


# -- fire ------------------------------------------------------------------------------------------------------------


@native("fire.Fire")
def _fire(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    function = run.resolve(args[0]) if args else None
    if not isinstance(function, Function):
        return run.unknown("what fire calls")
    given = _given(run)
    if given is None:
        return run.call_in_the_dark(function, (), {})
    return run.call(function, *given)


def _given(run: Interpreter) -> tuple[tuple[Value, ...], dict[str, Value]] | None:
    """The command line as arguments, None where it isn't of the form ``value --name=value --name value``."""
    words = list(run.program.arguments)
    by_place: list[Value] = []
    by_name: dict[str, Value] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            by_place.append(_literal(word))
            continue
        name, equals, value = word[2:].partition("=")
        if not equals:
            if not words or words[0].startswith("--"):
                by_name[name.replace("-", "_")] = True
                continue
            value = words.pop(0)
        by_name[name.replace("-", "_")] = _literal(value)
    if any(isinstance(v, list | dict | set) for v in (*by_place, *by_name.values())):
        return None
    return tuple(by_place), by_name


def _literal(word: str) -> Value:
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word


# -- click -----------------------------------------------------------------------------------------------------------


def _described(name: str) -> Work:
    """``@click.option(...)``: kept beside the function until it is called."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
            function = run.resolve(given[0])
            if isinstance(function, Function):
                earlier = function.attributes.get(_OPTIONS, ())
                run.heap.write(function.attributes, _OPTIONS, (*earlier, (name, args, tuple(kwargs.items()))))
            return function

        return Native(name, decorate)

    return work


native("click.option")(_described("option"))
native("click.argument")(_described("argument"))
native("click.pass_context")(lambda run, args, kwargs: run.unknown("a command that gets a context"))


@native("click.command")
def _command(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        function = run.resolve(given[0])
        if not isinstance(function, Function):
            return run.unknown("a command")
        return Native(function.name, lambda run, args, kwargs: _call_command(run, function))

    return decorate(run, args, {}) if args and isinstance(args[0], Function) else Native("command", decorate)


def _call_command(run: Interpreter, function: Function) -> Value:
    values: dict[str, Value] = {}
    for kind, names, options in function.attributes.get(_OPTIONS, ()):
        name = _parameter(names)
        if name is None:
            return run.call_in_the_dark(function, (), {})
        known = not run.program.arguments
        values[name] = _default(run, kind, dict(options)) if known else run.unknown("an option of the command line")
    return run.call(function, (), values)


def _parameter(names: tuple[Value, ...]) -> str | None:
    """The name of the parameter: one without dashes, else the first long one."""
    if not all(isinstance(n, str) for n in names):
        return None
    texts = [str(n).partition("/")[0] for n in names]
    plain = next((n for n in texts if not n.startswith("-")), None)
    long = next((n for n in texts if n.startswith("--")), texts[0] if texts else None)
    found = plain or long
    return None if found is None else found.lstrip("-").replace("-", "_").lower()


def _default(run: Interpreter, kind: str, options: dict[str, Value]) -> Value:
    if kind == "argument" or run.resolve(options.get("required")) is True:
        return options.get("default", run.unknown("an argument of the command line"))
    if run.resolve(options.get("is_flag")) is True:
        return options.get("default", False)
    if "multiple" in options or "nargs" in options:
        return run.unknown("an option that may be given several times")
    default, kind_of = run.resolve(options.get("default")), run.resolve(options.get("type"))
    if isinstance(default, str | int) and isinstance(kind_of, Class):
        return run.call(kind_of, (default,))
    return default


# -- typer -----------------------------------------------------------------------------------------------------------


@native("typer.Option", "typer.Argument")
def _typed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    default = run.resolve(args[0]) if args else ...
    return run.unknown("an argument of the command line") if default is ... else default


@native("typer.run")
def _run(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _call_with_defaults(run, run.resolve(args[0]))


def _call_with_defaults(run: Interpreter, function: Value) -> Value:
    if not isinstance(function, Function) or run.program.arguments:
        return run.call_in_the_dark(function, (), {})
    spec = function.node.args
    left = [a.arg for a in spec.args[: len(spec.args) - len(function.defaults)]]
    return run.call(function, (), {name: run.unknown("an argument of the command line") for name in left})


def _typer_command(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    app = args[0]

    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        run.heap.write(app.cells, "commands", (*app.cells.get("commands", ()), given[0]))
        return given[0]

    return Native("command", decorate)


def _call_app(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    commands = args[0].cells.get("commands", ())
    if isinstance(commands, tuple) and len(commands) == 1:
        return _call_with_defaults(run, run.resolve(commands[0]))
    return run.unknown("which command is chosen")


library_class("typer.Typer", methods={"command": _typer_command, "__call__": _call_app})


# -- hydra -----------------------------------------------------------------------------------------------------------


@native("hydra.main")
def _hydra(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def decorate(run: Interpreter, given: tuple[Value, ...], _: dict[str, Value]) -> Value:
        return Native("main", lambda run, args, kwargs: run.call(given[0], args or (run.unknown("a configuration"),)))

    return Native("hydra.main", decorate)


# -- absl ------------------------------------------------------------------------------------------------------------

library_class("absl.flags.FlagValues")
MADE["absl.flags.FLAGS"] = lambda run: Instance(run.program.library_class("absl.flags.FlagValues"))


def _define(type: str) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        name = run.resolve(args[0])
        value = run.resolve(args[1] if len(args) > 1 else kwargs.get("default"))
        if run.program.arguments:
            value = run.unknown("a flag of the command line")
        elif isinstance(value, str | int) and type in ("int", "float"):
            value = run.call(run.program.builtin(run, type), (value,))
        flags = run.program.library(run, "absl.flags.FLAGS")
        if isinstance(name, str) and isinstance(flags, Instance):
            run.heap.write(flags.cells, name, value)
        made = Instance(run.program.library_class("absl.flags.FlagHolder"))
        made.cells.update(value=value, default=value, name=name)
        return made

    return work


library_class("absl.flags.FlagHolder")
for _name, _type in {"integer": "int", "float": "float", "string": "str", "bool": "bool", "boolean": "bool",
                     "enum": "str", "list": "list", "multi_integer": "list"}.items():  # fmt: skip
    native(f"absl.flags.DEFINE_{_name}")(_define(_type))


@native("absl.flags.mark_flag_as_required", "absl.flags.mark_flags_as_required")
def _required(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The program is followed as if they were given."""
    given = run.resolve(by_name("flag_name", args, kwargs).get("flag_name", kwargs.get("flag_names")))
    flags = run.program.library(run, "absl.flags.FLAGS")
    for name in (given,) if isinstance(given, str) else run.items(given) or ():
        if isinstance(name, str) and isinstance(flags, Instance) and flags.cells.get(name) is None:
            run.heap.write(flags.cells, name, run.unknown("a flag that must be given"))
    return None


@native("absl.app.run")
def _app_run(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.call(args[0], (List((run.program.shown,)),))
    return None
