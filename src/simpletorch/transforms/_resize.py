"""Images of another size."""

from __future__ import annotations

import math
from typing import Any, Final, Generic, TypeVar, cast, overload

import torch
import torch.nn.functional as F

from simpletorch.dims import Batch, C, Dim, H, N, W
from simpletorch.errors import DataError
from simpletorch.tensor import Tensor
from simpletorch.transforms._transform import DT, Transform, as_before, as_float, between, check_dtype, pair

OH = TypeVar("OH")
OW = TypeVar("OW")

_SMOOTH: Final = ("bilinear", "bicubic")
_MODES: Final = (*_SMOOTH, "nearest", "nearest-exact")
_TRIES: Final = 10


class Resize(Transform):
    """Images of another size: ``[*B, C, H, W] -> [*B, C, OH, OW]``.

    On UInt8 images, ``bilinear`` with ``antialias`` differs from Pillow's by at most one level of 255, ``bicubic`` by
    two (torch's weights have 16 bits), and ``nearest-exact`` is Pillow's ``NEAREST``. On float images they are
    torch's `interpolate`.

    Args:
        size: ``(height, width)``; or an int for the shorter side, which keeps the proportions.
        interpolation: ``bilinear``, ``bicubic``, ``nearest`` or ``nearest-exact``.
        max_size: with an int ``size``: no side gets longer than this.
        antialias: smooth before shrinking, as Pillow does.

    Raises:
        DataError: another interpolation, or sizes that are not positive.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.Resize((16, 24))(torch.zeros(3, 32, 48)).shape
        torch.Size([3, 16, 24])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.Resize.html
    """

    def __init__(
        self,
        size: int | tuple[int, int],
        interpolation: str = "bilinear",
        max_size: int | None = None,
        antialias: bool = True,
    ) -> None:
        super().__init__()
        both = pair("Resize", "size", size)
        self.size = size if isinstance(size, int) else both
        if max_size is not None and (not isinstance(size, int) or max_size <= size):
            raise DataError(f"Resize: max_size {max_size} goes with an int size below it, but size is {size!r}")
        self.interpolation, self.max_size, self.antialias = _mode("Resize", interpolation), max_size, antialias

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, Any, Any]:
        """The resized image."""
        return cast("Tensor[DT, *Batch, C, Any, Any]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """All images at once.

        Returns:
            The resized images, ``[N, C, H2, W2]``.
        """
        size = self._in_proportion(*images.shape[-2:]) if isinstance(self.size, int) else self.size
        return resize(images, size, self.interpolation, self.antialias)

    def _in_proportion(self, height: int, width: int) -> tuple[int, int]:
        assert isinstance(self.size, int)
        short, long = self.size, int(self.size * max(height, width) / min(height, width))
        if self.max_size is not None and long > self.max_size:
            short, long = max(1, int(self.max_size * short / long)), self.max_size
        return (short, long) if height <= width else (long, short)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"size={self.size}, interpolation={self.interpolation!r}, antialias={self.antialias}"


class RandomResizedCrop(Transform, Generic[OH, OW]):
    """A random window of each image, resized: ``[*B, C, H, W] -> [*B, C, OH, OW]``.

    The window has a random share of the image's area and a random ratio of its sides. If ten tries find none that fits
    into the image, it is the largest one in the middle whose ratio is allowed.

    Args:
        size: ``(height, width)`` of the result, or an int for a square.
        scale: from which to which share of the area.
        ratio: from which to which ratio of width to height, on a logarithmic scale.
        interpolation: as `Resize` takes it.
        antialias: as `Resize` takes it.
        generator: where random numbers come from; None: torch's global generator.

    Raises:
        DataError: ranges that are empty or not positive.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.RandomResizedCrop(24)(torch.zeros(3, 32, 48)).shape
        torch.Size([3, 24, 24])

    Source: Szegedy et al. 2015, https://arxiv.org/abs/1409.4842;
    https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.RandomResizedCrop.html
    """

    draws = 2 * _TRIES + 2

    @overload
    def __init__(
        self: RandomResizedCrop[N, N],
        size: Dim[N],
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: str = "bilinear",
        antialias: bool = True,
        generator: torch.Generator | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: RandomResizedCrop[Any, Any],
        size: tuple[int, int],
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: str = "bilinear",
        antialias: bool = True,
        generator: torch.Generator | None = None,
    ) -> None: ...
    def __init__(
        self,
        size: int | tuple[int, int],
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: str = "bilinear",
        antialias: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(generator)
        self.size = pair("RandomResizedCrop", "size", size)
        self.scale = between("RandomResizedCrop", "scale", scale)
        self.ratio = between("RandomResizedCrop", "ratio", ratio)
        self.interpolation, self.antialias = _mode("RandomResizedCrop", interpolation), antialias

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, OH, OW]:
        """The resized window."""
        return cast("Tensor[DT, *Batch, C, OH, OW]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """One image after the other, as each window has a size of its own.

        Returns:
            The resized windows, ``[N, C, *size]``.
        """
        return resized_windows(self, images, numbers)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"size={self.size}, scale={self.scale}, ratio={self.ratio}, interpolation={self.interpolation!r}"


def resized_windows(crop: RandomResizedCrop[Any, Any], images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """Windows of images ``[N, C, H, W]``, each resized: ``[N, C, *size]``."""
    parts = []
    for image, row in enumerate(numbers.tolist()):
        top, left, height, width = random_window(images.shape[-2], images.shape[-1], crop.scale, crop.ratio, row)
        window = images[image : image + 1, :, top : top + height, left : left + width]
        parts.append(resize(window, crop.size, crop.interpolation, crop.antialias))
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def random_window(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float], numbers: list[float]
) -> tuple[int, int, int, int]:
    """``(top, left, height, width)`` of a window, from 22 uniform numbers: two a try, two for the place."""
    log_low, log_high = math.log(ratio[0]), math.log(ratio[1])
    for first in range(0, 2 * _TRIES, 2):
        area = height * width * (scale[0] + numbers[first] * (scale[1] - scale[0]))
        sides = math.exp(log_low + numbers[first + 1] * (log_high - log_low))
        w, h = round(math.sqrt(area * sides)), round(math.sqrt(area / sides))
        if 0 < w <= width and 0 < h <= height:
            return int(numbers[-2] * (height - h + 1)), int(numbers[-1] * (width - w + 1)), h, w
    w = min(width, max(1, round(height * ratio[1]))) if width / height > ratio[1] else width
    h = min(height, max(1, round(width / ratio[0]))) if width / height < ratio[0] else height
    return (height - h) // 2, (width - w) // 2, h, w


def resize(images: torch.Tensor, size: tuple[int, int], interpolation: str, antialias: bool) -> torch.Tensor:
    """Images ``[N, C, H, W]`` (UInt8 or float) of another size, in the same dtype."""
    check_dtype("Resize", images)
    if tuple(images.shape[-2:]) == size:
        return images
    if interpolation not in _SMOOTH:
        return F.interpolate(images, size, mode=interpolation)
    # torch's kernel for bytes is on the CPU only; elsewhere floats are rounded
    values = images if images.device.type == "cpu" else as_float(images)
    if values.stride(1) == 1:  # a window of decoded pixels: the kernel is faster when their rows are joined
        values = _whole_pixels(values).contiguous(memory_format=torch.channels_last)
    result = F.interpolate(values, size, mode=interpolation, align_corners=False, antialias=antialias)
    result = result[:, : images.shape[1]]  # without the fourth byte, if it came along
    return result if result.dtype == images.dtype else as_before(result, images)


def _whole_pixels(images: torch.Tensor) -> torch.Tensor:
    """Three channels of pixels of four bytes, as Pillow keeps them, with the fourth: whole rows are copied faster."""
    if images.shape[1] != 3 or images.stride(3) != 4 or images.dtype != torch.uint8:
        return images
    last = images.storage_offset() + sum(
        (size - 1) * step for size, step in zip(images.shape, images.stride(), strict=True)
    )
    # the last pixel's fourth byte may lie beyond the memory
    if last + 1 >= images.untyped_storage().nbytes():
        return images
    return images.as_strided((len(images), 4, *images.shape[2:]), images.stride())


def _mode(name: str, interpolation: str) -> str:
    if interpolation not in _MODES:
        raise DataError(f"{name}: interpolation is {interpolation!r}, but must be one of {', '.join(_MODES)}")
    return interpolation
