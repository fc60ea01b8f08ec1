"""Overlap as a loss."""

from __future__ import annotations

import torch

from simpletorch.errors import ShapeMismatch


def dice_loss(input: torch.Tensor, target: torch.Tensor, *, smooth: float = 1.0) -> torch.Tensor:
    """1 minus the overlap of predicted and true regions, the mean over samples and classes: 0 is perfect, 1 disjoint.

    It does not care how large a region is, where cross-entropy drowns small ones in background.

    Args:
        input: probabilities ``[B, C, *S]`` between 0 and 1 (after a softmax or sigmoid), of a floating dtype.
        target: 1 where the class is and 0 elsewhere, of the same shape.
        smooth: added to both sides of the fraction, so that an empty region predicted empty costs nothing.

    Returns:
        A 0-d tensor between 0 and 1, of the dtype of ``input``.

    Raises:
        ShapeMismatch: ``input`` and ``target`` have different shapes.

    Examples:
        >>> import torch
        >>> from simpletorch.losses import dice_loss
        >>> target = torch.zeros(2, 1, 4, 4)
        >>> target[..., :2] = 1
        >>> dice_loss(target, target), dice_loss(1 - target, target, smooth=0.0)
        (tensor(0.), tensor(1.))

    Source: Milletari et al. 2016, "V-Net", section 3, with the squares left out as in most later work.
    """
    if input.shape != target.shape:
        raise ShapeMismatch(list(input.shape), list(target.shape), operation="dice_loss")
    predicted, true = input.flatten(2), target.to(input.dtype).flatten(2)
    both = (predicted * true).sum(-1)
    return (1 - (2 * both + smooth) / (predicted.sum(-1) + true.sum(-1) + smooth)).mean()
