"""Variables that are assigned exactly once: ``hidden = 4 * 64`` is 256 wherever it is used.

mypy forgets the literal when it infers ``int`` for the variable. Only names of modules and functions are followed,
and only in the file that assigns them: an attribute may be assigned from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from mypy.nodes import (
    MDEF,
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
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    OverloadedFuncDef,
    StarExpr,
    Statement,
    TryStmt,
    TupleExpr,
    Var,
    WhileStmt,
    WithStmt,
)
from mypy.traverser import all_name_and_member_expressions

__all__ = ["constant", "inner_blocks"]


def constant(name: NameExpr, tree: MypyFile) -> Expression | None:
    """The expression that a variable stands for, if it is assigned just once and never otherwise bound."""
    return _assigned_once(tree).get(name.node) if isinstance(name.node, Var) else None


@lru_cache(maxsize=8)
def _assigned_once(tree: MypyFile) -> dict[Var, Expression]:
    found: dict[Var, Expression | None] = {}
    for variable, value in _bindings(tree.defs):
        found[variable] = None if variable in found else value
    return {variable: value for variable, value in found.items() if value is not None}


def _bindings(statements: Iterable[Statement]) -> Iterator[tuple[Var, Expression | None]]:
    """Every place where a variable gets a value; the value is None where it is not one expression."""
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


def _targets(target: Expression, value: Expression | None) -> Iterator[tuple[Var, Expression | None]]:
    if isinstance(target, NameExpr):
        if isinstance(target.node, Var):
            yield target.node, None if target.kind == MDEF else value
    elif isinstance(target, TupleExpr | ListExpr | StarExpr):
        for name in all_name_and_member_expressions(target):
            if isinstance(name, NameExpr) and isinstance(name.node, Var):
                yield name.node, None


def inner_blocks(statement: Statement) -> list[Block]:
    """The blocks of statements inside a statement."""
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
