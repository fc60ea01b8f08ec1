"""Defaults of sizes: ``def __init__(self, dim: Dim[D] = 768)``.

mypy's cache has no defaults, and what a check says must not depend on what comes from the cache. So a default that is
an int becomes a part of the parameter's type, which the cache has and where mypy looks for changes. Seen from another
file a function has no other defaults; in its own file any expression is known.
"""

from __future__ import annotations

from typing import Any, Final, cast

from mypy.constant_fold import constant_fold_expr
from mypy.nodes import Expression, FuncDef, MypyFile
from mypy.plugin import TypeAnalyzerPluginInterface
from mypy.types import CallableType, ExtraAttrs, Instance, LiteralType, UnboundType, get_proper_type

from simpletorch.mypy.types import TypeTable

__all__ = ["default_of", "noted_default"]

_DEFAULT: Final = "(default)"  # nothing that could be an attribute's name


def noted_default(annotation: UnboundType, api: TypeAnalyzerPluginInterface, types: TypeTable) -> ExtraAttrs | None:
    """The default size of a parameter with this annotation, as an addition to its type."""
    analyzer = cast(Any, api).api
    definition = analyzer.scope.function
    if not isinstance(definition, FuncDef) or not isinstance(signature := definition.unanalyzed_type, CallableType):
        return None
    for argument, of in zip(definition.arguments, signature.arg_types, strict=False):
        if of is annotation and argument.initializer is not None:
            size = constant_fold_expr(argument.initializer, analyzer.cur_mod_id)
            return ExtraAttrs({_DEFAULT: types.literal(size)}) if type(size) is int else None
    return None


def default_of(definition: FuncDef | None, name: str, formal: Instance, tree: MypyFile) -> Expression | int | None:
    """The default of a function's parameter, seen from the file ``tree``; None if it isn't known."""
    if definition is not None and _is_in(definition, tree):
        return next((a.initializer for a in definition.arguments if a.variable.name == name), None)
    size = get_proper_type(formal.extra_attrs.attrs.get(_DEFAULT)) if formal.extra_attrs else None
    return size.value if isinstance(size, LiteralType) and isinstance(size.value, int) else None


def _is_in(definition: FuncDef, tree: MypyFile) -> bool:
    if definition.info:
        return definition.info.module_name == tree.fullname
    return definition.fullname.rpartition(".")[0] in ("", tree.fullname)  # a function inside another has a bare name
