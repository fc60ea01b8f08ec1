"""Names as the compiler sees them: private ones in classes, and which are a function's own."""

from __future__ import annotations

import ast
from typing import Any, Final

from simpletorch.follow.sources.syntax import of_node

__all__ = ["local_names", "mangle"]

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

    The names inside a method wait until that method runs.
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


_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@of_node
def local_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that a function assigns anywhere: there they are its own everywhere in it, with a value or without."""
    found: set[str] = set()
    others: set[str] = set()
    todo: list[tuple[ast.AST, bool]] = [(n, False) for n in node.body] if isinstance(node.body, list) else []
    while todo:
        at, inner = todo.pop()
        if isinstance(at, ast.Name) and not isinstance(at.ctx, ast.Load) and not inner:
            found.add(at.id)
        elif isinstance(at, ast.NamedExpr):
            found.add(at.target.id)
        elif isinstance(at, ast.Global | ast.Nonlocal):
            others.update(at.names)
        elif isinstance(at, ast.Import | ast.ImportFrom):
            found.update((a.asname or a.name).partition(".")[0] for a in at.names)
        elif isinstance(at, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and at.name is not None:
            found.add(at.name)
        elif isinstance(at, ast.MatchMapping) and at.rest is not None:
            found.add(at.rest)
        if isinstance(at, _SCOPES):
            if not isinstance(at, ast.Lambda):
                found.add(at.name)
            continue
        within = inner or isinstance(at, _COMPREHENSIONS)
        todo.extend((n, within) for n in ast.iter_child_nodes(at))
    return frozenset(found - others)
