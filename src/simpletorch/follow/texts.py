"""Strings that aren't known: what class the answers of their methods have; and tensors that are written as numbers."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from simpletorch.follow.numbers import between
from simpletorch.follow.values import Cause, List, Native, Tensor, Unknown, Value
from simpletorch.rules import Report

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["answer", "check_number", "check_percent", "of_date", "of_text"]

_LISTS: Final = frozenset({"split", "rsplit", "splitlines"})
_TRIPLES: Final = frozenset({"partition", "rpartition"})
_NUMBERS: Final = frozenset({"find", "rfind", "index", "rindex", "count"})
_NAMES: Final = frozenset(n for n in dir(str) if not n.startswith("_"))


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
