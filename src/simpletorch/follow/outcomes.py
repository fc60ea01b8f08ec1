"""How a piece of program ends: normally, by a jump, or, under a condition that isn't known, in one way or another."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

from simpletorch.follow.findings import Finding
from simpletorch.follow.heap import Change
from simpletorch.follow.values import Unknown

__all__ = [
    "BREAK",
    "CONTINUE",
    "Done",
    "Ending",
    "Exhausted",
    "Jump",
    "Outcome",
    "Passing",
    "Raise",
    "Raised",
    "Return",
    "Split",
]


@final
@dataclass(frozen=True, slots=True)
class Jump:
    """``break`` or ``continue``."""

    kind: str


BREAK = Jump("break")
CONTINUE = Jump("continue")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Return:
    """``return value``."""

    value: Any
    kind: str = "return"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Raise:
    """An exception of the program's is on its way: its class by name, with the names of its bases, and the object."""

    error: Raised
    kind: str = "raise"


class Raised(Exception):
    """An exception that the program raises, while an expression is computed."""

    def __init__(self, name: str, value: Any = None, bases: tuple[str, ...] = ()) -> None:
        super().__init__(name)
        self.name, self.value, self.bases = name, value, bases
        self.is_told = False  # whether it was found already: what raises it goes on with what isn't known
        self.finding: Finding | None = None  # the mistake for which it is raised, where somebody may take it
        self.through: tuple[ast.AST, ...] = ()  # the functions that were running then


@dataclass(frozen=True, slots=True)
class Ending:
    """Where an exception was raised: the file and the statement."""

    error: Raised | None = None
    path: str = ""
    statement: ast.stmt | None = None


class Passing(Exception):
    """What ends more than the statement in which it is raised, and is no mistake of the follower's."""


class Exhausted(Passing):
    """The budget is used up; what is followed ends here."""


@final
@dataclass(slots=True, eq=False)
class Outcome:
    """One way of several: how it ends, what it changed, what it found, under which conditions, and when it began."""

    done: Jump | Return | Raise | None
    change: Change
    findings: list[Finding] = field(default_factory=list)
    conditions: tuple[tuple[Unknown, bool], ...] = ()
    began: int = 0  # `heap.now` as this way and the others parted

    @property
    def kind(self) -> str:
        """How it ends: "normal", "return", "break", "continue" or "raise"."""
        return "normal" if self.done is None else self.done.kind


@final
@dataclass(slots=True, eq=False)
class Split:
    """Several ways that end differently. Their changes are set aside, all from the same state."""

    outcomes: list[Outcome]
    kind: str = "split"


Done: TypeAlias = Jump | Return | Raise | Split | None
