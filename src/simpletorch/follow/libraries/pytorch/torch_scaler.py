"""``torch.amp.GradScaler``: a loss is scaled, its gradients are divided again, and each is done once for an update.

On a machine without a GPU torch switches one for CUDA off, but a program has to be
right on one with.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from simpletorch.follow.libraries import by_name, library_class
from simpletorch.follow.mistakes import events
from simpletorch.follow.sources import moves
from simpletorch.follow.values import OFF, Dict, List, Tensor, Value
from simpletorch.rules.core.dtype import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]


def _init(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    named = run.node.keywords if isinstance(run.node, ast.Call) else []
    asked = next((k.value for k in named if k.arg == "enabled"), None)
    on_cuda = asked is not None and moves.asks_for_cuda(run, asked)  # the program must be right there, too
    events.SCALER(run, args[0])
    if run.resolve(kwargs.get("enabled", True)) is not True and not on_cuda:
        run.heap.write(args[0].state, OFF, True)
    return None


def _scale(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    scaler = args[0]

    def one(value: Value) -> Value:
        if isinstance(value, Tensor):
            kept = value.type.shape.min_rank > 0 or value.type.dtype in (FLOAT32, FLOAT64)
            made = Tensor(replace(value.type, dtype=value.type.dtype if kept else None, is_parameter=False))
            if not scaler.state.get(OFF):
                events.SCALE(run, scaler, made)
            return made
        rows = run.items(value)
        return run.unknown("scaled values") if rows is None else List(tuple(run.each(v, one) for v in rows))

    events.SCALING(run, scaler)
    return run.each(by_name("outputs", args[1:], kwargs).get("outputs"), one)


def _optimizer(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return run.resolve(by_name("optimizer", args[1:], kwargs).get("optimizer"))


def _unscale(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    events.UNSCALE(run, args[0], _optimizer(run, args, kwargs))
    return None


def _step(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    optimizer = _optimizer(run, args, kwargs)
    events.SCALED_STEP(run, args[0], optimizer)
    return run.call(run.attribute(optimizer, "step"), args[2:])


def _update(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    events.SCALER_UPDATE(run, args[0])
    return None


def _scale_itself(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    events.UNSCALE(run, args[0], None)  # for a program that divides its gradients by it
    return run.unknown("the scale of gradients", "float", "data")


library_class(
    "torch.amp.GradScaler",
    methods={
        "__init__": _init,
        "scale": _scale,
        "unscale_": _unscale,
        "step": _step,
        "update": _update,
        "get_scale": _scale_itself,
        "is_enabled": lambda run, args, kwargs: run.unknown("whether gradients are scaled", "bool", "data"),
        "state_dict": lambda run, args, kwargs: Dict({}, run.unknown("an entry of a state dict")),
        "load_state_dict": lambda run, args, kwargs: None,
    },
)
