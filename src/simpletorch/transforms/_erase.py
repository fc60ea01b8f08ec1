"""Erased rectangles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, cast

import torch

from simpletorch.dims import Batch, C, H, W
from simpletorch.errors import DataError
from simpletorch.tensor import Tensor
from simpletorch.transforms._transform import DT, Transform, between, probability

_TRIES = 10


class RandomErasing(Transform):
    """Overwrites a random rectangle of each image with probability ``p``: ``[*B, C, H, W] -> [*B, C, H, W]``.

    Args:
        p: the probability.
        scale: from which to which share of the image's area.
        ratio: from which to which ratio of height to width, on a logarithmic scale.
        value: written to the pixels: a number, one for each channel, or ``"random"`` for noise in each pixel: normal in
            floats, uniform in bytes.
        inplace: write into the image instead of a new tensor.
        generator: where random numbers come from; None: torch's global generator.

    Raises:
        DataError: ranges that are empty or not positive, another word than "random", or the wrong number of values.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.RandomErasing(p=0.25)(torch.zeros(3, 32, 48)).shape
        torch.Size([3, 32, 48])

    Source: Zhong et al. 2017, https://arxiv.org/abs/1708.04896;
    https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.RandomErasing.html
    """

    draws = 2 * _TRIES + 4

    def __init__(
        self,
        p: float = 0.5,
        scale: tuple[float, float] = (0.02, 0.33),
        ratio: tuple[float, float] = (0.3, 3.3),
        value: float | Sequence[float] | Literal["random"] = 0,
        inplace: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(generator)
        self.p = probability("RandomErasing", p)
        self.scale = between("RandomErasing", "scale", scale, low=-1e-9)  # 0 is allowed
        self.ratio = between("RandomErasing", "ratio", ratio)
        if self.scale[1] > 1:
            raise DataError(f"RandomErasing: scale is {scale!r}, but no more than all of an image can be erased")
        if isinstance(value, str) and value != "random":
            raise DataError(f'RandomErasing: value is {value!r}, but must be a number, numbers, or "random"')
        self.value, self.inplace = value, inplace

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, H, W]:
        """The image, perhaps with a hole."""
        return cast("Tensor[DT, *Batch, C, H, W]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Numbers: whether; ten tries of area and ratio; the place; the seed of the noise.

        Returns:
            The transformed images, a batch ``[N, C, H, W]``.
        """
        if not self.inplace:
            images = images.clone()
        for image, row in zip(images.unbind(), numbers.tolist(), strict=True):
            if row[0] < self.p and (hole := self._hole(image.shape[-2], image.shape[-1], row)):
                top, left, height, width = hole
                place = image[:, top : top + height, left : left + width]
                place.copy_(self._content(place, row[-1]))
        return images

    def _hole(self, height: int, width: int, row: list[float]) -> tuple[int, int, int, int] | None:
        log_low, log_high = math.log(self.ratio[0]), math.log(self.ratio[1])
        for first in range(1, 2 * _TRIES, 2):
            area = height * width * (self.scale[0] + row[first] * (self.scale[1] - self.scale[0]))
            sides = math.exp(log_low + row[first + 1] * (log_high - log_low))
            h, w = round(math.sqrt(area * sides)), round(math.sqrt(area / sides))
            # torchvision draws again, too, where a hole is as high or as wide as the image
            if h < height and w < width:
                return int(row[-3] * (height - h + 1)), int(row[-2] * (width - w + 1)), h, w
        return None

    def _content(self, place: torch.Tensor, number: float) -> torch.Tensor:
        if self.value == "random":
            noise = torch.Generator().manual_seed(int(number * 2**24))  # a uniform Float32 has 24 random bits
            if place.dtype == torch.uint8:
                return torch.randint(0, 256, place.shape, generator=noise, dtype=torch.uint8)
            return torch.randn(place.shape, generator=noise)
        values = self.value if isinstance(self.value, Sequence) else [self.value]
        if len(values) not in (1, len(place)):
            raise DataError(f"RandomErasing has {len(values)} values, but the image has {len(place)} channels")
        return torch.tensor(values, dtype=place.dtype, device=place.device).view(-1, 1, 1)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"p={self.p}, scale={self.scale}, ratio={self.ratio}, value={self.value}"
