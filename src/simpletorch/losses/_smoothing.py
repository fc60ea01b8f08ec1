"""Targets that leave room for doubt."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional as F

from simpletorch.errors import DataError, TorchError, as_also

_Wrong = as_also(TorchError, ValueError)


def smoothed_cross_entropy(smoothing: float = 0.1) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Cross-entropy with label smoothing as a loss for `Trainer`: ``Trainer(loss=smoothed_cross_entropy(0.1), …)``.

    Each target keeps ``1 - smoothing`` of its probability; the rest is spread over all classes.

    Args:
        smoothing: the share of the probability that is spread evenly over all classes, 0 to 1.

    Returns:
        A loss ``(scores, targets) -> 0-d tensor``.

    Raises:
        ValueError: ``smoothing`` is not between 0 and 1.

    Examples:
        >>> import torch
        >>> from simpletorch.losses import smoothed_cross_entropy
        >>> loss = smoothed_cross_entropy(0.1)
        >>> loss(torch.zeros(7, 10), torch.zeros(7, dtype=torch.int64))
        tensor(2.3026)

    Source: Szegedy et al. 2016, "Rethinking the Inception architecture for computer vision", section 7;
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
    """
    _check(smoothing)

    def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Scores ``[B, C, *S]`` and class numbers ``[B, *S]`` to their mean smoothed cross-entropy."""
        return F.cross_entropy(output, target, label_smoothing=smoothing)

    return loss


def smooth_labels(target: torch.Tensor, classes: int, smoothing: float = 0.1) -> torch.Tensor:
    """Class numbers ``[*S]`` (Int64) as smoothed probabilities ``[*S, classes]`` (Float32), for losses that take these.

    Args:
        target: class numbers ``[*S]`` of an integer dtype, each from 0 to ``classes - 1``.
        classes: the number of classes.
        smoothing: the share of the probability that is spread evenly over all classes, 0 to 1.

    Returns:
        Float32 ``[*S, classes]``; each row sums to 1.

    Raises:
        ValueError: ``smoothing`` is not between 0 and 1.
        DataError: ``target`` is not of integers, or has a class that doesn't exist.

    Examples:
        >>> import torch
        >>> from simpletorch.losses import smooth_labels
        >>> smooth_labels(torch.tensor([2, 0]), classes=4, smoothing=0.2)
        tensor([[0.0500, 0.0500, 0.8500, 0.0500],
                [0.8500, 0.0500, 0.0500, 0.0500]])
    """
    _check(smoothing)
    if target.is_floating_point() or target.is_complex() or target.dtype == torch.bool:
        raise DataError(f"smooth_labels takes class numbers, but the target is {target.dtype}: pass integers")
    if target.numel() and not 0 <= int(target.min()) <= int(target.max()) < classes:
        raise DataError(
            f"there are {classes} classes, 0 to {classes - 1}, but targets range from {int(target.min())} to "
            f"{int(target.max())}"
        )
    hard = F.one_hot(target.to(torch.int64), classes).to(torch.float32)
    return hard * (1 - smoothing) + smoothing / classes


def _check(smoothing: float) -> None:
    if not 0 <= smoothing <= 1:
        raise _Wrong(f"smoothing is {smoothing}: it is the probability that is spread, between 0 and 1")
