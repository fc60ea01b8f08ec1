"""The optimizers of a program and how often they step: what several mistakes ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias, final

from simpletorch.follow.findings import Finding
from simpletorch.follow.layers import optimized
from simpletorch.follow.marks import weights
from simpletorch.follow.mistakes import events
from simpletorch.follow.values import Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS", "Optimizer", "Optimizers", "Site", "Steps", "site_of"]

Site: TypeAlias = tuple[tuple[str, int], ...]  # the calls that lead to a statement, and the statement


@final
@dataclass(slots=True)
class Steps:
    """How often something steps, by the places where it does."""

    value: Instance
    made_at: Site
    made_for: int | None = None
    sites: dict[Site, tuple[int, ...] | None] = field(default_factory=dict)
    """By place: how often each of the loops around it goes round, from the outermost; None where that isn't known."""
    first: Finding | None = None
    """Where it steps first."""
    early: Finding | None = None
    """Where a scheduler steps before its optimizer, with what would be said."""

    @property
    def total(self) -> int | None:
        """How often it steps in all."""
        if not self.sites or None in self.sites.values():
            return None
        return sum(prod(rounds) for rounds in self.sites.values() if rounds is not None)


@final
@dataclass(slots=True)
class Optimizer:
    """An optimizer, what would be said where it is made, and how often it has stepped."""

    value: Instance
    where: Finding
    counted: Steps
    steps: int = 0

    def own(self, run: Interpreter) -> set[int]:
        """The identities of its parameters' cells, as far as they are known."""
        return {id(t.cells) for t in optimized(run, self.value) if t is not None}


class Optimizers:
    """Those that are surely made, by the identity of their cells."""

    def __init__(self) -> None:
        self.known: dict[int, Optimizer] = {}

    def __iter__(self) -> Iterator[Optimizer]:
        return iter(self.known.values())

    def __len__(self) -> int:
        return len(self.known)

    def get(self, value: Value) -> Optimizer | None:
        """The one that a value is."""
        return self.known.get(id(value.cells)) if isinstance(value, Instance) else None


def site_of(run: Interpreter) -> Site:
    """Where the program is."""
    return (*((path, line) for path, line, *_ in run.stack), (run.path, getattr(run.node, "lineno", 0)))


def _made(run: Interpreter, optimizer: Instance) -> None:
    """An optimizer is made here."""
    if run.entry or any(c.cause == "code" for c in run.conditions) or run.hypothetical:
        return
    where = run.finding("tensor-training", "", None)
    run.training.of(Optimizers).known[id(optimizer.cells)] = Optimizer(optimizer, where, Steps(optimizer, site_of(run)))


def _stepped(run: Interpreter, optimizer: Value, calls: bool) -> None:
    known = run.training.of(Optimizers).get(optimizer)
    if known is not None:
        known.steps += 1
        if not calls:
            weights.stepped(run, known.own(run))


LISTENS: Final = (events.OPTIMIZER.to(_made), events.STEP.to(_stepped))
