"""Statements, calls and expressions of a program. mypy's own visitors are compiled and can't be extended from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mypy.nodes import (
    AssertStmt,
    AssignmentExpr,
    AssignmentStmt,
    AwaitExpr,
    CallExpr,
    ComparisonExpr,
    ConditionalExpr,
    DictExpr,
    DictionaryComprehension,
    Expression,
    ExpressionStmt,
    ForStmt,
    GeneratorExpr,
    IfStmt,
    IndexExpr,
    LambdaExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    OperatorAssignmentStmt,
    OpExpr,
    ReturnStmt,
    SetExpr,
    SliceExpr,
    StarExpr,
    Statement,
    TupleExpr,
    UnaryExpr,
    WhileStmt,
    WithStmt,
)

from simpletorch.mypy.program.constants import inner_blocks

__all__ = ["calls_in", "expressions_in", "expressions_of", "statements_in"]


def statements_in(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements and those inside them, in order."""
    waiting = [*statements][::-1]  # here and below: every file is gone through, and recursion would take twice as long
    while waiting:
        s = waiting.pop()
        yield s
        for block in reversed(inner_blocks(s)):
            waiting += block.body[::-1]


def calls_in(statements: Iterable[Statement]) -> Iterator[CallExpr]:
    """The calls in the statements and those inside them."""
    for s in statements_in(statements):
        for e in _expressions(s):
            yield from (c for c in expressions_in(e) if isinstance(c, CallExpr))


def expressions_of(s: Statement) -> Iterator[Expression]:
    """The expressions in a statement, without those of statements inside it."""
    for e in _expressions(s):
        yield from expressions_in(e)


def _expressions(s: Statement) -> Iterator[Expression]:
    """The expressions that are directly in a statement."""
    match s:
        case ExpressionStmt(expr=e) | ReturnStmt(expr=Expression() as e) | OperatorAssignmentStmt(rvalue=e):
            yield e
        case AssignmentStmt(rvalue=value, lvalues=targets):
            yield value
            yield from targets
        case ForStmt(expr=e) | WhileStmt(expr=e):
            yield e
        case AssertStmt(expr=e, msg=message):
            yield e
            if message is not None:
                yield message
        case IfStmt(expr=conditions):
            yield from conditions
        case WithStmt(expr=managers):
            yield from managers


def expressions_in(e: Expression) -> Iterator[Expression]:
    """The expression and those inside it, in order."""
    waiting = [e]
    while waiting:
        e = waiting.pop()
        yield e
        parts = _PARTS.get(type(e))
        if parts is not None:
            waiting += [part for part in parts(e) if part is not None][::-1]


def _of_lambda(e: LambdaExpr) -> list[Expression]:
    return [found for s in e.body.body for found in _expressions(s)]


_PARTS: Final[Mapping[type[Expression], Callable[[Any], Sequence[Expression | None]]]] = {
    AssignmentExpr: lambda e: (e.value,),
    AwaitExpr: lambda e: (e.expr,),
    CallExpr: lambda e: (e.callee, *e.args),
    ComparisonExpr: lambda e: e.operands,
    ConditionalExpr: lambda e: (e.cond, e.if_expr, e.else_expr),
    DictExpr: lambda e: [part for pair in e.items for part in pair],
    DictionaryComprehension: lambda e: (e.key, e.value, *e.sequences),
    GeneratorExpr: lambda e: (e.left_expr, *e.sequences),
    IndexExpr: lambda e: (e.base, e.index),
    LambdaExpr: _of_lambda,
    ListComprehension: lambda e: (e.generator,),
    ListExpr: lambda e: e.items,
    MemberExpr: lambda e: (e.expr,),
    OpExpr: lambda e: (e.left, e.right),
    SetExpr: lambda e: e.items,
    SliceExpr: lambda e: (e.begin_index, e.end_index, e.stride),
    StarExpr: lambda e: (e.expr,),
    TupleExpr: lambda e: e.items,
    UnaryExpr: lambda e: (e.expr,),
}
"""The expressions right inside one, by its class; one that isn't here has none."""
