"""``argparse``: the command line is that of the program that is followed; what isn't given is its default."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import attributes, branches, operators
from simpletorch.follow.libraries import VALUES, by_name, gives, library_class
from simpletorch.follow.libraries.python import evaluation
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources.syntax import of_node, walk
from simpletorch.follow.values import Choice, Class, Dict, Instance, List, Native, Value, is_known
from simpletorch.shapes import var, variables

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["missing"]

VALUES.update({f"argparse.{n}": getattr(argparse, n) for n in ("SUPPRESS", "REMAINDER", "OPTIONAL", "ZERO_OR_MORE")})
VALUES["argparse.ONE_OR_MORE"] = argparse.ONE_OR_MORE
_FLAGS: Final = {"store_true": False, "store_false": True}
_SILENT: Final = ("help", "version")
_COLLECTING: Final = ("append", "append_const", "extend")


def _make_parser(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(cls)
    inherited = run.items(kwargs["parents"]) if "parents" in kwargs else ()
    parents = [p for p in map(run.resolve, inherited or ()) if isinstance(p, Instance)]
    made.cells.update(actions=tuple(a for p in parents for a in _actions(p)), defaults=Dict())
    if inherited is None or len(parents) < len(inherited) or any(map(_is_open, parents)):
        run.heap.write(made.state, "open", True)
    return made


def _actions(parser: Instance) -> tuple[Instance, ...]:
    """The arguments that a parser surely has; none are known where unknown code had it."""
    return _common(parser.cells.get("actions"))


def _is_open(parser: Instance) -> bool:
    """Whether a parser may have more arguments than are known."""
    held = parser.cells.get("actions")
    return bool(parser.state.get("open")) or not isinstance(held, tuple) or len(_common(held)) < len(held)


def _common(found: Value) -> tuple[Instance, ...]:
    if isinstance(found, Choice):
        other = _common(found.when_false)
        return tuple(a for a in _common(found.when_true) if any(a is o for o in other))
    return tuple(a for a in found if isinstance(a, Instance)) if isinstance(found, tuple) else ()


def _add_argument(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    owner, *names = args
    flags = tuple(map(run.resolve, names))
    options = {k: run.resolve(v) for k, v in kwargs.items()}
    parser = owner.cells.get("parser", owner)
    if not all(isinstance(f, str) for f in flags):
        if isinstance(parser, Instance):
            run.heap.write(parser.state, "open", True)
        return Instance(run.program.library_class("argparse.Action"))
    dest = options.get("dest") or _destination(flags)
    made = _action(run, flags, {**options, "dest": dest})
    made.cells["needs_one"] = owner.cells.get("needs_one", False)
    if isinstance(parser, Instance):
        if _is_open(parser):
            run.heap.write(parser.state, "open", True)
        run.heap.write(parser.cells, "actions", (*_actions(parser), made))
    return made


def _action(run: Interpreter, flags: tuple[Value, ...], options: dict[str, Value]) -> Instance:
    """An argument: an object of the program's own class of actions, if it names one."""
    kind = options.get("action")
    if _is_own(kind):
        given = {k: v for k, v in options.items() if k != "action"}
        optional = flags[0].startswith("-") if flags else False
        made = run.resolve(run.call(kind, (), {"option_strings": List(flags if optional else ()), **given}))
        if isinstance(made, Instance):
            made.cells.update({"flags": flags, "action": kind})
            for name in ("nargs", "default", "type", "dest"):
                made.cells[name] = run.resolve(made.cells.get(name, options.get(name)))
            return made
    made = Instance(run.program.library_class("argparse.Action"))
    made.cells.update({**options, "flags": flags})
    return made


def _is_own(kind: Value) -> bool:
    return isinstance(kind, Class) and kind.is_a("argparse.Action") and kind.module != "argparse"


def _make_action(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``argparse.Action.__init__``."""
    given = by_name("self option_strings dest nargs const default type choices required help metavar", args, kwargs)
    made = given.pop("self")
    for name, value in given.items():
        run.heap.write(made.cells, name, value)
    return None


def _destination(flags: Sequence[str]) -> str:
    long = next((f for f in flags if f.startswith("--")), flags[0] if flags else "")
    return long.lstrip("-").replace("-", "_") if long.startswith("-") else long


def _group(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(run.program.library_class("argparse._ArgumentGroup"))
    made.cells["parser"] = args[0].cells.get("parser", args[0])
    return made


def _exclusive(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = _group(run, args, {})
    made.cells["needs_one"] = run.resolve(by_name("self required", args, kwargs).get("required")) is True
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
    if kind is None or not isinstance(text, str):
        return text
    if isinstance(kind, Native) and kind.name == "builtins.eval":
        return evaluation.evaluate(run, text, Scope(None, run.path))
    return run.call(kind, (text,))


def _given(run: Interpreter, action: Instance, found: Any) -> Value:
    """What the command line says of an argument, added to its default where it counts or collects."""
    default = run.resolve(action.cells.get("default"))
    if action.cells.get("action") == "count" and isinstance(default, int):
        return default + found
    value = _convert(run, action, found)
    if action.cells.get("action") in _COLLECTING and default is not None:
        return run.operate("__add__", default, value)
    return value


def _act(run: Interpreter, parser: Instance, made: Instance, action: Instance, found: Sequence[Any]) -> None:
    """Call the program's own action, once for each time that the argument is given."""
    flag = None if _is_positional(action) else action.cells["flags"][0]
    for words in found:
        run.call(action, (parser, made, _convert(run, action, words), flag))


def _missing(run: Interpreter, action: Instance) -> Value:
    """A value that the command line must give, and doesn't here."""
    kind = action.cells.get("type")
    several = action.cells.get("nargs") is not None and action.cells["nargs"] != "?"
    name = "str" if kind is None else kind.name if isinstance(kind, Class) else None
    return missing(run, action.cells["dest"], name, several=several)


def missing(run: Interpreter, name: str, kind: str | None, *, several: bool = False) -> Value:
    """An argument that must be given, and isn't, by the name of its type: an int is a symbol."""
    if kind == "int" and not several and not any(name.replace("-", "_") in _no_sizes(t) for t in run.program.trees()):
        size = var(name, "the command line")
        run.symbols.update(variables(size))
        return size
    one = run.unknown(f"--{name} of the command line", kind if kind in ("int", "float", "bool", "str") else None)
    return List(None, one) if several else one


@of_node
def _no_sizes(tree: ast.Module) -> frozenset[str]:
    """Names of what may as well be 0 or negative: code compares it, tests it, counts rounds or picks with it."""
    found: set[str] = set()
    for node in walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                asked: list[ast.expr] = [left, *others]
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
                asked = [test]
            case ast.BoolOp(values=asked):
                pass
            case ast.UnaryOp(op=ast.Not(), operand=one) | ast.Subscript(slice=one):
                asked = [one]
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=asked) if called in _NO_SIZE:
                pass
            case ast.keyword(arg="device" | "seed" | "port" | "rank", value=one):
                asked = [one]
            case _:
                continue
        found |= {n.attr if isinstance(n, ast.Attribute) else n.id for n in asked if isinstance(n, _NAMED)}
    return frozenset(found)


_NAMED: Final = (ast.Name, ast.Attribute)
_NO_SIZE: Final = frozenset({
    *("range", "device", "cuda", "set_device", "seed", "manual_seed", "manual_seed_all", "seed_everything"),
    *("Random", "default_rng"),
})  # fmt: skip
"""Functions that take a number which is no size."""


def _default(run: Interpreter, action: Instance) -> Value:
    kind = action.cells.get("action")
    if action.cells.get("needs_one") and action.cells.get("default") is None:
        return run.unknown(f"--{action.cells['dest']} of the command line", "bool" if kind in _FLAGS else None)
    if isinstance(kind, str) and kind in _FLAGS and "default" not in action.cells:
        return _FLAGS[kind]
    found = run.resolve(action.cells.get("default"))
    if action.cells.get("required") is True or (found is None and _is_positional(action) and _needs_one(action)):
        return _missing(run, action)
    if found is None and _is_positional(action) and action.cells.get("nargs") == "*":
        return List()
    return _convert(run, action, found) if isinstance(found, str) else found


def _needs_one(action: Instance) -> bool:
    return action.cells.get("nargs") not in ("?", "*", argparse.REMAINDER)


# -- the command line ------------------------------------------------------------------------------------------------


def _explicit(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The words that a program gives to its parser itself, None where it leaves them to the command line."""
    return run.resolve(args[1] if len(args) > 1 else kwargs.get("args"))


def _words(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[str] | None:
    """The command line, None if it isn't known."""
    given = _explicit(run, args, kwargs)
    found = run.program.arguments if given is None else run.items(given)
    return list(found) if found is not None and all(isinstance(w, str) for w in found) else None


_COMMAND: Final = "(command {})"
"""Under which name Python's parser says which subcommand was given; no argument has it."""


def _read(parser: Instance, words: list[str]) -> tuple[dict[str, Any], list[str]] | None:
    """What Python's own parser makes of the words: text by destination, and the words that it doesn't know.

    None where they don't fit the arguments, or an argument isn't known well enough.
    """
    real = argparse.ArgumentParser(add_help=False)
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        try:
            _describe(parser, real, 0)
            found, rest = real.parse_known_args(words)
        except (SystemExit, ValueError, TypeError, argparse.ArgumentError):
            return None
    return vars(found), rest


def _describe(parser: Instance, real: argparse.ArgumentParser, depth: int) -> None:
    """Give Python's parser the arguments of the program's."""
    for action in _actions(parser):
        cells = action.cells
        options = {k: cells[k] for k in ("action", "nargs", "const") if cells.get(k) is not None}
        if isinstance(options.get("action"), Class) and options["action"].name == "BooleanOptionalAction":
            options["action"] = argparse.BooleanOptionalAction
        elif _is_own(options.get("action")):
            options = {**options, "action": _Calls}
        if not all(is_known(v) or isinstance(v, type) for v in options.values()) or options.get("action") in _SILENT:
            continue
        if not _is_positional(action):
            options["dest"] = cells["dest"]
        real.add_argument(*cells["flags"], default=argparse.SUPPRESS, **options)
    commands = _commands(parser)
    if commands:
        several = real.add_subparsers(dest=_COMMAND.format(depth))
        for name, inner in commands.items():
            _describe(inner, several.add_parser(name, add_help=False), depth + 1)


class _Calls(argparse.Action):
    """Notes the words of each time that an argument is given."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        """Add the words to the list."""
        setattr(namespace, self.dest, [*getattr(namespace, self.dest, ()), values])


def _parse(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> tuple[Instance, list[str]]:
    parser = args[0]
    given = run.resolve(args[2] if len(args) > 2 else kwargs.get("namespace"))
    made = given if isinstance(given, Instance) else Instance(run.program.library_class("argparse.Namespace"))
    words = _words(run, args, kwargs)
    found, rest = ({}, []) if words == [] else (None, []) if words is None else _read(parser, words) or (None, [])
    if found is not None and run.switch is not None and _explicit(run, args, kwargs) is None:
        found.setdefault(run.switch.name, run.switch.value)
    _fill(run, parser, made, found, 0)
    return made, rest


def _fill(run: Interpreter, parser: Instance, made: Instance, read: dict[str, Any] | None, depth: int) -> None:
    """Give the arguments of a parser to an object."""
    for action in _actions(parser):
        name = action.cells["dest"]
        is_given = read is not None and name in read
        if action.cells.get("action") in _SILENT or (action.cells.get("default") == argparse.SUPPRESS and not is_given):
            continue
        is_own = _is_own(action.cells.get("action"))
        if read is None:
            value: Value = run.unknown("an argument of the command line")
        elif is_given and not is_own:
            value = _given(run, action, read[name])
        else:
            value = _missing(run, action) if name in run.given else _default(run, action)
            if not is_own and not _is_positional(action):
                run.offered[name] = action.cells["flags"][-1], value
        if name not in made.cells or (is_given and not is_own):
            run.heap.write(made.cells, name, value)
        if is_own and is_given and read is not None:
            _act(run, parser, made, action, read[name])
    if _commands(parser):
        _choose(run, parser, made, read, depth)
    held = parser.cells.get("defaults")
    for name, value in held.cells.items() if isinstance(held, Dict) else ():
        if name not in made.cells:
            run.heap.write(made.cells, name, value)
    if not isinstance(held, Dict) or _is_open(parser):
        run.heap.write(made.state, "open", True)


def _parse_args(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _parse(run, args, kwargs)[0]


def _parse_known_args(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made, rest = _parse(run, args, kwargs)
    return (made, List(tuple(rest)))


# -- subcommands -----------------------------------------------------------------------------------------------------


def _subparsers(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(run.program.library_class("argparse._SubParsersAction"))
    parser, dest = args[0], run.resolve(kwargs.get("dest"))
    made.cells.update(parser=parser, dest=dest if isinstance(dest, str) else None, commands=())
    run.heap.write(parser.cells, "subparsers", made)
    return made


def _add_parser(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    name = run.resolve(args[1]) if len(args) > 1 else None
    options = {"parents": kwargs["parents"]} if "parents" in kwargs else {}
    made = _make_parser(run, run.program.library_class("argparse.ArgumentParser"), (), options)
    known = args[0].cells.get("commands")
    if isinstance(name, str) and isinstance(known, tuple):
        aliases = (a for a in run.items(kwargs["aliases"]) or () if isinstance(a, str)) if "aliases" in kwargs else ()
        run.heap.write(args[0].cells, "commands", (*known, *((n, made) for n in (name, *aliases))))
    else:
        run.heap.write(args[0].cells["parser"].state, "open", True)
    return made


def _commands(parser: Instance) -> dict[str, Instance]:
    """The parsers of subcommands by name."""
    several = parser.cells.get("subparsers")
    found = several.cells.get("commands") if isinstance(several, Instance) else None
    return dict(found) if isinstance(found, tuple) else {}


def _choose(run: Interpreter, parser: Instance, made: Instance, read: dict[str, Any] | None, depth: int) -> None:
    """The arguments of the subcommand that is given; where none is, each may be."""
    commands, dest = _commands(parser), parser.cells["subparsers"].cells.get("dest")
    name = None if read is None else read.get(_COMMAND.format(depth))
    if name is not None:
        _fill(run, commands[name], made, read, depth + 1)
        if dest is not None:
            run.heap.write(made.cells, dest, name)
        return
    chosen: dict[str, Value] = {}
    for name, inner in reversed(commands.items()):
        filled = Instance(made.cls)
        _fill(run, inner, filled, read, depth + 1)
        is_this = run.unknown(f"whether the command is {name}", "bool")
        if dest is not None:
            filled.cells[dest] = name
        for key, value in filled.cells.items():  # who asks for an argument of one command knows that it was given
            chosen[key] = branches.merge(is_this, value, chosen[key]) if key in chosen else value
        if filled.state.get("open"):
            run.heap.write(made.state, "open", True)
    for key, value in chosen.items():
        if key not in made.cells:
            run.heap.write(made.cells, key, value)


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
    "add_mutually_exclusive_group": _exclusive,
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
library_class("argparse.Action", methods={"__init__": _make_action})
for _name in ("BooleanOptionalAction", "ArgumentDefaultsHelpFormatter", "HelpFormatter",
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


def _pairs(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    pairs = run.call(run.attribute(attributes.attributes_of(run, args[0]), "items"), ())
    return run.call(run.program.builtin(run, "list"), (pairs,))


library_class(
    "argparse.Namespace",
    make=_make_namespace,
    methods={"__contains__": _has, "_get_kwargs": _pairs, "_get_args": lambda run, args, kwargs: List(())},
    exact=True,
)
