"""Numbers that count the rounds of a loop of unknown length: in the first round each is what it begins with.

``for i in range(n): if i > 0: h = cell(h)`` doesn't ask for ``h`` in its first round, when there is none yet. Behind
it each is more than that: ``if i == 0`` sees what was there before the loop, not what a round has left.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simpletorch.follow.values import Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Begun", "begun", "compute", "decided", "gone_on"]

Begun: TypeAlias = tuple[int | float, frozenset[Unknown]]
"""A number of the first round, and the counters that it is computed of."""
_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_COMPUTED: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "__add__": operator.add, "__sub__": operator.sub, "__mul__": operator.mul, "__mod__": operator.mod,
    "__floordiv__": operator.floordiv,
}  # fmt: skip


_MORE: Final[Mapping[str, bool]] = {"==": False, "!=": True, ">": True, "<=": False}
"""What a number answers that is more than the one that it is compared with."""
_SWAPPED: Final[Mapping[str, str]] = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def begun(run: Interpreter, item: Value) -> Value:
    """The item of a loop's first round, with copies of its counters; their numbers in that round are known."""

    def remember(made: Unknown, first: tuple[int, bool]) -> None:
        run.firsts = {**run.firsts, made: (first[0], frozenset({made}))}

    return _with_copies(item, remember)


def gone_on(run: Interpreter, item: Value) -> Value:
    """The item of a round behind the first, with copies of its counters: none is what it was in the first."""

    def remember(made: Unknown, first: tuple[int, bool]) -> None:
        run.later = {**run.later, made: first}

    return _with_copies(item, remember)


def _with_copies(item: Value, remember: Callable[[Unknown, tuple[int, bool]], None]) -> Value:
    """The item with copies of its counters, each of which is remembered with its first number."""
    if type(item) is tuple:
        return tuple(_with_copies(v, remember) for v in item)
    if not isinstance(item, Unknown) or item.first is None:
        return item
    made = copy(item)
    remember(made, item.first)
    return made


def compute(run: Interpreter, name: str, left: Value, right: Value, made: Unknown) -> None:
    """A number that is computed from counters is known in the first round too."""
    work, a, b = _COMPUTED.get(name), _number(run, left), _number(run, right)
    if work is not None and a is not None and b is not None and (b[0] or name not in ("__mod__", "__floordiv__")):
        run.firsts = {**run.firsts, made: (work(a[0], b[0]), a[1] | b[1])}


def decided(run: Interpreter, condition: Unknown) -> bool | None:
    """Whether a condition on counters holds in a first round, or behind it; None if it asks for anything else."""
    found = _number(run, condition)
    if found is None and condition.fact is not None:
        compare = _COMPARED.get(condition.fact[0])
        left, right = (_number(run, v) for v in condition.fact[1:])
        if compare is not None and left is not None and right is not None:
            found = compare(left[0], right[0]), left[1] | right[1]
    if found is None:
        return _behind(run, condition)
    run.asked_first |= found[1]
    return bool(found[0])


def _behind(run: Interpreter, condition: Unknown) -> bool | None:
    name, left, right = condition.fact or ("!=", condition, 0)
    if isinstance(right, Unknown):
        name, left, right = _SWAPPED.get(name, name), right, left
    if not isinstance(left, Unknown) or left not in run.later or type(right) is not int:
        return None
    first, rises = run.later[left]
    if not rises:  # the same of the opposite numbers
        name, first, right = _SWAPPED.get(name, name), -first, -right
    if name in ("<", ">="):  # ``i < 1`` is ``i <= 0``
        name, right = {"<": "<=", ">=": ">"}[name], right - 1
    return _MORE.get(name) if right <= first else None


def _number(run: Interpreter, value: Value) -> Begun | None:
    if isinstance(value, int | float):
        return value, frozenset()
    return run.firsts.get(value) if isinstance(value, Unknown) else None
