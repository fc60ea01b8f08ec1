"""Names that code calls, imports and reads. The name of a variable says nothing about a program's actions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final, NamedTuple

from simpletorch.follow.sources.syntax import of_node, walk

__all__ = ["Mentions", "of", "of_all"]


class Mentions(NamedTuple):
    """Names by what stands there.

    - ``called``: functions, methods, decorators and base classes, by their last name, and by the whole one.
    - ``imported``: modules, and each part of their names; names from them.
    - ``attributes``: those that are read or set.
    - ``keywords``: arguments by name, and ``name=constant`` where one is given a constant.
    - ``defined``: functions and classes.
    - ``assigned``: attributes that are set; ``"*"`` where the name isn't written out: ``setattr(x, name, …)``.
    - ``roots``: the packages that are imported.
    """

    called: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()
    defined: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    roots: frozenset[str] = frozenset()

    @property
    def used(self) -> frozenset[str]:
        """Names that are called, imported, or read as an attribute: a function may be passed on."""
        return self.called | self.imported | self.attributes


_BY_TEXT: Final = ("getattr", "methodcaller", "attrgetter")
_SET_BY_TEXT: Final = (
    "setattr",
    "__setattr__",
    "register_buffer",
    "register_parameter",
    "add_module",
    "register_module",
)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@of_node
def of(node: ast.AST) -> Mentions:
    """The names in a node."""
    called: set[str] = set()
    imported: set[str] = set()
    attributes: set[str] = set()
    keywords: set[str] = set()
    defined: set[str] = set()
    assigned: set[str] = set()
    roots: set[str] = set()
    for one in walk(node):
        if isinstance(one, ast.Call):
            named = _names(one.func)
            called |= named
            if not named.isdisjoint(_BY_TEXT):
                attributes |= {a.value for a in one.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
            if not named.isdisjoint(_SET_BY_TEXT):
                assigned |= {str(a.value) if isinstance(a, ast.Constant) else "*" for a in one.args[1:2]}
            for keyword in one.keywords:
                if keyword.arg is not None:
                    keywords.add(keyword.arg)
                    if isinstance(keyword.value, ast.Constant):
                        keywords.add(f"{keyword.arg}={keyword.value.value!r}")
        elif isinstance(one, ast.Attribute):
            attributes.add(one.attr)
            if not isinstance(one.ctx, ast.Load):
                assigned.add(one.attr)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            module = (one.module or "") if isinstance(one, ast.ImportFrom) else ""
            if isinstance(one, ast.Import):
                roots |= {a.name.partition(".")[0] for a in one.names}
            elif not one.level:
                roots.add(module.partition(".")[0])
            for name in (module, *(a.name for a in one.names)):
                imported |= {name, *name.split(".")}
        elif isinstance(one, _FUNCTIONS):
            defined.add(one.name)
            outside = (*one.decorator_list, *(one.bases if isinstance(one, ast.ClassDef) else ()))
            called |= {name for part in outside for name in _names(part)}
    found = (called, imported, attributes, keywords, defined, assigned, roots)
    return Mentions(*map(frozenset, found))


def of_all(trees: Iterable[ast.Module]) -> Mentions:
    """The names in several files."""
    rows = list(map(of, trees))
    return Mentions(*(frozenset().union(*row) for row in zip(*rows, strict=True))) if rows else Mentions()


def _names(function: ast.expr) -> set[str]:
    """The last name of a called function, and its whole name where it has one."""
    if isinstance(function, ast.Name):
        return {function.id}
    if not isinstance(function, ast.Attribute):
        return set()
    parts, value = [function.attr], function.value
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    whole = {".".join((value.id, *reversed(parts)))} if isinstance(value, ast.Name) else set()
    return {function.attr} | whole
