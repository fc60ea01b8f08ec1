"""The training loop, in full."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import torch
from torch.optim.swa_utils import AveragedModel

from simpletorch.amp import Precision, precise
from simpletorch.errors import DataError, TorchError, as_also
from simpletorch.metrics import MeanLoss, Metric
from simpletorch.optim import LRScheduler, OneCycleLR, Optimizer, ReduceLROnPlateau
from simpletorch.train._batch import samples_in
from simpletorch.train._callback import Callback
from simpletorch.train._device import device_of, to_device
from simpletorch.train._dry_step import dry_step
from simpletorch.train._epoch import Epoch
from simpletorch.train._evaluate import evaluate
from simpletorch.train._fit import Fit
from simpletorch.train._memory import peak_memory
from simpletorch.train._mode import mode
from simpletorch.train._resume import Resume, resume_from
from simpletorch.train._step import Step, scaler_for
from simpletorch.train._track import track

_Wrong = as_also(TorchError, ValueError)


@dataclass(kw_only=True)
class Trainer:
    """How to train: `fit` then runs the loop, and is meant to be read.

    Args:
        loss: from a batch's outputs and targets to their mean loss, a 0-d tensor.
        optimizer: has the model's parameters.
        scheduler: changes the learning rate, after each epoch or each update as ``schedule`` says.
        clip_norm: limits the norm of all gradients together; None doesn't.
        clip_value: limits each element of the gradients; None doesn't.
        accumulate: how many batches make one update (see `Step`); what is left at an epoch's end makes one too.
        count: how many items of a target the loss averages over, when that is not ``len(target)`` (see `Step`).
        precision: of forward passes; ``"float16"`` scales losses too.
        compile: run the model through `torch.compile`; a mapping has the arguments for it, such as ``{"mode":
            "max-autotune"}``. The model itself stays as it is.
        ema: an average of the model's weights (`simpletorch.optim.EMA`, `SWA`): updated after each update, and what is
            evaluated.
        metrics: measured on the validation batches; the loss always is.
        train_metrics: measured on the training batches as they are trained on.
        evaluate_every: also evaluate after each so many updates; None evaluates only after each epoch.
        callbacks: asked in this order.
        progress: show a bar, or lines where there is no terminal, and print one line per epoch.
        dry_run: send the shapes of the first batch through a copy of the model without data (`dry_step`), so that
            what doesn't fit is found before anything is changed.
    """

    loss: Callable[[Any, Any], torch.Tensor]
    optimizer: Optimizer
    scheduler: LRScheduler | None = None
    schedule: Literal["epoch", "step"] = "epoch"
    clip_norm: float | None = None
    clip_value: float | None = None
    accumulate: int = 1
    count: Callable[[Any], float] = len
    precision: Precision = "float32"
    compile: bool | Mapping[str, Any] = False
    ema: AveragedModel | None = None
    metrics: Mapping[str, Metric[float]] = field(default_factory=dict)
    train_metrics: Mapping[str, Metric[float]] = field(default_factory=dict)
    evaluate_every: int | None = None
    callbacks: Sequence[Callback] = ()
    progress: bool = True
    dry_run: bool = True

    def fit(
        self,
        model: torch.nn.Module,
        loader: Iterable[Any],
        *,
        epochs: int | None = None,
        steps: int | None = None,
        validation: Iterable[Any] | None = None,
        resume: Resume = None,
    ) -> list[Epoch]:
        """Train ``model`` in place on the batches ``(*inputs, target)`` of ``loader``; returns one `Epoch` for each.

        Batches are moved to the model's device. Afterwards the model is in the mode it was in before.

        Args:
            epochs: how many times to go through ``loader``; 1 if neither this nor ``steps`` is given.
            steps: how many updates to make, in as many epochs as it takes; with ``epochs``, whatever is reached first.
            validation: batches to evaluate on after each epoch.
            resume: where to go on: ``"auto"`` from the newest undamaged file of the `Checkpoint` callback, or from the
                start if there is none; the path of a checkpoint; or what `Fit.state_dict` gave. Model, optimizer,
                loader … are built as they were then.

        Raises:
            ValueError: a setting can't work: no epoch, a scheduler of another optimizer, …; it is a `TorchError` too.
            DataError: a loader is empty, or its batches are not tuples.
            CheckpointError: the checkpoint can't be read, or is of another training.
            SystemExit: the training was interrupted and has been saved (see `Checkpoint`); its status is 75.
            TorchError: the loss is not finite at the end of an epoch, or a step failed.
        """
        if reason := self._why_not(loader, epochs, steps):
            raise _Wrong(reason)
        fit = Fit(
            model=model,
            optimizer=self.optimizer,
            loader=loader,
            validation=validation,
            scheduler=self.scheduler,
            scaler=scaler_for(self.precision, model),
            ema=self.ema,
            loss_function=self.loss,
            train_metrics=self.train_metrics,
            callbacks=sorted(self.callbacks, key=lambda callback: callback.last),
            epochs=1 if epochs is None and steps is None else epochs,
            steps=steps,
        )
        fit.train_step = step = self._step(fit)
        resume_from(resume, fit)
        try:
            self._tell("on_fit_start", fit)
            while not fit.is_done:
                self._train(fit, step)
                self._close(fit, step)
            if self.progress and fit.stop_reason is not None:
                print(f"stopped: {fit.stop_reason}", flush=True)
            self._tell("on_fit_end", fit)
        except BaseException as error:
            for callback in fit.callbacks:
                callback.on_exception(fit, error)
            raise
        return fit.history

    def _train(self, fit: Fit, step: Step) -> None:
        """Train one epoch, or what is left of it."""
        if fit.open_epoch():
            self._tell("on_epoch_start", fit)
        metrics, step_ends = tuple(self.train_metrics.values()), fit.hooks("on_step_end")
        with mode(fit.model, training=True):
            batches = self._batches(fit)  # of a resumed epoch too that is over: this is where its generators go on
            for batch in () if fit.is_over else batches:
                fit.batch = batch
                size = samples_in(batch)
                fit.loss = loss = step(*batch)
                fit.add(loss, size)
                for metric in metrics:
                    metric.update(step.output, batch[-1])
                if not step.pending:
                    self._updated(fit, step, step_ends)
                    if fit.is_over:
                        break
            else:
                fit.phase = "drained"
                if step.flush():
                    self._updated(fit, step, step_ends)
        fit.batch = None
        fit.pause()

    def _updated(self, fit: Fit, step: Step, step_ends: Sequence[Callable[[Fit], None]]) -> None:
        """What follows each update; evaluation before the callbacks, so that a state they save has it behind."""
        fit.step += 1
        fit.epoch_steps += 1
        if self.scheduler is not None and self.schedule == "step" and not step.skipped:
            fit.rate = float(self.optimizer.param_groups[0]["lr"])
            self.scheduler.step()
        if self.evaluate_every is not None and fit.step % self.evaluate_every == 0:
            fit.pause()
            self._evaluate(fit, step)
            fit.go_on()
        for step_end in step_ends:
            step_end(fit)
        if fit.logged:
            fit.logged.clear()

    def _close(self, fit: Fit, step: Step) -> None:
        """Evaluate, record and schedule at the end of an epoch."""
        if fit.batches == 0:
            raise DataError(f"there is nothing to train on: the loader gave no batch in epoch {fit.epoch}")
        # before the scheduler's step below, which changes the rate
        mean, rate = fit.mean_loss, fit.learning_rate
        if not math.isfinite(mean):
            raise TorchError(
                f"the loss became {mean} in epoch {fit.epoch}: lower the learning rate ({rate:g}), set clip_norm, "
                "or let the callback DetectNaN find the batch and the layer"
            )
        training = {name: metric.compute() for name, metric in self.train_metrics.items()}
        fit.metrics.update({"loss": mean, **training})
        measured = self._evaluate(fit, step)
        memory = peak_memory(device_of(fit.model))
        fit.history.append(
            Epoch(fit.epoch, mean, measured, rate, fit.samples, fit.epoch_steps, fit.seconds, training, memory)
        )
        if self.progress:
            print(fit.history[-1], flush=True)
        if self.scheduler is not None and self.schedule == "epoch":
            if isinstance(self.scheduler, ReduceLROnPlateau):
                self.scheduler.step(measured.get("loss", mean))
            elif not step.skipped:
                self.scheduler.step()
        fit.phase = "between"
        self._tell("on_epoch_end", fit)

    def _evaluate(self, fit: Fit, step: Step) -> dict[str, float]:
        """Each metric on the validation batches; nothing without such batches."""
        if fit.validation is None:
            return {}
        metrics = {"loss": MeanLoss(self.loss), **self.metrics}
        shown = track(fit.validation, "validation") if self.progress else fit.validation
        with precise(self.precision, device_of(fit.model)):
            measured = evaluate(step.model if fit.ema is None else fit.ema, shown, metrics)
        fit.metrics.update({f"validation_{name}": value for name, value in measured.items()})
        self._tell("on_evaluated", fit)
        return measured

    # -- what the loop is made of -------------------------------------------------------------------------------------

    def _step(self, fit: Fit) -> Step:
        options = {} if isinstance(self.compile, bool) else dict(self.compile)
        model = fit.model
        if self.compile is not False:
            model = cast("torch.nn.Module", torch.compile(fit.model, **options))
        on_loss, on_gradients = fit.hooks("on_loss"), fit.hooks("on_gradients")

        def tell_loss(loss: torch.Tensor) -> None:
            fit.loss = loss
            for method in on_loss:
                method(fit)

        def tell_gradients() -> None:
            for method in on_gradients:
                method(fit)

        return Step(
            model,
            self.loss,
            self.optimizer,
            clip_norm=self.clip_norm,
            clip_value=self.clip_value,
            accumulate=self.accumulate,
            precision=self.precision,
            scaler=fit.scaler,
            ema=self.ema,
            count=self.count,
            keep_output=bool(self.train_metrics),
            on_loss=tell_loss if on_loss else None,
            on_gradients=tell_gradients if on_gradients else None,
        )

    def _batches(self, fit: Fit) -> Iterable[Any]:
        """The batches that are left of the epoch, on the model's device; the first of all is tried out dry."""
        left = fit.batches_left()
        if self.progress:
            name = f"epoch {fit.epoch}" if fit.epochs is None else f"epoch {fit.epoch}/{fit.epochs}"
            total = len(fit.loader) if isinstance(fit.loader, Sized) else None
            left = track(left, name, status=lambda: f"loss {fit.mean_loss:.4f}", total=total, start=fit.batches)
        moved = to_device(left, device_of(fit.model))
        return self._tried(fit, moved) if self.dry_run and fit.step == 0 and fit.batches == 0 else moved

    def _tried(self, fit: Fit, batches: Iterable[Any]) -> Iterable[Any]:
        for batch in batches:
            if fit.batches == 0:
                samples_in(batch)
                dry_step(fit.model, self.loss, *batch)
            yield batch

    def _tell(self, hook: str, fit: Fit) -> None:
        for method in fit.hooks(hook):
            method(fit)

    def _why_not(self, loader: Iterable[Any], epochs: int | None, steps: int | None) -> str:
        """Why this can't be trained; "" when it can."""
        if epochs is not None and epochs < 1:
            return f"epochs is {epochs}: train for at least 1"
        if steps is not None and steps < 1:
            return f"steps is {steps}: make at least 1 update"
        if self.evaluate_every is not None and self.evaluate_every < 1:
            return f"evaluate_every is {self.evaluate_every}: it is a number of updates, at least 1"
        if self.schedule not in ("epoch", "step"):
            return f"schedule is {self.schedule!r}: it must be 'epoch' or 'step'"
        if self.scheduler is None:
            return ""
        name = type(self.scheduler).__name__
        if self.scheduler.optimizer is not self.optimizer:
            return (
                f"the {name} changes the learning rate of another optimizer than the one that trains: "
                "build the scheduler from this optimizer, after it"
            )
        if isinstance(self.scheduler, ReduceLROnPlateau) and self.schedule == "step":
            return "ReduceLROnPlateau needs a measure, and there is one per epoch: use schedule='epoch'"
        # said now and not by torch, which raises in the middle of the training
        planned = self._planned(loader, epochs, steps)
        if isinstance(self.scheduler, OneCycleLR) and planned is not None and planned > self.scheduler.total_steps:
            return (
                f"the OneCycleLR is over after {self.scheduler.total_steps} steps, but with schedule={self.schedule!r} "
                f"this training makes {planned}: build it with total_steps={planned}"
            )
        return ""

    def _planned(self, loader: Iterable[Any], epochs: int | None, steps: int | None) -> int | None:
        """How often the scheduler will be stepped; None where that can't be known."""
        if self.schedule == "epoch":
            return 1 if epochs is None and steps is None else epochs
        if not isinstance(loader, Sized):
            return steps
        updates = (epochs or 1) * math.ceil(len(loader) / self.accumulate)
        return updates if steps is None else steps if epochs is None else min(updates, steps)
