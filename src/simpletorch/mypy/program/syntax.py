"""Statements, calls and expressions of a program. mypy's own visitors are compiled and can't be extended from here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    SuperExpr,
    TupleExpr,
    UnaryExpr,
    WhileStmt,
    WithStmt,
)

from simpletorch.mypy.program.constants import inner_blocks

__all__ = ["calls_in", "expressions_in", "expressions_of", "statements_in"]


def statements_in(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements and those inside them, in order."""
    for s in statements:
        yield s
        for block in inner_blocks(s):
            yield from statements_in(block.body)


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
    """The expression and those inside it."""
    yield e
    for part in _parts(e):
        if part is not None:
            yield from expressions_in(part)


def _parts(e: Expression) -> Iterable[Expression | None]:
    match e:
        case CallExpr(callee=callee, args=args):
            return (callee, *args)
        case MemberExpr(expr=inner) | UnaryExpr(expr=inner) | StarExpr(expr=inner) | AwaitExpr(expr=inner):
            return (inner,)
        case SuperExpr():
            return ()
        case OpExpr(left=left, right=right):
            return (left, right)
        case ComparisonExpr(operands=operands):
            return operands
        case IndexExpr(base=base, index=index):
            return (base, index)
        case TupleExpr(items=items) | ListExpr(items=items) | SetExpr(items=items):
            return items
        case DictExpr(items=pairs):
            return [part for pair in pairs for part in pair]
        case ConditionalExpr(cond=condition, if_expr=first, else_expr=second):
            return (condition, first, second)
        case AssignmentExpr(value=value):
            return (value,)
        case SliceExpr(begin_index=begin, end_index=end, stride=step):
            return (begin, end, step)
        case ListComprehension(generator=GeneratorExpr() as inner):
            return (inner,)
        case GeneratorExpr(left_expr=left, sequences=sequences):
            return (left, *sequences)
        case DictionaryComprehension(key=key, value=value, sequences=sequences):
            return (key, value, *sequences)
        case LambdaExpr(body=body):
            return [found for s in body.body for found in _expressions(s)]
    return ()
