"""Private names: ``self.__n`` inside ``class A`` is ``self._A__n``."""

from __future__ import annotations

import ast
from typing import Any, Final

__all__ = ["mangle"]

_NAMED: Final[dict[type[ast.AST], str]] = {
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.arg: "arg",
    ast.keyword: "arg",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
}
"""By kind of syntax, the field that holds a name."""


_DONE: Final = "_simpletorch_private"
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def mangle(node: ast.AST, owner: str) -> None:
    """Give the private names that stand in a class, or in a function of it, the names that they stand for.

    What a function of the class holds is left until that function runs.
    """
    own = owner.lstrip("_")
    if _DONE in node.__dict__ or not own:
        return
    node.__dict__[_DONE] = True
    is_class = isinstance(node, ast.ClassDef)
    todo: list[ast.AST] = list(node.body) if isinstance(node, ast.ClassDef) else list(ast.iter_child_nodes(node))
    while todo:
        at = todo.pop()
        _rename(at, own)
        if isinstance(at, ast.ClassDef):  # what is in its body has its own name
            todo += [*at.bases, *at.keywords, *at.decorator_list]
        elif is_class and isinstance(at, _FUNCTIONS):
            todo += [*at.decorator_list, *at.args.defaults, *(d for d in at.args.kw_defaults if d is not None)]
        else:
            todo.extend(ast.iter_child_nodes(at))


def _rename(node: Any, owner: str) -> None:
    name = _NAMED.get(type(node))
    if name is not None:
        held = getattr(node, name)
        if held is not None and _is_private(held):
            setattr(node, name, f"_{owner}{held}")
    elif isinstance(node, ast.Global | ast.Nonlocal):
        node.names = [f"_{owner}{n}" if _is_private(n) else n for n in node.names]
    elif isinstance(node, ast.alias):
        held = node.asname or node.name
        if _is_private(held):
            node.asname = f"_{owner}{held}"


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__") and "." not in name
