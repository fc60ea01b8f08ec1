"""The subject of a message of mypy's: the expressions at its place, and the messages before it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from mypy.errors import ErrorInfo
from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    ClassDef,
    ComparisonExpr,
    DictExpr,
    Expression,
    ForStmt,
    IndexExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    OperatorAssignmentStmt,
    OpExpr,
    ReturnStmt,
    Statement,
    TupleExpr,
    UnaryExpr,
)
from mypy.plugin import CheckerPluginInterface

from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import expressions_of, statements_in

__all__ = ["CONCERNED", "at_line", "is_repeated"]

_SIZES_OF: Final = re.compile(r"(?<=Tensor)\[[^\[\]]*\]")
_TWICE: Final = re.compile(r"\b([\w.]+(?:\[[\w., |]*\])?) \| \1(?![\w.\[])")
"""Members of a union that differ in sizes only, where these are left out."""


def is_repeated(file: str, info: ErrorInfo, api: CheckerPluginInterface) -> bool:
    """Whether mypy has said the same of another size: of a union of tensors it asks for one after the other.

    A message that mypy repeats on a line in the same words is printed once, so the column doesn't count here either.
    """
    recorded = api.msg.errors.error_info_map.get(file, [])
    before = [o.message for o in recorded if o.line == info.line and o.code == info.code and o.message != info.message]
    return bool(before) and _without_sizes(info.message) in map(_without_sizes, before)


def _without_sizes(message: str) -> str:
    text, before = _SIZES_OF.sub("", message), ""
    while text != before:
        text, before = _TWICE.sub(r"\1", text), text
    return text


def _argument(node: object, column: int) -> Iterator[Expression]:
    """Of an argument, the argument and the object whose method is called; an operand is one as well."""
    if isinstance(node, OpExpr) and column in (node.column, node.right.column):
        yield from (node.left, node.right)
    if isinstance(node, CallExpr):
        for argument in node.args:
            if argument.column == column:
                yield argument
                yield from _receiver(node)


def _receiver(call: CallExpr) -> Iterator[Expression]:
    if isinstance(call.callee, MemberExpr):
        yield call.callee.expr


def _operands(node: object, column: int) -> Iterator[Expression]:
    match node:
        case OpExpr(left=left, right=right) if node.column == column:
            yield from (left, right)
        case ComparisonExpr(operands=operands) if node.column == column:
            yield from operands
        case UnaryExpr(expr=inner) | CallExpr(callee=MemberExpr(expr=inner)) if node.column == column:
            yield inner
        case OperatorAssignmentStmt(lvalue=left, rvalue=right):
            yield from (left, right)


def _called(node: object, column: int) -> Iterator[Expression]:
    match node:
        case CallExpr(args=args) if node.column == column:
            yield from args
            yield from _receiver(node)
        case IndexExpr(base=base, index=index) if node.column == column:
            yield from (base, index)
        case AssignmentStmt(lvalues=[IndexExpr(base=base) as place], rvalue=value) if place.column == column:
            yield from (base, value)


def _owner(node: object, column: int) -> Iterator[Expression]:
    if isinstance(node, MemberExpr) and node.column == column:
        yield node.expr


def _index(node: object, column: int) -> Iterator[Expression]:
    if isinstance(node, IndexExpr) and column in (node.column, node.index.column):
        yield from (node.base, node.index)


def _put(node: object, _: int) -> Iterator[Expression]:
    match node:
        case AssignmentStmt(lvalues=places, rvalue=value):
            yield value
            for place in places:
                yield from _items(place)
        case OperatorAssignmentStmt(lvalue=place, rvalue=value):
            yield from (value, place)
        case ForStmt(expr=iterated):
            yield iterated


def _changed(node: object, _: int) -> Iterator[Expression]:
    if isinstance(node, AssignmentStmt):
        yield from (place.expr for place in node.lvalues if isinstance(place, MemberExpr))


def _items(place: Expression) -> Iterator[Expression]:
    """Places that are assigned to: what hasn't been declared has the type of what was put there first."""
    match place:
        case TupleExpr(items=items) | ListExpr(items=items):
            for item in items:
                yield from _items(item)
        case IndexExpr(base=base):
            yield base
        case _:
            yield place


def _given(node: object, _: int) -> Iterator[Expression]:
    if isinstance(node, ReturnStmt) and node.expr is not None:
        yield node.expr


def _entries(node: object, _: int) -> Iterator[Expression]:
    if isinstance(node, DictExpr | ListExpr):
        yield node


def _comprehended(node: object, column: int) -> Iterator[Expression]:
    yield from _put(node, column)
    yield from _given(node, column)


CONCERNED: Final[Mapping[str, Callable[[object, int], Iterator[Expression]]]] = {
    "arg-type": _argument,
    "assignment": _put,
    "call-overload": _called,
    "dict-item": _entries,
    "index": _index,
    "list-item": _entries,
    "method-assign": _changed,
    "misc": _comprehended,
    "operator": _operands,
    "return-value": _given,
    "union-attr": _owner,
}


def at_line(tree: MypyFile, line: int) -> Sequence[Statement | Expression]:
    """The statements and expressions that begin on a line, or one of what they are given."""
    return _lines(tree).at(line)


class _Lines:
    """The expressions and statements on each line of a file. Functions without messages aren't read."""

    def __init__(self, tree: MypyFile) -> None:
        self._parts: dict[int, list[Statement]] = defaultdict(list)
        for s in _outside_functions(tree.defs):
            self._parts[s.line].append(s)
        self._starts = sorted(self._parts)
        self._read: dict[int, Mapping[int, list[Statement | Expression]]] = {}

    def at(self, line: int) -> Sequence[Statement | Expression]:
        """Of a part that begins above the line, and of those that begin on it."""
        number = bisect_right(self._starts, line)
        found: list[Statement | Expression] = []
        for start in self._starts[max(0, number - 2) : number]:
            if start not in self._read:
                self._read[start] = _by_line(self._parts[start])
            found += self._read[start].get(line, ())
        return found


_lines: Final = once_a_tree(_Lines)


def _outside_functions(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Statements of the file and of its classes."""
    for s in statements:
        yield s
        if isinstance(s, ClassDef):
            yield from _outside_functions(s.defs.body)


def _by_line(statements: Sequence[Statement]) -> Mapping[int, list[Statement | Expression]]:
    found: dict[int, list[Statement | Expression]] = defaultdict(list)
    for s in statements_in([s for s in statements if not isinstance(s, ClassDef)]):
        found[s.line].append(s)
        for e in expressions_of(s):
            found[e.line].append(e)
            if type(e) in _HOLDS:
                for line in {given.line for given in _parts(e)} - {e.line}:
                    found[line].append(e)
    return found


_HOLDS: Final = frozenset({CallExpr, DictExpr, ListExpr})


def _parts(e: Expression) -> Iterable[Expression]:
    match e:
        case CallExpr(args=args):
            return args
        case DictExpr(items=pairs):
            return [value for _, value in pairs]
        case ListExpr(items=items):
            return items
    return ()
