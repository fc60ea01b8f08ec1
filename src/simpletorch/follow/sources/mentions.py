"""What code calls, imports and names. A word in a variable's name says nothing of what a program does."""

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
    """

    called: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()
    defined: frozenset[str] = frozenset()

    @property
    def used(self) -> frozenset[str]:
        """What is called, imported, or read as an attribute: a function may be passed on."""
        return self.called | self.imported | self.attributes


_BY_TEXT: Final = ("getattr", "methodcaller", "attrgetter")
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@of_node
def of(node: ast.AST) -> Mentions:
    """The names in a node."""
    called: set[str] = set()
    imported: set[str] = set()
    attributes: set[str] = set()
    keywords: set[str] = set()
    defined: set[str] = set()
    for one in walk(node):
        if isinstance(one, ast.Call):
            named = _names(one.func)
            called |= named
            if not named.isdisjoint(_BY_TEXT):
                attributes |= {a.value for a in one.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
            for keyword in one.keywords:
                if keyword.arg is not None:
                    keywords.add(keyword.arg)
                    if isinstance(keyword.value, ast.Constant):
                        keywords.add(f"{keyword.arg}={keyword.value.value!r}")
        elif isinstance(one, ast.Attribute):
            attributes.add(one.attr)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            module = (one.module or "") if isinstance(one, ast.ImportFrom) else ""
            for name in (module, *(a.name for a in one.names)):
                imported |= {name, *name.split(".")}
        elif isinstance(one, _FUNCTIONS):
            defined.add(one.name)
            outside = (*one.decorator_list, *(one.bases if isinstance(one, ast.ClassDef) else ()))
            called |= {name for part in outside for name in _names(part)}
    return Mentions(*map(frozenset, (called, imported, attributes, keywords, defined)))


def of_all(trees: Iterable[ast.Module]) -> Mentions:
    """The names in several files."""
    rows = list(map(of, trees))
    return Mentions(*(frozenset().union(*row) for row in zip(*rows, strict=True))) if rows else Mentions()


def _names(function: ast.expr) -> set[str]:
    """The last name of what is called, and the whole one where it is a name."""
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
