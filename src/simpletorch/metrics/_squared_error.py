"""How far predicted numbers are off."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from simpletorch.errors import DataError
from simpletorch.metrics._streaming import Streaming, scalar, wide

if TYPE_CHECKING:
    from simpletorch.dims import Batch
    from simpletorch.dtypes import Real
    from simpletorch.tensor import Tensor


class MeanSquaredError(Streaming):
    """The mean of ``(output - target)²`` over all elements, or its root.

    ``update(output, target)`` takes two tensors of the same shape ``[*S]``; differences are taken in Float64.

    Args:
        root: give the root of the mean, in the unit of the targets.
        synchronize: as for `Accuracy`.

    Examples:
        >>> import torch
        >>> from simpletorch.metrics import MeanSquaredError
        >>> error = MeanSquaredError(root=True)
        >>> error.update(torch.tensor([1.0, 5.0]), torch.tensor([4.0, 8.0]))
        >>> error.compute()
        3.0

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.metrics.mean_squared_error.html
    """

    higher_is_better = False

    def __init__(self, *, root: bool = False, synchronize: bool = True) -> None:
        self.root = root
        super().__init__(synchronize=synchronize)

    def _zeros(self) -> dict[str, torch.Tensor]:
        return {"squares": scalar(torch.float64), "seen": scalar(torch.int64)}

    def update(self, output: Tensor[Real, *Batch], target: Tensor[Real, *Batch], /) -> None:
        """Add the squared errors of one batch.

        Args:
            output: the model's output ``[*S]``, of a real dtype.
            target: the wanted values ``[*S]``, of a real dtype.

        Raises:
            DataError: the shapes differ (broadcasting ``[B, 1]`` with ``[B]`` is a well-known mistake), or the numbers
                are complex.
        """
        if output.shape != target.shape or output.is_complex() or target.is_complex():
            raise DataError(
                f"MeanSquaredError got outputs {list(output.shape)} of {output.dtype} for targets "
                f"{list(target.shape)} of {target.dtype}: both must be real and have the same shape"
            )
        squares = (wide(output.detach()) - wide(target.detach())).square().sum()
        self._add(squares=squares, seen=torch.tensor(target.numel()))

    def compute(self) -> float:
        """The (root of the) mean over everything since the last `reset`.

        Raises:
            DataError: there was nothing.
        """
        totals = self._totals()
        if int(totals["seen"]) == 0:
            raise DataError("MeanSquaredError has seen nothing: call update(output, target) before compute()")
        mean = float(totals["squares"]) / int(totals["seen"])
        return math.sqrt(mean) if self.root else mean
