"""``json`` and ``string``."""

from __future__ import annotations

import json
import string
from typing import TYPE_CHECKING, Any

from simpletorch.follow.libraries import VALUES, gives, native
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Dict, List, Value

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
