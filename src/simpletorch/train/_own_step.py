"""A step that the user has written, as the loop sees it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.optim.swa_utils import AveragedModel

from simpletorch.errors import DataError, TorchError, explain
from simpletorch.metrics import Mean, Metric
from simpletorch.optim import LRScheduler, Optimizer
from simpletorch.train._batch import named_items
from simpletorch.train._update import Update


class Updates:
    """The optimizers of several updates as one, for code that reads or saves all parameter groups."""

    def __init__(self, updates: Mapping[str, Update]) -> None:
        self.updates = updates
        self.param_groups = [group for update in updates.values() for group in update.optimizer.param_groups]

    @property
    def parts(self) -> dict[str, dict[str, Optimizer | LRScheduler]]:
        """Each update's optimizer and scheduler, by its name."""
        return {name: update.parts for name, update in self.updates.items()}

    def step(self) -> None:
        """Each optimizer's step."""
        for update in self.updates.values():
            update.optimizer.step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all of them."""
        for update in self.updates.values():
            update.optimizer.zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """Each update's state, by its name."""
        return {name: update.state_dict() for name, update in self.updates.items()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned.

        Raises:
            TorchError: it has other updates.
        """
        if state_dict.keys() != self.updates.keys():
            raise TorchError(f"the saved training has the updates {list(state_dict)}, this one {list(self.updates)}")
        for name, update in self.updates.items():
            update.load_state_dict(state_dict[name])
        # torch's optimizers make new groups when they load
        self.param_groups[:] = [group for update in self.updates.values() for group in update.optimizer.param_groups]


class MeanOfUpdates(Mean):
    """The mean loss of an update; NaN after an epoch in which it was never made."""

    higher_is_better = False

    def compute(self) -> float:
        """The mean over the epoch's samples, or NaN."""
        try:
            return super().compute()
        except DataError:
            return math.nan


class OwnStep:
    """Calls the user's function with a batch, and says what the updates in it came to: as `Step` does.

    Its loss is the sum of what the updates learned from; each by itself is a training metric by the update's name.
    """

    pending: int = 0
    skipped: bool = False
    output: Any = None

    def __init__(
        self,
        function: Callable[..., object],
        model: torch.nn.Module,
        updates: Mapping[str, Update],
        means: Mapping[str, Metric[object]],
        *,
        ema: AveragedModel | None = None,
        on_loss: Callable[[torch.Tensor], object] | None = None,
        on_gradients: Callable[[], object] | None = None,
    ) -> None:
        self.function = function
        self.model = model
        self.updates = updates
        self.means = means
        self.ema = ema
        self.on_loss = on_loss
        self.on_gradients = on_gradients

    def __call__(self, batch: Any, samples: int = 1) -> torch.Tensor:
        """One batch; returns the sum of the losses, 0-d, detached.

        Raises:
            TorchError: the function made no update, or what torch raised inside, explained.
        """
        for update in self.updates.values():
            update.on_loss, update.on_gradients = self.on_loss, self.on_gradients
        unpacked = isinstance(batch, (tuple, list)) and named_items(batch) is None
        with explain():
            self.function(*(batch if unpacked else (batch,)))
        taken = {name: update.taken() for name, update in self.updates.items()}
        losses = {name: loss for name, loss in taken.items() if loss is not None}
        if not losses:
            calls = ", ".join(f"updates[{name!r}](loss)" for name in self.updates)
            raise TorchError(f"the step made no update: nothing called {calls}, so nothing was learned")
        for name, loss in losses.items():
            self.means[name].update(loss, samples)
        if self.ema is not None:
            self.ema.update_parameters(self.model)
        first, *rest = losses.values()
        for loss in rest:
            first = first + loss.to(first.device)
        return first

    def flush(self) -> bool:
        """Nothing waits: each call made its updates."""
        return False
