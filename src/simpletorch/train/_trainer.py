"""The training loop, in full."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from simpletorch.errors import DataError, TorchError
from simpletorch.metrics import Mean, MeanLoss, Metric
from simpletorch.optim import LRScheduler, Optimizer, ReduceLROnPlateau
from simpletorch.train._batch import samples_in
from simpletorch.train._device import device_of, to_device
from simpletorch.train._evaluate import evaluate
from simpletorch.train._mode import mode
from simpletorch.train._step import Step
from simpletorch.train._track import track


@dataclass(frozen=True)
class Epoch:
    """What one epoch came to."""

    number: int
    """1 for the first."""
    loss: float
    """The mean training loss over the epoch's samples, each as it was when its batch was trained on."""
    validation: dict[str, float]
    """The metrics on the validation batches after the epoch, ``"loss"`` among them; empty without such batches."""
    learning_rate: float
    """Of the first parameter group, in the epoch's last step."""
    samples: int
    """How many samples were trained on."""
    steps: int
    """How many updates were made."""
    seconds: float
    """Wall time of the training part, without the validation."""

    def __str__(self) -> str:
        measures = [f"loss {self.loss:.4f}"]
        measures += [f"validation {name} {value:.4f}" for name, value in self.validation.items()]
        return f"epoch {self.number}: {', '.join(measures)}, {self.samples / self.seconds:,.0f} samples/s"


@dataclass(kw_only=True)
class Trainer:
    """How to train: `fit` then runs the loop, and is meant to be read.

    Args:
        loss: from a batch's outputs and targets to their mean loss, a 0-d tensor.
        optimizer: has the model's parameters.
        scheduler: changes the learning rate, after each epoch or each step as ``schedule`` says.
        clip_norm: limits the norm of all gradients together; None doesn't.
        metrics: measured on the validation batches after each epoch; the loss always is.
        progress: show a bar, or lines where there is no terminal, and print one line per epoch.
    """

    loss: Callable[[Any, Any], torch.Tensor]
    optimizer: Optimizer
    scheduler: LRScheduler | None = None
    schedule: Literal["epoch", "step"] = "epoch"
    clip_norm: float | None = None
    metrics: Mapping[str, Metric[float]] = field(default_factory=dict)
    progress: bool = True

    def fit(
        self,
        model: torch.nn.Module,
        loader: Iterable[Any],
        *,
        epochs: int,
        validation: Iterable[Any] | None = None,
    ) -> list[Epoch]:
        """Train ``model`` in place on the batches ``(*inputs, target)`` of ``loader``; returns one `Epoch` for each.

        Batches are moved to the model's device. Afterwards the model is in the mode it was in before.

        Raises:
            ValueError: ``epochs`` is less than 1, or the optimizer has no parameter of the model.
            DataError: a loader is empty, or its batches are not tuples.
            TorchError: the loss is not finite at the end of an epoch, or a step failed.
        """
        if epochs < 1:
            raise ValueError(f"epochs is {epochs}: train for at least 1")
        step = Step(model, self.loss, self.optimizer, clip_norm=self.clip_norm)
        metrics = {"loss": MeanLoss(self.loss), **self.metrics}
        history: list[Epoch] = []
        for number in range(1, epochs + 1):
            loss, samples, steps, start = Mean(), 0, 0, time.perf_counter()
            with mode(model, training=True):
                for batch in to_device(self._shown(loader, f"epoch {number}/{epochs}"), device_of(model)):
                    size = samples_in(batch)
                    loss.update(step(*batch), size)
                    samples, steps = samples + size, steps + 1
                    rate = self.optimizer.param_groups[0]["lr"]
                    if self.scheduler is not None and self.schedule == "step":
                        self.scheduler.step()
            if steps == 0:
                raise DataError(f"there is nothing to train on: the loader gave no batch in epoch {number}")
            mean, seconds = loss.compute(), time.perf_counter() - start
            if not math.isfinite(mean):
                raise TorchError(
                    f"the loss became {mean} in epoch {number}: lower the learning rate ({rate:g}), set clip_norm, "
                    "or find the operation with torch.autograd.set_detect_anomaly(True)"
                )
            measured = {} if validation is None else evaluate(model, self._shown(validation, "validation"), metrics)
            history.append(Epoch(number, mean, measured, rate, samples, steps, seconds))
            if self.progress:
                print(history[-1], flush=True)
            if self.scheduler is not None and self.schedule == "epoch":
                self._schedule(measured.get("loss", mean))
        return history

    def _shown(self, batches: Iterable[Any], description: str) -> Iterable[Any]:
        return track(batches, description) if self.progress else batches

    def _schedule(self, loss: float) -> None:
        if isinstance(self.scheduler, ReduceLROnPlateau):
            self.scheduler.step(loss)
        elif self.scheduler is not None:
            self.scheduler.step()
