"""Statements, calls and expressions of a program.

Every file is gone through several times. mypy's own way to collect the expressions in a node is compiled, and takes a
fifteenth of the time that it would take here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from mypy.nodes import (
    Block,
    CallExpr,
    ClassDef,
    Decorator,
    Expression,
    ForStmt,
    FuncDef,
    IfStmt,
    MatchStmt,
    MypyFile,
    OverloadedFuncDef,
    Statement,
    TryStmt,
    WhileStmt,
    WithStmt,
)
from mypy.server.subexpr import get_subexpressions

from simpletorch.mypy.program.memory import once_a_tree

__all__ = [
    "all_of",
    "all_statements",
    "calls_in",
    "expressions_in",
    "expressions_of",
    "inner_blocks",
    "statements_in",
]

E = TypeVar("E", bound=Expression)


def statements_in(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements and those inside them, in order."""
    waiting = [*statements][::-1]  # recursion would take twice as long
    while waiting:
        s = waiting.pop()
        yield s
        for block in reversed(inner_blocks(s)):
            waiting += block.body[::-1]


@once_a_tree
def all_statements(tree: MypyFile) -> tuple[Statement, ...]:
    """Every statement of a file, in order."""
    return tuple(statements_in(tree.defs))


def all_of(kind: type[E], tree: MypyFile) -> Sequence[E]:
    """Every expression of a file that is of a class, in order; none of a class derived from it."""
    return cast(Sequence[E], _by_class(tree).get(kind, ()))


@once_a_tree
def _by_class(tree: MypyFile) -> Mapping[type[Expression], Sequence[Expression]]:
    found: dict[type[Expression], list[Expression]] = defaultdict(list)
    for e in get_subexpressions(tree):
        found[type(e)].append(e)
    return found


def calls_in(statements: Iterable[Statement]) -> Iterator[CallExpr]:
    """The calls in the statements and those inside them."""
    for s in statements:
        for e in get_subexpressions(s):
            if type(e) is CallExpr:
                yield e


def expressions_of(s: Statement) -> Sequence[Expression]:
    """The expressions in a statement, without those of statements inside it."""
    heads = _HEADS.get(type(s))
    return get_subexpressions(s) if heads is None else [e for head in heads(s) for e in get_subexpressions(head)]


def expressions_in(e: Expression) -> Sequence[Expression]:
    """The expression and those inside it, in order."""
    return get_subexpressions(e)


def _nothing(_: Statement) -> Sequence[Expression]:
    return ()


_HEADS: Final[Mapping[type[Statement], Callable[[Any], Sequence[Expression]]]] = {
    ForStmt: lambda s: (s.expr,),
    IfStmt: lambda s: s.expr,
    WhileStmt: lambda s: (s.expr,),
    WithStmt: lambda s: s.expr,
    **dict.fromkeys((ClassDef, Decorator, FuncDef, MatchStmt, OverloadedFuncDef, TryStmt), _nothing),
}
"""What a statement that holds others begins with."""


def inner_blocks(statement: Statement) -> list[Block]:
    """The blocks of statements inside a statement."""
    blocks = _BLOCKS.get(type(statement))
    return [] if blocks is None else [block for block in blocks(statement) if block is not None]


_BLOCKS: Final[Mapping[type[Statement], Callable[[Any], Sequence[Block | None]]]] = {
    ClassDef: lambda s: (s.defs,),
    Decorator: lambda s: (s.func.body,),
    ForStmt: lambda s: (s.body, s.else_body),
    FuncDef: lambda s: (s.body,),
    IfStmt: lambda s: (*s.body, s.else_body),
    MatchStmt: lambda s: s.bodies,
    OverloadedFuncDef: lambda s: [
        block for item in (*s.items, s.impl) if item is not None for block in inner_blocks(item)
    ],
    TryStmt: lambda s: (s.body, *s.handlers, s.else_body, s.finally_body),
    WhileStmt: lambda s: (s.body, s.else_body),
    WithStmt: lambda s: (s.body,),
}
"""By the class of a statement; one that isn't here has none."""
