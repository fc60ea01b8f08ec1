"""Batches whose images and targets are mixed with each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import torch
import torch.nn.functional as F

from simpletorch.dims import B, C, Dim, H, W
from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch
from simpletorch.transforms._transform import DT, Transform

if TYPE_CHECKING:
    from simpletorch.dtypes import Float32
    from simpletorch.tensor import Tensor

K = TypeVar("K")


class _Mix(Transform, Generic[K]):
    """Mixes each image of a batch with its neighbour, and their targets in the same proportion."""

    draws = 4

    def __init__(self, num_classes: Dim[K], alpha: float = 1.0, generator: torch.Generator | None = None) -> None:
        super().__init__(generator)
        if num_classes < 2:
            raise DataError(f"{type(self).__name__}: num_classes is {num_classes}, but must be at least 2")
        if not alpha > 0:
            raise DataError(f"{type(self).__name__}: alpha is {alpha}, but must be positive")
        self.num_classes, self.alpha = num_classes, alpha
        self.batched = False  # it needs targets too, so no dataset can apply it to images

    def __call__(  # type: ignore[override]  # targets are mixed too
        self, images: Tensor[DT, B, C, H, W], targets: torch.Tensor
    ) -> tuple[Tensor[DT, B, C, H, W], Tensor[Float32, B, K]]:
        """Mixed images, and targets as one share for each class.

        Args:
            images: float ``[B, C, H, W]``.
            targets: classes, Int64 ``[B]``, or shares of classes, Float32 ``[B, num_classes]``.

        Raises:
            ShapeMismatch: the arguments aren't such a batch.
            DTypeMismatch: the images are not floats.
            DataError: a target is no class.
        """
        one_hot: Any = self._one_hot(images, targets)
        numbers = self.drawn(1, None)[0].tolist()
        # torch's Beta takes no generator; NumPy's is seeded with the 24 random bits of each of two uniform Float32
        seed = [int(number * 2**24) for number in numbers[:2]]
        kept = float(np.random.default_rng(seed).beta(self.alpha, self.alpha))
        mixed, kept = self._mixed(images, kept, numbers[2:])
        return mixed, kept * one_hot + (1 - kept) * one_hot.roll(1, 0)

    def _mixed(self, images: Any, kept: float, numbers: list[float]) -> tuple[Any, float]:
        raise NotImplementedError

    def _one_hot(self, images: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        name = type(self).__name__
        if images.ndim != 4 or len(images) != len(targets) or targets.shape[1:] not in ((), (self.num_classes,)):
            raise ShapeMismatch(
                f"[B, C, H, W] and [B] or [B, {self.num_classes}]",
                (list(images.shape), list(targets.shape)),
                f"{name} takes a batch: images [B, C, H, W] and targets [B] or [B, {self.num_classes}], but got "
                f"{list(images.shape)} and {list(targets.shape)}",
                hint="apply it to the batches of a DataLoader, not to single samples",
            )
        if not images.is_floating_point():
            raise DTypeMismatch(
                "Float", images.dtype, f"{name} takes float images, but got {images.dtype}", hint="ToTensor() first"
            )
        if targets.ndim == 2:
            return targets.to(torch.float32)
        if len(targets) and not 0 <= int(targets.min()) <= int(targets.max()) < self.num_classes:
            raise DataError(
                f"{name}: targets go from {targets.min()} to {targets.max()}, but num_classes is {self.num_classes}"
            )
        return F.one_hot(targets.long(), self.num_classes).to(torch.float32)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"num_classes={self.num_classes}, alpha={self.alpha}"


class MixUp(_Mix[K]):
    """``lam * images + (1 - lam) * neighbours`` for batches, with ``lam`` from Beta(alpha, alpha).

    ``(images [B, C, H, W], targets [B]) -> (images [B, C, H, W], targets Float32 [B, num_classes])``; an image's
    neighbour is the one before it. Apply it to the batches of a loader: ``images, targets = mix(images, targets)``.

    Args:
        num_classes: how many classes there are.
        alpha: of the Beta distribution; 1 is uniform.
        generator: where random numbers come from; None: torch's global generator.

    Raises:
        DataError: a target is no class, or an argument is out of range.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> images, targets = transforms.MixUp(num_classes=10)(torch.rand(7, 3, 32, 32), torch.arange(7))
        >>> images.shape, targets.shape
        (torch.Size([7, 3, 32, 32]), torch.Size([7, 10]))

    Source: Zhang et al. 2017, https://arxiv.org/abs/1710.09412
    """

    def _mixed(self, images: Any, kept: float, numbers: list[float]) -> tuple[Any, float]:
        # in a shuffled batch the neighbour is as random as a partner that is drawn; torchvision's MixUp rolls as well
        return kept * images + (1 - kept) * images.roll(1, 0), kept


class CutMix(_Mix[K]):
    """Pastes a rectangle of its neighbour into each image of a batch, the same one for all of the batch.

    ``(images [B, C, H, W], targets [B]) -> (images [B, C, H, W], targets Float32 [B, num_classes])``; the rectangle has
    ``1 - lam`` of the area with ``lam`` from Beta(alpha, alpha) and is cut off at the border; targets are mixed by
    the area that it has then.

    Args:
        num_classes: how many classes there are.
        alpha: of the Beta distribution; 1 is uniform.
        generator: where random numbers come from; None: torch's global generator.

    Raises:
        DataError: a target is no class, or an argument is out of range.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> images, targets = transforms.CutMix(num_classes=10)(torch.rand(7, 3, 32, 32), torch.arange(7))
        >>> images.shape, targets.shape
        (torch.Size([7, 3, 32, 32]), torch.Size([7, 10]))

    Source: Yun et al. 2019, https://arxiv.org/abs/1905.04899
    """

    def _mixed(self, images: Any, kept: float, numbers: list[float]) -> tuple[Any, float]:
        height, width = images.shape[-2:]
        half = 0.5 * math.sqrt(1 - kept)
        middle_y, middle_x = int(numbers[0] * height), int(numbers[1] * width)
        top, bottom = max(0, middle_y - int(half * height)), min(height, middle_y + int(half * height))
        left, right = max(0, middle_x - int(half * width)), min(width, middle_x + int(half * width))
        mixed = images.clone()
        mixed[..., top:bottom, left:right] = images.roll(1, 0)[..., top:bottom, left:right]
        return mixed, 1 - (bottom - top) * (right - left) / (height * width)
