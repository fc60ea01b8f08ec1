"""Lists that get longer in a loop of which it is known how often it runs: how long they are behind it.

A loop that isn't unrolled to its end is followed until a round stands for any of those that are left. What such a round
surely adds to a list, each of them adds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from simpletorch.follow.heap import MISSING, SIZE, Change
from simpletorch.follow.numbers import between
from simpletorch.follow.numbers.offsets import Offset
from simpletorch.follow.values import Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Growth"]


@final
class Growth:
    """The lists that one loop makes longer, with how long they were before."""

    def __init__(self, run: Interpreter, rounds: int | None, source: Value) -> None:
        """``source`` is what the loop goes over: a list that the loop changes gives another number of rounds."""
        self.run, self.rounds = run, rounds
        self.source, self.length = source, between.count(source)
        self.before: list[tuple[dict[Any, Any], Offset]] = []
        self.counted: list[tuple[dict[Any, Any], Offset]] = []  # by what a round counts from
        self.each: list[int | None] = []

    def begin(self) -> None:
        """A round begins that stands for any: from here on it is counted what it adds."""
        self.counted = [(cells, (object(), 1, 0)) for cells, _ in self.before if cells.get("items") is None]
        for cells, start in self.counted:
            self.run.heap.write(cells, SIZE, start)

    def end(self, changed: Change, first: bool) -> None:
        """A round is over that has changed this, the first one with what was known before the loop."""
        if self.rounds is None:
            return
        if first:
            self.before = list(_grown(changed))
            return
        self.each = [_added(start, cells.get(SIZE, MISSING)) for cells, start in self.counted]

    def settle(self) -> None:
        """The loop is over, and has run as often as it is known to."""
        if between.count(self.source) != self.length:
            return
        lengths = {id(cells): size for cells, size in self.before}
        for (cells, _), each in zip(self.counted, self.each, strict=True):
            if each is not None and self.rounds is not None and cells.get("items") is None:
                origin, times, by = lengths[id(cells)]
                self.run.heap.write(cells, SIZE, (origin, times, by + each * self.rounds))


def _grown(changed: Change) -> list[tuple[dict[Any, Any], Offset]]:
    """The lists that a round has made longer, with the sizes that they had."""
    found: list[tuple[dict[Any, Any], Offset]] = []
    for cells, key, old in changed.values():
        if key == "items" and "item" in cells and isinstance(old, tuple):
            found.append((cells, (None, 0, len(old))))
        elif key == SIZE and "items" in cells and isinstance(old, tuple):
            found.append((cells, old))
    return found


def _added(start: Offset, end: Any) -> int | None:
    if not isinstance(end, tuple) or end[0] is not start[0] or end[1] != 1:
        return None
    return end[2] if type(end[2]) is int and end[2] > 0 else None
