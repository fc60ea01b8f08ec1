"""``torch.manual_seed(0)`` in each round of a training: every round shuffles and drops out alike.

Said where the same statement sets the same seed again, in a loop in which an optimizer steps that is older than the
loop, of a program that shuffles or has dropout in what it trains. Whoever keeps the state of the generator means it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, final

from simpletorch.follow.findings import Finding
from simpletorch.follow.heap import born, now
from simpletorch.follow.mistakes import events
from simpletorch.follow.mistakes.loading import Loading
from simpletorch.follow.mistakes.mode_checks import trains_with_chance
from simpletorch.follow.mistakes.optimizers import Optimizers
from simpletorch.follow.sources.syntax import loop_around
from simpletorch.follow.values import Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS"]

_CODE: Final = "tensor-training"
_KEEPS_STATE: Final = ("set_rng_state", "fork_rng", "setstate", "get_rng_state")


@final
@dataclass(slots=True)
class _Seed:
    """A statement that seeds torch's generator, in a loop that trains."""

    value: int
    finding: Finding
    began: int  # what is born later isn't older than the loop
    stepped: set[int] = field(default_factory=set)  # the optimizers since it ran last
    trained: set[int] = field(default_factory=set)  # those before it ran again.
    is_again: bool = False  # One optimizer steps before and after it
    is_idle: bool = False  # it ran again, and none had stepped: the loop around it trains nothing


class _Seeds:
    """Statements in loops that train which seed torch's generator."""

    def __init__(self) -> None:
        self.known: dict[ast.AST, _Seed] = {}


def _seeded(run: Interpreter, value: Value) -> None:
    """``torch.manual_seed(value)``."""
    if type(value) is not int or run.entry or run.hypothetical or run.tries or run.body is None:
        return
    known = run.training.of(_Seeds).known.get(run.node)
    if known is not None:
        known.is_idle |= not known.stepped
        if known.value == value:
            known.trained |= known.stepped
        else:
            known.value, known.trained = value, set()
        known.stepped = set()
        return
    if loop_around(run.body, run.node, ast.For, ast.While) is not None:
        run.training.of(_Seeds).known[run.node] = _Seed(value, run.finding(_CODE, "", None), now())


def _stepped(run: Interpreter, optimizer: Value, calls: bool) -> None:
    """An optimizer makes a step."""
    if not isinstance(optimizer, Instance) or run.training.of(Optimizers).get(optimizer) is None:
        return
    for seed in run.training.of(_Seeds).known.values():
        if born(optimizer.cells) < seed.began:
            seed.is_again |= id(optimizer.cells) in seed.trained
            seed.stepped.add(id(optimizer.cells))


def _finish(run: Interpreter) -> None:
    """Seeds that are set in each round, where that makes rounds alike."""
    found = [s for s in run.training.of(_Seeds).known.values() if s.is_again and not s.is_idle]
    if not found or not run.program.mentions().used.isdisjoint(_KEEPS_STATE):
        return
    if run.training.of(Loading).shuffles or trains_with_chance(run):
        for seed in found:
            message = f"the seed {seed.value} is set in each iteration, so every iteration shuffles and drops out alike"
            run.keep(replace(seed.finding, message=message, hint="set it once, before the loop"))


LISTENS: Final = (events.SEED.to(_seeded), events.STEP.to(_stepped), events.END.to(_finish))
