"""Colours."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, cast

import torch

from simpletorch.errors import DataError, ShapeMismatch
from simpletorch.transforms._transform import DT, Transform, as_float, check_dtype

if TYPE_CHECKING:
    from simpletorch.dims import Batch, C, H, W
    from simpletorch.tensor import Tensor

_ORDERS: Final = tuple(itertools.permutations(range(4)))
_LUMA: Final = (0.299, 0.587, 0.114)  # ITU-R 601-2
_LUMA_16_BITS: Final = (19595, 38470, 7471)  # the same, as Pillow rounds it


class Grayscale(Transform):
    """Grey values of colour images: ``[*B, 3, H, W] -> [*B, num_output_channels, H, W]``.

    Luma is ``0.299 R + 0.587 G + 0.114 B``; on UInt8 images it is Pillow's ``convert("L")`` to the bit. An image of one
    channel is grey already.

    Args:
        num_output_channels: 1, or 3 equal ones.

    Raises:
        ShapeMismatch: the image has neither one nor three channels.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.Grayscale()(torch.zeros(3, 32, 48)).shape
        torch.Size([1, 32, 48])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.Grayscale.html
    """

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        if num_output_channels not in (1, 3):
            raise DataError(f"Grayscale: num_output_channels is {num_output_channels}, but must be 1 or 3")
        self.num_output_channels = num_output_channels

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, Any, H, W]:
        """The luma."""
        return cast("Tensor[DT, *Batch, Any, H, W]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """All images at once.

        Returns:
            The transformed images, a batch ``[N, C, H, W]``.
        """
        check_dtype("Grayscale", images)
        _check_channels("Grayscale", images)
        grey = luma(images) if images.shape[1] == 3 else images
        return grey.expand(-1, self.num_output_channels, -1, -1).clone()

    def extra_repr(self) -> str:
        """The number of channels."""
        return f"num_output_channels={self.num_output_channels}"


class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue of each image at random, in a random order.

    On UInt8 images brightness, contrast and saturation are Pillow's ``ImageEnhance`` within one level of 255; hue
    turns the colour circle of HSV in floats, where Pillow rounds hue to 256 values.

    Args:
        brightness: the factor comes from ``[max(0, 1 - brightness), 1 + brightness]``, or from the range given.
        contrast: the same.
        saturation: the same.
        hue: how far to turn, from ``[-hue, hue]`` or from the range given, within ``[-0.5, 0.5]``; 1 is a full turn.
        generator: where random numbers come from; None: torch's global generator.

    Raises:
        DataError: a range that is empty, negative or too wide.
        ShapeMismatch: the image has neither one nor three channels.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.ColorJitter(brightness=0.2, hue=0.1)(torch.zeros(3, 32, 48)).shape
        torch.Size([3, 32, 48])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.ColorJitter.html
    """

    draws = 5

    def __init__(
        self,
        brightness: float | tuple[float, float] = 0,
        contrast: float | tuple[float, float] = 0,
        saturation: float | tuple[float, float] = 0,
        hue: float | tuple[float, float] = 0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(generator)
        self.brightness = _factors("brightness", brightness)
        self.contrast = _factors("contrast", contrast)
        self.saturation = _factors("saturation", saturation)
        self.hue = _turns(hue)

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, H, W]:
        """The changed image."""
        return cast("Tensor[DT, *Batch, C, H, W]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """One image after the other, as each has an order of its own.

        Returns:
            The transformed images, a batch ``[N, C, H, W]``.
        """
        check_dtype("ColorJitter", images)
        _check_channels("ColorJitter", images)
        ranges = (self.brightness, self.contrast, self.saturation, self.hue)
        steps = (adjust_brightness, adjust_contrast, adjust_saturation, adjust_hue)
        parts = []
        for image, row in zip(images.split(1), numbers.tolist(), strict=True):
            for step in _ORDERS[int(row[4] * len(_ORDERS))]:
                low, high = ranges[step]
                if (low, high) != ((0, 0) if steps[step] is adjust_hue else (1, 1)):
                    image = steps[step](image, low + row[step] * (high - low))
            parts.append(image)
        return torch.cat(parts)

    def extra_repr(self) -> str:
        """The ranges."""
        names = ("brightness", "contrast", "saturation", "hue")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


def luma(images: torch.Tensor) -> torch.Tensor:
    """``[N, 3, H, W] -> [N, 1, H, W]``, in the same dtype."""
    red, green, blue = images.unbind(1)
    if images.is_floating_point():
        return (_LUMA[0] * red + _LUMA[1] * green + _LUMA[2] * blue).unsqueeze(1)
    r, g, b = (plane.to(torch.int32) for plane in (red, green, blue))
    grey = (r * _LUMA_16_BITS[0] + g * _LUMA_16_BITS[1] + b * _LUMA_16_BITS[2] + 0x8000) >> 16
    return grey.to(torch.uint8).unsqueeze(1)


def adjust_brightness(images: torch.Tensor, factor: float) -> torch.Tensor:
    """0 is black, 1 the image, 2 twice as bright."""
    return _blend(torch.zeros_like(images[:, :1, :1, :1]), images, factor)


def adjust_contrast(images: torch.Tensor, factor: float) -> torch.Tensor:
    """0 is the image's mean grey, 1 the image."""
    grey = luma(images) if images.shape[1] == 3 else images
    mean = as_float(grey).mean((1, 2, 3), keepdim=True)
    # bytes: the mean grey is rounded as in Pillow's ImageEnhance.Contrast
    return _blend(mean if images.is_floating_point() else (mean + 0.5).floor(), images, factor)


def adjust_saturation(images: torch.Tensor, factor: float) -> torch.Tensor:
    """0 is grey, 1 the image; a grey image stays as it is."""
    return images if images.shape[1] == 1 else _blend(luma(images), images, factor)


def adjust_hue(images: torch.Tensor, turn: float) -> torch.Tensor:
    """Turn the colour circle by ``turn``, where 1 is a full turn; a grey image stays as it is."""
    if images.shape[1] == 1:
        return images
    values = images if images.is_floating_point() else images.to(torch.float32) / 255
    result = _rgb((_hue(values) + turn) % 1.0, values)
    return result if images.is_floating_point() else (result * 255).round().to(images.dtype)


def _blend(far: torch.Tensor, images: torch.Tensor, factor: float) -> torch.Tensor:
    """``far + factor * (images - far)``, kept within the values of an image; bytes are cut off as Pillow cuts them."""
    start = as_float(far)
    result = start + factor * (as_float(images) - start)
    if images.is_floating_point():
        return result.clamp(0, 1)
    return result.clamp(0, 255).to(images.dtype)


def _hue(rgb: torch.Tensor) -> torch.Tensor:
    """Hue of ``[N, 3, H, W]`` as ``[N, H, W]`` in 0..1, as `colorsys` defines it."""
    red, green, blue = rgb.unbind(1)
    high, low = rgb.amax(1), rgb.amin(1)
    span = torch.where(high == low, torch.ones_like(high), high - low)
    to_red, to_green, to_blue = (high - red) / span, (high - green) / span, (high - blue) / span
    sixth = torch.where(
        red == high, to_blue - to_green, torch.where(green == high, 2 + to_red - to_blue, 4 + to_green - to_red)
    )
    return torch.where(high == low, torch.zeros_like(high), (sixth / 6) % 1.0)


def _rgb(hue: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """``like`` with another hue; its saturation and value stay."""
    value, low = like.amax(1), like.amin(1)
    sixth = hue * 6
    # each channel rises, stays and falls around the circle, a third of it apart
    channels = [((sixth + shift) % 6) for shift in (5, 3, 1)]
    share = torch.stack([torch.minimum(c, 4 - c).clamp(0, 1) for c in channels], 1)
    return value.unsqueeze(1) - share * (value - low).unsqueeze(1)


def _check_channels(name: str, images: torch.Tensor) -> None:
    if images.shape[1] not in (1, 3):
        raise ShapeMismatch(
            3, images.shape[1], f"{name} takes images of one or three channels, but got {images.shape[1]}"
        )


def _factors(name: str, value: Any) -> tuple[float, float]:
    low, high = (max(0.0, 1 - value), 1 + value) if isinstance(value, (int, float)) else tuple(value)
    if not 0 <= low <= high or (isinstance(value, (int, float)) and value < 0):
        raise DataError(f"ColorJitter: {name} is {value!r}, but must be a number or a range, 0 or more")
    return float(low), float(high)


def _turns(value: Any) -> tuple[float, float]:
    low, high = (-value, value) if isinstance(value, (int, float)) else tuple(value)
    if not -0.5 <= low <= high <= 0.5:
        raise DataError(f"ColorJitter: hue is {value!r}, but must be at most 0.5, half a turn")
    return float(low), float(high)
