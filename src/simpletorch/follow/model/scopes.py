"""Names: the variables of a module, a function's call, a class body; and who sees whose."""

from __future__ import annotations

import ast
from typing import Any

from simpletorch.follow.heap import MISSING, Cells

__all__ = ["Scope"]


class Scope:
    """The variables of one module, call, comprehension or class body."""

    __slots__ = (
        "cells",
        "depth",
        "first",
        "function",
        "given",
        "globals",
        "is_class",
        "is_inner",
        "locals",
        "outside",
        "owner",
        "parent",
        "path",
        "stars",
        "yielded",
    )

    def __init__(
        self,
        parent: Scope | None,
        path: str,
        cells: dict[str, Any] | None = None,
        *,
        is_class: bool = False,
        is_inner: bool = False,
    ) -> None:
        self.cells: dict[str, Any] = Cells() if cells is None else cells
        self.parent, self.path, self.is_class = parent, path, is_class
        self.is_inner = is_inner  # a comprehension's: a line may have another variable of the same name
        self.globals: Scope = self if parent is None else parent.globals
        self.outside: dict[str, Scope] = {}  # names declared global or nonlocal
        self.locals: frozenset[str] = frozenset()  # of a function: the names that are its own
        self.function = ""
        self.owner: Any = None  # the class whose method runs
        self.first: Any = MISSING  # the first argument of a method, for super()
        self.yielded: Any = None  # what takes the values of a generator
        self.given = 0  # how often it took several of them, or one more behind such
        self.depth = 0  # of the heap, as the generator began, or a round of a `while` in it
        self.stars: list[Any] = []  # libraries of which everything was imported

    def find(self, name: str) -> Any:
        """The value of a name as this scope sees it, or MISSING. Class bodies are seen by nobody inside."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if first or not scope.is_class:
                if name in scope.outside:
                    return scope.outside[name].find(name)
                if name in scope.cells:
                    return scope.cells[name]
            first = False
            scope = scope.parent
        return MISSING

    def lacks(self, name: str) -> bool:
        """Whether a name is one of the function's own, which has no value here."""
        scope: Scope | None = self
        while scope is not None and name not in scope.cells:
            if name in scope.locals:
                return True
            if not scope.is_inner:
                return False
            scope = scope.parent
        return False

    def place(self, name: str) -> dict[str, Any]:
        """The cells that hold a name as this scope sees it; the module's where none does."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if first or not scope.is_class:
                if name in scope.outside:
                    return scope.outside[name].place(name)
                if name in scope.cells:
                    return scope.cells
            first = False
            scope = scope.parent
        return self.globals.cells

    def holder(self, name: str) -> dict[str, Any]:
        """The cells that an assignment of the name in this scope goes to."""
        other = self.outside.get(name)
        return self.cells if other is None else other.cells

    def declare(self, node: ast.Global | ast.Nonlocal) -> None:
        """``global`` and ``nonlocal``."""
        for name in node.names:
            if isinstance(node, ast.Global):
                if self is not self.globals:
                    self.outside[name] = self.globals
                continue
            scope = self.parent
            while scope is not None and (scope.is_class or name not in scope.cells):
                scope = scope.parent
            self.outside[name] = scope or self.globals
