"""Code whose errors mypy never shows: it checks a thousand installed files for one of the user's.

For a file whose errors mypy doesn't show, only its interface counts: the names that the top level binds, and the
attributes that methods define. The functions that define some are marked by mypy itself (``def_or_infer_vars``). In the
others, nothing that the plugin could know has a consequence. A file that imports nothing that makes tensors has no such
interface either.
"""

from __future__ import annotations

from typing import Any, Final, cast

from mypy.nodes import FuncDef, Import, ImportFrom, MypyFile
from mypy.plugin import CheckerPluginInterface

from simpletorch.mypy.program.memory import once_a_tree

__all__ = ["is_of_others", "is_out_of_sight"]

_LIBRARIES: Final = ("torch", "simpletorch", "jaxtyping", "einops", "torchvision")


def is_out_of_sight(api: CheckerPluginInterface) -> bool:
    """Whether nothing at the place that mypy is checking has a consequence that anyone sees."""
    checker = cast(Any, api)
    errors = checker.msg.errors
    if errors.file not in errors.ignored_files:
        return False
    around = [node for node in checker.scope.stack if isinstance(node, FuncDef)]
    if around and not any(function.def_or_infer_vars for function in around):
        return True
    return not _makes_tensors(checker.tree)


def is_of_others(api: CheckerPluginInterface) -> bool:
    """Whether mypy is checking an installed package other than simpletorch, whose errors it never shows."""
    checker = cast(Any, api)
    errors = checker.msg.errors
    return errors.file in errors.ignored_files and not checker.tree.fullname.startswith("simpletorch.")


@once_a_tree
def _makes_tensors(tree: MypyFile) -> bool:
    """Whether the file, or the package that it is part of, is about tensors."""
    if tree.fullname.partition(".")[0] in _LIBRARIES:
        return True
    modules = [m for i in tree.imports if isinstance(i, Import) for m, _ in i.ids]
    modules += [i.id for i in tree.imports if isinstance(i, ImportFrom)]
    return any(m.partition(".")[0] in _LIBRARIES for m in modules) or any(_is_own(i) for i in tree.imports)


def _is_own(statement: object) -> bool:
    """Whether a neighbour is imported, about which nothing is known here."""
    return isinstance(statement, ImportFrom) and statement.relative > 0
