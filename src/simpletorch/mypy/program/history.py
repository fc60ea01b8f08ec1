"""Lists and containers that a program builds step by step.

``layers = [a]``, ``layers.append(b)``, ``layers += [c]`` one after the other hold a, b and c; what happens in a loop or
a branch isn't known step by step, but what is only added to still holds nothing else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias, cast

from mypy.nodes import (
    AssignmentStmt,
    Block,
    CallExpr,
    ClassDef,
    DelStmt,
    Expression,
    ExpressionStmt,
    IndexExpr,
    IntExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    OpExpr,
    RefExpr,
    StarExpr,
    Statement,
    TupleExpr,
    Var,
)

from simpletorch.mypy.names import MODULE_LIST, PARAMETER_LIST, SEQUENTIALS
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_of, calls_in, inner_blocks

__all__ = ["History", "display", "history", "history_of_value"]

Key: TypeAlias = "Var | tuple[str, str]"
_ADDING: Final = frozenset({"append", "extend", "insert", "add_layer", "add_module", "register_module", "update"})
_CHANGING: Final = frozenset({"pop", "clear", "remove", "reverse", "sort", "popitem", "setdefault", "__setitem__"})
_READING: Final = frozenset(
    {
        "len",
        "list",
        "tuple",
        "enumerate",
        "zip",
        "reversed",
        "print",
        "sum",
        "Sequential",
        "ModuleList",
        "ParameterList",
    }
)
_CONTAINERS: Final = (*SEQUENTIALS, MODULE_LIST, PARAMETER_LIST)


class Step(NamedTuple):
    """One statement that sets or changes a variable or attribute."""

    block: Block | MypyFile
    line: int
    kind: str  # "set", the name of a method, "+=", "[]=", "passed" to a function, or "other"
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class History:
    """All that happens to one variable or attribute in a file."""

    steps: tuple[Step, ...]

    @property
    def is_passed(self) -> bool:
        """Whether a function gets it, which may change it if it is a list."""
        return any(s.kind == "passed" for s in self.steps)

    @property
    def grows(self) -> bool:
        """Whether anything changes it after it was made."""
        return any(s.kind not in ("set", "passed") for s in self.steps)

    @property
    def start(self) -> Step | None:
        """The statement that makes it, if there is just one."""
        made = [s for s in self.steps if s.kind == "set"]
        return made[0] if len(made) == 1 else None

    @property
    def only_grows(self) -> bool:
        """Whether it is made once and then only added to."""
        known = ("set", "passed", "+=", "[]=", *_ADDING)
        return self.start is not None and all(s.kind in known for s in self.steps)

    @property
    def is_straight(self) -> bool:
        """Whether the statements follow each other in one block."""
        return self.only_grows and len({id(s.block) for s in self.steps if s.kind != "passed"}) == 1


def history(place: Expression, tree: MypyFile, within: str) -> History | None:
    """The history of a variable or an attribute of ``self``; ``within`` is the class around the code that asks."""
    if isinstance(place, NameExpr) and isinstance(place.node, Var):
        return _pasts(tree).of(place.node, place.name)
    if isinstance(place, MemberExpr) and isinstance(place.expr, NameExpr):
        return _of_attribute(place.name, within, _pasts(tree))
    return None


def history_of_value(value: Expression, tree: MypyFile) -> History | None:
    """The history of the variable or attribute of ``self`` that the expression is assigned to."""
    pasts = _pasts(tree)
    place, cls = pasts.made.get(value, (None, ""))
    key = None if place is None else _key(place, cls)
    if isinstance(key, tuple):
        return _of_attribute(key[1], key[0], pasts)
    return None if key is None else pasts.of(key, cast(NameExpr, place).name)


def _of_attribute(name: str, within: str, pasts: _Pasts) -> History | None:
    outside, own = pasts.of(("", name), name), pasts.of((within, name), name)
    if outside is None or own is None or all(s.kind == "passed" for s in outside.steps):
        return own
    return History((*own.steps, *(s._replace(kind="other") for s in outside.steps)))


class _Pasts:
    """The histories of a file's variables and attributes, worked out for the few that are asked for."""

    def __init__(self, tree: MypyFile) -> None:
        self._tree = tree
        self.made: dict[Expression, tuple[Expression, str]] = {}
        """The place that each value is assigned to, and the class around."""
        self._statements: list[tuple[Block | MypyFile, Statement, str]] = []
        """Those without others inside them, by line, with the block and the class around."""
        self._known: dict[Key, History | None] = {}
        waiting: list[tuple[Block | MypyFile, Sequence[Statement], str]] = [(tree, tree.defs, "")]
        while waiting:
            block, body, cls = waiting.pop()
            for s in body:
                inner = inner_blocks(s)
                if inner:
                    inside = s.fullname if isinstance(s, ClassDef) else cls
                    waiting += [(b, b.body, inside) for b in inner]
                    continue
                self._statements.append((block, s, cls))
                if isinstance(s, AssignmentStmt) and len(s.lvalues) == 1:
                    self.made[s.rvalue] = s.lvalues[0], cls
        self._statements.sort(key=lambda found: found[1].line)
        self._starts = [s.line for _, s, _ in self._statements]

    @cached_property
    def _lines(self) -> dict[str, list[int]]:
        """Where each name stands."""
        found: dict[str, list[int]] = defaultdict(list)
        for name in all_of(NameExpr, self._tree):
            found[name.name].append(name.line)
        for member in all_of(MemberExpr, self._tree):
            found[member.name].append(member.line)
        return found

    def _mentioning(self, name: str) -> list[tuple[Block | MypyFile, Statement, str]]:
        """The statements in which a name stands, in order."""
        found: set[int] = set()
        for line in self._lines.get(name, ()):
            at = bisect_right(self._starts, line) - 1
            while at >= 0 and _last_line(self._statements[at][1]) >= line:
                found.add(at)
                at -= 1
        return [self._statements[at] for at in sorted(found)]

    def of(self, key: Key, name: str) -> History | None:
        """The history of one of them; None if there is none."""
        if key not in self._known:
            steps = [
                Step(block, s.line, kind, arguments)
                for block, s, cls in self._mentioning(name)
                for place, kind, arguments in _changes(s)
                if _key(place, cls) == key
            ]
            self._known[key] = History(tuple(steps)) if steps else None
        return self._known[key]


_pasts: Final = once_a_tree(_Pasts)


def _last_line(s: Statement) -> int:
    return s.end_line or s.line


def _key(place: Expression, cls: str) -> Key | None:
    if isinstance(place, NameExpr):
        return place.node if isinstance(place.node, Var) else None
    if isinstance(place, MemberExpr):
        is_own = isinstance(place.expr, NameExpr) and isinstance(place.expr.node, Var) and place.expr.node.is_self
        return (cls if is_own else "", place.name)
    return None


_Change: TypeAlias = tuple[Expression, str, tuple[Expression, ...]]  # what, how and with what


def _changes(s: Statement) -> list[_Change]:
    found: list[_Change] = []
    match s:
        case AssignmentStmt(lvalues=[IndexExpr(base=base, index=index)], rvalue=value):
            found.append((base, "[]=", (index, value)))
        case AssignmentStmt(lvalues=[target], rvalue=value):
            found.append((target, "set", (value,)))
        case AssignmentStmt(lvalues=targets):
            found += [(t, "other", ()) for t in targets]
        case OperatorAssignmentStmt(op=op, lvalue=place, rvalue=value):
            found.append((place, "+=" if op == "+" else "other", (value,)))
        case DelStmt(expr=IndexExpr(base=place)) | DelStmt(expr=place):
            found.append((place, "other", ()))
    for call in calls_in([s]):
        found += _changes_by_call(call, s)
    return found


def _changes_by_call(call: CallExpr, s: Statement) -> Iterable[_Change]:
    callee = call.callee
    if isinstance(callee, MemberExpr) and callee.name in _ADDING | _CHANGING:
        known = isinstance(s, ExpressionStmt) and call is s.expr and callee.name in _ADDING
        return ((callee.expr, callee.name if known else "other", tuple(call.args)),)
    if isinstance(callee, NameExpr | MemberExpr) and callee.name in _READING:
        return ()
    return [(a, "passed", ()) for a in call.args if isinstance(a, NameExpr | MemberExpr)]


def display(node: Expression, tree: MypyFile, within: str, line: int | None = None) -> list[Expression] | None:
    """The items of a list or container, as far as the program text tells; None if it doesn't.

    Args:
        node: the expression that stands for the list.
        tree: the file.
        within: the class around it.
        line: changes after this line don't count; None: all do.
    """
    match node:
        case ListExpr(items=items) | TupleExpr(items=items):
            return _flat(items, tree, within, line)
        case OpExpr(op="+", left=left, right=right):
            both = display(left, tree, within, line), display(right, tree, within, line)
            return None if both[0] is None or both[1] is None else [*both[0], *both[1]]
        case OpExpr(op="*", left=left, right=IntExpr(value=count)):
            items = display(left, tree, within, line)
            return None if items is None else items * count
        case ListComprehension(generator=inner) if _count(inner.sequences) is not None and not any(inner.condlists):
            return [inner.left_expr] * (_count(inner.sequences) or 0)
        case CallExpr(callee=RefExpr(fullname=name), args=args) if name in _CONTAINERS:
            if name in SEQUENTIALS:
                return _flat(args, tree, within, line)
            return [] if not args else display(args[0], tree, within, line) if len(args) == 1 else None
        case CallExpr(callee=RefExpr(fullname="builtins.list"), args=[]):
            return []
        case NameExpr() | MemberExpr():
            past = history(node, tree, within)
            if past is None or not past.is_straight or (past.is_passed and not _is_container(past)):
                return None
            return _replayed(past, tree, within, line)
    return None


def _is_container(past: History) -> bool:
    """Whether it is made as a module, which functions take all the time and don't change."""
    match past.start:
        case Step(arguments=(CallExpr(callee=RefExpr(fullname=name)),)):
            return name in _CONTAINERS
    return False


def _flat(items: Sequence[Expression], tree: MypyFile, within: str, line: int | None) -> list[Expression] | None:
    out: list[Expression] = []
    for item in items:
        inner = display(item.expr, tree, within, line) if isinstance(item, StarExpr) else [item]
        if inner is None:
            return None
        out.extend(inner)
    return out


def _count(sequences: Sequence[Expression]) -> int | None:
    """How many times a comprehension over ``range(4)`` runs."""
    match sequences:
        case [CallExpr(callee=RefExpr(fullname="builtins.range"), args=[IntExpr(value=count)])]:
            return count
    return None


def _replayed(past: History, tree: MypyFile, within: str, line: int | None) -> list[Expression] | None:
    start = past.start
    assert start is not None
    items = display(start.arguments[0], tree, within, start.line)
    for step in past.steps if items is not None else ():
        if step is start or (line is not None and step.line > line):
            continue
        added: list[Expression] | None = None
        match step.kind, step.arguments:
            case (("append" | "add_layer"), (item, *_)):
                added = [item]
            case (("add_module" | "register_module"), (_, item)):
                added = [item]
            case "insert", (IntExpr(value=at), item) if items is not None and at <= len(items):
                items = [*items[:at], item, *items[at:]]
                continue
            case (("extend" | "+="), (more,)):
                added = display(more, tree, within, step.line)
        if added is None or items is None:
            return None
        items = [*items, *added]
    return items
