"""The training loop, in full."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Literal, Self, cast

import torch
from torch.optim.swa_utils import AveragedModel

from simpletorch._samples import length_of
from simpletorch.amp import Precision, precise
from simpletorch.distributed._group import is_main
from simpletorch.errors import DataError, TorchError, as_also
from simpletorch.metrics import MeanLoss, Metric
from simpletorch.optim import LRScheduler, Optimizer, ReduceLROnPlateau
from simpletorch.train._batch import parts_of, samples_in
from simpletorch.train._callback import Callback
from simpletorch.train._device import device_of, to_device
from simpletorch.train._dry_evaluation import dry_evaluation, dry_metrics
from simpletorch.train._dry_step import dry_step
from simpletorch.train._epoch import Epoch
from simpletorch.train._evaluate import evaluate
from simpletorch.train._fit import Fit
from simpletorch.train._measures import VALIDATION, numbers_and_others
from simpletorch.train._memory import peak_memory
from simpletorch.train._mode import mode
from simpletorch.train._own_step import MeanOfUpdates, OwnStep, Updates
from simpletorch.train._parallel import Alone, Parallel, Replicated, sharing
from simpletorch.train._plan import Run, unmeasured, why_not, why_not_called, why_not_measure
from simpletorch.train._predict import predict
from simpletorch.train._resume import Resume, resume_from
from simpletorch.train._step import Step, scaler_for
from simpletorch.train._track import track
from simpletorch.train._update import Update

_Wrong = as_also(TorchError, ValueError)


@dataclass(kw_only=True)
class Trainer:
    """How to train: `fit` then runs the loop, and is meant to be read.

    Args:
        loss: from a batch's outputs and targets to their mean loss, a 0-d tensor.
        optimizer: has the model's parameters.
        scheduler: changes the learning rate, after each epoch or each update as ``schedule`` says.
        schedule: when the scheduler steps: ``"epoch"`` after each epoch, ``"step"`` after each update.
        clip_norm: limits the norm of all gradients together; None doesn't.
        clip_value: limits each element of the gradients; None doesn't.
        accumulate: how many batches make one update (see `Step`); the rest at an epoch's end makes one too.
        count: how many items of a target the loss averages over, when that is not its length (see `Step`).
        target: the name of the target, in batches whose items have names (see `fit`); None for tuples.
        precision: of forward passes; ``"float16"`` scales losses too.
        compile: run the model through `torch.compile`; a mapping has the arguments for it, such as ``{"mode":
            "max-autotune"}``. The model itself stays as it is.
        ema: an average of the model's weights (`simpletorch.optim.EMA`, `SWA`): updated after each update, and
            evaluated in place of the weights.
        metrics: measured on the validation batches; the loss always is. A result that isn't a single number, as of
            `ConfusionMatrix`, is in the history (`Epoch.others`), but not in the log.
        train_metrics: measured on the training batches as they are trained on.
        evaluate_every: also evaluate after each ``evaluate_every`` updates; None evaluates only after each epoch.
        callbacks: asked in this order.
        progress: show a bar, or lines where there is no terminal, and print one line per epoch.
        dry_run: send the shapes of the first batch through a copy of the model without data (`dry_step`), so that a
            mismatch is found before anything is changed. So are those of a validation batch, through the metrics as
            well, where the loader can be asked for one without losing it: a list of batches, or a `DataLoader` over a
            dataset with indices.
        parallel: ``"ddp"``: each process its batches (`simpletorch.distributed.replicate`); measures are those of all.

    Examples:
        >>> from simpletorch import nn, optim, seed_everything
        >>> from simpletorch.data import DataLoader, Digits
        >>> from simpletorch.train import Trainer
        >>> seed_everything(0)
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> trainer = Trainer(loss=nn.functional.cross_entropy, optimizer=optimizer, progress=False)
        >>> history = trainer.fit(model, DataLoader(Digits(), batch_size=100), epochs=2)
        >>> history[1].loss < history[0].loss
        True
    """

    loss: Callable[[Any, Any], torch.Tensor]
    optimizer: Optimizer
    scheduler: LRScheduler | None = None
    schedule: Literal["epoch", "step"] = "epoch"
    clip_norm: float | None = None
    clip_value: float | None = None
    accumulate: int = 1
    count: Callable[[Any], float] = length_of
    target: str | None = None
    precision: Precision = "float32"
    compile: bool | Mapping[str, Any] = False
    ema: AveragedModel | None = None
    metrics: Mapping[str, Metric[object]] = field(default_factory=dict)
    train_metrics: Mapping[str, Metric[object]] = field(default_factory=dict)
    evaluate_every: int | None = None
    callbacks: Sequence[Callback] = ()
    progress: bool = True
    dry_run: bool = True
    parallel: Parallel | None = None

    _own_step: tuple[Callable[..., object], Mapping[str, Update]] | None = field(default=None, init=False, repr=False)
    _sharing: Alone = field(default_factory=Alone, init=False, repr=False)

    @classmethod
    def with_step(
        cls,
        step: Callable[..., object],
        updates: Mapping[str, Update],
        *,
        loss: Callable[[Any, Any], torch.Tensor] | None = None,
        ema: AveragedModel | None = None,
        metrics: Mapping[str, Metric[object]] | None = None,
        target: str | None = None,
        evaluate_every: int | None = None,
        callbacks: Sequence[Callback] = (),
        progress: bool = True,
    ) -> Self:
        """A trainer for a step of your own: several optimizers, a model that computes its loss, batches of any kind.

        ``step`` gets each batch on the model's device: ``step(images, targets)`` of a tuple, ``step(batch)`` of all
        else. It computes the losses and hands each to the `Update` that learns from it; the rest is `fit`'s::

            Trainer.with_step(step, {"discriminator": discriminate, "generator": generate}).fit(gan, loader, epochs=20)

        ``gan`` is a module that has all that is trained: it is saved, and its mode is set. In the log and for callbacks
        each update's mean loss has its name, and ``loss`` is their sum. Several processes: `shard` the models yourself.

        Args:
            step: takes a batch and hands each loss to an `Update`, as above.
            updates: all that ``step`` makes, by name.
            loss: measured on the validation batches, if there are any: then the model takes them as in any `Trainer`.
            ema, metrics, target, evaluate_every, callbacks, progress: as for `Trainer`.

        Returns:
            The trainer.
        """
        trainer = cls(
            loss=_no_loss if loss is None else loss,
            optimizer=Updates(updates),
            ema=ema,
            metrics={} if metrics is None else metrics,
            train_metrics={name: MeanOfUpdates() for name in updates},
            target=target,
            evaluate_every=evaluate_every,
            callbacks=callbacks,
            progress=progress,
            dry_run=False,
        )
        trainer._own_step = step, updates
        return trainer

    @property
    def _shows(self) -> bool:
        return self.progress and is_main()

    @property
    def _measures(self) -> Mapping[str, Metric[object]]:
        return {"loss": MeanLoss(self.loss), **self.metrics} if self.has_loss else self.metrics

    @property
    def has_loss(self) -> bool:
        """Whether there is a loss of outputs and targets, to measure on validation batches."""
        return self.loss is not _no_loss

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
        """Train ``model`` in place on the batches ``(*inputs, target)`` of ``loader``.

        Batches may also be dicts, dataclasses, named tuples and transformers' ``BatchEncoding``: `target` names their
        target, and the other items go to the parameters of ``forward`` that are called so. They are moved to the
        model's device. Afterwards the model is in the mode it was in before.

        Args:
            model: the model to train, on the device where it shall be trained.
            loader: the training batches of one epoch each time it is iterated.
            epochs: how many times to go through ``loader``; 1 if neither this nor ``steps`` is given.
            steps: how many updates to make, in as many epochs as it takes; with ``epochs``, whatever is reached first.
            validation: batches to evaluate on after each epoch.
            resume: ``"auto"`` resumes from the newest undamaged file of the `Checkpoint` callback, or starts from the
                beginning if there is none. Else the path of a checkpoint, or a state from `Fit.state_dict`. Model,
                optimizer, loader … are built as they were then.

        Returns:
            One `Epoch` for each epoch of this call: its losses, metrics and speed.

        Raises:
            ValueError: a setting can't work: no epoch, a scheduler of another optimizer, a monitored measure that
                nothing measures, …; it is a `TorchError` too, and comes before the first step.
            DataError: a loader is empty, or gives no batches but something else.
            CheckpointError: the checkpoint can't be read, or is of another training.
            SystemExit: the training was interrupted and has been saved (see `Checkpoint`); its status is 75.
            TorchError: the loss is not finite at the end of an epoch, or a step failed.
        """
        run = Run(model, loader, validation, epochs, steps)
        if reason := why_not(self, run):
            raise _Wrong(reason)
        if self._shows and (note := unmeasured(self, run)):
            print(note, flush=True)
        fit = Fit(
            model=model,
            optimizer=self.optimizer,
            loader=loader,
            validation=validation,
            scheduler=self.scheduler,
            scaler=scaler_for(self.precision, model),
            ema=self.ema,
            loss_function=self.loss if self.has_loss else None,
            target=self.target,
            train_metrics=self.train_metrics,
            validation_metrics=self.metrics,
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
            if self._shows and fit.stop_reason is not None:
                print(f"stopped: {fit.stop_reason}", flush=True)
            self._tell("on_fit_end", fit)
        except BaseException as error:
            for callback in fit.asked:
                callback.on_exception(fit, error)
            raise
        return fit.history

    def test(self, model: torch.nn.Module, loader: Iterable[Any]) -> dict[str, Any]:
        """The loss and each of ``metrics`` over the batches of ``loader``, by name, as validation measures them.

        It is the average of weights (``ema``) that is measured, if there is one, in the trainer's precision.

        Args:
            model: the model to measure.
            loader: the batches, as for `fit`.

        Raises:
            DataError: the loader gave no sample, or something that isn't a batch.
            TorchError: torch's error inside, explained.
        """
        if reason := why_not_measure(self, model, loader):
            raise _Wrong(reason)
        with precise(self.precision, device_of(model)):
            return evaluate(model if self.ema is None else self.ema, loader, self._measures, target=self.target)

    def predict(self, model: torch.nn.Module, loader: Iterable[Any], *, targets: bool = True) -> Any:
        """The model's outputs for all batches of ``loader``, joined along the first dim (see `predict`).

        It is the average of weights (``ema``) that predicts, if there is one, in the trainer's precision.

        Args:
            model: the model that predicts.
            loader: the batches, as for `fit`, or inputs alone.
            targets: whether batches that are tuples have a target at their end.

        Raises:
            TorchError: ``model`` is no module, ``loader`` is no loader, or a part of the trainer is a class.
        """
        if reason := why_not_measure(self, model, loader):
            raise _Wrong(reason)
        with precise(self.precision, device_of(model)):
            predicting = model if self.ema is None else self.ema
            return predict(predicting, loader, targets=targets, target=self.target)

    def _train(self, fit: Fit, step: Step | OwnStep) -> None:
        """Train one epoch, or what is left of it."""
        self._sharing.open_epoch(fit)
        if fit.open_epoch():
            self._tell("on_epoch_start", fit)
        metrics, step_ends = tuple(self.train_metrics.values()), fit.hooks("on_step_end")
        with mode(fit.model, training=True):
            batches = self._batches(fit)  # of a resumed epoch too that is over: this is where its generators go on
            for batch in () if fit.is_over else batches:
                fit.batch = batch
                if isinstance(step, Step):
                    size = samples_in(batch, self.target)
                    fit.loss = loss = step(batch)
                    for metric in metrics:
                        metric.update(step.output, parts_of(batch, self.target)[2])
                else:  # which tells the metrics itself
                    size = length_of(batch)
                    fit.loss = loss = step(batch, size)
                fit.add(loss, size)
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

    def _updated(self, fit: Fit, step: Step | OwnStep, step_ends: Sequence[Callable[[Fit], None]]) -> None:
        """The work after each update; evaluation comes before the callbacks, so that a state they save includes it."""
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

    def _close(self, fit: Fit, step: Step | OwnStep) -> None:
        """Evaluate, record and schedule at the end of an epoch."""
        if fit.batches == 0:
            raise DataError(f"there is nothing to train on: the loader gave no batch in epoch {fit.epoch}")
        # before the scheduler's step below, which changes the rate
        (mean, samples), rate = self._sharing.epoch_totals(fit), fit.learning_rate
        if not math.isfinite(mean):
            raise TorchError(
                f"the loss became {mean} in epoch {fit.epoch}: lower the learning rate ({rate:g}), set clip_norm, "
                "or let the callback DetectNaN find the batch and the layer"
            )
        training, others = numbers_and_others({name: metric.compute() for name, metric in self.train_metrics.items()})
        fit.metrics.update({"loss": mean, **training})
        measured, more = self._evaluate(fit, step)
        others |= {VALIDATION + name: value for name, value in more.items()}
        memory = peak_memory(device_of(fit.model))
        fit.history.append(
            Epoch(fit.epoch, mean, measured, rate, samples, fit.epoch_steps, fit.seconds, training, memory, others)
        )
        if self._shows:
            print(fit.history[-1], flush=True)
        if self.scheduler is not None and self.schedule == "epoch":
            if isinstance(self.scheduler, ReduceLROnPlateau):
                self.scheduler.step(measured.get("loss", mean))
            elif not step.skipped:
                self.scheduler.step()
        fit.phase = "between"
        self._tell("on_epoch_end", fit)

    def _evaluate(self, fit: Fit, step: Step | OwnStep) -> tuple[dict[str, float], dict[str, Any]]:
        """Each metric on the validation batches: the numbers, and other results; nothing without such batches."""
        if fit.validation is None:
            return {}, {}
        shown = track(fit.validation, "validation") if self._shows else fit.validation
        measured, others = numbers_and_others(self.test(self._sharing.to_evaluate(fit, step.model), shown))
        fit.metrics.update({VALIDATION + name: value for name, value in measured.items()})
        self._tell("on_evaluated", fit)
        return measured, others

    # -- what the loop is made of -------------------------------------------------------------------------------------

    def _step(self, fit: Fit) -> Step | OwnStep:
        options = {} if isinstance(self.compile, bool) else dict(self.compile)
        self._sharing = sharing(self.parallel)
        model = self._sharing.wrapped(fit.model, self.optimizer)
        self._sharing.average(self.ema, fit.model)
        if self.compile is not False:
            model = cast("torch.nn.Module", torch.compile(model, **options))
        on_loss, on_gradients = fit.hooks("on_loss"), fit.hooks("on_gradients")

        def tell_loss(loss: torch.Tensor) -> None:
            fit.loss = loss
            for method in on_loss:
                method(fit)

        def tell_gradients() -> None:
            for method in on_gradients:
                method(fit)

        heard_loss, heard_gradients = tell_loss if on_loss else None, tell_gradients if on_gradients else None
        if self._own_step is not None:
            function, updates = self._own_step
            return OwnStep(
                function,
                model,
                updates,
                self.train_metrics,
                ema=self.ema,
                on_loss=heard_loss,
                on_gradients=heard_gradients,
            )
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
            target=self.target,
            keep_output=bool(self.train_metrics),
            on_loss=heard_loss,
            on_gradients=heard_gradients,
            replicas=self._sharing if isinstance(self._sharing, Replicated) else None,
        )

    def _batches(self, fit: Fit) -> Iterable[Any]:
        """The batches that are left of the epoch, on the model's device; the first of all is tried out dry."""
        left = fit.batches_left()
        if self._shows:
            name = f"epoch {fit.epoch}" if fit.epochs is None else f"epoch {fit.epoch}/{fit.epochs}"
            total = len(fit.loader) if isinstance(fit.loader, Sized) else None
            left = track(left, name, status=lambda: f"loss {fit.mean_loss:.4f}", total=total, start=fit.batches)
        moved = to_device(left, device_of(fit.model))
        return self._tried(fit, moved) if fit.step == 0 and fit.batches == 0 else moved

    def _tried(self, fit: Fit, batches: Iterable[Any]) -> Iterable[Any]:
        for batch in batches:
            if fit.batches == 0:
                if self.dry_run:
                    samples_in(batch, self.target)
                    if reason := why_not_called(fit.model, batch, self.target):
                        raise DataError(reason)
                    dry_step(fit.model, self.loss, batch, target=self.target)
                    dry_metrics(fit.model, batch, self.train_metrics, target=self.target)
                # a step of one's own can't be tried, and the evaluation beside it can
                if isinstance(fit.validation, Iterator) and fit.epochs != 1:
                    raise DataError(
                        "the validation is an iterator, which gives each batch once: it is empty in the second epoch",
                        hint="a loader, or a list of batches; epochs=1 for a single pass",
                    )
                if fit.validation is not None and (self.dry_run or self._own_step is not None):
                    measured = fit.model if self.ema is None else self.ema.module
                    dry_evaluation(measured, fit.validation, self._measures, target=self.target)
            yield batch

    def _tell(self, hook: str, fit: Fit) -> None:
        for method in fit.hooks(hook):
            method(fit)


def _no_loss(output: Any, target: Any) -> torch.Tensor:
    """Stands for the loss of a trainer whose own step computes it."""
    raise TorchError("this Trainer's step computes the loss: there is no loss of an output and a target")
