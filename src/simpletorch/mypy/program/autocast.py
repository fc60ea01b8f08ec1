"""Lines under ``with torch.autocast(...)``: torch casts operands there, so dtypes neither clash nor are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from mypy.nodes import CallExpr, Context, MemberExpr, MypyFile, NameExpr, Statement, WithStmt
from mypy.plugin import CheckerPluginInterface

from simpletorch.mypy.program.constants import inner_blocks
from simpletorch.mypy.program.memory import once_a_tree

__all__ = ["is_autocast"]


def is_autocast(context: Context, api: CheckerPluginInterface) -> bool:
    """Whether the expression stands in the body of ``with torch.autocast(...)``."""
    return any(first <= context.line <= last for first, last in _spans(cast(Any, api).tree))


@once_a_tree
def _spans(tree: MypyFile) -> tuple[tuple[int, int], ...]:
    """The lines, from and to, of the autocast blocks of a file."""
    return tuple(
        (block.line, block.end_line or block.line)
        for block in _with_statements(tree.defs)
        for item in block.expr
        if isinstance(item, CallExpr)
        and isinstance(item.callee, NameExpr | MemberExpr)
        and item.callee.name == "autocast"
    )


def _with_statements(statements: Iterable[Statement]) -> Iterator[WithStmt]:
    for s in statements:
        if isinstance(s, WithStmt):
            yield s
        for block in inner_blocks(s):
            yield from _with_statements(block.body)
