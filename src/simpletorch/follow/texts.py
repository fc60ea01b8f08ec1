"""Strings that aren't known: what class the answers of their methods have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.values import Cause, List, Native, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["answer", "method"]

_LISTS: Final = frozenset({"split", "rsplit", "splitlines"})
_TRIPLES: Final = frozenset({"partition", "rpartition"})
_NUMBERS: Final = frozenset({"find", "rfind", "index", "rindex", "count"})
_NAMES: Final = frozenset(n for n in dir(str) if not n.startswith("_"))


def method(run: Interpreter, owner: Unknown, name: str) -> Native | None:
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
    if name.startswith(("is", "startswith", "endswith")):
        return run.unknown(reason, "bool", cause)
    return run.unknown(reason, "int" if name in _NUMBERS else None if name == "encode" else "str", cause)


def _cause(args: tuple[Value, ...]) -> Cause:
    """Of an answer that depends on these: "data" where all that isn't known of them is."""
    causes = {v.cause for a in args for v in (a if isinstance(a, tuple) else (a,)) if isinstance(v, Unknown)}
    return "data" if causes == {"data"} else "code"
