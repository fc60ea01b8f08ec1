"""Training loops that run, and don't do what was meant: told once the program has been followed to its end.

- a sum of losses that keeps the graph of each (``total += loss``), which nothing can differentiate any more;
- an optimizer whose gradients nobody ever sets to zero;
- an optimizer whose parameters nothing uses, while another model is trained;
- layers in a plain list, whose parameters are in no optimizer;
- layers that a ``forward`` makes, in each call anew;
- a backward through float16 whose loss nothing scales.

Each is said only where all that could make it right is in sight.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, final

from simpletorch.follow import layers
from simpletorch.follow.findings import Finding
from simpletorch.follow.heap import Cells
from simpletorch.follow.marks import gradients
from simpletorch.follow.mistakes import loading, mode_checks, modes, purity, schedules, seeds, steps, updates
from simpletorch.follow.mistakes.loading import Loading
from simpletorch.follow.mistakes.schedules import Steps
from simpletorch.follow.sources.syntax import contains, loop_around, walk
from simpletorch.follow.values import GRADIENTS, MISSING, Choice, Dict, Fields, Instance, List, Tensor, Value
from simpletorch.rules import ModuleRule
from simpletorch.rules.core.dtype import FLOAT16

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Training", "check_sum", "differentiated", "finish", "given", "made", "stepped"]

_CODE: Final = "tensor-training"
_BY_HAND: Final = frozenset(("grad", "_grad"))


@final
@dataclass(slots=True)
class _Optimizer:
    """An optimizer, what would be said where it is made, and how often it has stepped."""

    value: Instance
    where: Finding
    counted: Steps
    steps: int = 0


@final
@dataclass(slots=True)
class Training:
    """What one follow has seen of training."""

    optimizers: dict[int, _Optimizer] = field(default_factory=dict)
    made_inside: list[tuple[Instance, Finding]] = field(default_factory=list)
    """Layers with parameters that are made in a ``forward``, with what would be said."""
    called: dict[int, Instance] = field(default_factory=dict)
    """Modules that were called, or that code had which isn't followed."""
    recorded: set[int] = field(default_factory=set)
    """Those of them, by the identity of their cells, that were called with gradients."""
    used: dict[int, Tensor] = field(default_factory=dict)
    """Parameters that an operation was given, or that such code had."""
    sums: dict[int, tuple[Tensor, Finding]] = field(default_factory=dict)
    """What was added to a sum in a loop before backward, with what would be said."""
    modes: modes.Modes = field(default_factory=modes.Modes)
    weights: Cells = field(default_factory=Cells)
    """Which parameters have gradients, and when steps have changed them; see `steps`."""
    accumulating: dict[tuple[int, int], tuple[ast.expr, bool]] = field(default_factory=dict)
    """Of targets and statements of ``+=``, by identity, whether they are sums over rounds that nothing detaches."""
    schedulers: dict[int, Steps] = field(default_factory=dict)
    leaves: dict[ast.AST, bool] = field(default_factory=dict)
    """Whether loops, or rounds of them, may end before their end."""
    ended: set[ast.AST] = field(default_factory=set)
    """The loops that were followed to their last batch, which has fewer samples."""
    reshapes: set[ast.AST] = field(default_factory=set)
    """Functions that cut elements into other rows on purpose, and may put them together again."""
    has_batches: bool = False
    """Whether of some tensor it is known which dim are the samples, see `sequences`."""
    loading: Loading = field(default_factory=Loading)
    seeds: dict[ast.AST, seeds.Seed] = field(default_factory=dict)
    """Statements in loops that train which seed torch's generator."""
    rounds: dict[ast.AST, Value] = field(default_factory=dict)
    """What each loop goes over that was begun: a number of items, or a source of which that can be asked."""
    lost_sight: bool = False
    """Whether code that isn't followed had anything: it may have computed gradients."""
    half: bool = False
    """Whether autocast to float16 was in force."""
    unscaled_half: Finding | None = None
    """What would be said of a backward through operations in float16, if nothing scales their loss."""
    scales: bool = False
    """Whether there is a `GradScaler`."""
    scaled_steps: dict[int, Finding | None] = field(default_factory=dict)
    """By optimizer, what would be said of its second step by a scaler, if nothing updates that."""
    useless_clip: Finding | None = None
    """What would be said of gradients that were clipped after their use."""

    def lose_sight(self, run: Interpreter) -> None:
        """Code that isn't followed has a tensor: it may compute gradients, use them, and set them to zero."""
        for one in self.optimizers.values():
            if GRADIENTS in one.value.state:
                run.heap.write(one.value.state, GRADIENTS, MISSING)
        self.useless_clip = None


def made(run: Interpreter, optimizer: Instance) -> None:
    """An optimizer is made here."""
    if run.entry or any(c.cause == "code" for c in run.conditions) or run.hypothetical:
        return
    counted = Steps(optimizer, schedules.site_of(run))
    run.training.optimizers[id(optimizer.cells)] = _Optimizer(optimizer, run.finding(_CODE, "", None), counted)


def stepped(run: Interpreter, optimizer: Value, *, calls: bool = False) -> None:
    """An optimizer makes a step; it may call a function that computes the gradients."""
    if run.promises:
        purity.trains(run, "step")
    known = run.training.optimizers.get(id(optimizer.cells)) if isinstance(optimizer, Instance) else None
    if known is not None:
        known.steps += 1
        own = {id(t.cells) for t in given(run, known.value) if t is not None}
        mode_checks.has_stepped(run, own)
        if not calls:
            steps.stepped(run, own)
        schedules.stepped(run, optimizer)
        seeds.stepped(run, known.value)
    updates.stepped(run, optimizer)


# -- sums of losses --------------------------------------------------------------------------------------------------


def check_sum(run: Interpreter, target: ast.expr, value: Value) -> None:
    """``target += value`` in a loop: where backward goes through the value alone, the sum only keeps its graph."""
    if not isinstance(value, Tensor) or run.entry or not gradients.records(run) or not gradients.of(run, value):
        return
    known = run.training.accumulating
    place = id(target), id(run.node)
    if place not in known:
        body = run.body
        known[place] = target, body is not None and _accumulates(body, target, run.node)
    if not known[place][1]:
        return
    name = ast.unparse(target)
    message = f"{name} keeps the graph of every loss that is added to it, though backward goes through each by itself"
    found = run.finding(_CODE, message, f"{name} += loss.item(), or loss.detach()")
    if gradients.is_spent(run, value):
        run.keep(found)
    else:
        run.training.sums[id(value.cells)] = value, found


def differentiated(run: Interpreter, value: Value) -> None:
    """Backward has gone through a loss."""
    if run.promises:
        purity.trains(run, "backward")
    updates.computed(run, value)
    _in_half(run, value)
    known = run.training.sums.pop(id(value.cells), None) if isinstance(value, Tensor) else None
    if known is not None and gradients.is_spent(run, known[0]):
        run.keep(known[1])


def _in_half(run: Interpreter, value: Value) -> None:
    """Whether backward goes through operations in float16, whose gradients become 0 where they are small."""
    seen = run.training
    if not seen.half or seen.scales or seen.unscaled_half is not None or not isinstance(value, Tensor):
        return
    if any(tensor.type.dtype == FLOAT16 for tensor in gradients.graph_of(run, value)):
        message = "backward goes through operations in float16 without a GradScaler: small gradients become 0"
        hint = "scaler.scale(loss).backward(), or bfloat16, which needs no scaling"
        seen.unscaled_half = run.finding(_CODE, message, hint)


def _accumulates(body: ast.AST, target: ast.expr, statement: ast.AST) -> bool:
    """Whether the target is a sum over the rounds of a loop around the statement, which nothing detaches."""
    name = ast.dump(_loaded(target))
    innermost = loop_around(body, statement, ast.For, ast.While)
    if innermost is None:
        return False
    for node in walk(body):
        match node:
            case ast.Attribute(value=value, attr="detach" | "detach_" | "data" | "requires_grad_"):
                if ast.dump(_loaded(value)) == name:
                    return False
            case ast.Assign(targets=targets, value=value):
                if any(ast.dump(_loaded(t)) == name for t in targets) and (
                    contains(innermost, node) or any(ast.dump(n) == name for n in walk(value))
                ):
                    return False
    return True


def _loaded(node: ast.expr) -> ast.expr:
    """A target as it looks where it is read."""
    return ast.parse(ast.unparse(node), mode="eval").body


def _finish_seeds(run: Interpreter) -> None:
    """Seeds that are set in each round, where that makes rounds alike."""
    found = seeds.again(run)
    if found and (run.training.loading.shuffles or mode_checks.trains_with_chance(run)):
        for finding, seed in found:
            message = f"the seed is {seed} again in each round: every round shuffles, and drops out, alike"
            run.keep(replace(finding, message=message, hint="once, before the loop"))


# -- at the end ------------------------------------------------------------------------------------------------------


def finish(run: Interpreter) -> None:
    """The program has ended: what its optimizers never did."""
    schedules.finish(run)
    loading.finish(run)
    mode_checks.finish(run)
    _finish_seeds(run)
    seen = run.training
    known = [(o, list(given(run, o.value))) for o in seen.optimizers.values()]
    if not known or any(o.value.state.get("open") or None in held for o, held in known):
        return
    ids = [{id(t.cells) for t in given if t is not None} for _, given in known]
    names = run.program.mentions()
    if seen.unscaled_half is not None and not (seen.scales or seen.lost_sight) and any(o.steps for o, _ in known):
        run.keep(seen.unscaled_half)
    if "update" not in names.attributes and not seen.lost_sight:
        for found in filter(None, seen.scaled_steps.values()):
            run.keep(found)
    by_hand = not names.attributes.isdisjoint(_BY_HAND)  # gradients that the program itself sets
    may_step = "step" in names.attributes
    never = not by_hand and not may_step
    zeroes = by_hand or "zero_grad" in names.used
    if any(o.steps for o, _ in known) and not by_hand:
        _made_anew(run, set().union(*ids))
    for (optimizer, _), own in zip(known, ids, strict=True):
        if own and optimizer.steps and not by_hand and _trains_another(run, own):
            _tell(
                run,
                optimizer,
                "steps, but nothing uses the parameters that it was given: another model is trained",
                "make the optimizer after the model",
            )
        elif own and never and zeroes and "backward" in names.called:
            _tell(run, optimizer, "never steps, though losses are differentiated", "optimizer.step() after backward()")
        elif optimizer.steps > 1 and not zeroes and "backward" in names.used:
            _tell(
                run,
                optimizer,
                "steps again and again, but nothing sets the gradients to zero: they add up",
                "optimizer.zero_grad() in each round",
            )
        for name in _left_out(run, own, set().union(*ids)) if optimizer.steps else ():
            _tell(
                run,
                optimizer,
                f"doesn't get the parameters in {name}: the model doesn't know of layers in a plain list or dict",
                "put them into an nn.ModuleList or nn.ModuleDict",
            )


def _made_anew(run: Interpreter, trained: set[int]) -> None:
    """Layers that a ``forward`` makes and nobody holds."""
    if not run.training.made_inside:
        return
    called = run.training.called.values()
    held = {id(part.cells) for m in called for _, part in layers.named_modules(run, m) if part is not m}
    for layer, found in run.training.made_inside:
        if id(layer.cells) not in held and _is_trainable(run, layer, trained):
            message = f"{layer.cls.name} is made anew in each call of forward: nobody trains its parameters"
            run.keep(replace(found, message=message, hint="make it in __init__, as an attribute of self"))


def _tell(run: Interpreter, optimizer: _Optimizer, message: str, hint: str) -> None:
    run.keep(replace(optimizer.where, message=f"{optimizer.value.cls.name} {message}", hint=hint))


def _trains_another(run: Interpreter, own: set[int]) -> bool:
    """Whether parameters were used, but none of these."""
    used = run.training.used
    if not own.isdisjoint(used):
        return False
    some = bool(used)
    for module in reversed(list(run.training.called.values())):  # the outer one was called after those inside
        parts = {id(t.cells) for _, t in layers.named_tensors(run, module, parameters_only=True)}
        if not own.isdisjoint(parts):
            return False
        some = some or bool(parts)
    return some


def given(run: Interpreter, optimizer: Instance) -> Iterator[Tensor | None]:
    """The parameters of an optimizer; None for what isn't known."""
    groups = run.resolve(optimizer.cells.get("param_groups"))
    if not isinstance(groups, List) or groups.items is None:
        yield None
        return
    for group in map(run.resolve, groups.items):
        held = run.resolve(group.cells.get("params")) if isinstance(group, Dict) else None
        if not isinstance(held, List) or held.items is None:
            yield None
            return
        for one in map(run.resolve, held.items):
            yield one if isinstance(one, Tensor) else None


def _left_out(run: Interpreter, own: set[int], trained: set[int]) -> Iterator[str]:
    """The lists of layers in a model that is trained, that are called and in no optimizer."""
    for module in list(run.training.called.values()):
        if module.state.get("open"):
            continue
        rows = [(name, value) for name, value in module.cells.items() if type(value) in _MAY_BE_ROWS]
        lists = [name for name, value in rows if _forgets(run, run.resolve(value), trained)]
        if lists and any(id(t.cells) in own for _, t in layers.named_tensors(run, module, parameters_only=True)):
            yield from (f"{module.cls.name}.{name}" for name in lists)


_MAY_BE_ROWS: Final = frozenset({List, Dict, tuple, Fields, Choice})


def _forgets(run: Interpreter, rows: Value, trained: set[int]) -> bool:
    """Whether this is a plain list of layers that nobody trains."""
    inside = rows.items if isinstance(rows, List) else rows if isinstance(rows, tuple) else None
    if isinstance(rows, Dict):
        inside = tuple(rows.cells.values())
    if not inside:
        return False
    several = len(inside) > 1  # a list of one hides a model from ``parameters()`` on purpose
    return all(_is_trainable(run, row, trained, own=several) for row in map(run.resolve, inside))


def _is_trainable(run: Interpreter, layer: Value, trained: set[int], *, own: bool = False) -> bool:
    """Whether it is one of torch's layers that was called, and has parameters that nobody trains or has frozen.

    With ``own`` a module of the program's will do, too, if it was called with gradients.
    """
    if not isinstance(layer, Instance):
        return False
    if not isinstance(layer.native, ModuleRule) and not (own and _is_known(run, layer)):
        return False
    tensors = [t for _, t in layers.named_tensors(run, layer, parameters_only=True)]
    free = all(id(t.cells) not in trained and gradients.of(run, t) for t in tensors)
    return bool(tensors) and free and id(layer.cells) in run.training.called


def _is_known(run: Interpreter, module: Instance) -> bool:
    """Whether a module of the program's was called with gradients, and all that is inside is known."""
    return layers.is_module(module) and id(module.cells) in run.training.recorded and layers.is_certain(run, module)
