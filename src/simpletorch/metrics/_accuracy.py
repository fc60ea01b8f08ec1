"""The share of right answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from simpletorch.errors import DataError
from simpletorch.metrics._metric import (
    classes_of,
    has_class_dim,
    is_soft,
    predicted_classes,
    refuse_soft,
    soft_labels,
)
from simpletorch.metrics._streaming import Streaming, scalar

if TYPE_CHECKING:
    from simpletorch.dims import B
    from simpletorch.dtypes import Shaped
    from simpletorch.tensor import Tensor


class Accuracy(Streaming):
    """The share of targets whose class was predicted, 0 to 1; for segmentation, of all positions.

    ``update(output, target)`` takes scores ``[B, C, *S]`` (float) or classes ``[B, *S]`` (integer), and targets
    ``[B, *S]`` (integer or bool). With a ``threshold`` targets may be floats as well, 0 and 1, as binary losses take
    them (`torch.nn.BCEWithLogitsLoss`).

    Args:
        top_k: a target counts as predicted when it is among the ``k`` classes with the highest scores.
        threshold: scores ``[B, *S]`` of class 1 are taken as well, which is predicted where they are above it:
            0 for logits, 0.5 for probabilities.
        ignore_index: targets of this class don't count.
        synchronize: `compute` adds up all ranks when a process group is there (every rank must call it).

    Raises:
        DataError: ``top_k`` is less than 1.

    Examples:
        >>> import torch
        >>> from simpletorch.metrics import Accuracy
        >>> accuracy = Accuracy()
        >>> accuracy.update(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([0, 0]))
        >>> accuracy.compute()
        0.5

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.metrics.accuracy_score.html and
    top_k_accuracy_score.html there
    """

    higher_is_better = True

    def __init__(
        self,
        *,
        top_k: int = 1,
        threshold: float | None = None,
        ignore_index: int | None = None,
        synchronize: bool = True,
    ) -> None:
        if top_k < 1:
            raise DataError(f"Accuracy got top_k={top_k}: it must be at least 1")
        self.top_k, self.threshold, self.ignore_index = top_k, threshold, ignore_index
        self._is_simple = top_k == 1 and ignore_index is None
        super().__init__(synchronize=synchronize)

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._soft: torch.Tensor | None = None

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state_dict: a state that `state_dict` returned.

        Raises:
            CheckpointError: it is the state of another metric.
        """
        super().load_state_dict(state_dict)
        self._soft = None

    def _zeros(self) -> dict[str, torch.Tensor]:
        return {"right": scalar(torch.int64), "seen": scalar(torch.int64)}

    def update(self, output: Tensor[Shaped, B, ...], target: Tensor[Shaped, B, ...], /) -> None:
        """Count one batch.

        Args:
            output: scores ``[B, C, *S]`` or classes ``[B, *S]``; with a ``threshold`` also scores ``[B, *S]`` of class
                1.
            target: classes ``[B, *S]``, integer or bool; with a ``threshold`` also floats, 0 and 1.

        Raises:
            DataError: the shapes or dtypes are not as above, there are fewer than ``top_k`` classes, or a floating
                target is neither 0 nor 1 (on a GPU `compute` says so, which waits for it anyway).
        """
        if self._takes_quickly(output, target):
            self._integers["right"] += int((output.argmax(1) == target).count_nonzero())
            self._integers["seen"] += target.size(0)
            return
        given, target = target, classes_of(target, "Accuracy", output)
        right = self._right(output, target)
        if self.ignore_index is None:
            seen: torch.Tensor | int = target.numel()
        else:
            counts = target != self.ignore_index
            right, seen = right & counts, counts.sum()
        self._look_for_soft(given)
        self._add(right=right.count_nonzero(), seen=seen)

    def _look_for_soft(self, target: torch.Tensor) -> None:
        """Raise if floating targets on the CPU are no classes; of those on a device only remember whether some are."""
        if target.is_cpu:
            refuse_soft(target, "Accuracy", self.ignore_index)
        elif target.is_floating_point():
            soft = is_soft(target, self.ignore_index).any()
            self._soft = soft if self._soft is None else self._soft | soft.to(self._soft.device)

    def _takes_quickly(self, output: torch.Tensor, target: torch.Tensor) -> bool:
        """Whether this is the most frequent case, scores ``[B, C]`` on the CPU, which has a fast path."""
        return (
            self._is_simple
            and output.is_cpu
            and target.dtype is torch.int64
            and output.ndim == 2
            and target.ndim == 1
            and output.size(0) == target.size(0)
            and output.is_floating_point()
        )

    def _right(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        if self.top_k == 1:
            return predicted_classes(output, target, "Accuracy", self.threshold) == target
        if not (output.is_floating_point() and has_class_dim(output, target)) or output.shape[1] < self.top_k:
            raise DataError(
                f"Accuracy(top_k={self.top_k}) got outputs {list(output.shape)} of {output.dtype} for targets "
                f"{list(target.shape)}: outputs must be scores [B, C, *S] with at least {self.top_k} classes"
            )
        return (output.topk(self.top_k, dim=1).indices == target.unsqueeze(1)).any(1)

    def compute(self) -> float:
        """The accuracy of everything since the last `reset`.

        Raises:
            DataError: there was nothing, or a floating target on a GPU was neither 0 nor 1.
        """
        totals = self._totals()
        if self._soft is not None and bool(self._soft):  # behind what all ranks do together
            raise soft_labels("Accuracy")
        if int(totals["seen"]) == 0:
            raise DataError("Accuracy has seen no sample: call update(output, target) before compute()")
        return int(totals["right"]) / int(totals["seen"])
