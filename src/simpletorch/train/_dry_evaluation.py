"""An evaluation on shapes alone."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import torch

from simpletorch._tensors import map_tensors, tensors_in
from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch, TorchError, as_also, explain
from simpletorch.errors.context import is_user_file
from simpletorch.metrics import Metric
from simpletorch.train._batch import parts_of, samples_in
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
        copies = without_data(model, parts_of(batch, target), training=False)
        if copies is None:
            return
        model, (inputs, by_name, targets) = copies  # by this name: errors have it
        with torch.no_grad():
            output = tried(lambda: model(*inputs, **by_name))
    if output is None:
        return
    for name, metric in metrics.items():
        what = "the loss" if name == "loss" else f"the metric {name!r}"
        with named(f"{what} on a validation batch"), torch.no_grad():
            _try_metric(what, metric, output, targets)


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


def _try_metric(what: str, metric: Metric[object], output: Any, targets: Any) -> None:
    """Raise what a copy of the metric raises of these outputs and targets, if it would of any like them."""
    error = _refusal(metric, _without_data(metric), output, targets)
    if error is None:
        return
    if isinstance(error, TorchError):
        raise error
    # Tensors without data may cause an error of the metric's own: it counts if zeros cause it too.
    if sum(tensor.numel() for tensor in tensors_in((output, targets))) > _LARGE:
        return
    zeros = map_tensors((output, targets), lambda tensor: torch.zeros(tensor.shape, dtype=tensor.dtype))
    again = _refusal(metric, {}, *zeros)
    if type(again) is type(error) and str(again) == str(error):
        refusal = f"{what} refuses what the model gives: {type(error).__name__}: {error}"
        raise as_also(TorchError, type(error))(refusal) from error


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
