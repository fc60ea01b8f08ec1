"""The share of right answers."""

from __future__ import annotations

import torch

from simpletorch.errors import DataError
from simpletorch.metrics._metric import predicted_classes


class Accuracy:
    """The share of targets whose class was predicted, 0 to 1; for segmentation, of all positions.

    ``update(output, target)`` takes scores ``[B, C, *S]`` (float) or classes ``[B, *S]`` (integer), and targets
    ``[B, *S]`` (integer).

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.metrics.accuracy_score.html
    """

    _right: torch.Tensor | int
    _seen: int

    def __init__(self) -> None:
        self.reset()

    def update(self, output: torch.Tensor, target: torch.Tensor, /) -> None:
        """Count one batch.

        Raises:
            DataError: the shapes or dtypes are not as above.
        """
        self._right += (predicted_classes(output, target, "Accuracy") == target).sum()
        self._seen += target.numel()

    def compute(self) -> float:
        """The accuracy of everything since the last `reset`.

        Raises:
            DataError: there was nothing.
        """
        if self._seen == 0:
            raise DataError("Accuracy has seen no sample: call update(output, target) before compute()")
        return int(self._right) / self._seen

    def reset(self) -> None:
        """Forget everything."""
        self._right = 0
        self._seen = 0
