"""Operators of ``collections.Counter``, and of Python's other dicts with one: Python computes what is known."""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, Final

from simpletorch.follow.model import kinds
from simpletorch.follow.values import MISSING, Dict, Value, behind, is_known

__all__ = ["KIND", "computed", "made", "operate", "plain"]

KIND: Final = "Counter"
_KINDS: Final[dict[str, Callable[[Any], dict[Any, Any]]]] = {
    KIND: Counter, "OrderedDict": OrderedDict, "defaultdict": lambda held: defaultdict(None, held),
}  # fmt: skip
_OPERATORS: Final = frozenset({
    *("__add__", "__sub__", "__or__", "__and__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
    *("__pos__", "__neg__"),
})  # fmt: skip


def plain(value: Value) -> Any:
    """Python's own dict with the same contents; None where not all of it is known."""
    held = behind(value)
    if not isinstance(held, Dict) or held.rest is not MISSING or not all(map(is_known, held.cells.values())):
        return None
    return _KINDS.get(held.kind, dict)(held.cells)


def made(value: Any) -> Value:
    """The follower's value for an answer of Python's."""
    if not isinstance(value, dict):
        return value
    out = Dict(value)
    out.kind = type(value).__name__
    return out


def computed(function: Callable[..., Any], *args: Any) -> Any:
    """The result of Python's own function.

    Raises:
        Raised: it raises.
    """
    try:
        return function(*args)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise kinds.error(type(error).__name__) from None


def operate(name: str, *operands: Value) -> Value:
    """The result of an operator with a Counter; MISSING where that isn't known."""
    if name not in _OPERATORS or not any(isinstance(v, Dict) and v.kind == KIND for v in operands):
        return MISSING
    held = [plain(v) if isinstance(v, Dict) else v if is_known(v) else None for v in operands]
    return MISSING if any(v is None for v in held) else made(computed(getattr(operator, name), *held))
