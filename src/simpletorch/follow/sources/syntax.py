"""The syntax of files, kept for as long as they are the same."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final, TypeVar

__all__ = ["contains", "loop_around", "parse"]

L = TypeVar("L", bound=ast.stmt)

_MOST_BYTES: Final = 2_000_000
_MOST_KEPT: Final = 6_000_000  # bytes of source; their syntax takes forty times as much
_trees: Final[dict[str, tuple[int, int, ast.Module]]] = {}  # by path, those that were used last at the end


def parse(path: Path) -> ast.Module | None:
    """The syntax of a file, None if it can't be read as Python. Kept for as long as the file is the same."""
    try:
        status = path.stat()
        changed, size, tree = _trees.pop(str(path), (0, 0, None))
        if tree is None or (changed, size) != (status.st_mtime_ns, status.st_size):
            if status.st_size > _MOST_BYTES:
                return None
            tree = ast.parse(path.read_bytes(), str(path))
        _trees[str(path)] = status.st_mtime_ns, status.st_size, tree
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    kept = sum(size for _, size, _ in _trees.values())
    while kept > _MOST_KEPT:
        kept -= _trees.pop(next(iter(_trees)))[1]
    return tree


def contains(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a node is a part of another one, or it itself."""
    return any(n is inner for n in ast.walk(outer))


def loop_around(body: ast.AST, inner: ast.AST, *kinds: type[L]) -> L | None:
    """The innermost loop of these kinds that a node is a part of."""
    loops = [n for n in ast.walk(body) if isinstance(n, kinds) and contains(n, inner)]
    return min(loops, key=lambda n: (n.end_lineno or n.lineno) - n.lineno, default=None)
