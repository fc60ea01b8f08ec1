"""Why a training can't work, as far as that can be known before its first step."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Dataset, IterableDataset

from simpletorch._samples import LOADER, length_of
from simpletorch.errors import DataError
from simpletorch.optim import CosineAnnealingLR, OneCycleLR, ReduceLROnPlateau
from simpletorch.train._batch import parts_of
from simpletorch.train._callback import Callback
from simpletorch.train._measures import VALIDATION, spelled
from simpletorch.train._own_step import Updates
from simpletorch.train._parallel import why_not_parallel

if TYPE_CHECKING:
    from simpletorch.train._trainer import Trainer


@dataclass(frozen=True)
class Run:
    """The arguments of `Trainer.fit`."""

    model: torch.nn.Module
    loader: Iterable[Any]
    validation: Iterable[Any] | None
    epochs: int | None
    steps: int | None


def why_not(trainer: Trainer, run: Run) -> str:
    """Why this can't be trained; "" when it can."""
    return next(filter(None, _reasons(trainer, run)), "")


def _reasons(trainer: Trainer, run: Run) -> Iterator[str]:
    if run.epochs is not None and run.epochs < 1:
        yield f"epochs is {run.epochs}: train for at least 1"
    if run.steps is not None and run.steps < 1:
        yield f"steps is {run.steps}: make at least 1 update"
    if trainer.evaluate_every is not None and trainer.evaluate_every < 1:
        yield f"evaluate_every is {trainer.evaluate_every}: it is a number of updates, at least 1"
    if trainer.schedule not in ("epoch", "step"):
        yield f"schedule is {trainer.schedule!r}: it must be 'epoch' or 'step'"
    yield _no_module(run.model)
    yield from _no_objects(trainer)
    yield why_not_parallel(trainer.parallel, run.loader)
    yield from _own_step(trainer, run)
    yield from (_no_loader(name, given) for name, given in (("loader", run.loader), ("validation", run.validation)))
    if trainer.evaluate_every is not None and run.validation is None:
        number = trainer.evaluate_every
        yield f"evaluate_every is {number}, but there is nothing to evaluate on: fit(…, validation=loader)"
    yield from _schedule(trainer, run)
    yield from (_unmonitored(callback, trainer, run) for callback in trainer.callbacks)


def why_not_measure(trainer: Trainer, model: Any, loader: Any) -> str:
    """Why ``test`` and ``predict`` can't work; "" when they can."""
    return _no_module(model) or _no_loader("loader", loader) or next(filter(None, _no_objects(trainer)), "")


def why_not_called(model: torch.nn.Module, batch: Any, target: str | None) -> str:
    """Why the model's ``forward`` can't be called with this batch: parameters that it lacks or has no value for."""
    if model._forward_pre_hooks:  # which may change what is passed on
        return ""
    inputs, named, _ = parts_of(batch, target)
    try:
        signature = inspect.signature(model.forward)
    except (TypeError, ValueError):  # no Python function
        return ""
    try:
        signature.bind(*inputs, **named)
    except TypeError as error:
        given = f"{len(inputs)} input{'s' * (len(inputs) != 1)}" if target is None else ", ".join(map(repr, named))
        return (
            f"a batch has {given} beside its target, and {type(model).__name__}.forward takes "
            f"({', '.join(signature.parameters)}): {error}. Remove the values that the model doesn't "
            "need from the samples, or leave them out in a step of your own (Trainer.with_step)"
        )
    return ""


def _no_module(model: Any) -> str:
    if isinstance(model, type):
        return f"the model is the class {model.__name__}, not a model: {model.__name__}(…) makes one"
    if not isinstance(model, torch.nn.Module):
        return f"the model is a {type(model).__name__}, but a torch.nn.Module is trained: fit(model, loader)"
    return ""


def _no_objects(trainer: Trainer) -> Iterator[str]:
    """Classes where there should be objects, and single objects where there should be several."""
    if isinstance(trainer.callbacks, Callback) or not isinstance(trainer.callbacks, Iterable):
        yield f"callbacks is one object, {_named(trainer.callbacks)}: callbacks=[…] needs a list"
        return
    for name in ("metrics", "train_metrics"):
        given = getattr(trainer, name)
        if not isinstance(given, Mapping):
            yield f"{name} is {_named(given)}: each metric has a name, as in {name}={{'accuracy': Accuracy()}}"
            return
    measures = {**trainer.train_metrics, **trainer.metrics}
    objects: dict[str, object] = {"optimizer": trainer.optimizer, "scheduler": trainer.scheduler}
    objects |= {f"callbacks[{index}]": callback for index, callback in enumerate(trainer.callbacks)}
    objects |= {f"the metric {name!r}": metric for name, metric in measures.items()}
    if isinstance(trainer.loss, type) and issubclass(trainer.loss, torch.nn.Module):
        objects["loss"] = trainer.loss
    for what, item in objects.items():
        if isinstance(item, type):
            yield f"{what} is the class {item.__name__}, but an object of it is needed: {item.__name__}(…)"
    if not callable(trainer.loss):
        yield f"loss is {_named(trainer.loss)}: give a function of outputs and targets, such as F.cross_entropy"
    for index, callback in enumerate(trainer.callbacks):
        if not isinstance(callback, Callback):
            yield f"callbacks[{index}] is {_named(callback)}: a callback is an object of a class derived from Callback"
    for name, metric in measures.items():
        if not all(hasattr(metric, method) for method in ("update", "compute", "reset")):
            yield f"the metric {name!r} is {_named(metric)}, which lacks the methods update, compute and reset"


def _own_step(trainer: Trainer, run: Run) -> Iterator[str]:
    """The options that a trainer with its own step doesn't take."""
    if not isinstance(trainer.optimizer, Updates):
        return
    updates = trainer.optimizer.updates
    if not updates:
        yield "updates has none: name each Update that the step makes, as in Trainer.with_step(step, {'model': update})"
    owned = {id(parameter) for parameter in run.model.parameters()}
    for name, update in updates.items():
        if not any(id(p) in owned for group in update.optimizer.param_groups for p in group["params"]):
            yield (
                f"the update {name!r} has none of this model's parameters: fit needs a module with all trained "
                "parameters, because that module is saved"
            )
    if run.validation is not None and not trainer.metrics and not trainer.has_loss:
        yield "there is nothing to measure on the validation batches: give loss= or metrics= to Trainer.with_step"


def _named(item: Any) -> str:
    return repr(item) if isinstance(item, (str, int, float)) or item is None else f"a {type(item).__name__}"


def _no_loader(name: str, given: Any) -> str:
    if given is None:
        return ""
    if isinstance(given, torch.Tensor):
        made = "DataLoader(TensorDataset(inputs, targets), 64)"
        return f"{name} is a tensor, but batches of inputs and targets are needed: {made} makes them"
    if not isinstance(given, Iterable) and not hasattr(given, "__getitem__"):
        return f"{name} is {_named(given)}, which gives no batches: {LOADER}"
    if isinstance(given, Dataset) and not isinstance(given, IterableDataset) and _gives_samples(given):
        return f"{name} is the dataset {type(given).__name__}, which gives single samples: {LOADER}"
    return ""


def _gives_samples(dataset: Dataset[Any]) -> bool:
    """Whether a dataset surely has samples, not batches: its first target has no length."""
    if not isinstance(dataset, Sized) or not len(dataset):
        return False
    sample = dataset[0]
    if not isinstance(sample, (tuple, list)) or len(sample) < 2:
        return False
    try:
        length_of(sample[-1])
    except DataError:
        return True
    return False


def unmeasured(trainer: Trainer, run: Run) -> str:
    """A sentence on metrics that this training won't measure; "" if there are none. They may be meant for `test`."""
    if run.validation is not None or not trainer.metrics:
        return ""
    return (
        f"no validation batches, so nothing measures {', '.join(map(repr, trainer.metrics))} while training: give "
        "fit(…, validation=loader), or train_metrics= for the training batches"
    )


def _unmonitored(callback: Callback, trainer: Trainer, run: Run) -> str:
    """A measure that a callback asks for and nothing measures."""
    monitor = getattr(callback, "monitor", None)
    if not isinstance(monitor, str) or any(_may_measure(other) for other in trainer.callbacks):
        return ""
    names = ["loss", *trainer.train_metrics]
    if run.validation is not None:
        names += [VALIDATION + name for name in (*(["loss"] if trainer.has_loss else []), *trainer.metrics)]
    if spelled(monitor) in names:
        return ""
    has, why = ", ".join(map(repr, names)), ""
    if spelled(monitor).startswith(VALIDATION) and run.validation is None:
        why = "; without fit(…, validation=loader) nothing is measured in validation"
    elif VALIDATION + monitor in names:
        why = f"; what is measured in validation is called {VALIDATION + monitor!r}"
    return f"{type(callback).__name__} monitors {monitor!r}, but what is measured is {has}{why}"


def _may_measure(callback: Callback) -> bool:
    """Whether a callback may put measures of its own into ``fit.metrics``: those that come with us don't."""
    return not type(callback).__module__.startswith("simpletorch.train.")


def _schedule(trainer: Trainer, run: Run) -> Iterator[str]:
    scheduler = trainer.scheduler
    if scheduler is None or isinstance(scheduler, type):
        return
    name = type(scheduler).__name__
    if scheduler.optimizer is not trainer.optimizer:
        yield (
            f"the {name} changes the learning rate of another optimizer than the one that trains: "
            "build the scheduler from this optimizer, after it"
        )
    if isinstance(scheduler, ReduceLROnPlateau) and trainer.schedule == "step":
        yield "ReduceLROnPlateau needs a measure, and there is one per epoch: use schedule='epoch'"
    length, what = _length(scheduler)
    if length is None:
        return
    planned, updates = _planned(trainer, run), _updates(trainer, run)
    if planned is None:
        return
    # said now and not by torch, which raises in the middle of the training
    if isinstance(scheduler, OneCycleLR) and planned > length:
        yield (
            f"the OneCycleLR is over after {length} steps, but with schedule={trainer.schedule!r} "
            f"this training makes {planned}: build it with total_steps={planned}"
        )
    if trainer.schedule == "step" or updates is None or planned >= length:
        return
    if length == updates:
        yield (
            f"the {name} is made for {what}={length} steps, as many as this training makes updates, but with "
            f"schedule='epoch' it makes {planned} of them, one after each epoch: use schedule='step'"
        )
    elif isinstance(scheduler, OneCycleLR) and updates - length < length - planned:
        yield (
            f"the OneCycleLR has {length} steps, but with schedule='epoch' this training makes {planned} of them: "
            f"use schedule='step' and total_steps={updates}, or build it with total_steps={planned}"
        )


def _length(scheduler: Any) -> tuple[int | None, str]:
    """The number of steps that a scheduler is made for, if it has one, and the name of that option."""
    if isinstance(scheduler, OneCycleLR):
        return int(scheduler.total_steps), "total_steps"
    if isinstance(scheduler, CosineAnnealingLR):
        return int(scheduler.T_max), "T_max"
    return None, ""


def _planned(trainer: Trainer, run: Run) -> int | None:
    """How often the scheduler will be stepped; None where that can't be known."""
    if trainer.schedule == "epoch":
        return 1 if run.epochs is None and run.steps is None else run.epochs
    return _updates(trainer, run)


def _updates(trainer: Trainer, run: Run) -> int | None:
    """How many updates will be made; None where that can't be known."""
    if not isinstance(run.loader, Sized):
        return run.steps
    updates = (run.epochs or 1) * math.ceil(len(run.loader) / trainer.accumulate)
    return updates if run.steps is None else run.steps if run.epochs is None else min(updates, run.steps)
