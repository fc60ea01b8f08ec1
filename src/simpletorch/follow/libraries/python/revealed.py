"""``reveal_type``, which every program may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import native
from simpletorch.follow.values import Choice, Dict, List, Set, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_DEEPEST: Final = 2
_MOST_SHOWN: Final = 8
_LONGEST: Final = 200


@native("builtins.reveal_type")
def _reveal(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[0])
    place = run.path, getattr(run.node, "lineno", 0)
    run.revealed.setdefault(place, {})[_text(value)] = None
    return value


def _text(value: Value, depth: int = 0) -> str:
    """A value as a note shows it; what a collection holds, to some depth."""
    if isinstance(value, tuple) and depth < _DEEPEST:
        inner = [_text(v, depth + 1) for v in value[:_MOST_SHOWN]] + ["..."] * (len(value) > _MOST_SHOWN)
        return f"({', '.join(inner)}{',' if len(value) == 1 else ''})"
    if isinstance(value, List) and depth < _DEEPEST:
        return f"[{_text(value.items, depth)[1:-1].rstrip(',')}]" if value.items is not None else "list"
    if isinstance(value, Dict) and depth < _DEEPEST:
        rows = [f"{k!r}: {_text(v, depth + 1)}" for k, v in value.cells.items()][:_MOST_SHOWN]
        return f"{{{', '.join(rows)}{', ...' if len(value.cells) > _MOST_SHOWN else ''}}}"
    if isinstance(value, Unknown):
        return f"unknown: {value.reason}"
    if isinstance(value, Choice):
        ways = dict.fromkeys((_text(value.when_true, depth), _text(value.when_false, depth)))
        return " or ".join(ways)
    if isinstance(value, tuple | List | Dict | Set):
        return type(value).__name__.lower()
    return repr(value)[:_LONGEST]
