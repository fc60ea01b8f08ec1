"""In which order a program computes gradients, uses them and sets them to zero: what comes in between is lost.

An optimizer remembers what became of its gradients last, in its state: so branches that differ leave it unknown.

- ``zero_grad`` between ``backward`` and ``step``: the step has no gradients;
- gradients that are clipped after the step, or before ``backward``: nothing uses what is clipped;
- gradients of a scaled loss that are clipped before ``scaler.unscale_``, or used by ``optimizer.step()``.

Each is said only where one optimizer is in sight, and no code has had its parameters that isn't followed.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from simpletorch.follow.findings import Finding
from simpletorch.follow.marks import weights
from simpletorch.follow.mistakes import events
from simpletorch.follow.mistakes.optimizers import Optimizers
from simpletorch.follow.sources.syntax import walk
from simpletorch.follow.values import GRADIENTS, MISSING, Instance, Tensor, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS"]

_CODE: Final = "tensor-training"
_STATE: Final = GRADIENTS
_ZERO, _FRESH, _SCALED, _LOST, _USED = "zero", "fresh", "scaled", "lost", "used"
"""What became of the gradients: set to zero, computed (of a scaled loss), set to zero before their use, used."""
_IS_SCALED: Final = "(scaled)"  # in the cells of a tensor


class _Clips:
    """The finding about gradients that were clipped after their use, if another backward follows."""

    useless: Finding | None = None


def _only(run: Interpreter) -> Instance | None:
    """The optimizer of the program, if there is one alone, of which all is known."""
    known = run.training.of(Optimizers)
    if len(known) != 1:
        return None
    (one,) = known
    return None if one.value.state.get("open") else one.value


def _put(run: Interpreter, optimizer: Instance, state: str) -> None:
    run.heap.write(optimizer.state, _STATE, state)


def _computed(run: Interpreter, value: Tensor) -> None:
    """``backward`` has gone through a loss."""
    optimizer = _only(run)
    if optimizer is not None:
        is_scaled = _IS_SCALED in value.cells
        _put(run, optimizer, _SCALED if is_scaled else _FRESH)
    run.training.of(_Clips).useless = None


def _read(run: Interpreter, value: Value, name: str) -> None:
    """``backward`` of what isn't known: of which loss the gradients are isn't either."""
    if name != "backward" or not isinstance(value, Unknown):
        return
    for one in run.training.of(Optimizers):
        run.heap.write(one.value.state, _STATE, MISSING)
    run.training.of(_Clips).useless = None


def _zeroed(run: Interpreter, what: Value) -> None:
    """The gradients of an optimizer, or of a model, are set to zero."""
    weights.zeroed(run)
    optimizer = _only(run)
    if optimizer is None or not isinstance(what, Instance):
        return
    if what is not optimizer and not what.cls.is_a("torch.nn.Module"):
        return
    useless = run.training.of(_Clips).useless
    run.training.of(_Clips).useless = None
    before = run.resolve(optimizer.state.get(_STATE))
    if useless is not None and before == _USED:
        run.keep(useless)
    if what is optimizer:
        _put(run, optimizer, _LOST if before in (_FRESH, _SCALED) else _ZERO)
    else:
        run.heap.write(optimizer.state, _STATE, MISSING)  # it may have other parameters, too


def _stepped(run: Interpreter, optimizer: Value, calls: bool) -> None:
    """An optimizer uses its gradients."""
    only = _only(run)
    if only is None or optimizer is not only:
        return
    state = run.resolve(only.state.get(_STATE))
    if state == _LOST:
        run.find(
            _CODE,
            f"{only.cls.name} steps without gradients: zero_grad() is called between backward() and step()",
            "zero_grad() before backward(), or after step()",
        )
    elif state == _SCALED:
        message = f"{only.cls.name} steps on the gradients of a scaled loss, which are as many times too large"
        run.find(_CODE, message, "scaler.step(optimizer) in place of optimizer.step(), then scaler.update()")
    _put(run, only, _USED)
    run.training.of(_Clips).useless = None


def _lost_sight(run: Interpreter) -> None:
    """Code that isn't followed has a tensor: it may compute gradients, use them, and set them to zero."""
    for one in run.training.of(Optimizers):
        if _STATE in one.value.state:
            run.heap.write(one.value.state, _STATE, MISSING)
    run.training.of(_Clips).useless = None


def _scaled(run: Interpreter, scaler: Instance, loss: Tensor) -> None:
    """A loss that a `GradScaler` has scaled."""
    loss.cells[_IS_SCALED] = True


def _unscaled(run: Interpreter, scaler: Instance, optimizer: Value) -> None:
    """``scaler.unscale_(optimizer)``."""
    only = _only(run)
    if only is not None and run.resolve(only.state.get(_STATE)) == _SCALED:
        _put(run, only, _FRESH)


def _clipped(run: Interpreter, name: str) -> None:
    """Gradients are clipped, as a statement of its own: else somebody wants to know their norm."""
    only = _only(run)
    state = None if only is None else run.resolve(only.state.get(_STATE))
    if state not in (_USED, _ZERO, _SCALED) or not _is_statement(run):
        return
    if state == _SCALED:
        run.find(_CODE, f"{name} clips gradients that are still scaled", "scaler.unscale_(optimizer) before it")
    elif state == _USED:
        message = f"{name} comes after optimizer.step(), which has used the gradients already"
        run.training.of(_Clips).useless = _said(run, message, "clip between backward() and step()")
    elif state == _ZERO:
        message = f"{name} comes before backward(): the gradients are zero here"
        run.find(_CODE, message, "clip between backward() and step()")


def _said(run: Interpreter, message: str, hint: str) -> Finding:
    return replace(run.finding(_CODE, message, hint))


def _is_statement(run: Interpreter) -> bool:
    """Whether nobody uses what the call gives that is followed here."""
    body = run.body
    return body is not None and any(isinstance(n, ast.Expr) and n.value is run.node for n in walk(body))


LISTENS: Final = (
    events.BACKWARD.to(_computed),
    events.ATTRIBUTE.to(_read),
    events.ZERO.to(_zeroed),
    events.STEP.to(_stepped),
    events.CLIP.to(_clipped),
    events.SCALE.to(_scaled),
    events.UNSCALE.to(_unscaled),
    events.SCALED_STEP.to(_unscaled),
    events.IN_THE_DARK.to(_lost_sight),
)
