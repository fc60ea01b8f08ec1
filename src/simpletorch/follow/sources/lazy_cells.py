"""Variables that are worked out when somebody asks for them: of a live namespace, or those that a module imports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["LazyCells"]


class LazyCells(dict[Any, Any]):
    """Cells that hold what a namespace does. What was asked for, or written, is kept here; the namespace isn't changed.

    A plain dict has no birth, so what is in here counts as older than the follow itself (`heap.born`).

    Args:
        source: the namespace: a dict, what slots hold, or a module's imports.
        convert: from what the namespace holds to the follower's value.
    """

    __slots__ = ("_asked", "_convert", "_source")

    def __init__(self, source: Mapping[str, Any], convert: Callable[[Any], Any]) -> None:
        super().__init__()
        self._source, self._convert = source, convert
        self._asked: set[Any] = set()

    def _ask(self, key: Any) -> None:
        if key not in self._asked and key in self._source:
            self._asked.add(key)
            dict.__setitem__(self, key, self._convert(self._source[key]))

    def _ask_all(self) -> None:
        for key in list(self._source):
            self._ask(key)

    def forget(self, key: Any) -> None:
        """Ask the namespace again: it has another value now."""
        self._asked.discard(key)
        dict.pop(self, key, None)

    # each name that a cell mentions is looked up here again and again, so these ask no more than they must

    def __contains__(self, key: object) -> bool:
        if key not in self._asked:
            self._ask(key)
        return dict.__contains__(self, key)

    def __missing__(self, key: Any) -> Any:
        self._ask(key)
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        raise KeyError(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value, or the default."""
        if key not in self._asked:
            self._ask(key)
        return dict.get(self, key, default)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._asked.add(key)
        super().__setitem__(key, value)

    def pop(self, key: Any, *default: Any) -> Any:
        """Take a value out: it isn't looked up in the namespace again."""
        self._ask(key)
        self._asked.add(key)
        return super().pop(key, *default)

    def __iter__(self) -> Iterator[Any]:
        self._ask_all()
        return super().__iter__()

    def __len__(self) -> int:
        self._ask_all()
        return super().__len__()

    def keys(self) -> Any:
        """All names."""
        self._ask_all()
        return super().keys()

    def values(self) -> Any:
        """All values."""
        self._ask_all()
        return super().values()

    def items(self) -> Any:
        """All names with their values."""
        self._ask_all()
        return super().items()
