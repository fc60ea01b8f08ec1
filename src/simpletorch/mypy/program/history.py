"""Lists and containers that a program builds step by step.

``layers = [a]``, ``layers.append(b)``, ``layers += [c]`` one after the other hold a, b and c; what happens in a loop or
a branch isn't known step by step, but what is only added to still holds nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from mypy.nodes import (
    AssignmentStmt,
    Block,
    CallExpr,
    ClassDef,
    DelStmt,
    Expression,
    ExpressionStmt,
    FuncDef,
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
from simpletorch.mypy.program.constants import inner_blocks
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import calls_in

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


@dataclass(frozen=True)
class Step:
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
    """What happens to the variable or attribute of ``self``; ``within`` is the class around the code that asks."""
    histories = _histories(tree)
    if isinstance(place, NameExpr) and isinstance(place.node, Var):
        return histories.get(place.node)
    if isinstance(place, MemberExpr) and isinstance(place.expr, NameExpr):
        return _of_attribute(place.name, within, histories)
    return None


def history_of_value(value: Expression, tree: MypyFile) -> History | None:
    """What happens to the variable or attribute of ``self`` that the expression is assigned to."""
    histories = _histories(tree)
    key = _made(tree).get(value)
    return _of_attribute(key[1], key[0], histories) if isinstance(key, tuple) else histories.get(key) if key else None


def _of_attribute(name: str, within: str, histories: dict[Key, History]) -> History | None:
    outside = histories.get(("", name))
    own = histories.get((within, name))
    if outside is None or own is None or all(s.kind == "passed" for s in outside.steps):
        return own
    return History((*own.steps, *(replace(s, kind="other") for s in outside.steps)))


@once_a_tree
def _made(tree: MypyFile) -> dict[Expression, Key]:
    """The place that each value is assigned to."""
    return {s.arguments[0]: key for key, past in _histories(tree).items() for s in past.steps if s.kind == "set"}


@once_a_tree
def _histories(tree: MypyFile) -> dict[Key, History]:
    found: dict[Key, list[Step]] = {}
    for key, step in _steps(tree, tree.defs, ""):
        found.setdefault(key, []).append(step)
    return {key: History(tuple(steps)) for key, steps in found.items()}


def _steps(block: Block | MypyFile, body: Iterable[Statement], cls: str) -> Iterator[tuple[Key, Step]]:
    for s in body:
        for place, kind, arguments in _changes(s):
            key = _key(place, cls)
            if key is not None:
                yield key, Step(block, s.line, kind, arguments)
        inside = s.fullname if isinstance(s, ClassDef) else cls
        for inner in inner_blocks(s):
            yield from _steps(inner, inner.body, inside)


def _key(place: Expression, cls: str) -> Key | None:
    if isinstance(place, NameExpr) and isinstance(place.node, Var):
        return place.node
    if isinstance(place, MemberExpr):
        is_own = isinstance(place.expr, NameExpr) and isinstance(place.expr.node, Var) and place.expr.node.is_self
        return (cls if is_own else "", place.name)
    return None


def _changes(s: Statement) -> Iterator[tuple[Expression, str, tuple[Expression, ...]]]:
    match s:
        case AssignmentStmt(lvalues=[IndexExpr(base=base, index=index)], rvalue=value):
            yield base, "[]=", (index, value)
        case AssignmentStmt(lvalues=[target], rvalue=value):
            yield target, "set", (value,)
        case AssignmentStmt(lvalues=targets):
            yield from ((t, "other", ()) for t in targets)
        case OperatorAssignmentStmt(op=op, lvalue=place, rvalue=value):
            yield place, "+=" if op == "+" else "other", (value,)
        case DelStmt(expr=IndexExpr(base=place)) | DelStmt(expr=place):
            yield place, "other", ()
    if isinstance(s, FuncDef | ClassDef):
        return
    statement_call = s.expr if isinstance(s, ExpressionStmt) else None
    for call in calls_in([s]) if not inner_blocks(s) else ():
        if isinstance(call.callee, MemberExpr) and call.callee.name in _ADDING | _CHANGING:
            known = call is statement_call and call.callee.name in _ADDING
            yield call.callee.expr, call.callee.name if known else "other", tuple(call.args)
        elif not (isinstance(call.callee, NameExpr | MemberExpr) and call.callee.name in _READING):
            yield from ((a, "passed", ()) for a in call.args if isinstance(a, NameExpr | MemberExpr))


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
