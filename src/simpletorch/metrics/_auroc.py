"""How well scores order two classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import torch

from simpletorch.errors import CheckpointError, DataError
from simpletorch.metrics._confusion import at_least_one
from simpletorch.metrics._metric import classes_of, refuse_soft
from simpletorch.metrics._ranks import gathered

if TYPE_CHECKING:
    from simpletorch.dims import B
    from simpletorch.dtypes import Float, Shaped
    from simpletorch.tensor import Tensor


class AUROC:
    """The area under the ROC curve: how often a sample of the class scores above one of another class, ties half.

    ``update(scores, target)`` takes targets ``[B]`` (integer or bool) and, for two classes, scores ``[B]`` of class 1
    (logits or probabilities: only their order counts), else scores ``[B, C]``. Beside scores ``[B]`` targets may be
    floats as well, 0 and 1, as binary losses take them; both may be ``[B, 1]``. All scores are kept until `reset`,
    since the area is exact: 12 bytes a sample for two classes in Float32.

    Args:
        classes: how many classes there are, C ≥ 2. With more than two, each class is compared with all others.
        average: over the classes: the plain mean, or weighted by how often each occurs.
        synchronize: `compute` takes the scores of all ranks when a process group is there (every rank must call it).

    Raises:
        DataError: ``classes`` is less than 2.

    Examples:
        >>> import torch
        >>> from simpletorch.metrics import AUROC
        >>> area = AUROC()
        >>> area.update(torch.tensor([0.1, 0.4, 0.8]), torch.tensor([0, 1, 1]))
        >>> area.compute()
        1.0

    Source: Mann and Whitney 1947; https://scikit-learn.org/stable/modules/generated/sklearn.metrics.roc_auc_score.html
    """

    higher_is_better = True

    _scores: list[torch.Tensor]
    _targets: list[torch.Tensor]

    def __init__(
        self, classes: int = 2, average: Literal["macro", "weighted"] = "macro", *, synchronize: bool = True
    ) -> None:
        if at_least_one(classes, "AUROC") < 2:
            raise DataError("AUROC got classes=1: it takes two to be told apart")
        if average not in ("macro", "weighted"):
            raise DataError(f"AUROC got average={average!r}: it must be macro or weighted")
        self.classes, self.average, self.synchronize = classes, average, synchronize
        self.reset()

    def update(self, scores: Tensor[Float, B, ...], target: Tensor[Shaped, B], /) -> None:
        """Keep the scores of one batch.

        Args:
            scores: floats, ``[B]`` for class 1 of two, or ``[B, C]``.
            target: classes ``[B]``, integer or bool; beside scores ``[B]`` also floats, 0 and 1.

        Raises:
            DataError: the shapes or dtypes are not as above, a score is NaN, a class number is not in 0..C-1, or a
                floating target is neither 0 nor 1.
        """
        if self.classes == 2:
            scores, target = _of_columns(scores, target)
        given, target = target, classes_of(target, "AUROC", scores if self.classes == 2 else None)
        shapes = [(len(target), self.classes)] if target.ndim == 1 else []
        if self.classes == 2 and target.ndim == 1:
            shapes.append((len(target),))  # type: ignore[arg-type]
        if not scores.is_floating_point() or tuple(scores.shape) not in shapes:
            wanted = "[B] or [B, 2]" if self.classes == 2 else f"[B, {self.classes}]"
            raise DataError(
                f"AUROC(classes={self.classes}) got scores {list(scores.shape)} of {scores.dtype} for targets "
                f"{list(target.shape)}: scores must be {wanted} of a floating dtype for targets [B]"
            )
        refuse_soft(given, "AUROC")
        if scores.isnan().any():
            raise DataError("AUROC got a score that is NaN, which has no place in an order: look at the model's output")
        if len(target) and not 0 <= int(target.min()) <= int(target.max()) < self.classes:
            raise DataError(
                f"AUROC has {self.classes} classes, 0 to {self.classes - 1}, but targets range from "
                f"{int(target.min())} to {int(target.max())}: pass classes={int(target.max()) + 1}"
            )
        if self.classes == 2 and scores.ndim == 2:
            # The order of the odds of class 1 is that of its probability, for logits and probabilities alike.
            scores = scores[:, 1].double() - scores[:, 0].double()
        self._scores.append(scores.detach().clone())
        self._targets.append(target.detach().to(torch.int64, copy=True))

    def compute(self) -> float:
        """The area over everything since the last `reset`, 0 to 1; 0.5 is guessing.

        Raises:
            DataError: there was nothing, or a class has no sample (its area is not defined).
        """
        scores, targets = self._kept()
        if self.synchronize:  # one dtype on all ranks, that of a rank without samples included
            scores, targets = gathered(scores.double()), gathered(targets)
        if len(targets) == 0:
            raise DataError("AUROC has seen no sample: call update(scores, target) before compute()")
        counts = torch.bincount(targets, minlength=self.classes)
        if int(counts.min()) == 0:
            missing = [number for number, count in enumerate(counts.tolist()) if count == 0]
            raise DataError(f"AUROC is not defined: no target is of class {missing[0]}, so nothing is told apart")
        if self.classes == 2:
            return _area(scores, targets == 1)
        areas = [_area(scores[:, number], targets == number) for number in range(self.classes)]
        if self.average == "macro":
            return sum(areas) / len(areas)
        weights = (counts.double() / len(targets)).tolist()
        return math.fsum(area * weight for area, weight in zip(areas, weights, strict=True))

    def _kept(self) -> tuple[torch.Tensor, torch.Tensor]:
        if not self._targets:
            empty = torch.zeros(0) if self.classes == 2 else torch.zeros(0, self.classes)
            return empty, torch.zeros(0, dtype=torch.int64)
        device = self._scores[0].device
        return torch.cat([s.to(device) for s in self._scores]), torch.cat([t.to(device) for t in self._targets])

    def reset(self) -> None:
        """Forget everything."""
        self._scores, self._targets = [], []

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The scores and targets of this rank."""
        scores, targets = self._kept()
        return {"scores": scores, "targets": targets}

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state_dict: a state that `state_dict` returned.

        Raises:
            CheckpointError: it is the state of another metric, or of one with another number of classes.
        """
        scores, targets = state_dict.get("scores"), state_dict.get("targets")
        ndim = 1 if self.classes == 2 else 2
        if (
            not isinstance(scores, torch.Tensor)
            or not isinstance(targets, torch.Tensor)
            or scores.ndim != ndim
            or scores.shape[1:] != (self.classes,)[: ndim - 1]
            or targets.shape != scores.shape[:1]
        ):
            raise CheckpointError(
                f"this state is of another metric than AUROC(classes={self.classes})",
                hint="load it into a metric of the same class, made with the same arguments",
            )
        self._scores, self._targets = ([scores.clone()], [targets.clone()]) if len(targets) else ([], [])


def _area(scores: torch.Tensor, positive: torch.Tensor) -> float:
    """The Mann-Whitney statistic of ``scores`` ``[N]``: the share of pairs that are in order, ties half."""
    _, level, ties = scores.unique(return_inverse=True, return_counts=True)
    ranks = ties.cumsum(0).double() - (ties.double() - 1) / 2  # equal scores share the mean of their ranks, from 1
    positives = int(positive.sum())
    # without the ranks that the positives have among themselves
    above = float(ranks[level][positive].sum()) - positives * (positives + 1) / 2
    return above / (positives * (len(scores) - positives))


def _of_columns(scores: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both as ``[B]`` where both are ``[B, 1]``."""
    if scores.shape == target.shape and tuple(scores.shape[1:]) == (1,):
        return scores.flatten(), target.flatten()
    return scores, target
