"""Transforms in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic

import torch
from torch import nn
from typing_extensions import TypeVarTuple, Unpack

from simpletorch.errors import DataError
from simpletorch.transforms._convert import Normalize, ToTensor
from simpletorch.transforms._transform import Transform

Parts = TypeVarTuple("Parts", default=Unpack[tuple[Any, ...]])


class Compose(Transform, Generic[*Parts]):
    """Applies ``transforms`` one after the other: ``Compose([RandomCrop(32, padding=4), ToTensor()])``.

    Any callable may be among them. If all are of `simpletorch.transforms`, a batch may be given instead of an image.

    Args:
        transforms: applied in this order.
        generator: for those of them that have none of their own.

    Raises:
        DataError: one of them can't be called.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> augment = transforms.Compose([transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip()])
        >>> augment(torch.zeros(7, 3, 32, 32)).shape
        torch.Size([7, 3, 32, 32])

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
        self._ours = [transform for transform in self.transforms if isinstance(transform, Transform)]
        self.draws = sum(transform.draws for transform in self._ours if transform.generator is None)
        self.batched = len(self._ours) == len(self.transforms) and all(transform.batched for transform in self._ours)

    def run(self, image: Any, generator: torch.Generator | None) -> Any:
        """Apply them in order; the first one gets ``image``, whatever that is.

        Returns:
            The last transform's result.
        """
        if self.batched and isinstance(image, torch.Tensor):
            return super().run(image, generator)
        generator = self.source() if self.generator is not None else generator
        for transform in self.transforms:
            image = transform.run(image, generator) if isinstance(transform, Transform) else transform(image)
        return image

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Hand each transform its share of the numbers, which were drawn for all of them at once.

        Returns:
            The last transform's result.
        """
        start, fresh = 0, False
        for transform in self._ours:
            if fresh and isinstance(transform, Normalize):  # no caller has what ToTensor made: it may be written to
                images, fresh = transform.normalized(images, inplace=True), False
                continue
            before, its_own = images, numbers
            if transform.generator is not None:
                its_own = transform.drawn(len(images), None)
            elif transform.draws:
                its_own = numbers[:, start : start + transform.draws]
                start += transform.draws
            images = transform.on_batch(images, its_own)
            fresh = isinstance(transform, ToTensor) and images is not before
        return images

    def __len__(self) -> int:
        return len(self.transforms)
