"""The state of a training."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import torch

from simpletorch.checkpoint import unwrapped
from simpletorch.checkpoint._differences import state_differences
from simpletorch.checkpoint._stateful import undoing
from simpletorch.distributed._group import is_main
from simpletorch.errors import TorchError
from simpletorch.metrics import Metric
from simpletorch.optim import LRScheduler, Optimizer
from simpletorch.reproducibility import rng_state, set_rng_state
from simpletorch.reproducibility._random import check_rng_state
from simpletorch.train._callback import Callback
from simpletorch.train._epoch import Epoch
from simpletorch.train._own_step import OwnStep
from simpletorch.train._rng import generators
from simpletorch.train._step import Step

Phase: TypeAlias = Literal["between", "training", "drained"]
"""``"between"`` two epochs (or before the first), ``"training"`` inside one, or ``"drained"``: the epoch's last batch
has been trained on, but its evaluation is still to come."""

_UNREAD = 64  # losses that are left on the device, until they are read together
_COUNTS = ("epoch", "step", "batches", "samples", "epoch_steps", "rate", "seconds", "phase", "metrics")


@dataclass(eq=False, kw_only=True)
class Fit:
    """The state of a training: its parts, its progress and its results so far.

    `Trainer.fit` makes one and hands it to each `Callback`. With the `state_dict` of the end of an update, a new
    process continues as if there had been no break. On the same machine that is exact to the bit if the loader and the
    model draw from Python's, NumPy's and torch's generators only.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> class StopAt(train.Callback):
        ...     def on_step_end(self, fit: train.Fit) -> None:
        ...         if fit.step == 20:
        ...             fit.stop("twenty updates are enough")
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[StopAt()])
        >>> history = trainer.fit(model, loader, epochs=5)
        >>> len(history)
        2
    """

    model: torch.nn.Module
    """The model that is trained, in place."""
    optimizer: Optimizer
    """The optimizer of its parameters."""
    loader: Iterable[Any]
    """Gives the batches of one epoch each time it is iterated; a callback may replace it between epochs."""
    validation: Iterable[Any] | None = None
    """The batches to evaluate on; None without validation."""
    scheduler: LRScheduler | None = None
    """Changes the learning rate; None for a constant one."""
    scaler: torch.amp.GradScaler | None = None
    """Scales losses of float16; None for other precisions."""
    ema: torch.nn.Module | None = None
    """The average of the model's weights; None without one."""
    loss_function: Callable[[Any, Any], torch.Tensor] | None = None
    """Takes outputs and targets and returns a 0-d tensor; None if a step of the user's own computes losses."""
    target: str | None = None
    """The name of the target, in batches whose items have names."""
    train_step: Step | OwnStep | None = None
    """What makes the updates."""
    train_metrics: Mapping[str, Metric[object]] = field(default_factory=dict)
    """Measured on the training batches, by name."""
    validation_metrics: Mapping[str, Metric[object]] = field(default_factory=dict)
    """Measured on the validation batches, by name."""
    callbacks: Sequence[Callback] = ()
    """Called in this order."""
    epochs: int | None = None
    """Train until this many epochs are done; None for no such limit."""
    steps: int | None = None
    """Train until this many updates are done; None for no such limit."""

    epoch: int = 0
    """The number of the running or last epoch, 1 for the first, 0 before it."""
    step: int = 0
    """Updates made so far, in all epochs."""
    batches: int = 0
    """Batches of this epoch trained on so far."""
    samples: int = 0
    """Samples of this epoch trained on so far."""
    epoch_steps: int = 0
    """Updates made so far in this epoch."""
    rate: float | None = None
    """The learning rate of the last update, where a scheduler has changed it since."""
    seconds: float = 0.0
    """Time spent in this epoch's training part, up to the last `pause`."""
    phase: Phase = "between"
    """``"training"`` while an epoch's batches are trained on, ``"drained"`` after its last batch, else
    ``"between"``."""
    batch: Any = None
    """The batch that is being trained on."""
    loss: torch.Tensor | None = None
    """The mean loss of the last batch: 0-d, detached, on the model's device (reading it waits for a GPU)."""
    metrics: dict[str, float] = field(default_factory=dict)
    """The latest measures by name: ``loss`` and the training metrics at an epoch's end, ``validation loss`` and
    ``validation <metric>`` after each evaluation; those that are single numbers, under the names that the log has."""
    logged: dict[str, torch.Tensor | float] = field(default_factory=dict)
    """What callbacks logged in this step; loggers write it down."""
    history: list[Epoch] = field(default_factory=list)
    """The results of each epoch so far."""
    stop_reason: str | None = None
    """Why to stop; None to go on."""

    def __post_init__(self) -> None:
        self._loss_sum = 0.0
        self._losses: list[tuple[torch.Tensor, int]] = []  # read together: each reading waits for a GPU
        self._since: float | None = None
        self._epoch_rng: dict[str, Any] = {}
        self._resumed: dict[str, Any] | None = None

    # -- for callbacks ----------------------------------------------------------------------------------------------

    def stop(self, reason: str) -> None:
        """End the training after the running update (with the epoch's evaluation), for this reason.

        Args:
            reason: why, for the log and ``stop_reason``.
        """
        self.stop_reason = reason

    def log(self, name: str, value: torch.Tensor | float) -> None:
        """Hand a number to the loggers: with this step's row, under ``name``. A 0-d tensor is not waited for.

        Args:
            name: the column or series in the log.
            value: a number, or a 0-d tensor on any device.
        """
        self.logged[name] = value

    @property
    def learning_rate(self) -> float:
        """Of the first parameter group, in the last update."""
        return float(self.optimizer.param_groups[0]["lr"]) if self.rate is None else self.rate

    @property
    def mean_loss(self) -> float:
        """The mean training loss over the epoch's samples so far; NaN before the first."""
        self._read_losses()
        return self._loss_sum / self.samples if self.samples else math.nan

    @property
    def is_over(self) -> bool:
        """Whether no further update is to be made in this epoch: enough of them, or something said stop."""
        return self.stop_reason is not None or (self.steps is not None and self.step >= self.steps)

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to do: enough epochs or updates, or something said stop."""
        enough = self.is_over or (self.epochs is not None and self.epoch >= self.epochs)
        return enough and self.phase == "between"

    @property
    def asked(self) -> list[Callback]:
        """The callbacks that are asked in this process: of several, those with ``main_only`` are in rank 0 alone."""
        return [callback for callback in self.callbacks if is_main() or not callback.main_only]

    def hooks(self, name: str) -> list[Callable[[Fit], None]]:
        """The callbacks' methods of this name, of those that are asked here and have one of their own.

        Args:
            name: the name of a method of `Callback`, such as ``"on_step_end"``.
        """
        return [getattr(c, name) for c in self.asked if getattr(type(c), name) is not getattr(Callback, name)]

    # -- for the loop -----------------------------------------------------------------------------------------------

    def open_epoch(self) -> bool:
        """Begin the next epoch, or go on with one that was interrupted.

        Returns:
            Whether the epoch is a new one.
        """
        self._since = time.perf_counter()
        if self.phase != "between":
            return False
        self.epoch += 1
        self.batches = self.samples = self.epoch_steps = 0
        self.seconds, self._loss_sum, self.phase = 0.0, 0.0, "training"
        self._losses.clear()
        for metric in self.train_metrics.values():
            metric.reset()
        return True

    def batches_left(self) -> Iterable[Any]:
        """The batches of this epoch that have not been trained on.

        After a resume, a loader with ``load_state_dict`` has been told where to go on. Any other is iterated again
        with the generators as of the start of the epoch, and the batches that are done are skipped.

        Raises:
            TorchError: after a resume, the loader has fewer batches than were done.
        """
        state, self._resumed = self._resumed, None
        if state is None:
            self._epoch_rng = _starting_point(self.loader)
            return self.loader
        if self.phase == "drained":
            self._return(state)
            return ()
        self._epoch_rng = state["epoch_rng"]
        if state["loader"] is None and self.batches:
            _return_to(self._epoch_rng, self.loader)
        left = iter(self.loader)
        if state["loader"] is None:
            for done in range(self.batches):
                if next(left, None) is None:
                    raise TorchError(
                        f"the saved training had done {self.batches} batches of epoch {self.epoch}, but this loader "
                        f"has only {done}: resume with the loader that it was trained with"
                    )
        # last, because iterating and passing over batches have drawn numbers, as they did the first time
        set_rng_state(state["rng"])
        return left

    def add(self, loss: torch.Tensor, samples: int) -> None:
        """Count one batch and its mean loss.

        Args:
            loss: the batch's mean loss, 0-d.
            samples: the number of samples in the batch.
        """
        # on the CPU it is there already, and reading it waits for nothing
        if loss.is_cpu:
            self._loss_sum += loss.item() * samples
        else:
            self._losses.append((loss, samples))
            if len(self._losses) >= _UNREAD:
                self._read_losses()
        self.batches += 1
        self.samples += samples

    def _read_losses(self) -> None:
        # added one by one in Float64, so that the sum is the same whenever it is asked for
        values = torch.stack([loss for loss, _ in self._losses]).flatten().tolist() if self._losses else []
        for value, (_, samples) in zip(values, self._losses, strict=True):
            self._loss_sum += value * samples
        self._losses.clear()

    def pause(self) -> None:
        """Stop the clock, for work that is not training."""
        if self._since is not None:
            self.seconds += time.perf_counter() - self._since
            self._since = None

    def go_on(self) -> None:
        """Start the clock again."""
        self._since = time.perf_counter()

    # -- saving -----------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on from here, as plain data and tensors; nothing is copied.

        It is exact at the end of an update (`Callback.on_step_end`) and of an epoch: never between the batches of one
        update, whose gradients it does not have.
        """
        self.pause()  # saving is no training time
        self._read_losses()
        state = {
            **{name: getattr(self, name) for name in _COUNTS},
            "history": [asdict(epoch) for epoch in self.history],
            "loss_sum": self._loss_sum,
            "rng": _starting_point(self.loader),
            "epoch_rng": self._epoch_rng,
            "model": unwrapped(self.model).state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "callbacks": [[type(c).__name__, c.state_dict()] for c in self.callbacks],
            "train_metrics": {name: _state_of(metric) for name, metric in self.train_metrics.items()},
            **{name: _state_of(getattr(self, name)) for name in ("scheduler", "scaler", "ema", "loader")},
        }
        if self.phase == "training":
            self.go_on()
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a state of `state_dict`; the model, optimizer, loader … are ones built as they were then.

        Nothing is changed when an error is raised.

        Args:
            state: a state that `state_dict` returned.

        Raises:
            TorchError: the state has a part that this training lacks, or the other way round.
            ValueError, KeyError, TypeError, …: ``state`` is none that `state_dict` gave.
        """
        if reason := self._why_not(state):
            raise TorchError(reason)
        for drawn in (state["rng"], state["epoch_rng"]):
            if drawn:  # a training that hasn't begun has none of an epoch
                check_rng_state(drawn)
        before = dict(vars(self))
        others = [part for part in (self.scheduler, self.scaler, self.loader) if part is not None]
        with undoing([self.optimizer, *others, *self.train_metrics.values(), *self.callbacks]):
            try:
                self._load(state)
            except BaseException:
                vars(self).update(before)
                raise

    def _load(self, state: Mapping[str, Any]) -> None:
        history = [Epoch(**epoch) for epoch in state["history"]]
        for name in ("scheduler", "scaler", "loader"):
            if state[name] is not None:
                getattr(self, name).load_state_dict(state[name])
        for name, metric in self.train_metrics.items():
            if state["train_metrics"][name] is not None:
                metric.load_state_dict(state["train_metrics"][name])  # type: ignore[attr-defined]
        for callback, (_, saved) in zip(self.callbacks, state["callbacks"], strict=True):
            callback.load_state_dict(saved)
        for name in _COUNTS:
            setattr(self, name, state[name])
        self.history = history
        self._loss_sum = float(state["loss_sum"] or 0.0)
        self._epoch_rng = state["epoch_rng"]
        # last: these were compared before, and a copy of them would take too much memory
        self.optimizer.load_state_dict(state["optimizer"])
        if self.step:
            # torch's schedulers look for this, and warn if the first thing after a resume is an epoch's scheduler step
            vars(self.optimizer)["_opt_called"] = True
        if state["ema"] is not None and self.ema is not None:
            self.ema.load_state_dict(state["ema"])
        unwrapped(self.model).load_state_dict(state["model"])
        if self.phase == "between":
            self._return(state)
        else:
            self._resumed = dict(state)

    def _return(self, state: Mapping[str, Any]) -> None:
        """Put the generators where they were; a loader that can be resumed has seen to its own."""
        if state["loader"] is None:
            _return_to(state["rng"], self.loader)
        set_rng_state(state["rng"])

    def _why_not(self, state: Mapping[str, Any]) -> str:
        """The difference between this training and the saved one; "" if there is none."""
        for name in ("scheduler", "scaler", "ema"):
            saved, here = state[name] is not None, getattr(self, name) is not None
            if saved != here:
                return (
                    f"the saved training has {'a' if saved else 'no'} {name}, this one has {'one' if here else 'none'}"
                )
        if (state["loader"] is not None) != (_state_of(self.loader) is not None):
            return "the loader can be resumed in only one of the saved training and this one: use the same loader"
        counts = {name: state[name] for name in _COUNTS}
        if lines := state_differences({name: getattr(self, name) for name in _COUNTS}, counts):
            return f"it is no state of a training{lines[0]}"
        if state["phase"] not in get_args(Phase):
            return f"it is no state of a training: its phase is {state['phase']!r}"
        saved_names, names = [name for name, _ in state["callbacks"]], [type(c).__name__ for c in self.callbacks]
        if saved_names != names:
            return f"the saved training has the callbacks {saved_names}, this one {names}: they must be the same"
        if list(state["train_metrics"]) != list(self.train_metrics):
            return (
                f"the saved training measures {list(state['train_metrics'])} while it trains, this one "
                f"{list(self.train_metrics)}: they must be the same"
            )
        return ""


def _state_of(part: Any) -> dict[str, Any] | None:
    """The state of a part; None if there is no part, or it has no state that can be loaded again."""
    if part is None or not hasattr(part, "load_state_dict"):
        return None
    state: dict[str, Any] = part.state_dict()
    return state


def _starting_point(loader: Iterable[Any]) -> dict[str, Any]:
    return {**rng_state(), "generators": [generator.get_state() for generator in generators(loader)]}


def _return_to(start: dict[str, Any], loader: Iterable[Any]) -> None:
    set_rng_state(start)
    for generator, state in zip(generators(loader), start["generators"], strict=True):
        generator.set_state(state)
