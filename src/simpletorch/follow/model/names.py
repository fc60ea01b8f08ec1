"""Names as the compiler sees them: private ones in classes, and which are a function's own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, Final

from simpletorch.follow.sources.syntax import of_node, parts

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
    todo: list[ast.AST] = list(node.body) if isinstance(node, ast.ClassDef) else parts(node)
    while todo:
        at = todo.pop()
        _rename(at, own)
        if isinstance(at, ast.ClassDef):  # what is in its body has its own name
            todo += [*at.bases, *at.keywords, *at.decorator_list]
        elif is_class and isinstance(at, _FUNCTIONS):
            todo += [*at.decorator_list, *at.args.defaults, *(d for d in at.args.kw_defaults if d is not None)]
        else:
            todo += parts(at)


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
    return name[:2] == "__" and name[-2:] != "__" and "." not in name


_SCOPES: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})
_COMPREHENSIONS: Final = frozenset({ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp})
_DECLARATIONS: Final = frozenset({ast.Global, ast.Nonlocal})
_BOUND: Final[dict[type[ast.AST], Callable[[Any], Iterable[str]]]] = {
    ast.NamedExpr: lambda n: (n.target.id,),
    ast.MatchMapping: lambda n: _named(n.rest),
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), lambda n: _named(n.name)),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), lambda n: _named(n.name)),
    **dict.fromkeys((ast.Import, ast.ImportFrom), lambda n: {(a.asname or a.name).partition(".")[0] for a in n.names}),
}
"""By kind of syntax, the names that it gives a value, beside those that are `ast.Name`."""


def _named(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


@of_node
def local_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that a function assigns anywhere: there they are its own everywhere in it, with a value or without."""
    found: set[str] = set()
    others: set[str] = set()
    own: list[Any] = list(node.body) if isinstance(node.body, list) else []
    inner: list[Any] = []  # in comprehensions, which have variables of their own
    while own or inner:
        is_own = bool(own)
        todo = own if is_own else inner
        at = todo.pop()
        kind = type(at)
        if kind is ast.Name:
            if is_own and type(at.ctx) is not ast.Load:
                found.add(at.id)
            continue
        if kind in _BOUND:
            found.update(_BOUND[kind](at))
        elif kind in _DECLARATIONS:
            others.update(at.names)
        elif kind in _COMPREHENSIONS:
            todo = inner
        if kind not in _SCOPES:
            todo += parts(at)
    return frozenset(found - others)
