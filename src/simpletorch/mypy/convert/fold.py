"""Folding expressions after mypy has substituted variables inside them: ``Product[2, 5]`` is ``10`` again."""

from __future__ import annotations

from mypy.type_visitor import TypeTranslator
from mypy.types import Instance, Type, TypeAliasType

from simpletorch.mypy.convert.lift import Lifter, is_expression
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.types import walk

__all__ = ["normalise"]


class _Folder(TypeTranslator):
    def __init__(self, lifter: Lifter) -> None:
        super().__init__()
        self.lifter = lifter
        self.lowerer = Lowerer(lifter)

    def visit_instance(self, t: Instance, /) -> Type:
        if is_expression(t):
            return self.lowerer.dim(self.lifter.dim(t))
        return super().visit_instance(t)

    def visit_type_alias_type(self, t: TypeAliasType, /) -> Type:
        return t.copy_modified(args=[a.accept(self) for a in t.args])


def normalise(typ: Type, lifter: Lifter) -> Type:
    """The type with every expression over sizes in canonical form, as the lifter reads it."""
    if not any(is_expression(part) for part in walk(typ)):
        return typ
    return typ.accept(_Folder(lifter))
