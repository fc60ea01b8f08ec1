"""Losses of ours, held to torch's rules of those that they vary; what they give is known."""

import torch

from simpletorch import Float32, Tensor, losses

SCORES = torch.randn(8, 3)
TARGETS = torch.zeros(8, dtype=torch.int64)
OTHERS = torch.zeros(9, dtype=torch.int64)
MASKS = torch.zeros(8, 2, 4, 4, dtype=torch.int64)

mean: Tensor[Float32, ""] = losses.focal_loss(SCORES, TARGETS, 2.0)
each: Tensor[Float32, 8] = losses.focal_loss(SCORES, TARGETS, reduction="none")
yes: Tensor[Float32, ""] = losses.sigmoid_focal_loss(SCORES, torch.rand(8, 3), alpha=None)
overlap: Tensor[Float32, ""] = losses.dice_loss(torch.rand(8, 2, 4, 4), MASKS)
smooth: Tensor[Float32, 8, 3] = losses.smooth_labels(TARGETS, 3)


def of_any_size(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return losses.focal_loss(x, y)


def fail_shapes() -> None:
    losses.focal_loss(SCORES, OTHERS)  # E: tensor-shape
    losses.focal_loss(input=SCORES, target=OTHERS, gamma=1.0)  # E: tensor-shape
    losses.sigmoid_focal_loss(SCORES, torch.rand(8, 4))  # E: tensor-shape
    losses.dice_loss(torch.rand(8, 2, 5, 4), MASKS)  # E: tensor-shape
    wrong: Tensor[Float32, 3] = losses.focal_loss(SCORES, TARGETS)  # E: tensor-shape
    wrong_too: Tensor[Float32, 8, 4] = losses.smooth_labels(TARGETS, 3)  # E: tensor-shape
    print(wrong, wrong_too)
