"""Variables that are assigned exactly once: ``hidden = 4 * 64`` is 256 wherever it is used.

mypy forgets the literal when it infers ``int`` for the variable. Names of modules, functions and classes are followed
(``Config.width``), and only in the file that assigns them; but no name that is also set on an object (``x.width = 5``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from mypy.nodes import (
    FUNC_NO_INFO,
    VAR_NO_INFO,
    AssignmentExpr,
    AssignmentStmt,
    Decorator,
    DelStmt,
    Expression,
    ForStmt,
    FuncDef,
    ListExpr,
    MatchStmt,
    MemberExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    RefExpr,
    StarExpr,
    Statement,
    TryStmt,
    TupleExpr,
    TypeInfo,
    Var,
    WithStmt,
)
from mypy.server.subexpr import get_subexpressions
from mypy.traverser import all_name_and_member_expressions

from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_of, all_statements

__all__ = ["constant", "is_bound_once"]


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
    """Every place where a variable gets a value; the value is None where it is not one expression.

    An attribute (``x.width = 5``) is told by its name.
    """
    for s in all_statements(tree):
        if type(s) is AssignmentStmt:  # most are
            for target in s.lvalues:
                yield from _targets(target, s.rvalue)
        elif type(s) in _BINDING:
            yield from _bindings(s)
    for e in all_of(AssignmentExpr, tree):
        yield from _targets(e.target, e.value)


def _bindings(s: Statement) -> Iterator[tuple[Var | str, Expression | None]]:
    match s:
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


_BINDING: Final = frozenset(
    {Decorator, DelStmt, ForStmt, FuncDef, MatchStmt, OperatorAssignmentStmt, TryStmt, WithStmt}
)


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
