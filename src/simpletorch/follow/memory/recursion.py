"""Functions that call themselves: followed while that tells something new."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from itertools import islice, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from simpletorch.follow.values import Function, Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Running", "enough", "is_deep", "running"]

_PATH: Final = "pathlib.Path"  # each part of a tree of files is another one
_CALLS: Final = 24  # of one function inside each other
_UNSURE: Final = 3  # of these, those with the same objects that may or may not take place


class Running(NamedTuple):
    """A call that is being followed."""

    node: ast.AST
    conditions: int  # how many unknown ones there were around it
    objects: frozenset[int]  # those among its arguments, by identity
    names: Mapping[str, Value] = MappingProxyType({})  # its variables


def running(run: Interpreter, function: Function, values: Iterable[Value]) -> Running:
    """A call that begins here, with these arguments. The object that a constructor makes tells nothing."""
    given = islice(values, function.name == "__init__", None)
    objects = frozenset(id(v) for v in given if isinstance(v, Instance) and not v.cls.is_a(_PATH))
    return Running(function.node, len(run.conditions), objects)


def enough(run: Interpreter, function: Function, values: Collection[Value]) -> bool:
    """Whether a function has called itself often enough to know what it does: sooner where the same objects are given
    and each call has an unknown condition more, since both ways of each are followed.
    """
    before = [call for call in run.running if call.node is function.node]
    if not before:
        return False
    here = running(run, function, values)
    alike = [call.conditions for call in (*before, here) if call.objects == here.objects]
    return len(before) > _CALLS or sum(more > less for less, more in pairwise(alike)) > _UNSURE


def is_deep(run: Interpreter) -> bool:
    """Whether a function has called itself under a condition that isn't known: it may have ended before it got here."""
    first: dict[ast.AST, int] = {}
    return any(first.setdefault(call.node, call.conditions) < call.conditions for call in run.running)
