"""Results that are computed once for a file's tree, until the file is parsed again or mypy is done with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

from mypy.nodes import MypyFile, Statement

__all__ = ["once_a_tree"]

T = TypeVar("T")

_FEW: Final = 32


class _Known:
    """The results for each tree that mypy still works on."""

    def __init__(self) -> None:
        self._by_tree: dict[MypyFile, tuple[list[Statement], dict[object, Any]]] = {}
        self._most = _FEW

    def of(self, tree: MypyFile) -> dict[object, Any]:
        """The results for a tree, by the function that computed them.

        mypy's daemon puts the statements of a file that was edited into the tree that it has
        (``mypy.server.astmerge``): the tree stays the same object, and its list of statements is another. Elsewhere
        mypy empties that list when it is through with a circle of imports; to keep what was known of it then would
        keep all of its syntax.
        """
        found = self._by_tree.get(tree)
        if found is None or found[0] is not tree.defs:
            if len(self._by_tree) >= self._most:
                self._by_tree = {tree: known for tree, known in self._by_tree.items() if known[0]}
                self._most = max(_FEW, 2 * len(self._by_tree))
            found = self._by_tree[tree] = tree.defs, {}
        return found[1]


_KNOWN: Final = _Known()


def once_a_tree(compute: Callable[[MypyFile], T]) -> Callable[[MypyFile], T]:
    """Remember the result for each tree."""

    @wraps(compute)
    def remembered(tree: MypyFile) -> T:
        known = _KNOWN.of(tree)
        if compute not in known:
            known[compute] = compute(tree)
        result: T = known[compute]
        return result

    return remembered
