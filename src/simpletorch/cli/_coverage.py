"""Measured coverage of each operation: how often its rule agrees with torch on torch's own test inputs.

The numbers lie in ``_coverage.json``, which ``python -m benchmarks.op_coverage --docs docs/operations.md`` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["COLUMNS", "FILE", "Coverage", "measured", "measured_on", "total"]

FILE: Final = "_coverage.json"


@dataclass(frozen=True)
class Coverage:
    """Counts over the calls that were tried."""

    lines: int = 0
    """Calls that torch accepts."""
    exact: int = 0
    """Of these, the ones whose shape and dtype are known in full and right,"""
    partial: int = 0
    """known in part and right,"""
    unknown: int = 0
    """not known,"""
    wrong: int = 0
    """wrong,"""
    false_error: int = 0
    """or reported as a mistake."""
    must_fail: int = 0
    """Calls that torch refuses: a dim or dtype changed, and torch's own error inputs."""
    flagged: int = 0
    """Of these, the ones that are reported."""

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(*(getattr(self, c) + getattr(other, c) for c in COLUMNS))

    @property
    def text(self) -> str:
        """The counts in one line; those of mistakes only where there are any."""
        parts = [f"{self.exact} of {self.lines} calls exact"]
        parts += [
            f"{count} {what}"
            for count, what in (
                (self.partial, "partial"),
                (self.unknown, "unknown"),
                (self.wrong, "wrong"),
                (self.false_error, "false errors"),
            )
            if count
        ]
        if self.must_fail:
            parts.append(f"{self.flagged} of {self.must_fail} that must fail flagged")
        return ", ".join(parts)


COLUMNS: Final = tuple(f.name for f in fields(Coverage))


@cache
def _document() -> dict[str, object]:
    document: dict[str, object] = json.loads(files("simpletorch.cli").joinpath(FILE).read_text())
    return document


@cache
def measured() -> dict[str, Coverage]:
    """By public name; what torch has no test inputs for is missing."""
    operations = _document()["operations"]
    assert isinstance(operations, dict)
    return {name: Coverage(*counts) for name, counts in operations.items()}


def measured_on() -> tuple[str, str]:
    """The day of the measurement (ISO 8601) and torch's version."""
    return str(_document()["date"]), str(_document()["torch"])


def total(names: Iterable[str]) -> Coverage | None:
    """The sum over the operations of these names; None if none was measured."""
    found = [measured()[n] for n in names if n in measured()]
    return sum(found, Coverage()) if found else None
