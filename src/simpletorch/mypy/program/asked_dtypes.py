"""Lines in an ``if`` that asks for a tensor's dtype: there the dtype is what was asked for, whatever was annotated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, cast

from mypy.nodes import CallExpr, Context, Expression, IfStmt, MemberExpr, MypyFile, NameExpr
from mypy.plugin import CheckerPluginInterface

from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_statements, expressions_in

__all__ = ["is_dtype_asked"]

Path: TypeAlias = tuple[str, ...]
"""``("self", "image")`` for ``self.image``."""

_QUESTIONS: Final = frozenset({"is_floating_point", "is_complex"})


def is_dtype_asked(context: Context, api: CheckerPluginInterface) -> bool:
    """Whether the expression has a tensor in it that a condition around it asks for its dtype."""
    asked = {p for first, last, paths in _spans(cast(Any, api).tree) if first <= context.line <= last for p in paths}
    return bool(asked) and isinstance(context, Expression) and any(_path(e) in asked for e in expressions_in(context))


@once_a_tree
def _spans(tree: MypyFile) -> tuple[tuple[int, int, frozenset[Path]], ...]:
    """The lines, from and to, of the statements that ask, and whose dtypes these ask for."""
    found = []
    for s in all_statements(tree):
        if isinstance(s, IfStmt):
            paths = frozenset(p for condition in s.expr for p in _asked(condition))
            if paths:
                found.append((s.body[0].line, s.end_line or s.line, paths))
    return tuple(found)


def _asked(condition: Expression) -> Iterator[Path]:
    for e in expressions_in(condition):
        match e:
            case MemberExpr(expr=owner, name="dtype"):
                place = _path(owner)
            case CallExpr(callee=MemberExpr(expr=owner, name=name), args=args) if name in _QUESTIONS:
                place = _path(args[0] if args else owner)
            case _:
                place = None
        if place is not None:
            yield place


def _path(e: Expression) -> Path | None:
    match e:
        case NameExpr(name=name):
            return (name,)
        case MemberExpr(expr=inner, name=name):
            owner = _path(inner)
            return None if owner is None else (*owner, name)
    return None
