"""Layers put into a module from outside, as in ``model.fc = nn.Linear(512, 7)``: ``forward`` says nothing of these."""

from __future__ import annotations

from typing import Any, cast

from mypy.nodes import AssignmentStmt, Expression, IndexExpr, MemberExpr, MypyFile, NameExpr
from mypy.plugin import CheckerPluginInterface
from mypy.types import Instance, get_proper_type

from simpletorch.mypy.convert.lift import is_module
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_statements

__all__ = ["is_rebuilt"]


def is_rebuilt(module: Instance, api: CheckerPluginInterface) -> bool:
    """Whether the file puts a layer into a module of this class, at any depth."""
    checker = cast(Any, api)
    for places, layer in _replacements(checker.tree):
        if is_module(get_proper_type(checker.lookup_type_or_none(layer))):
            owners = [get_proper_type(checker.lookup_type_or_none(place)) for place in places]
            if any(isinstance(owner, Instance) and owner.type is module.type for owner in owners):
                return True
    return False


@once_a_tree
def _replacements(tree: MypyFile) -> tuple[tuple[tuple[Expression, ...], Expression], ...]:
    """The owners of each place that is assigned to, from the inside out, and the assigned value."""
    return tuple(
        (tuple(_owners(place)), s.rvalue)
        for s in all_statements(tree)
        if isinstance(s, AssignmentStmt)
        for place in s.lvalues
        if isinstance(place, MemberExpr | IndexExpr)
    )


def _owners(place: Expression) -> list[Expression]:
    """``model.classifier`` and ``model`` of ``model.classifier[6]``; a module's own methods build it."""
    found: list[Expression] = []
    while isinstance(place, MemberExpr | IndexExpr):
        place = place.expr if isinstance(place, MemberExpr) else place.base
        found.append(place)
    return found[:-1] if isinstance(place, NameExpr) and place.name == "self" else found
