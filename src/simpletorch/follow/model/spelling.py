"""Misspelt names: which one was meant."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from simpletorch.follow.sources.syntax import walk
from simpletorch.follow.values import Class, Function

__all__ = [
    "assigned",
    "closest",
    "misspelt_constructor",
]


def closest(name: str, others: Iterable[str], most: int = 2) -> str | None:
    """The one among the names that was likely meant; None where none is near."""
    best: tuple[int, str] | None = None
    plain = name.lower().replace("_", "")
    for other in dict.fromkeys(others):
        bare = other.lower().replace("_", "")
        if min(len(plain), len(bare)) < 2 or abs(len(plain) - len(bare)) > most:
            continue
        found = _distance(plain, bare)
        near = found <= (1 if max(len(plain), len(bare)) < 6 else most)
        if near and (best is None or found < best[0]):
            best = found, other
    return None if best is None else best[1]


def _distance(a: str, b: str) -> int:
    """How many letters are to be changed, left out, added or swapped with their neighbour."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            best = min(row[-1] + 1, rows[-1][j] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def misspelt_constructor(cls: Class) -> str | None:
    """The name of a method that looks like ``__init__``, where the class has none."""
    if cls.module != "__main__" or isinstance(cls.cells.get("__init__"), Function):
        return None
    names = [n for n, v in cls.cells.items() if isinstance(v, Function) and n.startswith("_") and assigned(cls, n)]
    return next((n for n in names if n != "__init__" and _distance(n.strip("_"), "init") < 2), None)


def assigned(cls: Class, method: str) -> set[str]:
    """The attributes that a method of a class assigns to its object."""
    node = cls.cells[method].node
    me = node.args.args[0].arg if node.args.args else ""
    stores = [n for n in walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    return {n.attr for n in stores if isinstance(n.value, ast.Name) and n.value.id == me}
