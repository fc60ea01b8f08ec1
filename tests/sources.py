"""The files of a package as text, and what each imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import simpletorch

SOURCE = Path(simpletorch.__file__).parent


def modules_of(folder: Path) -> dict[str, ast.Module]:
    """The files below ``folder``, a package, by the names that they are imported by."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(tree: ast.AST, *, for_type_checkers: bool = False) -> Iterator[str]:
    """The full names that a file imports, in its functions too: ``a.b`` for ``import a.b`` and ``from a import b``.

    Args:
        for_type_checkers: also what stands under ``if TYPE_CHECKING``.
    """
    if isinstance(tree, ast.Import):
        yield from (alias.name for alias in tree.names)
    elif isinstance(tree, ast.ImportFrom):
        assert tree.level == 0, "a relative import"
        yield from (f"{tree.module}.{alias.name}" for alias in tree.names)
    elif not for_type_checkers and isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.unparse(tree.test):
        for statement in tree.orelse:
            yield from imported(statement)
    else:
        for child in ast.iter_child_nodes(tree):
            yield from imported(child, for_type_checkers=for_type_checkers)
