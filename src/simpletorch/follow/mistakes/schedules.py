"""How often schedulers and optimizers step: a schedule for epochs that steps with each batch, or steps too often.

How often a statement runs is known where it stands in loops over known numbers of items, without ``if``, ``break`` and
their like. A schedule is judged when the program has ended, by what it was made for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards
from simpletorch.follow.findings import Finding
from simpletorch.follow.mistakes import events
from simpletorch.follow.mistakes.optimizers import Optimizers, Site, Steps, site_of
from simpletorch.follow.sources.syntax import parse, walk
from simpletorch.follow.values import GOES_ROUND, Instance, Value
from simpletorch.follow.values import Iterator as Items

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS"]

_CODE: Final = "tensor-training"
_REFUSED: Final = "tensor-option"
_MADE_FOR: Final = {"CosineAnnealingLR": "T_max", "LinearLR": "total_iters", "PolynomialLR": "total_iters"}
_UNLIKE: Final = frozenset({"ReduceLROnPlateau", "SequentialLR", "ChainedScheduler"})
"""Schedulers whose first step doesn't ask whether the optimizer has stepped."""


class _Schedulers:
    """Of each scheduler, by the identity of its cells, how often it steps; and what each loop goes over."""

    def __init__(self) -> None:
        self.known: dict[int, Steps] = {}
        self.rounds: dict[ast.AST, Value] = {}
        """By loop that was begun: a number of items, or a source of which that can be asked."""
        self.leaves: dict[ast.AST, bool] = {}
        """Whether loops, or rounds of them, may end before their end."""


def _is_sure(run: Interpreter) -> bool:
    return not (run.entry or run.hypothetical or any(c.cause == "code" for c in run.conditions))


def _begins(run: Interpreter, node: ast.AST, source: Value, found: tuple[Value, ...] | None) -> None:
    """A loop begins over these items, or over those of a source."""
    run.training.of(_Schedulers).rounds[node] = source if found is None else len(found)


# -- optimizers and schedulers -----------------------------------------------------------------------------------------


def _made(run: Interpreter, scheduler: Instance, given: dict[str, Value]) -> None:
    """A scheduler is made."""
    if not _is_sure(run) or scheduler.cls.module == run.program.main:
        return
    known = {k: run.resolve(v) for k, v in given.items()}
    name = scheduler.cls.name
    if name == "OneCycleLR":
        parts = known.get("total_steps"), known.get("epochs"), known.get("steps_per_epoch")
        whole = parts[0] if parts[0] is not None else _times(*parts[1:])
        if parts[0] is None and None in parts[1:]:
            message = "OneCycleLR needs total_steps, or epochs and steps_per_epoch"
            guards.refuse(run, message, "OneCycleLR(..., total_steps=epochs * len(loader))", "ValueError", _REFUSED)
    else:
        whole = known.get(_MADE_FOR.get(name, ""))
        if name == "LinearLR" and "total_iters" not in known:
            whole = None
    size = whole if isinstance(whole, int) and not isinstance(whole, bool) else None
    run.training.of(_Schedulers).known[id(scheduler.cells)] = Steps(scheduler, site_of(run), size)


def _times(a: Value, b: Value) -> Value:
    return a * b if isinstance(a, int) and isinstance(b, int) else None


def _stepped(run: Interpreter, value: Value, calls: bool = False) -> None:
    """An optimizer or a scheduler makes a step."""
    if not isinstance(value, Instance):
        return
    optimizer = run.training.of(Optimizers).get(value)
    schedulers = run.training.of(_Schedulers).known
    scheduler = schedulers.get(id(value.cells))
    if scheduler is None and not any(s.made_for for s in schedulers.values()):
        return  # nobody asks how often
    steps = scheduler if scheduler is not None else None if optimizer is None else optimizer.counted
    if steps is None:
        return
    site = site_of(run)
    rounds = _rounds(run, site, steps.made_at) if _is_sure(run) else None
    if steps.sites.setdefault(site, rounds) != rounds:
        steps.sites[site] = None
    if scheduler is not None and scheduler.first is None:
        scheduler.first = run.finding(_CODE, "", None)
        _check_order(run, scheduler)


def _check_order(run: Interpreter, scheduler: Steps) -> None:
    """The first step of a schedule must come after the optimizer's, else the first learning rate is skipped."""
    optimizer = run.resolve(scheduler.value.cells.get("optimizer"))
    known = run.training.of(Optimizers).get(optimizer)
    if known is None or known.steps or not _is_sure(run) or scheduler.value.cls.name in _UNLIKE:
        return
    if any(c.fact is not GOES_ROUND for c in run.conditions):  # perhaps it is one that holds from the second round on
        return
    name = scheduler.value.cls.name
    message = f"{name} steps before {known.value.cls.name} does: the first learning rate is skipped"
    scheduler.early = replace(run.finding(_CODE, message, "optimizer.step() first, then scheduler.step()"))


# -- how often a statement runs ----------------------------------------------------------------------------------------


def _rounds(run: Interpreter, site: Site, made_at: Site) -> tuple[int, ...] | None:
    """How often the loops around a statement and around the calls that lead to it go round.

    Those around the place where what steps was made aren't counted: each of their rounds makes another one.
    """
    out: list[int] = []
    bodies = [None, *(r.node for r in run.running)]
    if len(bodies) != len(site):
        return None
    for depth, (body, (path, line)) in enumerate(zip(bodies, site, strict=True)):
        tree = parse(Path(path)) if body is None else body
        together = made_at[:depth] == site[:depth] and made_at[depth:] and made_at[depth][0] == path
        before = list(_around(tree, made_at[depth][1])) if together else []
        for node in _around(tree, line):
            if node in before:
                inside = before[before.index(node) :]
                if isinstance(node, ast.For | ast.While) and any(isinstance(n, ast.If | ast.Try) for n in inside):
                    return None  # it may be made in the first round alone
            elif isinstance(node, ast.For):
                count = None if _leaves(run, node) else _count(run, run.training.of(_Schedulers).rounds.get(node))
                if count is None:
                    return None
                out.append(count)
            elif isinstance(node, ast.While) or (out and isinstance(node, ast.If | ast.Try | ast.Match)):
                return None
    return tuple(out)


def _around(tree: ast.AST | None, line: int) -> Iterator[ast.AST]:
    """The compound statements of a function, or of a file, that a line stands in, the outermost first."""
    body: list[ast.AST] = list(getattr(tree, "body", ())) if isinstance(getattr(tree, "body", ()), list) else []
    while body:
        at = next((n for n in body if n.lineno <= line <= (n.end_lineno or n.lineno)), None)  # type: ignore[attr-defined]
        if at is None or isinstance(at, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            return
        yield at
        body = [n for n in ast.iter_child_nodes(at) if isinstance(n, ast.stmt | ast.ExceptHandler | ast.match_case)]


def _leaves(run: Interpreter, loop: ast.AST) -> bool:
    """Whether a loop may end before its end, or a round of it."""
    known = run.training.of(_Schedulers).leaves
    if loop not in known:
        known[loop] = any(isinstance(n, ast.Break | ast.Continue | ast.Return | ast.Raise) for n in walk(loop))
    return known[loop]


def _count(run: Interpreter, source: Value) -> int | None:
    """How many items a loop goes over."""
    source = run.resolve(source)
    if isinstance(source, Items):
        return source.count
    if (
        isinstance(source, Instance)
        and source.cls.find("__len__") is not None
        and source.cls.module != run.program.main
    ):
        source = run.resolve(run.call(run.program.builtin(run, "len"), (source,)))
    return source if type(source) is int else None


# -- at the end --------------------------------------------------------------------------------------------------------


def _finish(run: Interpreter) -> None:
    """The program has ended: what was stepped too often, or too seldom."""
    for steps in run.training.of(_Schedulers).known.values():
        optimizer = run.resolve(steps.value.cells.get("optimizer"))
        known = run.training.of(Optimizers).get(optimizer)
        if known is None or known.value.state.get("open") or steps.value.state.get("open"):
            continue
        if steps.early is not None and known.steps:
            run.keep(steps.early)
        elif steps.first is not None and steps.made_for is not None and steps.total is not None:
            _judge(run, steps, steps.first, steps.made_for, steps.total, known.counted)


def _judge(run: Interpreter, steps: Steps, first: Finding, made_for: int, total: int, optimizer: Steps) -> None:
    """What a schedule was made for against how often it steps."""
    name, updates = steps.value.cls.name, optimizer.total
    if name == "OneCycleLR" and total > made_for:
        message = f"OneCycleLR is made for {made_for} steps, but it is stepped {total} times, which torch refuses"
        hint = "step it as often as it is made for" if updates is None else f"total_steps={total}"
        run.keep(replace(first, code=_REFUSED, message=message, hint=hint))
        return
    if updates is None or made_for < 2:
        return
    epochs = {rounds[0] for rounds in steps.sites.values() if rounds} | {r[0] for r in optimizer.sites.values() if r}
    if total < updates == made_for:
        message = f"{name} is made for {made_for} steps, one for each batch, but it is stepped {total} times"
        run.keep(replace(first, message=message, hint="scheduler.step() behind each optimizer.step()"))
    elif total == updates > made_for and epochs == {made_for}:
        message = f"{name} is made for {made_for} steps, one for each epoch, but it is stepped {total} times"
        hint = "scheduler.step() at the end of each epoch, or the number of all batches instead of epochs"
        run.keep(replace(first, message=message, hint=hint))


LISTENS: Final = (
    events.LOOP.to(_begins),
    events.SCHEDULER.to(_made),
    events.SCHEDULE.to(_stepped),
    events.STEP.to(_stepped),
    events.END.to(_finish),
)
