"""Transforms in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from simpletorch.errors import DataError
from simpletorch.transforms._transform import Transform


class Compose(Transform):
    """Applies ``transforms`` one after the other: ``Compose([RandomCrop(32, padding=4), ToTensor()])``.

    Any callable may be among them. If all are of `simpletorch.transforms`, a batch may be given instead of an image.

    Args:
        transforms: what to apply, in this order.
        generator: for those of them that have none of their own.

    Raises:
        DataError: one of them can't be called.

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.Compose.html
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], generator: torch.Generator | None = None) -> None:
        super().__init__(generator)
        for position, transform in enumerate(transforms):
            if not callable(transform):
                raise DataError(f"item {position} of Compose can't be called: it is a {type(transform).__name__}")
        self.transforms = list(transforms)
        # modules among them are submodules too, for repr() and .to(); nn.ModuleList would refuse plain functions
        for position, transform in enumerate(self.transforms):
            if isinstance(transform, nn.Module):
                self.add_module(str(position), transform)
        self.draws = sum(t.draws for t in self.transforms if isinstance(t, Transform) and t.generator is None)

    @property
    def batched(self) -> bool:
        """Whether all of them take batches."""
        return all(isinstance(transform, Transform) and transform.batched for transform in self.transforms)

    def forward(self, image: Any) -> Any:
        """What the last one gives; the first one gets ``image``, whatever that is."""
        return self.with_numbers(image, None)

    def with_numbers(self, image: Any, numbers: torch.Tensor | None) -> Any:
        """Hand each transform its share of the numbers, which are drawn for all of them at once."""
        if numbers is None and self.draws and isinstance(image, torch.Tensor) and self.batched:
            numbers = self.drawn(image[..., 0, 0, 0].numel() if image.ndim > 2 else 1)
        start = 0
        for transform in self.transforms:
            if not isinstance(transform, Transform):
                image = transform(image)
            elif numbers is None or transform.generator is not None or not transform.draws:
                image = transform.with_numbers(image, None)
            else:
                image = transform.with_numbers(image, numbers[:, start : start + transform.draws])
                start += transform.draws
        return image

    def __len__(self) -> int:
        return len(self.transforms)
