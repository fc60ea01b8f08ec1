"""Variables that are assigned exactly once: ``hidden = 4 * 64`` is 256 wherever it is used.

mypy forgets the literal when it infers ``int`` for the variable. Names of modules, functions and classes are followed
(``Config.width``), and only in the file that assigns them; but no name that is also set on an object (``x.width = 5``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mypy.nodes import (
    FUNC_NO_INFO,
    VAR_NO_INFO,
    AssignmentExpr,
    AssignmentStmt,
    Block,
    ClassDef,
    Decorator,
    DelStmt,
    Expression,
    ForStmt,
    FuncDef,
    IfStmt,
    ListExpr,
    MatchStmt,
    MemberExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    OverloadedFuncDef,
    RefExpr,
    StarExpr,
    Statement,
    TryStmt,
    TupleExpr,
    TypeInfo,
    Var,
    WhileStmt,
    WithStmt,
)
from mypy.server.subexpr import get_subexpressions
from mypy.traverser import all_name_and_member_expressions

from simpletorch.mypy.program.memory import once_a_tree

__all__ = ["constant", "inner_blocks", "is_bound_once"]


def constant(name: NameExpr | MemberExpr, tree: MypyFile) -> Expression | None:
    """The expression that a variable stands for, if it is assigned just once and never otherwise bound."""
    node = name.node
    if isinstance(name, MemberExpr) and isinstance(name.expr, RefExpr) and isinstance(name.expr.node, TypeInfo):
        symbol = name.expr.node.names.get(name.name)
        node = None if symbol is None else symbol.node
    return _assigned_once(tree).get(node) if isinstance(node, Var) else None


def is_bound_once(variable: Var, tree: MypyFile) -> bool:
    """Whether a parameter is never assigned, and any other variable once."""
    return _counts(tree).get(variable) == 1


@once_a_tree
def _counts(tree: MypyFile) -> dict[Var, int]:
    return Counter(variable for variable, _ in _all_bindings(tree) if isinstance(variable, Var))


@once_a_tree
def _assigned_once(tree: MypyFile) -> dict[Var, Expression]:
    found: dict[Var, Expression | None] = {}
    attributes: set[str] = set()
    for variable, value in _all_bindings(tree):
        if isinstance(variable, str):
            attributes.add(variable)
        else:
            found[variable] = None if variable in found else value
    return {
        v: value for v, value in found.items() if value is not None and (not _is_field(v) or v.name not in attributes)
    }


def _is_field(variable: Var) -> bool:
    return variable.info is not FUNC_NO_INFO and variable.info is not VAR_NO_INFO


def _all_bindings(tree: MypyFile) -> Iterator[tuple[Var | str, Expression | None]]:
    yield from _bindings(tree.defs)
    for e in get_subexpressions(tree):
        if type(e) is AssignmentExpr:
            yield from _targets(e.target, e.value)


def _bindings(statements: Iterable[Statement]) -> Iterator[tuple[Var | str, Expression | None]]:
    """Every place where a variable gets a value; the value is None where it is not one expression.

    An attribute (``x.width = 5``) is told by its name.
    """
    for s in statements:
        match s:
            case AssignmentStmt(lvalues=lvalues, rvalue=rvalue):
                for target in lvalues:
                    yield from _targets(target, rvalue)
            case OperatorAssignmentStmt(lvalue=target) | ForStmt(index=target) | DelStmt(expr=target):
                yield from _targets(target, None)
            case WithStmt(target=targets):
                for target in targets:
                    if target is not None:
                        yield from _targets(target, None)
            case TryStmt(vars=caught):
                for name in caught:
                    if name is not None:
                        yield from _targets(name, None)
            case MatchStmt(patterns=patterns):
                for pattern in patterns:
                    for e in get_subexpressions(pattern):  # of these only what is captured is a variable
                        yield from _targets(e, None)
            case FuncDef(arguments=arguments) | Decorator(func=FuncDef(arguments=arguments)):
                for argument in arguments:
                    yield argument.variable, None
        for block in inner_blocks(s):
            yield from _bindings(block.body)


def _targets(target: Expression, value: Expression | None) -> Iterator[tuple[Var | str, Expression | None]]:
    if isinstance(target, NameExpr):
        if isinstance(target.node, Var):
            yield target.node, value
    elif isinstance(target, MemberExpr):
        yield target.name, None
    elif isinstance(target, TupleExpr | ListExpr | StarExpr):
        names, members = all_name_and_member_expressions(target)
        for inner in (*names, *members):
            yield from _targets(inner, None)


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
