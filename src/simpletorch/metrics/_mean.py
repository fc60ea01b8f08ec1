"""Weighted means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from simpletorch.errors import DataError


class Mean:
    """The weighted mean of numbers: ``mean.update(loss, len(batch))`` for each batch is exact over uneven batches.

    Tensors stay on their device, and the sum is kept in Float64 where the device has it, so that `update` neither waits
    for a GPU nor loses digits over long epochs.
    """

    _total: torch.Tensor | None
    _weight: float

    def __init__(self) -> None:
        self.reset()

    def update(self, value: torch.Tensor | float, weight: float = 1, /) -> None:
        """Add ``value``, which stands for ``weight`` samples; of a tensor ``[*S]``, every element does."""
        if not isinstance(value, torch.Tensor):
            value = torch.tensor(value, dtype=torch.float64)
        value, elements = value.detach(), value.numel()
        if value.ndim:
            value = value.sum()
        if self._total is None:
            wide = torch.float32 if value.device.type == "mps" else torch.float64  # Apple's GPUs have no float64
            self._total = torch.zeros((), dtype=wide, device=value.device)
        elif self._total.device != value.device:
            value = value.to(self._total.device)
        self._total.add_(value, alpha=weight)
        self._weight += weight * elements

    def compute(self) -> float:
        """The mean of everything since the last `reset`.

        Raises:
            DataError: there was nothing, or all weights were 0.
        """
        if self._total is None or self._weight == 0:
            raise DataError("Mean has seen nothing of any weight: call update(value, weight) before compute()")
        return float(self._total) / self._weight

    def reset(self) -> None:
        """Forget everything."""
        self._total = None
        self._weight = 0


class MeanLoss:
    """A loss as a metric: its mean over all samples, given a loss function that averages over a batch.

    Args:
        loss: from a batch's outputs and targets to their mean loss, a 0-d tensor, such as ``F.cross_entropy``.
    """

    def __init__(self, loss: Callable[[Any, Any], torch.Tensor]) -> None:
        self._loss = loss
        self._mean = Mean()

    def update(self, output: Any, target: Any, /) -> None:
        """Add the loss of one batch, weighted by its number of samples (the length of ``target``)."""
        self._mean.update(self._loss(output, target), len(target))

    def compute(self) -> float:
        """The mean loss since the last `reset`.

        Raises:
            DataError: there was no batch.
        """
        return self._mean.compute()

    def reset(self) -> None:
        """Forget everything."""
        self._mean.reset()
