"""A `GradScaler` in the wrong order: a step or ``unscale_`` without a scaled loss, or twice for one update.

A scaler remembers whether it has scaled a loss since the last ``update``, and of each optimizer how far it is; branches
that differ leave both unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.findings import Finding
from simpletorch.follow.mistakes import events
from simpletorch.follow.values import MISSING, OFF, Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS", "Scalers"]

_SCALES: Final = "scales"  # since the last update
_HOW_FAR: Final = "how far"  # of an optimizer since the last update: the scaler, and one of these
_AGAIN: Final = "GradScaler.step: a step was made since the last update()"
_CODE: Final = "tensor-training"
_UNSCALED, _STEPPED = "unscaled", "stepped"
_ORDER: Final = "scaler.scale(loss).backward(), unscale_ where gradients are clipped, step, update"


class Scalers:
    """Whether there is one, and whom they have stepped or unscaled.

    Also by optimizer what would be said of its second step, if nothing updates the scaler.
    """

    def __init__(self) -> None:
        self.any = False
        self.reached: dict[int, Instance] = {}
        self.steps: dict[int, Finding | None] = {}


def _made(run: Interpreter, scaler: Instance) -> None:
    run.training.of(Scalers).any = True


def _is_known(scaler: Instance) -> bool:
    """Whether it surely scales, and only code that is followed has used it."""
    return not scaler.state.get(OFF) and not scaler.state.get("open")


def _scaling(run: Interpreter, scaler: Instance) -> None:
    run.heap.write(scaler.state, _SCALES, True)


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
    run.training.of(Scalers).reached[id(optimizer.cells)] = optimizer


def _unscaled(run: Interpreter, scaler: Instance, optimizer: Value) -> None:
    _reaches(run, scaler, optimizer, _UNSCALED)


def _stepped(run: Interpreter, scaler: Instance, optimizer: Value) -> None:
    _reaches(run, scaler, optimizer, _STEPPED)
    if _is_known(scaler) and isinstance(optimizer, Instance):
        known = run.training.of(Scalers).steps
        again = run.finding(_CODE, _AGAIN, f"the order is {_ORDER}")
        known[id(optimizer.cells)] = again if id(optimizer.cells) in known else None


def _updated(run: Interpreter, scaler: Instance) -> None:
    if scaler.state.get(_SCALES) is not None:
        run.heap.write(scaler.state, _SCALES, MISSING)
    for optimizer in run.training.of(Scalers).reached.values():
        if optimizer.state.get(_HOW_FAR) is not None:
            run.heap.write(optimizer.state, _HOW_FAR, MISSING)


LISTENS: Final = (
    events.SCALER.to(_made),
    events.SCALING.to(_scaling),
    events.UNSCALE.to(_unscaled),
    events.SCALED_STEP.to(_stepped),
    events.SCALER_UPDATE.to(_updated),
)
