"""What is worked out once of a file's tree, until the file is parsed again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

from mypy.nodes import MypyFile

__all__ = ["once_a_tree"]

T = TypeVar("T")

_FILES: Final = 128
"""mypy goes through the files of a circle of imports more than once."""


def once_a_tree(compute: Callable[[MypyFile], T]) -> Callable[[MypyFile], T]:
    """Remember the result for each tree.

    mypy's daemon puts the statements of a file that was edited into the tree that it has (``mypy.server.astmerge``):
    the tree stays the same object, and its list of statements is another.
    """
    known: dict[MypyFile, tuple[object, T]] = {}

    @wraps(compute)
    def remembered(tree: MypyFile) -> T:
        found = known.get(tree)
        if found is not None and found[0] is tree.defs:
            return found[1]
        result = compute(tree)
        known[tree] = (tree.defs, result)
        if len(known) > _FILES:
            del known[next(iter(known))]
        return result

    return remembered
