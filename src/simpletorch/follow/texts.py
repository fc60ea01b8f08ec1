"""Strings that aren't known: what class the answers of their methods have; and tensors that are written as numbers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from simpletorch.follow.numbers import between
from simpletorch.follow.values import Cause, List, Native, Sizes, Tensor, Unknown, Value
from simpletorch.rules import Report
from simpletorch.rules.core.dtype import DType

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "Parts",
    "Root",
    "answer",
    "begins_anew",
    "check_number",
    "check_percent",
    "is_of_torch",
    "is_text",
    "known_parts",
    "made_of",
    "name_in",
    "of_date",
    "of_parts",
    "of_path",
    "of_text",
    "one_of_many",
    "parts_of",
    "rooted",
]

_LISTS: Final = frozenset({"split", "rsplit", "splitlines"})
_TRIPLES: Final = frozenset({"partition", "rpartition"})
_NUMBERS: Final = frozenset({"find", "rfind", "index", "rindex", "count"})
_NAMES: Final = frozenset(n for n in dir(str) if not n.startswith("_"))


def is_of_torch(value: Value) -> bool:
    """Whether torch writes a value that is known otherwise than it is written here: ``torch.float32``, a shape."""
    return isinstance(value, DType | Sizes) or (isinstance(value, tuple) and any(map(is_of_torch, value)))


def of_date(owner: Unknown, name: str) -> Native | None:
    """A method of a date that gives a string, None of all others."""
    return Native(f"date.{name}", partial(_date, name)) if name in ("isoformat", "strftime") else None


def of_text(owner: Unknown, name: str) -> Native | None:
    """A method of a string that isn't known, None where strings have no such method."""
    if name not in _NAMES:
        return None
    return Native(f"str.{name}", lambda run, args, kwargs: answer(run, name, (owner, *args)))


def answer(run: Interpreter, name: str, args: tuple[Value, ...]) -> Value:
    """What a method gives of which not all arguments are known."""
    reason, cause = f"what .{name}() gives", _cause(args)
    if name in _LISTS:
        return List(None, run.unknown("a part of a string", "str", cause))
    if name in _TRIPLES:
        return tuple(run.unknown("a part of a string", "str", cause) for _ in range(3))
    if name == "join" and len(args) == 2:
        return between.joined_by(run, args[0], args[1], cause)
    if name.startswith(("is", "startswith", "endswith")):
        return run.unknown(reason, "bool", cause)
    made = run.unknown(reason, "int" if name in _NUMBERS else None if name == "encode" else "str", cause)
    if name == "lower" and isinstance(args[0], Unknown):
        made.length = args[0].length
    return made


def _date(name: str, run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A date as a string."""
    made = run.unknown(f"what .{name}() gives", "str", "data")
    form = run.resolve(args[0]) if name == "strftime" and args else "%Y-%m-%d" if name == "isoformat" else None
    if isinstance(form, str):
        parts = _DIRECTIVE.findall(form)
        fixed = len(_DIRECTIVE.sub("", form)) + sum(_DIGITS.get(p, 1) for p in parts)
        made.length = fixed if all(p in _DIGITS for p in parts) else run.some_size(fixed)
    return made


_DIRECTIVE: Final = re.compile(r"%(-?.)")
_DIGITS: Final = {"Y": 4, "j": 3, **dict.fromkeys("mdyHMSIUWV", 2), "%": 1, "u": 1, "w": 1}


def _cause(args: tuple[Value, ...]) -> Cause:
    """Of an answer that depends on these: "data" where all that isn't known of them is."""
    causes = {v.cause for a in args for v in (a if isinstance(a, tuple) else (a,)) if isinstance(v, Unknown)}
    return "data" if causes == {"data"} else "code"


# -- what a text is joined of ----------------------------------------------------------------------------------------


@final
class Root:
    """A text that isn't known but is one and the same: the name of a directory that the program has made for itself."""

    __slots__ = ()


Parts: TypeAlias = tuple[Any, ...]
"""What a text is joined of: strings, a `Root`, and None for what may be any text."""


def rooted(run: Interpreter, reason: str) -> Unknown:
    """The name of a new directory or file, that no other one has."""
    made = run.unknown(reason, "str")
    made.parts = (Root(),)
    run.roots += 1
    return made


def one_of_many(run: Interpreter, value: Value, roots: int) -> Value:
    """What stands for several values that were made since there were so many new names: each may have its own."""
    return value if run.roots == roots else run.unknown("one of several new names")


def parts_of(value: Value) -> Parts:
    """What a value is joined of, as a text."""
    if isinstance(value, str):
        return (str(value),)
    return (value.parts or (None,)) if isinstance(value, Unknown) else (None,)


def is_text(value: Value) -> bool:
    """Whether it is a string, of which something may be known."""
    return isinstance(value, str) or (isinstance(value, Unknown) and value.type == "str")


def begins_anew(value: Value) -> bool:
    """Whether a path begins with the name of a new directory, which is one from the root."""
    return isinstance(value, Unknown) and value.parts is not None and isinstance(value.parts[0], Root)


def known_parts(parts: Parts) -> bool:
    """Whether it is the same text wherever these are its parts."""
    return None not in parts


def made_of(run: Interpreter, made: Unknown, values: Iterable[Value]) -> Unknown:
    """A text that isn't known, with what it is joined of; the same one for the same known parts."""
    return _with_parts(run, made, tuple(p for v in values for p in parts_of(v)))


def of_parts(run: Interpreter, parts: Parts, reason: str) -> Value:
    """The text that is joined of these."""
    parts = _flat(parts)
    if all(isinstance(p, str) for p in parts):
        return parts[0] if parts else ""
    return _with_parts(run, run.unknown(reason, "str"), parts)


def _with_parts(run: Interpreter, made: Unknown, parts: Parts) -> Unknown:
    parts = _flat(parts)
    if parts == (None,):
        return made
    made.parts = parts
    return run.texts.setdefault(parts, made) if known_parts(parts) else made


def _flat(parts: Parts) -> Parts:
    """The parts with neighbouring strings as one."""
    out: list[Any] = []
    for part in parts:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        elif part != "" and not (part is None and out and out[-1] is None):
            out.append(part)
    return tuple(out)


def of_path(run: Interpreter, values: Sequence[Value], reason: str) -> Value:
    """The text of a path that is joined of others, of which some aren't known."""
    out: list[Any] = []
    for value in values:
        parts = parts_of(value)
        if not out or not isinstance(parts[0], str) or parts[0].startswith("/"):
            out = list(parts)  # what isn't known may begin at the root
        else:
            slash = () if isinstance(out[-1], str) and out[-1].endswith("/") else ("/",)
            out += [*slash, *parts]
    return of_parts(run, tuple(out), reason)


def name_in(path: Value) -> tuple[Parts, str] | None:
    """A path that isn't known, as what is before its last name, and that; None where the name isn't known."""
    *before, last = parts_of(path)
    if not isinstance(last, str):
        return None
    folder, slash, name = posixpath.normpath(last).rpartition("/")
    return ((*before, folder), name) if slash and name not in ("", ".", "..") else None


# -- tensors as numbers ----------------------------------------------------------------------------------------------


def check_number(run: Interpreter, value: Value) -> None:
    """``f"{value:.3f}"``: a tensor or an array with dims can't be written so, however many elements it has."""
    if isinstance(value, Tensor) and value.type.shape.min_rank > 0:
        reason = f"a tensor of shape {value.type.shape} can't be formatted as a number"
        run.report(Report("format", "shape", reason, {"value": value.type}, "take one number of it: .item(), .mean()"))


_PERCENT: Final = re.compile(r"%(?P<plain>[#0\- +]*\d*(?:\.\d+)?)(?P<kind>[a-zA-Z%])")


def check_percent(run: Interpreter, text: str, values: Value) -> None:
    """``"%.3f" % value``: a tensor must have one element."""
    kinds = [found["kind"] for found in _PERCENT.finditer(text) if found["kind"] != "%"]
    given = values if type(values) is tuple else (values,)
    if len(kinds) != len(given) or len(kinds) != text.replace("%%", "").count("%"):
        return
    for kind, value in zip(kinds, map(run.resolve, given), strict=True):
        if kind in "diouxXeEfFgG" and isinstance(value, Tensor) and not value.array:
            run.ask("Tensor.__float__", (value,))
