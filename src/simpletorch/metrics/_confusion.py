"""Which class was taken for which."""

from __future__ import annotations

import torch

from simpletorch.errors import DataError
from simpletorch.metrics._metric import predicted_classes


class ConfusionMatrix:
    """Counts ``[C, C]``, Int64: row i, column j is how often class i was predicted to be class j.

    ``update(output, target)`` takes what `Accuracy` takes.

    Args:
        classes: how many classes there are, C ≥ 1; all class numbers must be below it.

    Raises:
        DataError: ``classes`` is less than 1.

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.metrics.confusion_matrix.html
    """

    _counts: torch.Tensor | int

    def __init__(self, classes: int) -> None:
        if classes < 1:
            raise DataError(f"ConfusionMatrix got classes={classes}: there must be at least one")
        self.classes = classes
        self.reset()

    def update(self, output: torch.Tensor, target: torch.Tensor, /) -> None:
        """Count one batch.

        Raises:
            DataError: shapes or dtypes are not as for `Accuracy`, or a class number is not in 0..C-1.
        """
        predicted = predicted_classes(output, target, "ConfusionMatrix")
        for what, numbers in (("target", target), ("predicted", predicted)):
            if numbers.numel() and not 0 <= int(numbers.min()) <= int(numbers.max()) < self.classes:
                low, high = int(numbers.min()), int(numbers.max())
                raise DataError(
                    f"ConfusionMatrix has {self.classes} classes, 0 to {self.classes - 1}, but {what} classes "
                    f"range from {low} to {high}: pass classes={max(high + 1, 1)} or filter such samples out"
                )
        cells = target.to(torch.int64).flatten() * self.classes + predicted.flatten()
        self._counts += torch.bincount(cells, minlength=self.classes**2).reshape(self.classes, self.classes)

    def compute(self) -> torch.Tensor:
        """The counts since the last `reset`, on the device of the last batch; all 0 when there was nothing."""
        if isinstance(self._counts, int):
            return torch.zeros(self.classes, self.classes, dtype=torch.int64)
        return self._counts.clone()

    def reset(self) -> None:
        """Forget everything."""
        self._counts = 0
