"""Ending a training that no longer gets better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from simpletorch.errors import TorchError, as_also
from simpletorch.train._callback import Callback
from simpletorch.train._measures import VALIDATION, Mode, better, monitored, sign_of, spelled

if TYPE_CHECKING:
    import torch

    from simpletorch.train._fit import Fit


class EarlyStopping(Callback):
    """Stop when a measure has not got better for some time.

    Args:
        monitor: the name of the measure, as the log has it; by default ``"validation loss"``, or the training
            ``"loss"`` without validation batches. A validation measure is read after each evaluation, a training
            measure after each epoch.
        mode: whether smaller (``"min"``) or larger (``"max"``) is better; None follows the metric
            (``higher_is_better``), and for a loss smaller is better.
        patience: number of evaluations without improvement before stopping.
        min_delta: the least improvement that counts.
        restore_best: at the end, put the model's weights back to where the measure was best. A copy is kept.

    Raises:
        ValueError: ``mode``, ``patience`` or ``min_delta`` is out of range.
        TorchError: as training begins: it is unknown which values are better; while training: there is no such measure.

    Examples:
        >>> from simpletorch import nn, optim, seed_everything
        >>> from simpletorch.data import DataLoader, Digits
        >>> from simpletorch.train import EarlyStopping, Trainer
        >>> seed_everything(0)
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> trainer = Trainer(
        ...     loss=nn.functional.cross_entropy,
        ...     optimizer=optim.SGD(model.parameters(), lr=0.0),  # it learns nothing
        ...     callbacks=[EarlyStopping("loss", patience=2)],
        ...     progress=False,
        ... )
        >>> len(trainer.fit(model, DataLoader(Digits(), batch_size=100), epochs=50))
        3
    """

    best: float
    """The best value so far; infinite before the first."""
    waited: int
    """How many looks ago that was."""

    def __init__(
        self,
        monitor: str | None = None,
        *,
        mode: Mode | None = None,
        patience: int = 3,
        min_delta: float = 0.0,
        restore_best: bool = False,
    ) -> None:
        if mode not in ("min", "max", None) or patience < 1 or min_delta < 0:
            raise as_also(TorchError, ValueError)(
                f"EarlyStopping got mode={mode!r}, patience={patience}, min_delta={min_delta}: mode must be 'min', "
                "'max' or None, patience at least 1 and min_delta at least 0"
            )
        self.monitor = None if monitor is None else spelled(monitor)
        self.mode = mode
        self.patience = patience
        self.min_delta = min_delta
        self.restore_best = restore_best
        self._sign = sign_of(mode)
        self._forget()

    def on_fit_start(self, fit: Fit) -> None:
        """Begin anew; a resumed training that had been stopped stays so, unless ``patience`` has been raised since."""
        self._sign = sign_of(self.mode or better(fit, self._name(fit), "EarlyStopping"))
        if fit.epoch == 0:
            self._forget()
        self._stop_if_waited(fit)

    def on_evaluated(self, fit: Fit) -> None:
        """Look at a measure of validation."""
        if self._name(fit).startswith(VALIDATION):
            self._look(fit)

    def on_epoch_end(self, fit: Fit) -> None:
        """Look at a measure of training."""
        if not self._name(fit).startswith(VALIDATION):
            self._look(fit)
        elif self._name(fit) not in fit.metrics:
            self._look(fit)  # nothing has measured it, which is a mistake: say so

    def on_fit_end(self, fit: Fit) -> None:
        """Put the best weights back."""
        if self._weights is not None:
            fit.model.load_state_dict(self._weights)

    def _forget(self) -> None:
        self.best = self._sign * math.inf
        self.waited = 0
        self._weights: dict[str, torch.Tensor] | None = None

    def _name(self, fit: Fit) -> str:
        return monitored(fit, self.monitor)

    def _look(self, fit: Fit) -> None:
        name = self._name(fit)
        if name not in fit.metrics:
            measured = ", ".join(map(repr, sorted(fit.metrics)))
            raise TorchError(
                f"EarlyStopping monitors {name!r}, but what is measured is {measured}: "
                "monitor one of these, or give the Trainer metrics and validation batches"
            )
        value = fit.metrics[name]
        if self._sign * value < self._sign * self.best - self.min_delta:
            self.best, self.waited = value, 0
            if self.restore_best:
                self._weights = {key: tensor.detach().clone() for key, tensor in fit.model.state_dict().items()}
            return
        self.waited += 1
        self._stop_if_waited(fit)

    def _stop_if_waited(self, fit: Fit) -> None:
        if self.waited >= self.patience:
            fit.stop(f"{self._name(fit)} has not got better than {self.best:.6g} for {self.waited} evaluations")

    def state_dict(self) -> dict[str, Any]:
        """The best value and how long ago it was, and the best weights if they are kept."""
        return {"best": self.best, "waited": self.waited, "weights": self._weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned."""
        self.best, self.waited, self._weights = state["best"], state["waited"], state["weights"]
