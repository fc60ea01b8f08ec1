"""Files without tensors that nobody sees the errors of: mypy checks a thousand of them for one of the user's."""

from __future__ import annotations

from typing import Any, Final, cast

from mypy.nodes import Import, ImportFrom, MypyFile
from mypy.plugin import CheckerPluginInterface

from simpletorch.mypy.program.memory import once_a_tree

__all__ = ["is_out_of_sight"]

_LIBRARIES: Final = ("torch", "simpletorch", "jaxtyping", "einops", "torchvision")


def is_out_of_sight(api: CheckerPluginInterface) -> bool:
    """Whether the file is part of an installed library, by mypy's reckoning, and imports nothing that makes tensors."""
    checker = cast(Any, api)
    errors = checker.msg.errors
    return errors.file in errors.ignored_files and not _makes_tensors(checker.tree)


@once_a_tree
def _makes_tensors(tree: MypyFile) -> bool:
    """Whether the file, or the package that it is part of, is about tensors."""
    if tree.fullname.partition(".")[0] in _LIBRARIES:
        return True
    modules = [m for i in tree.imports if isinstance(i, Import) for m, _ in i.ids]
    modules += [i.id for i in tree.imports if isinstance(i, ImportFrom)]
    return any(m.partition(".")[0] in _LIBRARIES for m in modules) or any(_is_own(i) for i in tree.imports)


def _is_own(statement: object) -> bool:
    """Whether a neighbour is imported, of which nothing is known here."""
    return isinstance(statement, ImportFrom) and statement.relative > 0
