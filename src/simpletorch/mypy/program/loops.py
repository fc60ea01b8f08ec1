"""The variables that a loop assigns anew in each iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mypy.literals import Key, literal_hash
from mypy.nodes import (
    AssignmentStmt,
    Expression,
    ForStmt,
    Lvalue,
    MypyFile,
    OperatorAssignmentStmt,
    StarExpr,
    Statement,
    TupleExpr,
    WhileStmt,
)

from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_statements, statements_in

__all__ = ["is_assigned_in_loop"]


@dataclass(frozen=True)
class _Loop:
    """The lines of a loop, and what is assigned on them."""

    first: int
    last: int
    assigned: frozenset[Key]


def is_assigned_in_loop(place: Expression, tree: MypyFile) -> bool:
    """Whether the expression is a variable, attribute or item that a loop around it assigns."""
    key = literal_hash(place)
    return key is not None and any(
        loop.first <= place.line <= loop.last and key in loop.assigned for loop in _loops(tree)
    )


@once_a_tree
def _loops(tree: MypyFile) -> tuple[_Loop, ...]:
    return tuple(
        _Loop(s.line, s.end_line or s.line, frozenset(_assigned(s.body.body)))
        for s in all_statements(tree)
        if isinstance(s, ForStmt | WhileStmt)
    )


def _assigned(body: list[Statement]) -> Iterator[Key]:
    for s in statements_in(body):
        match s:
            case AssignmentStmt(lvalues=places):
                for place in places:
                    yield from _keys(place)
            case OperatorAssignmentStmt(lvalue=place):
                yield from _keys(place)


def _keys(place: Lvalue | Expression) -> Iterator[Key]:
    match place:
        case TupleExpr(items=items):
            for item in items:
                yield from _keys(item)
        case StarExpr(expr=inner):
            yield from _keys(inner)
        case _:
            key = literal_hash(place)
            if key is not None:
                yield key
