"""Measuring a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import torch

from simpletorch._samples import length_of
from simpletorch.errors import DataError, explain
from simpletorch.metrics import Metric
from simpletorch.train._batch import parts_of
from simpletorch.train._device import device_of, to_device
from simpletorch.train._mode import mode

Result = TypeVar("Result")


def evaluate(
    model: torch.nn.Module, loader: Iterable[Any], metrics: Mapping[str, Metric[Result]], *, target: str | None = None
) -> dict[str, Result]:
    """Each metric of ``model`` over all batches ``(*inputs, target)`` of ``loader``, by the metric's name.

    The model runs in eval mode and without gradients, and is left in the mode it was in; the metrics are reset first.
    Batches are moved to the model's device.

    Args:
        model: the model to measure.
        loader: the batches, ``(*inputs, target)`` or with named items.
        metrics: the metrics by the names that the result has for them.
        target: the name of the target, in batches whose items have names (see `Step`); None for tuples.

    Returns:
        The value of each metric, by its name.

    Raises:
        DataError: the loader gave no sample, or something that isn't a batch.
        TorchError: torch raised an error inside.

    Examples:
        >>> from simpletorch import nn
        >>> from simpletorch.data import DataLoader, Digits
        >>> from simpletorch.metrics import Accuracy
        >>> from simpletorch.train import evaluate
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> found = evaluate(model, DataLoader(Digits(train=False), 100), {"accuracy": Accuracy()})
        >>> 0 <= found["accuracy"] <= 1
        True
    """
    for metric in metrics.values():
        metric.reset()
    samples = 0
    with mode(model, training=False), torch.no_grad(), explain():
        for batch in to_device(loader, device_of(model)):
            inputs, named, targets = parts_of(batch, target)
            samples += length_of(targets)
            output = model(*inputs, **named)
            for metric in metrics.values():
                metric.update(output, targets)
    if samples == 0:
        raise DataError("there is nothing to evaluate: the loader gave no sample")
    return {name: metric.compute() for name, metric in metrics.items()}
