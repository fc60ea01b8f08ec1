"""Places whose type mypy has inferred from the first thing put there: attributes, lists, dicts, globals.

``self.state = torch.zeros(0)`` in ``__init__`` doesn't mean that the state keeps that size, nor
``layers.append(nn.Linear(3, 5))`` that every layer has it; but mypy takes the first type as declared. So what is put
there later may differ in sizes and dtype: the place is then widened, and mypy's complaint dropped. A place that the
user has annotated keeps its type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, cast

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    ClassDef,
    Expression,
    ExpressionStmt,
    IndexExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    Statement,
    SymbolNode,
    Var,
)
from mypy.plugin import CheckerPluginInterface
from mypy.type_visitor import TypeTranslator
from mypy.types import Instance, Type, TypeAliasType, get_proper_type

from simpletorch.mypy.constants import inner_blocks
from simpletorch.mypy.lift import is_tensor
from simpletorch.mypy.names import SEQUENTIALS
from simpletorch.mypy.types import TypeTable, any_type

__all__ = ["is_grown", "is_unsettled", "widen", "widen_place"]

_MUTATORS: Final = frozenset({"append", "appendleft", "extend", "insert", "add", "setdefault", "update", "put"})


class _Widener(TypeTranslator):
    """Takes sizes and dtypes out of a type."""

    def __init__(self, types: TypeTable) -> None:
        super().__init__()
        self.types = types

    def visit_instance(self, t: Instance, /) -> Type:
        if not t.args:
            return t
        if is_tensor(t) and t.type.has_type_var_tuple_type:
            return t.copy_modified(args=[any_type(), self.types.any_rest()])
        if t.type.fullname in SEQUENTIALS:
            return t.copy_modified(args=[self.types.any_rest()])
        if t.type.fullname.startswith("torch.nn."):
            return t.copy_modified(args=[any_type()] * len(t.args))
        return super().visit_instance(t)

    def visit_type_alias_type(self, t: TypeAliasType, /) -> Type:
        return t


def widen(typ: Type, types: TypeTable) -> Type:
    """The type without what it says of sizes and dtypes."""
    return typ.accept(_Widener(types))


def widen_place(line: int, api: CheckerPluginInterface) -> bool:
    """Widen the place that the statement on this line puts something into; False if its type was declared."""
    checker = cast(Any, api)
    place = next(_places(checker.tree.defs, line), None)
    variable = None if place is None else _variable(place, checker)
    if variable is None or variable.type is None:
        return False
    variable.type = widen(variable.type, TypeTable(checker.modules))
    return True


def _places(statements: Iterable[Statement], line: int) -> Iterator[Expression]:
    for s in statements:
        if not s.line <= line <= (s.end_line or s.line):
            continue
        match s:
            case AssignmentStmt(lvalues=[place, *_], unanalyzed_type=None) | OperatorAssignmentStmt(lvalue=place):
                yield place
            case ExpressionStmt(expr=CallExpr(callee=MemberExpr(expr=place, name=name))) if name in _MUTATORS:
                yield place
        for block in inner_blocks(s):
            yield from _places(block.body, line)


def _variable(place: Expression, checker: Any) -> Var | None:
    """The variable or attribute behind an expression, if its type is inferred."""
    node: SymbolNode | None = None
    match place:
        case IndexExpr(base=base):
            return _variable(base, checker)
        case NameExpr(node=node):
            pass
        case MemberExpr(expr=owner, name=name, node=node):
            typ = get_proper_type(checker.lookup_type_or_none(owner))
            if node is None and isinstance(typ, Instance):
                symbol = typ.type.get(name)
                node = None if symbol is None else symbol.node
    if not isinstance(node, Var) or node.explicit_self_type:
        return None
    return node if node.is_inferred else None


def is_unsettled(value: object, tree: MypyFile) -> bool:
    """Whether the expression is assigned to an attribute that its class assigns in several places."""
    return value in _unsettled(tree)


@lru_cache(maxsize=8)
def _unsettled(tree: MypyFile) -> frozenset[Expression]:
    return frozenset(value for cls in _classes(tree.defs) for value in _rivals(cls))


def _classes(statements: Iterable[Statement]) -> Iterator[ClassDef]:
    for s in statements:
        if isinstance(s, ClassDef):
            yield s
        for block in inner_blocks(s):
            yield from _classes(block.body)


def _rivals(cls: ClassDef) -> Iterator[Expression]:
    found: list[tuple[str, Expression]] = []
    declared: set[str] = set()
    for s in _assignments(cls.defs.body):
        for lvalue in s.lvalues:
            if s.unanalyzed_type is not None and isinstance(lvalue, MemberExpr | NameExpr):
                declared.add(lvalue.name)
            elif isinstance(lvalue, MemberExpr) and isinstance(lvalue.expr, NameExpr) and not _is_none(s.rvalue):
                found.append((lvalue.name, s.rvalue))
    counts = Counter(name for name, _ in found)
    return (value for name, value in found if counts[name] > 1 and name not in declared)


def is_grown(value: object, tree: MypyFile) -> bool:
    """Whether the expression is assigned to a variable or attribute that something is added to in this file."""
    return any(
        s.rvalue is value and isinstance(lvalue, MemberExpr | NameExpr) and lvalue.name in _grown(tree)
        for s in _all_statements(tree.defs)
        if isinstance(s, AssignmentStmt)
        for lvalue in s.lvalues
    )


@lru_cache(maxsize=8)
def _grown(tree: MypyFile) -> frozenset[str]:
    """Names of variables and attributes that are appended to, indexed for assignment, or ``+=``-ed."""
    found: set[str] = set()
    for s in _all_statements(tree.defs):
        place: Expression | None = None
        match s:
            case ExpressionStmt(expr=CallExpr(callee=MemberExpr(expr=place, name=name))) if name not in _MUTATORS:
                place = None
            case AssignmentStmt(lvalues=[IndexExpr(base=place), *_]) | OperatorAssignmentStmt(lvalue=place):
                pass
        if isinstance(place, MemberExpr | NameExpr):
            found.add(place.name)
    return frozenset(found)


def _all_statements(statements: Iterable[Statement]) -> Iterator[Statement]:
    for s in statements:
        yield s
        for block in inner_blocks(s):
            yield from _all_statements(block.body)


def _is_none(value: Expression) -> bool:
    return isinstance(value, NameExpr) and value.fullname == "builtins.None"


def _assignments(statements: Iterable[Statement]) -> Iterator[AssignmentStmt]:
    for s in statements:
        if isinstance(s, AssignmentStmt):
            yield s
        if not isinstance(s, ClassDef):
            for block in inner_blocks(s):
                yield from _assignments(block.body)
