"""``re``: of a pattern and a text that are known, Python's own answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.budget import is_slow_pattern
from simpletorch.follow.libraries import VALUES, Work, library_class, native
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Dict, Instance, Iterator, List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_LISTS: Final = {"findall", "split"}
_TEXTS: Final = {"sub", "escape"}
_MATCHES: Final = {"search", "match", "fullmatch"}
_LONGEST: Final = 200_000  # characters that are searched

_ATTRIBUTES: Final[dict[type, tuple[str, ...]]] = {
    re.Pattern: ("pattern", "flags", "groups", "groupindex"),
    re.Match: ("string", "re", "pos", "endpos", "lastindex", "lastgroup"),
}

VALUES.update({f"re.{flag.name}": int(flag) for flag in re.RegexFlag if flag.name})
VALUES.update({f"re.{name}": int(getattr(re, name)) for name in "AILMSUX"})


def _answer(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``re.name(pattern, …)``."""
    found = tuple(map(run.resolve, args))
    if found and isinstance(found[0], Instance) and isinstance(found[0].native, re.Pattern):
        found = (found[0].native, *found[1:])
    named = {k: run.resolve(v) for k, v in kwargs.items()}
    given = (*found[1:], *named.values())
    known = found and isinstance(found[0], str | re.Pattern) and all(isinstance(a, str | int) for a in given)
    if not known or sum(len(a) for a in given if isinstance(a, str)) > _LONGEST:
        return _of_unknown(run, name)
    pattern = found[0].pattern if isinstance(found[0], re.Pattern) else found[0]
    size = sum(len(a) for a in given if isinstance(a, str))
    if not isinstance(pattern, str) or (name not in ("compile", "escape") and is_slow_pattern(pattern, size)):
        return _of_unknown(run, name)
    try:
        return _as_value(run, name, getattr(re, name)(*found, **named))
    except (re.error, IndexError, ValueError, RecursionError):
        raise Raised("error", None, ("Exception", "BaseException")) from None
    except OverflowError:
        raise Raised("OverflowError", None, ("ArithmeticError", "Exception", "BaseException")) from None
    except TypeError:
        return _of_unknown(run, name)


def _of_unknown(run: Interpreter, name: str) -> Value:
    if name in _LISTS:
        return List(None, run.unknown("what is found in a text"))
    return run.unknown("what is found in a text", "str" if name in _TEXTS else None)


def _as_value(run: Interpreter, name: str, found: Any) -> Value:
    for kind, attributes in _ATTRIBUTES.items():
        if isinstance(found, kind):
            made = Instance(run.program.library_class(f"re.{kind.__name__}"), found)
            made.cells.update({n: _as_value(run, "", getattr(found, n)) for n in attributes})
            return made
    if name == "finditer":
        return Iterator(tuple(_as_value(run, "", m) for m in found))
    if isinstance(found, list):
        return List(tuple(found))
    return Dict(dict(found)) if isinstance(found, Mapping) else found


def _module(name: str) -> Work:
    return lambda run, args, kwargs: _answer(run, name, args, kwargs)


def _of_pattern(name: str) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        places = len(args) > 2 and name in _MATCHES | {"findall", "finditer"}  # from where to where in the text
        return _of_unknown(run, name) if places else _answer(run, name, args, kwargs)

    return work


def _of_match(name: str) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        match, *given = map(run.resolve, args)
        if not all(isinstance(a, str | int) or a is None for a in (*given, *kwargs.values())):
            return run.unknown("a part of what is found in a text")
        try:
            return _as_value(run, "", getattr(match.native, name)(*given, **kwargs))
        except IndexError:
            raise Raised("IndexError", None, ("LookupError", "Exception", "BaseException")) from None

    return work


for _name in (*_LISTS, *_TEXTS, *_MATCHES, "compile", "finditer"):
    native(f"re.{_name}")(_module(_name))
library_class("re.Pattern", methods={n: _of_pattern(n) for n in (*_LISTS, "sub", *_MATCHES, "finditer")})
library_class(
    "re.Match",
    methods={n: _of_match(n) for n in ("group", "groups", "groupdict", "start", "end", "span", "__getitem__")},
)
