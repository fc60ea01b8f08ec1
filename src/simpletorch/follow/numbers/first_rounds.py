"""Numbers that count the rounds of a loop of unknown length: in the first round each is what it begins with.

``for i in range(n): if i > 0: h = cell(h)`` doesn't ask for ``h`` in its first round, when there is none yet.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simpletorch.follow.values import Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Begun", "begun", "compute", "decided"]

Begun: TypeAlias = tuple[int | float, frozenset[Unknown]]
"""A number of the first round, and the counters that it is computed of."""
_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_COMPUTED: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "__add__": operator.add, "__sub__": operator.sub, "__mul__": operator.mul, "__mod__": operator.mod,
    "__floordiv__": operator.floordiv,
}  # fmt: skip


def begun(run: Interpreter, item: Value) -> Value:
    """The item of a loop's first round, with copies of its counters; their numbers in that round are known."""
    if type(item) is tuple:
        return tuple(begun(run, v) for v in item)
    if not isinstance(item, Unknown) or item.first is None:
        return item
    made = copy(item)
    run.firsts = {**run.firsts, made: (item.first, frozenset({made}))}
    return made


def compute(run: Interpreter, name: str, left: Value, right: Value, made: Unknown) -> None:
    """A number that is computed from counters is known in the first round too."""
    work, a, b = _COMPUTED.get(name), _number(run, left), _number(run, right)
    if work is not None and a is not None and b is not None and (b[0] or name not in ("__mod__", "__floordiv__")):
        run.firsts = {**run.firsts, made: (work(a[0], b[0]), a[1] | b[1])}


def decided(run: Interpreter, condition: Unknown) -> bool | None:
    """Whether a condition on counters holds in the first round; None if it asks for anything else."""
    found = _number(run, condition)
    if found is None and condition.fact is not None:
        compare = _COMPARED.get(condition.fact[0])
        left, right = (_number(run, v) for v in condition.fact[1:])
        if compare is not None and left is not None and right is not None:
            found = compare(left[0], right[0]), left[1] | right[1]
    if found is None:
        return None
    run.asked_first |= found[1]
    return bool(found[0])


def _number(run: Interpreter, value: Value) -> Begun | None:
    if isinstance(value, int | float):
        return value, frozenset()
    return run.firsts.get(value) if isinstance(value, Unknown) else None
