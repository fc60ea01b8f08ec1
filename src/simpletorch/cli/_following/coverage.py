"""``simpletorch follow --coverage``: how many tensor lines are known, and what costs the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, final

from simpletorch.follow.cache.told import Place, Told

__all__ = ["Coverage"]

_MOST_CAUSES: Final = 10
_MOST_PLACES: Final = 3
_MISSING: Final = re.compile(r"([A-Za-z_]\w*)(?:\.\w+)* isn't (?:followed|known to the follower)")
"""How the follower names what it has no model of."""


@final
@dataclass(frozen=True, slots=True)
class Coverage:
    """The tensor lines of some programs, by how much is known of them.

    Args:
        known: lines whose shapes are all known.
        partly: lines with a tensor that is known in part.
        unknown: lines that may give a tensor, with nothing known.
        causes: by cause, the lines that it costs; those that cost most come first.
    """

    known: int
    partly: int
    unknown: int
    causes: dict[str, list[Place]]

    @classmethod
    def of(cls, told: Told) -> Coverage:
        """The coverage of an answer."""
        known, lines = told.coverage
        partly = sum(is_partly for *_, is_partly in told.causes)
        places: dict[str, list[Place]] = {}
        for path, line, why, _ in told.causes:
            places.setdefault(why, []).append((path, line))
        ranked = sorted(places.items(), key=lambda cause: (-len(cause[1]), cause[0]))
        return cls(known, partly, lines - known - partly, dict(ranked))

    @property
    def libraries(self) -> dict[str, int]:
        """The libraries without a model, each with the number of lines that it costs."""
        found: dict[str, int] = {}
        for why, places in self.causes.items():
            if name := _MISSING.fullmatch(why):
                found[name[1]] = found.get(name[1], 0) + len(places)
        return dict(sorted(found.items(), key=lambda library: (-library[1], library[0])))

    def lines(self) -> Iterator[str]:
        """The report for people."""
        total = self.known + self.partly + self.unknown
        if not total:
            yield "No line gives a tensor."
            return
        share = f"{self.known} known ({self.known / total:.0%})"
        yield f"{total} tensor lines: {share}, {self.partly} known in part, {self.unknown} unknown"
        if self.causes:
            yield "The causes that cost most, each with its lines:"
        for why, places in list(self.causes.items())[:_MOST_CAUSES]:
            named = ", ".join(f"{path}:{line}" for path, line in places[:_MOST_PLACES])
            more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
            yield f"{len(places):6}  {why} ({named}{more})"
        if self.libraries:
            yield f"Libraries without a model: {', '.join(f'{name} ({n})' for name, n in self.libraries.items())}"

    @property
    def document(self) -> dict[str, Any]:
        """The report for tools."""
        return {
            "known": self.known,
            "partly": self.partly,
            "unknown": self.unknown,
            "lines": self.known + self.partly + self.unknown,
            "causes": [
                {"cause": why, "places": [{"file": path, "line": line} for path, line in places]}
                for why, places in self.causes.items()
            ],
            "libraries": self.libraries,
        }
