"""``torch.amp.GradScaler``: a loss is scaled, its gradients are divided again, and each is done once for an update.

A scaler remembers whether it has scaled a loss since the last `update`, and of each optimizer how far it is; branches
that differ leave both unknown. On a machine without a GPU torch switches one for CUDA off, but a program has to be
right on one with.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow.libraries import by_name, library_class
from simpletorch.follow.mistakes import updates
from simpletorch.follow.sources import moves
from simpletorch.follow.values import MISSING, Dict, Instance, List, Tensor, Value
from simpletorch.rules.core.dtype import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_OFF: Final = "off"
_SCALES: Final = "scales"  # since the last update
_HOW_FAR: Final = "how far"  # of an optimizer since the last update: the scaler, and one of these
_AGAIN: Final = "GradScaler.step: a step was made since the last update()"
_CODE: Final = "tensor-training"
_UNSCALED, _STEPPED = "unscaled", "stepped"
_ORDER: Final = "scaler.scale(loss).backward(), unscale_ where gradients are clipped, step, update"


def _init(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    named = run.node.keywords if isinstance(run.node, ast.Call) else []
    asked = next((k.value for k in named if k.arg == "enabled"), None)
    on_cuda = asked is not None and moves.asks_for_cuda(run, asked)  # the program must be right there, too
    run.training.scales = True
    if run.resolve(kwargs.get("enabled", True)) is not True and not on_cuda:
        run.heap.write(args[0].state, _OFF, True)
    return None


def _is_known(scaler: Instance) -> bool:
    """Whether it surely scales, and only code that is followed has used it."""
    return not scaler.state.get(_OFF) and not scaler.state.get("open")


def _scale(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    scaler = args[0]

    def one(value: Value) -> Value:
        if isinstance(value, Tensor):
            kept = value.type.shape.min_rank > 0 or value.type.dtype in (FLOAT32, FLOAT64)
            made = Tensor(replace(value.type, dtype=value.type.dtype if kept else None, is_parameter=False))
            return made if scaler.state.get(_OFF) else updates.scaled(made)
        rows = run.items(value)
        return run.unknown("scaled values") if rows is None else List(tuple(run.each(v, one) for v in rows))

    run.heap.write(scaler.state, _SCALES, True)
    return run.each(by_name("outputs", args[1:], kwargs).get("outputs"), one)


def _optimizer(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return run.resolve(by_name("optimizer", args[1:], kwargs).get("optimizer"))


def _reaches(run: Interpreter, scaler: Instance, optimizer: Value, name: str) -> None:
    """An optimizer gets as far as ``name`` says; said where torch refuses it, or would divide what wasn't scaled."""
    if not isinstance(optimizer, Instance) or not _is_known(scaler):
        return
    before = optimizer.state.get(_HOW_FAR)
    stage = before[1] if isinstance(before, tuple) and before[0] is scaler else None
    call = "step" if name == _STEPPED else "unscale_"
    if scaler.state.get(_SCALES) is None:
        message = f"GradScaler.{call} divides the gradients by the scale, but no loss was scaled since the last update"
        run.find(_CODE, message, "scaler.scale(loss).backward() in place of loss.backward()")
        run.heap.write(scaler.state, _SCALES, True)  # it is said once
    elif stage == _STEPPED:
        message = _AGAIN if name == _STEPPED else "GradScaler.unscale_: the step has been made already"
        run.find(_CODE, message, f"the order is {_ORDER}")
    elif stage == name:
        message = "GradScaler.unscale_: the gradients of this optimizer are unscaled already"
        run.find(_CODE, message, "once, between backward() and step()")
    run.heap.write(optimizer.state, _HOW_FAR, (scaler, name))


def _unscale(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    _reaches(run, args[0], _optimizer(run, args, kwargs), _UNSCALED)
    updates.unscaled(run)
    return None


def _step(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    optimizer = _optimizer(run, args, kwargs)
    scaler = args[0]
    _reaches(run, scaler, optimizer, _STEPPED)
    if _is_known(scaler) and isinstance(optimizer, Instance):
        known = run.training.scaled_steps
        again = run.finding(_CODE, _AGAIN, f"the order is {_ORDER}")
        known[id(optimizer.cells)] = again if id(optimizer.cells) in known else None
    return run.call(run.attribute(optimizer, "step"), args[2:])


def _update(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    scaler = args[0]
    if scaler.state.get(_SCALES) is not None:
        run.heap.write(scaler.state, _SCALES, MISSING)
    for known in run.training.optimizers.values():
        if known.value.state.get(_HOW_FAR) is not None:
            run.heap.write(known.value.state, _HOW_FAR, MISSING)
    return None


library_class(
    "torch.amp.GradScaler",
    methods={
        "__init__": _init,
        "scale": _scale,
        "unscale_": _unscale,
        "step": _step,
        "update": _update,
        "get_scale": lambda run, args, kwargs: run.unknown("the scale of gradients", "float", "data"),
        "is_enabled": lambda run, args, kwargs: run.unknown("whether gradients are scaled", "bool", "data"),
        "state_dict": lambda run, args, kwargs: Dict({}, run.unknown("an entry of a state dict")),
        "load_state_dict": lambda run, args, kwargs: None,
    },
)
