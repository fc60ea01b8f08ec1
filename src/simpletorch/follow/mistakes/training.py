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
from simpletorch.follow.marks import gradients
from simpletorch.follow.mistakes import events
from simpletorch.follow.mistakes.modes import Modes
from simpletorch.follow.mistakes.optimizers import Optimizer, Optimizers
from simpletorch.follow.mistakes.scalers import Scalers
from simpletorch.follow.sources.syntax import contains, loop_around, walk
from simpletorch.follow.values import Choice, Dict, Fields, Instance, List, Tensor, Value
from simpletorch.rules import ModuleRule
from simpletorch.rules.core.dtype import FLOAT16

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS"]

_CODE: Final = "tensor-training"
_BY_HAND: Final = frozenset(("grad", "_grad"))


@final
@dataclass(slots=True)
class _Seen:
    """The findings that are told at the end."""

    made_inside: list[tuple[Instance, Finding]] = field(default_factory=list)
    """Layers with parameters that are made in a ``forward``, with what would be said."""
    sums: dict[int, tuple[Tensor, Finding]] = field(default_factory=dict)
    """What was added to a sum in a loop before backward, with what would be said."""
    accumulating: dict[tuple[int, int], tuple[ast.expr, bool]] = field(default_factory=dict)
    """Of targets and statements of ``+=``, by identity, whether they are sums over rounds that nothing detaches."""
    unscaled_half: Finding | None = None
    """What would be said of a backward through operations in float16, if nothing scales their loss."""


def _layer_made(run: Interpreter, module: Instance, rule: ModuleRule) -> None:
    """A layer of torch's is made: perhaps in a ``forward``, in each call anew."""
    inside = not run.entry and any(getattr(call.node, "name", None) == "forward" for call in run.running)
    if inside and gradients.has_parameters(rule):
        run.training.of(_Seen).made_inside.append((module, run.finding(_CODE, "", None)))


# -- sums of losses --------------------------------------------------------------------------------------------------


def _sum(run: Interpreter, target: ast.expr, value: Value) -> None:
    """``target += value`` in a loop: where backward goes through the value alone, the sum only keeps its graph."""
    if not isinstance(value, Tensor) or run.entry or not gradients.records(run) or not gradients.of(run, value):
        return
    known = run.training.of(_Seen).accumulating
    place = id(target), id(run.node)
    if place not in known:
        body = run.body
        known[place] = target, body is not None and _accumulates(body, target, run.node)
    if not known[place][1]:
        return
    name = ast.unparse(target)
    message = f"{name} keeps the graph of every loss that is added to it, though each has a backward of its own"
    found = run.finding(_CODE, message, f"{name} += loss.item(), or loss.detach()")
    if gradients.is_spent(run, value):
        run.keep(found)
    else:
        run.training.of(_Seen).sums[id(value.cells)] = value, found


def _differentiated(run: Interpreter, value: Tensor) -> None:
    """Backward has gone through a loss."""
    _in_half(run, value)
    known = run.training.of(_Seen).sums.pop(id(value.cells), None)
    if known is not None and gradients.is_spent(run, known[0]):
        run.keep(known[1])


def _in_half(run: Interpreter, value: Tensor) -> None:
    """Whether backward goes through operations in float16, whose gradients become 0 where they are small."""
    seen = run.training.of(_Seen)
    if not run.training.half or run.training.of(Scalers).any or seen.unscaled_half is not None:
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


# -- at the end ------------------------------------------------------------------------------------------------------


def _finish(run: Interpreter) -> None:
    """The program has ended: what its optimizers never did."""
    seen, scalers, lost_sight = run.training.of(_Seen), run.training.of(Scalers), run.training.lost_sight
    known = [(o, list(layers.optimized(run, o.value))) for o in run.training.of(Optimizers)]
    if not known or any(o.value.state.get("open") or None in held for o, held in known):
        return
    ids = [{id(t.cells) for t in given if t is not None} for _, given in known]
    names = run.program.mentions()
    if seen.unscaled_half is not None and not (scalers.any or lost_sight) and any(o.steps for o, _ in known):
        run.keep(seen.unscaled_half)
    if "update" not in names.attributes and not lost_sight:
        for found in filter(None, scalers.steps.values()):
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
            _tell(run, optimizer, "never steps, though losses are differentiated", "call step() after backward()")
        elif optimizer.steps > 1 and not zeroes and "backward" in names.used:
            _tell(
                run,
                optimizer,
                "steps repeatedly without zeroing the gradients, so they add up",
                "call optimizer.zero_grad() in each iteration",
            )
        for name in _left_out(run, own, set().union(*ids)) if optimizer.steps else ():
            _tell(
                run,
                optimizer,
                f"doesn't get the parameters in {name}: a model doesn't register layers in a plain list or dict",
                "put them into an nn.ModuleList or nn.ModuleDict",
            )


def _made_anew(run: Interpreter, trained: set[int]) -> None:
    """Layers that a ``forward`` makes and nobody holds."""
    made_inside = run.training.of(_Seen).made_inside
    if not made_inside:
        return
    called = run.training.called.values()
    held = {id(part.cells) for m in called for _, part in layers.named_modules(run, m) if part is not m}
    for layer, found in made_inside:
        if id(layer.cells) not in held and _is_trainable(run, layer, trained):
            message = f"{layer.cls.name} is created in each call of forward, so its parameters are never trained"
            run.keep(replace(found, message=message, hint="make it in __init__, as an attribute of self"))


def _tell(run: Interpreter, optimizer: Optimizer, message: str, hint: str) -> None:
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
    return (
        layers.is_module(module)
        and id(module.cells) in run.training.of(Modes).with_gradients
        and layers.is_certain(run, module)
    )


LISTENS: Final = (
    events.LAYER_MADE.to(_layer_made),
    events.SUM.to(_sum),
    events.BACKWARD.to(_differentiated),
    events.END.to(_finish),
)
