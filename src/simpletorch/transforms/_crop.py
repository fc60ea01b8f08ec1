"""Parts of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast, overload

import torch

from simpletorch.dims import Batch, C, Dim, H, N, W
from simpletorch.errors import ShapeMismatch
from simpletorch.tensor import Tensor
from simpletorch.transforms._pad import mode, pad, sides
from simpletorch.transforms._transform import DT, Transform, pair

OH = TypeVar("OH")
OW = TypeVar("OW")


class CenterCrop(Transform, Generic[OH, OW]):
    """The middle of images: ``[*B, C, H, W] -> [*B, C, OH, OW]``; an image that is too small gets a border of zeros.

    Args:
        size: ``(height, width)``, or an int for a square.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.CenterCrop(24)(torch.zeros(3, 32, 48)).shape
        torch.Size([3, 24, 24])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.CenterCrop.html
    """

    @overload
    def __init__(self: CenterCrop[N, N], size: Dim[N]) -> None: ...
    @overload
    def __init__(self: CenterCrop[Any, Any], size: tuple[int, int]) -> None: ...
    def __init__(self, size: int | tuple[int, int]) -> None:
        super().__init__()
        self.size = pair("CenterCrop", "size", size)

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, OH, OW]:
        """The middle."""
        return cast("Tensor[DT, *Batch, C, OH, OW]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """The same window of all images.

        Returns:
            The windows, ``[N, C, *size]``.
        """
        height, width = self.size
        missing_h, missing_w = max(0, height - images.shape[-2]), max(0, width - images.shape[-1])
        if missing_h or missing_w:
            left, top = missing_w // 2, missing_h // 2
            images = pad(images, (left, top, missing_w - left, missing_h - top), 0, "constant")
        # halves are rounded to the even number, as Python's round does and torchvision with it
        top, left = round((images.shape[-2] - height) / 2), round((images.shape[-1] - width) / 2)
        return images[..., top : top + height, left : left + width]

    def extra_repr(self) -> str:
        """The size."""
        return f"size={self.size}"


class RandomCrop(Transform, Generic[OH, OW]):
    """A random window of each image: ``[*B, C, H, W] -> [*B, C, OH, OW]``.

    Args:
        size: ``(height, width)``, or an int for a square.
        padding: a border that is put around the image first, as `Pad` takes it.
        pad_if_needed: widen an image that is too small, instead of an error.
        fill: the border's value.
        padding_mode: as `Pad` takes it.
        generator: where random numbers come from; None: torch's global generator.

    Raises:
        ShapeMismatch: the image is smaller than the window.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.RandomCrop(32, padding=4)(torch.zeros(3, 32, 48)).shape
        torch.Size([3, 32, 32])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.RandomCrop.html
    """

    draws = 2

    @overload
    def __init__(
        self: RandomCrop[N, N],
        size: Dim[N],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
        generator: torch.Generator | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: RandomCrop[Any, Any],
        size: tuple[int, int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
        generator: torch.Generator | None = None,
    ) -> None: ...
    def __init__(
        self,
        size: int | tuple[int, int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(generator)
        self.size = pair("RandomCrop", "size", size)
        self.padding = None if padding is None else sides("RandomCrop", padding)
        self.pad_if_needed, self.fill, self.padding_mode = pad_if_needed, fill, mode("RandomCrop", padding_mode)

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, OH, OW]:
        """The window."""
        return cast("Tensor[DT, *Batch, C, OH, OW]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """A window of each; numbers: how far down, how far right.

        Returns:
            The windows, ``[N, C, *size]``.
        """
        height, width = self.size
        if self.padding is not None:
            images = pad(images, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            more_h, more_w = max(0, height - images.shape[-2]), max(0, width - images.shape[-1])
            if more_h or more_w:
                images = pad(images, (more_w, more_h, more_w, more_h), self.fill, self.padding_mode)
        down, right = images.shape[-2] - height, images.shape[-1] - width
        if down < 0 or right < 0:
            raise ShapeMismatch(
                self.size,
                tuple(images.shape[-2:]),
                f"RandomCrop can't cut {height}x{width} out of an image of {images.shape[-2]}x{images.shape[-1]}",
                hint="Resize it first, or pass pad_if_needed=True",
            )
        corners = (numbers * torch.tensor([down + 1, right + 1])).long().tolist()
        return windows(images, corners, height, width)

    def extra_repr(self) -> str:
        """The size and padding."""
        return f"size={self.size}, padding={self.padding}"


def windows(images: torch.Tensor, corners: list[list[int]], height: int, width: int) -> torch.Tensor:
    """The window of each image ``[N, C, H, W]`` whose top left corner is given."""
    parts = [
        image[:, top : top + height, left : left + width]
        for image, (top, left) in zip(images.unbind(), corners, strict=True)
    ]
    if len(parts) == 1:  # as a dataset calls it: a view, no copy
        return parts[0].unsqueeze(0)
    return torch.stack(parts)
