"""Training for a moment, and undoing it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from simpletorch.reproducibility import rng_state, set_rng_state
from simpletorch.train._mode import mode
from simpletorch.train._own_step import OwnStep
from simpletorch.train._rng import generators
from simpletorch.train._step import Step

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


@contextmanager
def trial(fit: Fit) -> Iterator[Step | OwnStep]:
    """The training's own step, to use for a while: afterwards model, optimizer, scaler and generators are as before.

    It tells no callback and updates no average. The saved state is kept in the CPU's memory.
    """
    step = fit.train_step
    assert step is not None, "a Trainer gives every Fit its step"
    model, optimizer = _aside(fit.model.state_dict()), _aside(fit.optimizer.state_dict())
    scaler = None if fit.scaler is None else fit.scaler.state_dict()
    rng = rng_state()
    own = [(generator, generator.get_state()) for generator in generators(fit.loader)]
    loader: Any = fit.loader if hasattr(fit.loader, "load_state_dict") else None
    position = None if loader is None else loader.state_dict()
    hooks = step.on_loss, step.on_gradients, step.ema
    step.on_loss = step.on_gradients = step.ema = None
    try:
        with mode(fit.model, training=True):
            yield step
    finally:
        step.on_loss, step.on_gradients, step.ema = hooks
        step.pending, step.output = 0, None
        fit.optimizer.zero_grad()
        fit.model.load_state_dict(model)
        fit.optimizer.load_state_dict(optimizer)
        if fit.scaler is not None and scaler is not None:
            fit.scaler.load_state_dict(scaler)
        if loader is not None:
            loader.load_state_dict(position)
        # generators last: what is loaded above may draw from them
        for generator, state in own:
            generator.set_state(state)
        set_rng_state(rng)


def _aside(item: Any) -> Any:
    """A copy of a state dict, its tensors in the CPU's memory."""
    if isinstance(item, torch.Tensor):
        return item.detach().to("cpu", copy=True)
    if isinstance(item, dict):
        return {key: _aside(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return type(item)(_aside(value) for value in item)
    return copy.deepcopy(item)
