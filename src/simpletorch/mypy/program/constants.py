"""Variables that are assigned exactly once: ``hidden = 4 * 64`` is 256 wherever it is used.

mypy forgets the literal when it infers ``int`` for the variable. Names of modules, functions and classes are followed
(``Config.width``), and only in the file that assigns them; but no name that is also set on an object (``x.width = 5``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from mypy.nodes import (
    FUNC_NO_INFO,
    VAR_NO_INFO,
    AssignmentStmt,
    Block,
    ClassDef,
    Decorator,
    DelStmt,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IfStmt,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    OverloadedFuncDef,
    RefExpr,
    ReturnStmt,
    StarExpr,
    Statement,
    TryStmt,
    TupleExpr,
    TypeInfo,
    Var,
    WhileStmt,
    WithStmt,
)
from mypy.traverser import all_name_and_member_expressions

from simpletorch.mypy.program.memory import once_a_tree

__all__ = ["constant", "inner_blocks", "is_bound_once"]

_WITHOUT_BLOCKS: Final = frozenset({AssignmentStmt, ExpressionStmt, ReturnStmt, OperatorAssignmentStmt})


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
    return Counter(variable for variable, _ in _bindings(tree.defs) if isinstance(variable, Var))


@once_a_tree
def _assigned_once(tree: MypyFile) -> dict[Var, Expression]:
    found: dict[Var, Expression | None] = {}
    attributes: set[str] = set()
    for variable, value in _bindings(tree.defs):
        if isinstance(variable, str):
            attributes.add(variable)
        else:
            found[variable] = None if variable in found else value
    return {
        v: value for v, value in found.items() if value is not None and (not _is_field(v) or v.name not in attributes)
    }


def _is_field(variable: Var) -> bool:
    return variable.info is not FUNC_NO_INFO and variable.info is not VAR_NO_INFO


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
    if type(statement) in _WITHOUT_BLOCKS:  # what most are
        return []
    blocks: list[Block | None] = []
    match statement:
        case WithStmt(body=body) | FuncDef(body=body) | Decorator(func=FuncDef(body=body)) | ClassDef(defs=body):
            blocks = [body]
        case ForStmt(body=body, else_body=other) | WhileStmt(body=body, else_body=other):
            blocks = [body, other]
        case IfStmt(body=bodies, else_body=other):
            blocks = [*bodies, other]
        case TryStmt(body=body, handlers=handlers, else_body=other, finally_body=last):
            blocks = [body, *handlers, other, last]
        case OverloadedFuncDef(items=items):
            return [block for item in items for block in inner_blocks(item)]
    return [block for block in blocks if block is not None]
