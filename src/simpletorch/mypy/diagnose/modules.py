"""Modules where a ``Module[In, Out]`` is asked for: mypy compares the classes, and the call is what is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from mypy.messages import format_type_bare
from mypy.nodes import ARG_POS, Decorator, Expression, FuncDef, Statement, TempNode
from mypy.plugin import CheckerPluginInterface
from mypy.types import Instance, get_proper_type

from simpletorch.mypy.convert.lift import is_module
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.convert.spelling import tensor_in
from simpletorch.mypy.diagnose.concerned import at_line
from simpletorch.mypy.program.syntax import expressions_in, expressions_of
from simpletorch.mypy.types import TypeTable
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BY_NAME
from simpletorch.shapes import UNKNOWN, Rest, variables

__all__ = ["as_results"]


def as_results(
    got: str,
    expected: str,
    line: int,
    checker: Any,
    mistakes: Callable[[CheckerPluginInterface], AbstractContextManager[list[Any]]],
) -> tuple[str, str] | None:
    """The result of the module for the ``In`` of ``Module[In, Out]``, and ``Out``; None if it doesn't take that."""
    name, _, stated = expected.partition("[")
    if checker is None or not stated or _short(name) != "Module":
        return None
    if _short(got) == "Module":  # of several classes: how it is called isn't known
        return expected, expected
    taken, given = _two(stated.removesuffix("]"))
    wanted = tensor_in(taken)
    module = next(_modules(got, line, checker), None)
    if wanted is None or module is None or tensor_in(given) is None:
        return None
    dtype, shape = wanted
    open_sizes = {v: UNKNOWN for item in shape.items if not isinstance(item, Rest) for v in variables(item)}
    value = TensorType(shape.substitute(open_sizes), BY_NAME.get(dtype))
    tensor = Lowerer(PlaceLifter(TypeTable(checker.modules), checker, line)).tensor(value)
    if tensor is None:
        return None
    with mistakes(checker) as found:
        argument = TempNode(tensor)
        argument.line = line
        result, _ = checker.expr_checker.check_call(module, [argument], [ARG_POS], argument)
    return None if found else (format_type_bare(result, checker.options), given)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _two(text: str) -> tuple[str, str]:
    """``In`` and ``Out`` of ``In, Out``."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            return text[:place], text[place + 2 :]
    return text, ""


def _modules(text: str, line: int, checker: Any) -> Iterator[Instance]:
    """The modules among the expressions at a line that mypy prints so."""
    for node in at_line(checker.tree, line):
        for e in _expressions(node):
            typ = get_proper_type(checker.lookup_type_or_none(e))
            if is_module(typ) and format_type_bare(typ, checker.options) == text:
                yield typ


def _expressions(node: Statement | Expression) -> Iterable[Expression]:
    if isinstance(node, Expression):
        return expressions_in(node)
    function = node.func if isinstance(node, Decorator) else node
    if isinstance(function, FuncDef):  # mypy says at its line what is wrong with a default
        return [a.initializer for a in function.arguments if a.initializer is not None]
    return expressions_of(node)
