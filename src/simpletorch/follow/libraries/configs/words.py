"""Command lines of libraries other than argparse: which words give an option, and what they stand for by its type.

Python's own `argparse` reads the words. An option that must be given, and isn't, becomes a symbol.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.libraries.python.argparse import missing
from simpletorch.follow.sources.switches import offer
from simpletorch.follow.values import MISSING, Function, List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Option", "cast", "kind_of", "literal", "parameters", "read", "value"]

_KINDS: Final = frozenset({"int", "float", "str", "bool", "Path"})
_SEVERAL: Final = frozenset({"list", "tuple", "sequence", "set", "iterable"})


@dataclass(frozen=True)
class Option:
    """One option: where it goes, how it is given, its annotation as a text, and its default (MISSING: none)."""

    name: str
    flags: tuple[str, ...]
    note: str
    default: Value = MISSING
    off: tuple[str, ...] = ()  # flags that say False
    several: bool = False  # it may be given several times
    count: int | str | None = None  # how many words it takes

    @property
    def is_positional(self) -> bool:
        """Whether it is given by its place."""
        return not self.flags


def kind_of(note: str) -> tuple[str | None, bool]:
    """The plain type in an annotation, None for another one; whether there may be several."""
    note = re.sub(r"\b(?:typing|t|collections\.abc)\.", "", note.strip().strip("'\""))
    note = re.sub(r"\s*\|\s*None$|^None\s*\|\s*", "", note)
    match = re.fullmatch(r"(\w+)\[(.*)\]", note, re.DOTALL)
    if match is None:
        short = note.rpartition(".")[2]
        return (short if short in _KINDS else None), note.lower() in _SEVERAL
    outer, inner = match[1], match[2]
    first = inner.split(",")[0].strip()
    if outer in ("Optional", "Annotated", "Final"):
        return kind_of(inner if outer == "Optional" else first)
    if outer == "Union":
        rest = [p.strip() for p in inner.split(",") if p.strip() != "None"]
        return kind_of(rest[0]) if len(rest) == 1 else (None, False)
    if outer == "Literal":
        kinds = {type(v).__name__ for v in _literals(inner)}
        return (kinds.pop() if len(kinds) == 1 else None), False
    if outer.lower() in _SEVERAL:
        return kind_of(first)[0], True
    return None, False


def _literals(text: str) -> tuple[Any, ...]:
    try:
        found = ast.literal_eval(f"({text},)")
    except (ValueError, SyntaxError):
        return ()
    return found if isinstance(found, tuple) else ()


def parameters(run: Interpreter, function: Function) -> list[tuple[str, str, Value]]:
    """The parameters of a function: name, annotation and default (MISSING: none)."""
    spec = function.node.args
    names = [*spec.posonlyargs, *spec.args]
    defaults = dict(zip([a.arg for a in reversed(names)], reversed(function.defaults), strict=False))
    found = [(a.arg, _note(a.annotation), defaults.get(a.arg, MISSING)) for a in names]
    return found + [
        (a.arg, _note(a.annotation), function.keyword_defaults.get(a.arg, MISSING)) for a in spec.kwonlyargs
    ]


def _note(annotation: ast.expr | None) -> str:
    return "" if annotation is None else ast.unparse(annotation)


def literal(word: str) -> Any:
    """A word as a literal, or itself."""
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return word


class _Noting(argparse.ArgumentParser):
    """Reads words of options that may not all be known."""

    def error(self, message: str) -> Any:
        """Give up."""
        raise argparse.ArgumentError(None, message)


def read(words: Sequence[str], options: Iterable[Option]) -> tuple[dict[str, Any], list[str]] | None:
    """By name: the word, the words, or a bool; and the words that belong to no option. None where they don't fit."""
    parser = _Noting(add_help=False, allow_abbrev=False)
    try:
        for o in options:
            kind, several = kind_of(o.note)
            more: dict[str, Any] = {"default": argparse.SUPPRESS}
            if o.is_positional:
                parser.add_argument(o.name, nargs=o.count or ("*" if several else "?"), **more)
                continue
            more["dest"] = o.name
            if kind == "bool" and not several:
                parser.add_argument(*o.flags, nargs="?" if o.count is None else 0, action=_Flag, **more)
                for flag in o.off:
                    parser.add_argument(flag, action="store_false", **more)
            elif o.several:
                parser.add_argument(*o.flags, action="append", nargs=o.count, **more)
            else:
                parser.add_argument(*o.flags, nargs=o.count or ("*" if several else None), **more)
        with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
            found, rest = parser.parse_known_args(list(words))
    except (SystemExit, TypeError, ValueError, argparse.ArgumentError):
        return None
    return vars(found), rest


class _Flag(argparse.Action):
    """``--flag``, ``--flag true``."""

    def __init__(self, option_strings: list[str], dest: str, nargs: Any = None, **kwargs: Any) -> None:
        super().__init__(option_strings, dest, nargs=nargs, **kwargs)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        """Note True, or the word."""
        setattr(namespace, self.dest, values if isinstance(values, str) else True)


_TRUE: Final = ("true", "yes", "t", "y", "1", "on")
_FALSE: Final = ("false", "no", "f", "n", "0", "off")


def cast(run: Interpreter, kind: str | None, word: Any) -> Value:
    """A word by the name of its type; unknown for a type that isn't plain."""
    if not isinstance(word, str) or kind == "str":
        return word
    if kind == "bool":
        known = {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}.get(word.lower())
        return run.unknown("a bool of the command line", "bool") if known is None else known
    if kind in ("int", "float"):
        return run.call(run.program.builtin(run, kind), (word,))
    if kind == "Path":
        return run.call(run.program.library_class("pathlib.Path"), (word,))
    return run.unknown("an argument of the command line")


def value(run: Interpreter, option: Option, given: dict[str, Any] | None) -> Value:
    """The value of an option by what `read` found; its default, or a symbol for what must be given."""
    kind, several = kind_of(option.note)
    if given is None:
        return run.unknown(f"{option.name} of the command line")
    if option.name in given:
        found = given[option.name]
        if isinstance(found, list):
            is_tuple = "uple" in option.note
            items = tuple(cast(run, kind, w) for w in found)
            return items if is_tuple else List(items)
        return cast(run, kind, found)
    if option.default is not MISSING:
        return offer(run, option.name, next(reversed(option.flags), ""), option.default)
    return missing(run, option.name, kind, several=several)
