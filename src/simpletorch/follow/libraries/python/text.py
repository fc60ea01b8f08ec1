"""``json``, ``re`` and ``string``."""

from __future__ import annotations

import json
import re
import string
from typing import TYPE_CHECKING, Any

from simpletorch.follow.budget import is_huge
from simpletorch.follow.libraries import NATIVES, VALUES, gives, native
from simpletorch.follow.libraries.python.builtins import computed, pure
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Dict, List, Native, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

for _name in (
    "ascii_letters",
    "ascii_lowercase",
    "ascii_uppercase",
    "digits",
    "punctuation",
    "printable",
    "whitespace",
    "hexdigits",
):
    VALUES[f"string.{_name}"] = getattr(string, _name)


def _as_value(found: Any) -> Value:
    """What ``json`` gives, as the program has it."""
    if isinstance(found, dict):
        return Dict({k: _as_value(v) for k, v in found.items()})
    if isinstance(found, list):
        return List(tuple(map(_as_value, found)))
    return found


@native("json.loads")
def _loads(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    text = run.resolve(args[0])
    if not isinstance(text, str) or kwargs:
        return run.unknown("what a text says")
    try:
        return _as_value(json.loads(text))
    except ValueError:
        raise Raised("JSONDecodeError", None, ("ValueError", "Exception", "BaseException")) from None


gives("json.load")
gives("json.dumps", "str")
native("json.dump")(lambda run, args, kwargs: None)

for _name in ("escape", "sub"):
    NATIVES[f"re.{_name}"] = pure(f"re.{_name}", getattr(re, _name), "str")
for _name in ("split", "findall"):

    def _several(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value], by: str = _name) -> Value:
        args = tuple(map(run.resolve, args))
        if all(isinstance(a, str | int) for a in args) and not kwargs and not is_huge(f"re.{by}", args):
            return List(tuple(computed(run, getattr(re, by), args, {})))
        return run.unknown("what is found in a text")

    NATIVES[f"re.{_name}"] = Native(f"re.{_name}", _several)
