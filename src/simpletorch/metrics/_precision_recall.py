"""Precision, recall and their combinations."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Literal

import torch

from simpletorch.errors import DataError
from simpletorch.metrics._confusion import at_least_one, class_pairs
from simpletorch.metrics._streaming import Streaming

if TYPE_CHECKING:
    from simpletorch.dims import B
    from simpletorch.dtypes import Shaped
    from simpletorch.tensor import Tensor

Average = Literal["binary", "micro", "macro", "weighted"]


class _ClassRatio(Streaming):
    """A ratio of counts for each class, and their average."""

    higher_is_better = True

    def __init__(
        self,
        classes: int,
        average: Average = "macro",
        *,
        zero_division: float = 0.0,
        threshold: float | None = None,
        ignore_index: int | None = None,
        synchronize: bool = True,
    ) -> None:
        name = type(self).__name__
        if average not in ("binary", "micro", "macro", "weighted"):
            raise DataError(f"{name} got average={average!r}: it must be binary, micro, macro or weighted")
        if average == "binary" and classes != 2:
            raise DataError(f"{name} got average='binary' with classes={classes}: that is for two classes, 0 and 1")
        self.classes = at_least_one(classes, name)
        self.average, self.zero_division = average, zero_division
        self.threshold, self.ignore_index = threshold, ignore_index
        super().__init__(synchronize=synchronize)

    def _zeros(self) -> dict[str, torch.Tensor]:
        return {name: torch.zeros(self.classes, dtype=torch.int64) for name in ("right", "predicted", "targets")}

    def update(self, output: Tensor[Shaped, B, ...], target: Tensor[Shaped, B, ...], /) -> None:
        """Count one batch.

        Args:
            output, target: as for `Accuracy.update`.

        Raises:
            DataError: shapes or dtypes are not as for `Accuracy`, a class number is not in 0..C-1, or a floating target
                is neither 0 nor 1.
        """
        predicted, target = class_pairs(
            output, target, type(self).__name__, self.classes, self.threshold, self.ignore_index
        )
        self._add(
            right=torch.bincount(target[predicted == target], minlength=self.classes),
            predicted=torch.bincount(predicted, minlength=self.classes),
            targets=torch.bincount(target, minlength=self.classes),
        )

    @abstractmethod
    def _ratio(
        self, right: torch.Tensor, predicted: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Numerator and denominator, both Int64 ``[C]``."""

    def compute(self) -> float:
        """The average over everything since the last `reset`.

        Raises:
            DataError: there was nothing.
        """
        right, predicted, targets = self._counts()
        if self.average == "micro":
            total = [each.sum(0, keepdim=True) for each in (right, predicted, targets)]
            return self._values(*total).item()
        values = self._values(right, predicted, targets)
        if self.average == "binary":
            return values[1].item()
        if self.average == "weighted":
            return ((values * targets).sum() / targets.sum()).item()
        return values[(predicted + targets) > 0].mean().item()

    def per_class(self) -> torch.Tensor:
        """The value of every class, Float64 ``[C]`` on the CPU.

        Raises:
            DataError: there was nothing.
        """
        return self._values(*self._counts())

    def _counts(self) -> list[torch.Tensor]:
        totals: list[torch.Tensor] = [total.cpu() for total in self._totals().values()]
        if int(totals[-1].sum()) == 0:
            raise DataError(f"{type(self).__name__} has seen no sample: call update(output, target) before compute()")
        return totals

    def _values(self, right: torch.Tensor, predicted: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        above, below = self._ratio(right, predicted, targets)
        return torch.where(below > 0, above.double() / below, self.zero_division)


class Precision(_ClassRatio):
    """The share of the predictions of a class that are right.

    ``update(output, target)`` takes the same arguments as `Accuracy`; `compute` gives the average over the classes and
    `per_class` the value of each.

    Args:
        classes: how many classes there are, C ≥ 1; all class numbers must be below it.
        average: ``"macro"`` is the plain mean over the classes that occur among targets or predictions, ``"weighted"``
            the mean weighted by how often a class occurs as a target. ``"micro"`` counts all classes together, and
            ``"binary"`` is class 1 alone, of two.
        zero_division: the value of a class for which there is nothing to divide by.
        threshold, ignore_index, synchronize: as for `Accuracy`.

    Raises:
        DataError: ``classes`` is less than 1, or not 2 with ``average="binary"``; ``average`` is something else.

    Examples:
        >>> import torch
        >>> from simpletorch.metrics import Precision
        >>> precision = Precision(2, average="binary")
        >>> precision.update(torch.tensor([1, 1, 0]), torch.tensor([1, 0, 1]))
        >>> precision.compute()
        0.5

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.metrics.precision_score.html
    """

    def _ratio(
        self, right: torch.Tensor, predicted: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return right, predicted


class Recall(_ClassRatio):
    """The share of the targets of a class that were predicted. Arguments, results and errors are those of `Precision`.

    Args:
        classes, average, zero_division: as for `Precision`.
        threshold, ignore_index, synchronize: as for `Accuracy`.

    Examples:
        >>> import torch
        >>> from simpletorch.metrics import Recall
        >>> recall = Recall(2, average="binary")
        >>> recall.update(torch.tensor([1, 1, 0, 0]), torch.tensor([1, 0, 1, 1]))
        >>> round(recall.compute(), 2)
        0.33

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.metrics.recall_score.html
    """

    def _ratio(
        self, right: torch.Tensor, predicted: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return right, targets


class F1(_ClassRatio):
    """The harmonic mean of precision and recall. Arguments, results and errors are those of `Precision`.

    Args:
        classes, average, zero_division: as for `Precision`.
        threshold, ignore_index, synchronize: as for `Accuracy`.

    Examples:
        >>> import torch
        >>> from simpletorch.metrics import F1
        >>> score = F1(2, average="binary")
        >>> score.update(torch.tensor([1, 1, 0]), torch.tensor([1, 0, 1]))
        >>> score.compute()
        0.5

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.metrics.f1_score.html
    """

    def _ratio(
        self, right: torch.Tensor, predicted: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return 2 * right, predicted + targets
