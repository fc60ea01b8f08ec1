"""Imports of a library's file, which are followed when what they bind is asked for.

A file of a package imports hundreds of modules through those that it names, and needs what few of them define. So a
module is run as if that had happened at the first import; what a function of it may have registered since isn't known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch._programs import kind_of
from simpletorch.follow.sources import mentions, texts
from simpletorch.follow.sources.lazy_cells import LazyCells
from simpletorch.follow.sources.syntax import of_node, parse
from simpletorch.follow.values import MISSING, Dict, List, Namespace, Set, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = [
    "CHANGES",
    "binds",
    "cells_of",
    "defer",
    "defer_all",
    "is_library",
    "may_define",
    "open_registries",
    "registries",
]

_SETS_FOR_ALL: Final = re.compile(r"\bset_(?:default_\w+|grad_enabled|float32_matmul_precision)\(")
CHANGES: Final = frozenset(
    ("append", "add", "extend", "insert", "update", "setdefault", "pop", "remove", "clear", "discard", "popitem")
)
"""Methods that change a list, a dict or a set."""


def is_library(path: Path) -> bool:
    """Whether a file only defines what others use, in a package that sets nothing for all as it is imported."""
    if kind_of(path, texts.read(path)) == "program":
        return False
    folder = path.parent
    while texts.is_file(folder / "__init__.py"):
        if _sets_for_all(folder / "__init__.py"):
            return False
        folder = folder.parent
    return True


def _sets_for_all(path: Path) -> bool:
    """Whether a file calls what sets something for all; one that has such a name somewhere is parsed."""
    if not _SETS_FOR_ALL.search(texts.read(path)):
        return False
    tree = parse(path)
    return tree is None or any(_SETS_FOR_ALL.fullmatch(f"{name}(") for name in mentions.of(tree).called)


@final
class _Imports(Mapping[str, Callable[[], Value]]):
    """What a module imports: by name what gives it; and the modules of which it imports everything."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self.by_name: dict[str, Callable[[], Value]] = {}
        self.stars: list[str] = []
        self._of_stars: dict[object, list[str]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.by_name or bool(self.stars and self._defining(name))

    def __getitem__(self, name: str) -> Callable[[], Value]:
        return self.by_name.get(name) or (lambda: self._from_star(name))

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self.by_name, *(name for star in self.stars for name in self._public(star)))))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _defining(self, name: object) -> list[str]:
        """The modules imported from whole that may have the name, the last first."""
        if name not in self._of_stars:
            self._of_stars[name] = [s for s in reversed(self.stars) if may_define(self._run, s, str(name))]
        return self._of_stars[name]

    def _from_star(self, name: str) -> Value:
        for star in self._defining(name):
            if name in self._public(star):
                return self._run.resolve(self._run.program.modules[star].cells[name])
        return MISSING  # it may be one of Python's own

    def add_star(self, module: str) -> None:
        """Everything of another module is imported here."""
        self.stars.append(module)
        self._of_stars.clear()

    def _public(self, star: str) -> list[str]:
        """The names that ``from star import *`` binds."""
        module = self._run.program.load(self._run, star)
        if module is None:
            return []
        listed = self._run.resolve(module.cells.get("__all__"))
        chosen = None if listed is None else self._run.items(listed)
        if chosen is not None:
            return [name for name in chosen if isinstance(name, str) and name in module.cells]
        return [name for name in module.cells if isinstance(name, str) and not name.startswith("_")]


@final
class _ModuleCells(LazyCells):
    """The variables of a module, with what it imports."""

    __slots__ = ("imports",)

    def __init__(self, run: Interpreter) -> None:
        self.imports = _Imports(run)
        super().__init__(self.imports, lambda work: work())


def cells_of(run: Interpreter, names: Mapping[str, Value]) -> dict[str, Any]:
    """The variables of a module, which begins with some."""
    cells = _ModuleCells(run)
    for name, value in names.items():
        cells[name] = value
    return cells


def defer(run: Interpreter, scope: Scope, name: str, work: Callable[[], Value]) -> bool:
    """Let a name of a module be what ``work`` gives when it is asked for; False where that is to be asked at once."""
    cells = _top_level(run, scope)
    if cells is None:
        return False
    cells.imports.by_name[name] = work
    cells.forget(name)
    return True


def defer_all(run: Interpreter, scope: Scope, module: str) -> bool:
    """Let a module have all public names of another one; False where they are to be bound at once."""
    cells = _top_level(run, scope)
    if cells is not None:
        cells.imports.add_star(module)
    return cells is not None


def _top_level(run: Interpreter, scope: Scope) -> _ModuleCells | None:
    """The variables of the module whose top level is followed; None where imports are followed at once."""
    is_sure = scope.parent is None and not run.optional_imports and not run.heap.depth
    return scope.cells if is_sure and isinstance(scope.cells, _ModuleCells) else None


def may_define(run: Interpreter, module: str, name: str) -> bool:
    """Whether a module's text may bind a name, itself or by what it imports everything of."""
    seen, left = {module}, [module]
    while left:
        path = run.program.find(left.pop())
        text = "" if path is None else texts.read(path)
        if name in text and binds(name).search(text):
            return True
        if path is None or "import *" not in text:
            continue
        for star in _STAR.findall(text):
            inner = run.program.absolute(star, path)
            if inner is not None and inner not in seen:
                seen.add(inner)
                left.append(inner)
    return False


_STAR: Final = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+\*", re.MULTILINE)


@lru_cache(maxsize=1024)
def binds(name: str) -> re.Pattern[str]:
    """Where a text may bind a name: a definition, an assignment, an import of one line or a line of a longer one."""
    word = rf"{re.escape(name)}\b"
    ways = (
        rf"^[ \t]*(?:(?:async )?def|class)[ \t]+{word}",
        rf"^[ \t]*{word}[ \t]*[:=,]",
        rf"\bimport\b.*\b{word}",
        rf"\bas {word}",
        rf"^[ \t]+{word}[ \t]*(?:#|$)",
    )
    return re.compile("|".join(ways), re.MULTILINE)


def open_registries(run: Interpreter, module: Namespace, tree: ast.Module) -> None:
    """What functions of a module put into its lists, dicts and sets isn't known: modules that aren't run call them."""
    for name in registries(tree):
        value = module.cells.get(name, MISSING)
        if isinstance(value, List | Dict | Set):
            module.cells[name] = run.unknown(f"{name}, which modules that aren't followed may have changed")


@of_node
def registries(tree: ast.Module) -> frozenset[str]:
    """The variables of a module that its functions change."""
    found: set[str] = set()
    functions = [n for s in tree.body for n in ast.walk(s) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in (n for f in functions for n in ast.walk(f)):
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Call(func=ast.Attribute(value=changed, attr=attr)) if attr in CHANGES:
                changed = changed.value if isinstance(changed, ast.Subscript) else changed
                found |= {changed.id} if isinstance(changed, ast.Name) else set()
            case ast.AugAssign(target=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name))):
                found.add(name)
            case ast.Global(names=names):
                found.update(names)
    return frozenset(found)
