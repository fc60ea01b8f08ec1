"""Which class was taken for which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from simpletorch.errors import DataError, ShapeMismatch
from simpletorch.metrics._metric import classes_of, predicted_classes, refuse_soft
from simpletorch.metrics._streaming import Streaming

if TYPE_CHECKING:
    from simpletorch.dims import B
    from simpletorch.dtypes import Shaped
    from simpletorch.tensor import Tensor


def class_pairs(
    output: torch.Tensor,
    target: torch.Tensor,
    who: str,
    classes: int,
    threshold: float | None,
    ignore_index: int | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The predicted and the right classes, both Int64 ``[n]`` with numbers below ``classes``."""
    given, target = target, classes_of(target, who, output)
    predicted = predicted_classes(output, target, who, threshold)
    if output.ndim == target.ndim + 1 and output.shape[1] != classes:
        raise ShapeMismatch(
            classes,
            output.shape[1],
            f"{who} has {classes} classes, but is given scores of {output.shape[1]}: {list(output.shape)}",
        )
    refuse_soft(given, who, ignore_index)
    if ignore_index is not None:
        counts = target != ignore_index
        predicted, target = predicted[counts], target[counts]
    for what, numbers in (("target", target), ("predicted", predicted)):
        if numbers.numel() and not 0 <= int(numbers.min()) <= int(numbers.max()) < classes:
            low, high = int(numbers.min()), int(numbers.max())
            raise DataError(
                f"{who} has {classes} classes, 0 to {classes - 1}, but {what} classes "
                f"range from {low} to {high}: pass classes={max(high + 1, 1)} or filter such samples out"
            )
    return predicted.to(torch.int64).flatten(), target.to(torch.int64).flatten()


def at_least_one(classes: int, who: str) -> int:
    """``classes``, if that many are possible."""
    if classes < 1:
        raise DataError(f"{who} got classes={classes}: there must be at least one")
    return classes


class ConfusionMatrix(Streaming):
    """Counts ``[C, C]``, Int64: row i, column j is how often class i was predicted to be class j.

    ``update(output, target)`` takes the same arguments as `Accuracy`.

    Args:
        classes: how many classes there are, C ≥ 1; all class numbers must be below it.
        threshold, ignore_index, synchronize: as for `Accuracy`.

    Raises:
        DataError: ``classes`` is less than 1.

    Examples:
        >>> import torch
        >>> from simpletorch.metrics import ConfusionMatrix
        >>> matrix = ConfusionMatrix(2)
        >>> matrix.update(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
        >>> matrix.compute()
        tensor([[1, 1],
                [0, 1]])

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.metrics.confusion_matrix.html
    """

    def __init__(
        self,
        classes: int,
        *,
        threshold: float | None = None,
        ignore_index: int | None = None,
        synchronize: bool = True,
    ) -> None:
        self.classes = at_least_one(classes, "ConfusionMatrix")
        self.threshold, self.ignore_index = threshold, ignore_index
        super().__init__(synchronize=synchronize)

    def _zeros(self) -> dict[str, torch.Tensor]:
        return {"counts": torch.zeros(self.classes, self.classes, dtype=torch.int64)}

    def update(self, output: Tensor[Shaped, B, ...], target: Tensor[Shaped, B, ...], /) -> None:
        """Count one batch.

        Args:
            output, target: as for `Accuracy.update`.

        Raises:
            DataError: shapes or dtypes are not as for `Accuracy`, a class number is not in 0..C-1, or a floating target
                is neither 0 nor 1.
            ShapeMismatch: the scores are of another number of classes.
        """
        predicted, target = class_pairs(
            output, target, "ConfusionMatrix", self.classes, self.threshold, self.ignore_index
        )
        cells = torch.bincount(target * self.classes + predicted, minlength=self.classes**2)
        self._add(counts=cells.reshape(self.classes, self.classes))

    def compute(self) -> torch.Tensor:
        """The counts since the last `reset`, on the device of the first batch; all 0 when there was nothing."""
        return self._totals()["counts"].clone()
