"""Losses that look at the hard samples."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from torch.nn import functional as F

from simpletorch.errors import ShapeMismatch, TorchError, as_also

Reduction: TypeAlias = Literal["mean", "sum", "none"]
_Wrong = as_also(TorchError, ValueError)


def focal_loss(
    input: torch.Tensor,
    target: torch.Tensor,
    gamma: float = 2.0,
    *,
    weight: torch.Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: Reduction = "mean",
) -> torch.Tensor:
    """Cross-entropy in which a target predicted with probability p counts ``(1 - p)**gamma``: easy ones count little.

    With ``gamma=0`` it is `torch.nn.functional.cross_entropy`.

    Args:
        input: scores ``[B, C, *S]`` or ``[C]``, of a floating dtype.
        target: class numbers ``[B, *S]`` or ``[]``, Int64.
        gamma: 0 or more; 2 is the paper's.
        weight: of each class, ``[C]``; a mean is over the weights of the targets, as in torch.
        ignore_index: the target of positions that don't count.
        label_smoothing: 0 to 1, as in torch.
        reduction: the ``"mean"`` over all targets that count, their ``"sum"``, or ``"none"``: one loss for each.

    Returns:
        A 0-d tensor, or the loss of each target for ``reduction="none"``.

    Raises:
        ValueError: ``gamma`` is negative or there is no such reduction.

    Examples:
        >>> import torch
        >>> from simpletorch.losses import focal_loss
        >>> scores, target = torch.tensor([[4.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1])
        >>> focal_loss(scores, target, reduction="none")
        tensor([5.8716e-06, 1.7329e-01])
        >>> focal_loss(scores, target, gamma=0.0) == torch.nn.functional.cross_entropy(scores, target)
        tensor(True)

    Source: Lin et al. 2017, "Focal loss for dense object detection", equation 4.
    """
    _check(gamma, reduction)
    losses = F.cross_entropy(
        input, target, weight=weight, ignore_index=ignore_index, label_smoothing=label_smoothing, reduction="none"
    )
    counts = target != ignore_index
    classes = target.where(counts, 0)  # ignore_index is usually no class, and gather takes only classes
    dim = 0 if input.ndim == 1 else 1
    log_likely = input.log_softmax(dim).gather(dim, classes.unsqueeze(dim)).squeeze(dim)
    losses = losses * _power(-log_likely.expm1(), gamma)  # 1 - p, exact where p is nearly 1
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    return losses.sum() / (counts.sum() if weight is None else (weight[classes] * counts).sum())


def sigmoid_focal_loss(
    input: torch.Tensor,
    target: torch.Tensor,
    gamma: float = 2.0,
    alpha: float | None = 0.25,
    *,
    reduction: Reduction = "mean",
) -> torch.Tensor:
    """`focal_loss` for yes-or-no questions, each with a score of its own: detection, several labels for one image.

    Args:
        input: scores ``[*S]``, of a floating dtype; a positive one means yes.
        target: 1 for yes and 0 for no (or a probability), floating, of the same shape.
        gamma: 0 or more; 2 is the paper's.
        alpha: the weight of positives; negatives have ``1 - alpha``. None weighs both alike.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        A 0-d tensor, or a tensor of the shape of ``input`` for ``reduction="none"``.

    Raises:
        ShapeMismatch: ``input`` and ``target`` have different shapes.
        ValueError: ``gamma`` is negative, ``alpha`` not in 0..1, or there is no such reduction.

    Examples:
        >>> import torch
        >>> from simpletorch.losses import sigmoid_focal_loss
        >>> sigmoid_focal_loss(torch.tensor([3.0, 0.0]), torch.tensor([1.0, 0.0]), reduction="none")
        tensor([2.7321e-05, 1.2997e-01])

    Source: Lin et al. 2017, "Focal loss for dense object detection", equation 5.
    """
    _check(gamma, reduction)
    if alpha is not None and not 0 <= alpha <= 1:
        raise _Wrong(f"alpha is {alpha}: it must be between 0 and 1, or None for no weights")
    if input.shape != target.shape:
        raise ShapeMismatch(list(input.shape), list(target.shape), operation="sigmoid_focal_loss")
    losses = F.binary_cross_entropy_with_logits(input, target, reduction="none")
    yes = input.sigmoid()
    losses = losses * _power(yes * (1 - target) + (1 - yes) * target, gamma)
    if alpha is not None:
        losses = losses * (alpha * target + (1 - alpha) * (1 - target))
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def _power(doubt: torch.Tensor, gamma: float) -> torch.Tensor:
    """``doubt**gamma``; at 0, where the derivative may be infinite, without a gradient."""
    return doubt.clamp(min=torch.finfo(doubt.dtype).tiny) ** gamma


def _check(gamma: float, reduction: str) -> None:
    if not gamma >= 0:
        raise _Wrong(f"gamma is {gamma}: it must be 0 (plain cross-entropy) or more")
    if reduction not in ("mean", "sum", "none"):
        raise _Wrong(f"reduction is {reduction!r}: it must be 'mean', 'sum' or 'none'")
