"""An evaluation on shapes alone."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import Any, Final

import torch

from simpletorch._tensors import map_tensors, tensors_in
from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch, TorchError, as_also, explain
from simpletorch.errors.context import is_user_file
from simpletorch.metrics import Metric
from simpletorch.train._batch import parts_of, samples_in
from simpletorch.train._device import device_of
from simpletorch.train._dry_step import meta_copies, tried, without_data
from simpletorch.train._peek import batch_of
from simpletorch.train._plan import why_not_called
from simpletorch.train._rng import undrawn

_LARGE: Final = 1 << 22  # elements of outputs and targets; more are not made for the sake of a metric's complaint


def dry_evaluation(
    model: torch.nn.Module, loader: Iterable[Any], metrics: Mapping[str, Metric[object]], *, target: str | None = None
) -> None:
    """Send a batch of ``loader`` through ``model`` and each metric without data, to find mismatches now.

    As in `dry_step` copies are tried, so that model, metrics, loader and random generators stay as they are. Nothing is
    said of what can't be tried without data, nor of a loader that would lose its batch (`batch_of`).

    Raises:
        DataError: the loader's batches are none, or a metric of ours doesn't take what the model gives.
        ShapeMismatch: shapes don't fit; it says in which layer.
        DTypeMismatch: dtypes don't fit.
        TorchError: a metric raised; it is also of the class that the metric raised.
    """
    with named("a validation batch"):
        batch = batch_of(loader)
        if batch is None:
            return
        samples_in(batch, target)
        if reason := why_not_called(model, batch, target):
            raise DataError(reason)
    rounds = _length(loader)
    _try_metrics(model, batch, metrics, target, "a validation batch", training=False, rounds=rounds)


def _length(loader: Iterable[Any]) -> int | None:
    """The number of batches, where it is known."""
    try:
        return len(loader) if isinstance(loader, Sized) else None
    except TypeError:  # of a loader of a stream
        return None


def dry_metrics(
    model: torch.nn.Module, batch: Any, metrics: Mapping[str, Metric[object]], *, target: str | None = None
) -> None:
    """The same for metrics of the training batches; ``batch`` is one of them.

    Raises:
        DataError, ShapeMismatch, DTypeMismatch, TorchError: as `dry_evaluation`.
    """
    if metrics:
        _try_metrics(model, batch, metrics, target, "a training batch", training=True)


def _try_metrics(
    model: torch.nn.Module,
    batch: Any,
    metrics: Mapping[str, Metric[object]],
    target: str | None,
    which: str,
    *,
    training: bool,
    rounds: int | None = None,
) -> None:
    device = device_of(model)
    given = parts_of(batch, target)[-1]
    with named(which):
        copies = without_data(model, parts_of(batch, target), training=training)
        if copies is None:
            return
        model, (inputs, by_name, targets) = copies  # by this name: errors have it
        with torch.no_grad():
            output = tried(lambda: model(*inputs, **by_name))
    if output is None:
        return
    for name, metric in metrics.items():
        what = "the loss" if name == "loss" else f"the metric {name!r}"
        with named(f"{what} on {which}"), torch.no_grad():
            _try_metric(what, metric, output, targets, given, device, rounds)


@contextmanager
def named(what: str) -> Iterator[None]:
    """Add to an exception what was tried when it was raised."""
    said = f"in a trial before training: {what}"
    try:
        yield
    except TorchError as error:
        error.details = (*error.details, said)
        raise
    except Exception as error:  # of the user's dataset
        error.add_note(said)
        raise


def _try_metric(
    what: str,
    metric: Metric[object],
    output: Any,
    targets: Any,
    given: Any,
    device: torch.device | None,
    rounds: int | None,
) -> None:
    """Raise what a copy of the metric raises of these outputs and targets, if it would of any like them.

    ``rounds`` is the number of batches that it will see before it computes, if that is known.
    """
    error = _refusal(metric, _without_data(metric), output, targets)
    if isinstance(error, TorchError):
        raise error
    # An error of the metric's own may be about tensors without data, or about these outputs. It counts if it is the
    # same for the real targets and outputs of all kinds.
    if sum(tensor.numel() for tensor in tensors_in((output, targets))) > _LARGE:
        return
    first = None
    for fill in _OUTPUTS:
        found = _refusal_of_values(metric, output, given, fill, device, rounds)
        if found is None or (first is not None and (type(found), str(found)) != (type(first), str(first))):
            return
        first = first or found
    assert first is not None
    if isinstance(first, TorchError):
        raise first
    refusal = f"{what} refuses what the model gives: {type(first).__name__}: {first}"
    raise as_also(TorchError, type(first))(refusal) from first


def _without_data(metric: Metric[object]) -> dict[int, Any]:
    """The memo that puts what the metric holds on ``meta``, a loss with weights of its own included."""
    parts = [metric, *getattr(metric, "__dict__", {}).values()]
    return {key: copied for part in parts for key, copied in meta_copies(part).items()}


def _refusal(metric: Metric[object], memo: dict[int, Any], output: Any, targets: Any) -> Exception | None:
    """The exception by which a copy of the metric refuses this batch; None if it takes it, or can't tell."""
    try:
        copied = copy.deepcopy(metric, memo)
        with undrawn(), explain():
            copied.reset()
            copied.update(output, targets)
    except (ShapeMismatch, DTypeMismatch, DataError) as error:
        return error
    except TorchError:  # it needs values
        return None
    except (ValueError, AssertionError) as error:
        *_, (innermost, _) = traceback.walk_tb(error.__traceback__)
        return error if is_user_file(innermost.f_code.co_filename) else None
    except Exception:
        return None
    return None


def _first_class(zeros: torch.Tensor) -> torch.Tensor:
    zeros[..., :1] = 1
    return zeros


def _uniform(zeros: torch.Tensor) -> torch.Tensor:
    return zeros + 1 / max(zeros.shape[-1], 1) if zeros.ndim and zeros.is_floating_point() else zeros


def _ranked(zeros: torch.Tensor) -> torch.Tensor:
    return torch.linspace(0, 1, zeros.numel()).to(zeros).reshape(zeros.shape) if zeros.is_floating_point() else zeros


_OUTPUTS: Final = (
    lambda zeros: zeros,
    lambda zeros: zeros + 0.5 if zeros.is_floating_point() else zeros,
    _uniform,
    lambda zeros: _uniform(zeros).log() if zeros.is_floating_point() else zeros,
    lambda zeros: _first_class(zeros) if zeros.ndim else zeros,
    _ranked,
    lambda zeros: _ranked(zeros).softmax(-1) if zeros.ndim and zeros.is_floating_point() else _ranked(zeros),
)
"""Logits, numbers, probabilities, their logarithms, one-hot rows, and different ones: a metric may take one alone."""

_MISTAKES: Final = (TypeError, AttributeError, NameError, NotImplementedError)
"""What ``compute`` raises of any data; see `_refusal_of_all` for other exceptions."""


def _refusal_of_values(
    metric: Metric[object],
    output: Any,
    targets: Any,
    fill: Callable[[torch.Tensor], torch.Tensor],
    device: torch.device | None,
    rounds: int | None,
) -> Exception | None:
    """The exception by which a copy of the metric refuses the targets beside such outputs; None for none."""
    try:
        copied = copy.deepcopy(metric)
        outputs = map_tensors(output, lambda t: fill(torch.zeros(t.shape, dtype=t.dtype, device=device)))
        targets = map_tensors(targets, lambda t: t.to(device))
    except Exception:  # whatever a user's __deepcopy__ raises
        return None
    with undrawn():
        try:
            with explain():
                copied.reset()
                copied.update(outputs, targets)
        except Exception as error:
            return error
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return None  # the other processes may not compute now
        try:
            copied.compute()
        except _MISTAKES as error:
            return error
        except Exception:
            return None if rounds is None else _refusal_of_all(metric, outputs, targets, rounds)
    return None


def _refusal_of_all(metric: Metric[object], outputs: Any, targets: Any, rounds: int) -> Exception | None:
    """The exception of ``compute`` after as many batches as an evaluation has, if it doesn't depend on the classes.

    A single batch may have too few samples, or lack a class.
    """
    if rounds * sum(tensor.numel() for tensor in tensors_in((outputs, targets))) > _LARGE:
        return None
    found: list[Exception] = []
    for covers in (False, True):
        copied = copy.deepcopy(metric)
        try:
            copied.reset()
            for turn in range(rounds):
                copied.update(outputs, _all_classes(outputs, targets, turn) if covers else targets)
        except Exception:  # of targets that aren't the dataset's
            return None
        try:
            copied.compute()
        except Exception as error:
            found.append(error)
    kinds = {(type(error), str(error)) for error in found}
    return found[0] if len(found) == 2 and len(kinds) == 1 else None


def _all_classes(outputs: Any, targets: Any, turn: int) -> Any:
    """Targets of the same shapes and dtypes in which the classes alternate; of floats 0 and 1."""

    def one(target: torch.Tensor) -> torch.Tensor:
        has_classes = isinstance(outputs, torch.Tensor) and outputs.ndim == target.ndim + 1
        classes = 2 if target.is_floating_point() or not has_classes else outputs.shape[1]
        numbers = torch.arange(target.numel(), device=target.device) + turn * target.numel()
        return (numbers % max(classes, 1)).reshape(target.shape).to(target.dtype)

    return map_tensors(targets, one)
