"""Stated facts about sizes: after ``assert d % h == 0``, ``d//h*h`` is ``d``; after ``if n != m: raise``, m is n.

A fact holds from its statement to the end of the block it stands in (after an ``assert``, or an ``if`` whose body
leaves), or in the body of its ``if``. It speaks of size variables, which never change, so nothing that is assigned
later can make it untrue; the program's own variables are read with the types that mypy found at that statement.

Within an expression (``x + y if n == m else x``) a fact holds on the lines of its part. Other code on these lines sees
it too: there a mistake may be missed, but correct code is never reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard, cast

from mypy.nodes import (
    AssertStmt,
    AssignmentStmt,
    Block,
    BreakStmt,
    CallExpr,
    ComparisonExpr,
    ConditionalExpr,
    ContinueStmt,
    Expression,
    ExpressionStmt,
    IfStmt,
    IndexExpr,
    IntExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OpExpr,
    RaiseStmt,
    RefExpr,
    ReturnStmt,
    StarExpr,
    Statement,
    TupleExpr,
    UnaryExpr,
)
from mypy.plugin import CheckerPluginInterface
from mypy.types import Type

from simpletorch.mypy.names import SAME_ITEMS
from simpletorch.mypy.program.constants import constant
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import inner_blocks
from simpletorch.rules.core.values import TensorType
from simpletorch.shapes import Dim, Expr, Var, exactly, is_compound, substitute, var, variables

__all__ = ["NO_FACTS", "Facts", "facts_at"]

_LEAVING: Final = (RaiseStmt, ReturnStmt, ContinueStmt, BreakStmt)
_ASSERTING: Final = frozenset({"torch._assert", "torch._check"})
"""Functions that raise if their first argument doesn't hold."""


@dataclass(frozen=True)
class Facts:
    """The known facts about size variables at one place."""

    equal: Mapping[Var, Dim] = field(default_factory=dict)
    """Variables that are something else."""
    divisible: tuple[tuple[Dim, Dim], ...] = ()
    """Pairs of which the second divides the first."""

    def unscoped(self) -> Facts:
        """The same of variables that are told apart by their names alone, as in mypy's messages."""

        def plain(dim: Dim) -> Dim:
            return substitute(dim, {v: var(v.name) for v in variables(dim)})

        equal = {Var(v.name): plain(d) for v, d in self.equal.items()}
        return Facts(equal, tuple((plain(a), plain(b)) for a, b in self.divisible))

    def settle(self, dim: Dim) -> Dim:
        """The size without the divisions that are exact."""
        return exactly(dim, self.divisible) if self.divisible else dim

    def known(self, dim: Dim) -> Dim:
        """The size with the same variables wherever two are equal: for comparing, as answers keep the program's own."""
        return self.settle(substitute(dim, self.equal) if self.equal else dim)


NO_FACTS: Final = Facts()


@dataclass(frozen=True)
class _Condition:
    """A condition that holds, or doesn't, on some lines."""

    condition: Expression
    holds: bool
    first: int
    last: int


def facts_at(line: int, api: CheckerPluginInterface, read: Callable[[Type], object]) -> Facts:
    """The facts that hold on a line. ``read`` gives the size that a type says, without any facts."""
    checker = cast(Any, api)
    stated = _stated_at(line, api)
    if not stated:
        return NO_FACTS
    known: dict[Var, Dim] = {}
    divisible: list[tuple[Dim, Dim]] = []

    def value(node: Expression) -> object:
        return read(checker.lookup_type(node)) if checker.has_type(node) else None

    def size(node: Expression) -> Dim | None:
        if isinstance(node, IntExpr):
            return node.value
        found = value(node)
        if _is_size(found):
            return found
        measured = _measured(node)
        tensor = None if measured is None else value(measured[0])
        if measured is None or not isinstance(tensor, TensorType) or tensor.shape.is_exact:
            return None
        found = tensor.shape.dim(measured[1])
        return found if _is_size(found) else None

    def several(node: Expression) -> tuple[object, ...] | None:
        match node:
            case CallExpr(callee=RefExpr(fullname=fullname), args=[inner]) if fullname in SAME_ITEMS:
                return several(inner)
            case ListExpr(items=items) | TupleExpr(items=items):
                parts = [several(i.expr) if isinstance(i, StarExpr) else (size(i),) for i in items]
                return None if None in parts else tuple(s for part in parts for s in part or ())
        found = value(node)
        return found if isinstance(found, tuple) else None

    for c in stated:
        for left, right in _equalities(c.condition, c.holds, checker.tree):
            if isinstance(left, OpExpr) and left.op == "%" and isinstance(right, IntExpr) and right.value == 0:
                pair = size(left.left), size(left.right)
                if pair[0] is not None and pair[1] is not None:
                    divisible.append((substitute(pair[0], known), substitute(pair[1], known)))
                continue
            first, second = several(left), several(right)
            if first is not None and second is not None:
                pairs = [*zip(first, second, strict=True)] if len(first) == len(second) else []
            else:
                pairs = [(size(left), size(right))]
            for a, b in pairs:
                if _is_size(a) and _is_size(b):
                    _equate(substitute(a, known), substitute(b, known), known)
    return Facts(known, tuple(divisible)) if known or divisible else NO_FACTS


def _is_size(value: object) -> TypeGuard[int | Expr]:
    return isinstance(value, int | Expr) and not isinstance(value, bool)


def _measured(node: Expression) -> tuple[Expression, int] | None:
    """x and i of ``x.shape[i]`` and ``x.size(i)``: if the number of dims isn't known, their type is a plain int."""
    match node:
        case (
            IndexExpr(base=MemberExpr(expr=tensor, name="shape"), index=index)
            | CallExpr(callee=MemberExpr(expr=tensor, name="size"), args=[index])
        ):
            match index:
                case IntExpr(value=i):
                    return tensor, i
                case UnaryExpr(op="-", expr=IntExpr(value=i)):
                    return tensor, -i
    return None


def _stated_at(line: int, api: CheckerPluginInterface) -> list[_Condition]:
    return [c for c in _conditions(cast(Any, api).tree) if c.first <= line <= c.last]


def _equate(a: Dim, b: Dim, known: dict[Var, Dim]) -> None:
    """Solve a = b for a variable that occurs alone in one of them."""
    for left, right in ((a, b), (b, a)):
        if isinstance(left, Expr) and not is_compound(left):
            (v,) = variables(left)
            if v not in variables(right):
                for other in known:
                    known[other] = substitute(known[other], {v: right})
                known[v] = right
                return


def _equalities(
    condition: Expression, holds: bool, names_of: MypyFile | None
) -> Iterator[tuple[Expression, Expression]]:
    """The pairs that are equal if a condition holds, or doesn't; it may have a name that its file assigns once."""
    match condition:
        case UnaryExpr(op="not", expr=inner):
            yield from _equalities(inner, not holds, names_of)
        case OpExpr(op=op, left=left, right=right) if (op == "and") is holds and op in ("and", "or"):
            yield from _equalities(left, holds, names_of)
            yield from _equalities(right, holds, names_of)
        case NameExpr() if names_of is not None:
            named = constant(condition, names_of)
            if named is not None:
                yield from _equalities(named, holds, None)  # a name for a name may be one that stands for itself
        case ComparisonExpr(operators=operators, operands=operands):
            wanted = "==" if holds else "!="
            if holds or len(operators) == 1:
                for i, operator in enumerate(operators):
                    if operator == wanted:
                        yield operands[i], operands[i + 1]
        case OpExpr(op="%", left=left) if not holds:  # if d % h: raise
            yield condition, IntExpr(0)


@once_a_tree
def _conditions(tree: MypyFile) -> tuple[_Condition, ...]:
    """The conditions that say of two things that they are equal."""
    return tuple(c for c in _stated(tree.defs) if next(_equalities(c.condition, c.holds, tree), None) is not None)


def _stated(statements: Iterable[Statement]) -> Iterator[_Condition]:
    body = list(statements)
    for s in body:
        match s:
            case AssertStmt(expr=condition):
                yield _Condition(condition, True, _last_line(s) + 1, _last_line(body[-1]))
                yield from _within(condition)
            case ExpressionStmt(expr=CallExpr(callee=RefExpr(fullname=name), args=[condition, *_])) if (
                name in _ASSERTING
            ):
                yield _Condition(condition, True, _last_line(s) + 1, _last_line(body[-1]))
            case ReturnStmt(expr=Expression() as e) | AssignmentStmt(rvalue=e) | ExpressionStmt(expr=e):
                yield from _within(e)
            case IfStmt(expr=conditions, body=bodies, else_body=other):
                for condition, block in zip(conditions, bodies, strict=True):
                    yield from _within(condition)
                    if block.body:
                        yield _Condition(condition, True, block.body[0].line, _last_line(block))
                if len(bodies) == 1 and other is None and bodies[0].body and isinstance(bodies[0].body[-1], _LEAVING):
                    yield _Condition(conditions[0], False, _last_line(s) + 1, _last_line(body[-1]))
                if len(bodies) == 1 and other is not None and other.body:
                    yield _Condition(conditions[0], False, other.body[0].line, _last_line(other))
        for block in inner_blocks(s):
            yield from _stated(block.body)


def _within(e: Expression) -> Iterator[_Condition]:
    """The conditions that hold in parts of an expression: ``x + y if n == m else x``, ``n == m and (x == y).all()``."""
    match e:
        case ConditionalExpr(cond=condition, if_expr=first, else_expr=second):
            yield _Condition(condition, True, first.line, first.end_line or first.line)
            yield _Condition(condition, False, second.line, second.end_line or second.line)
            yield from _within(second)
        case OpExpr(op=op, left=left, right=right) if op in ("and", "or"):
            yield _Condition(left, op == "and", right.line, right.end_line or right.line)
            yield from _within(left)
            yield from _within(right)


def _last_line(node: Statement | Block) -> int:
    inner = [node.body[-1]] if isinstance(node, Block) and node.body else []
    return max([node.end_line or node.line, *(_last_line(s) for s in inner)])
