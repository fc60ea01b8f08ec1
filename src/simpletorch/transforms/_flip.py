"""Mirror images."""

from __future__ import annotations

from typing import ClassVar, cast

import torch

from simpletorch.dims import Batch, C, H, W
from simpletorch.tensor import Tensor
from simpletorch.transforms._transform import DT, Transform, probability


class _RandomFlip(Transform):
    draws = 1
    dim: ClassVar[int]

    def __init__(self, p: float = 0.5, generator: torch.Generator | None = None) -> None:
        super().__init__(generator)
        self.p = probability(type(self).__name__, p)

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, H, W]:
        """The image, or its mirror image."""
        return cast("Tensor[DT, *Batch, C, H, W]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """The images, those whose number is below p mirrored."""
        if len(images) == 1:  # as a dataset calls it: no mask, and no copy of an image that stays as it is
            return images.flip(self.dim) if numbers.item() < self.p else images
        mirrored = numbers < self.p
        return torch.where(mirrored.view(-1, 1, 1, 1).to(images.device), images.flip(self.dim), images)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"


class RandomHorizontalFlip(_RandomFlip):
    """Swaps left and right of each image with probability ``p``: ``[*B, C, H, W] -> [*B, C, H, W]``.

    Args:
        p: the probability.
        generator: where random numbers come from; None: torch's global generator.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.RandomHorizontalFlip(p=1.0)(torch.tensor([[[1.0, 2.0]]]))
        tensor([[[2., 1.]]])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.RandomHorizontalFlip.html
    """

    dim = -1


class RandomVerticalFlip(_RandomFlip):
    """Swaps top and bottom of each image with probability ``p``: ``[*B, C, H, W] -> [*B, C, H, W]``.

    Args:
        p: the probability.
        generator: where random numbers come from; None: torch's global generator.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.RandomVerticalFlip(p=1.0)(torch.tensor([[[1.0], [2.0]]]))
        tensor([[[2.],
                 [1.]]])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.RandomVerticalFlip.html
    """

    dim = -2
