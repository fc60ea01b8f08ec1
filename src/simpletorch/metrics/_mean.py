"""Weighted means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from simpletorch._samples import length_of
from simpletorch.errors import CheckpointError, DataError
from simpletorch.metrics._ranks import summed, world_size


class Mean:
    """The weighted mean of numbers: ``mean.update(loss, len(batch))`` for each batch is exact over uneven batches.

    Tensors stay on their device, and the sum is kept in Float64 where the device has it, so that `update` neither waits
    for a GPU nor loses digits over long epochs.

    Args:
        synchronize: `compute` takes the mean over all ranks when a process group is there (every rank must call it).

    Examples:
        >>> from simpletorch.metrics import Mean
        >>> mean = Mean()
        >>> mean.update(2.0, 3)
        >>> mean.update(6.0, 1)
        >>> mean.compute()
        3.0
    """

    _total: torch.Tensor | None
    _weight: float

    def __init__(self, *, synchronize: bool = True) -> None:
        self.synchronize = synchronize
        self.reset()

    def update(self, value: torch.Tensor | float, weight: float = 1, /) -> None:
        """Add ``value`` with the weight ``weight``; for a tensor ``[*S]``, each element has this weight.

        Args:
            value: a number or a tensor ``[*S]``.
            weight: the number of samples that ``value``, or each element of it, stands for.
        """
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
        total, weight = 0.0 if self._total is None else float(self._total), self._weight
        if self.synchronize and world_size() > 1:
            total, weight = summed(torch.tensor([total, weight], dtype=torch.float64)).tolist()
        if weight == 0:
            raise DataError("Mean has seen nothing of any weight: call update(value, weight) before compute()")
        return total / weight

    def reset(self) -> None:
        """Forget everything."""
        self._total = None
        self._weight = 0

    def state_dict(self) -> dict[str, Any]:
        """The sum and the weight of this rank."""
        return {"total": None if self._total is None else self._total.clone(), "weight": self._weight}

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state_dict: a state that `state_dict` returned.

        Raises:
            CheckpointError: it is the state of another metric.
        """
        if state_dict.keys() != {"total", "weight"}:
            raise CheckpointError(f"this state is of another metric than Mean: it has {sorted(state_dict)}")
        total = state_dict["total"]
        self._total, self._weight = None if total is None else total.clone(), state_dict["weight"]


class MeanLoss:
    """A loss as a metric: its mean over all samples, given a loss function that averages over a batch.

    Args:
        loss: from a batch's outputs and targets to their mean loss, a 0-d tensor, such as ``F.cross_entropy``.
        synchronize: as for `Mean`.

    Examples:
        >>> import torch
        >>> from torch.nn import functional as F
        >>> from simpletorch.metrics import MeanLoss
        >>> mean = MeanLoss(F.mse_loss)
        >>> mean.update(torch.zeros(3), torch.ones(3))
        >>> mean.update(torch.zeros(1), torch.zeros(1))
        >>> mean.compute()
        0.75
    """

    higher_is_better = False

    def __init__(self, loss: Callable[[Any, Any], torch.Tensor], *, synchronize: bool = True) -> None:
        self._loss = loss
        self._mean = Mean(synchronize=synchronize)

    def update(self, output: Any, target: Any, /) -> None:
        """Add the loss of one batch, weighted by its number of samples (the length of ``target``).

        Args:
            output: the model's output, as the loss takes it.
            target: the batch's target, as the loss takes it; its length is the number of samples.
        """
        self._mean.update(self._loss(output, target), length_of(target))

    def compute(self) -> float:
        """The mean loss since the last `reset`.

        Raises:
            DataError: there was no batch.
        """
        return self._mean.compute()

    def reset(self) -> None:
        """Forget everything."""
        self._mean.reset()

    def state_dict(self) -> dict[str, Any]:
        """The sum and the weight of this rank."""
        return self._mean.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state_dict: a state that `state_dict` returned.
        """
        self._mean.load_state_dict(state_dict)
