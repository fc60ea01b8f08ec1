"""Borders around images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import torch
import torch.nn.functional as F

from simpletorch.errors import DataError
from simpletorch.transforms._transform import DT, Transform

if TYPE_CHECKING:
    from simpletorch.dims import Batch, C, H, W
    from simpletorch.tensor import Tensor

MODES: Final = ("constant", "edge", "reflect", "symmetric")


class Pad(Transform):
    """Puts a border around images: ``[C, H, W] -> [C, top + H + bottom, left + W + right]``.

    Args:
        padding: pixels on every side, or ``(left and right, top and bottom)``, or ``(left, top, right, bottom)``.
        fill: the border's value in ``constant`` mode, or one for each channel.
        padding_mode: ``constant``; ``edge`` repeats the last pixel; ``reflect`` mirrors without repeating it;
            ``symmetric`` mirrors with it.

    Raises:
        DataError: negative padding, another mode, or ``reflect`` of an image of one pixel.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.Pad(2)(torch.zeros(3, 32, 48)).shape
        torch.Size([3, 36, 52])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.Pad.html
    """

    def __init__(
        self, padding: int | Sequence[int], fill: float | Sequence[float] = 0, padding_mode: str = "constant"
    ) -> None:
        super().__init__()
        self.padding, self.fill, self.padding_mode = sides("Pad", padding), fill, mode("Pad", padding_mode)

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, Any, Any]:
        """The padded image."""
        return cast("Tensor[DT, *Batch, C, Any, Any]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """The padded images."""
        return pad(images, self.padding, self.fill, self.padding_mode)

    def extra_repr(self) -> str:
        """The padding, fill and mode."""
        return f"padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode!r}"


def mode(name: str, padding_mode: str) -> str:
    """``padding_mode``, if there is such a mode."""
    if padding_mode not in MODES:
        raise DataError(f"{name}: padding_mode is {padding_mode!r}, but must be one of {', '.join(MODES)}")
    return padding_mode


def sides(name: str, padding: Any) -> tuple[int, int, int, int]:
    """``(left, top, right, bottom)`` of one, two or four numbers."""
    found = (padding,) if isinstance(padding, int) else tuple(padding)
    if len(found) not in (1, 2, 4) or not all(isinstance(side, int) and side >= 0 for side in found):
        raise DataError(f"{name}: padding is {padding!r}, but must be one, two or four numbers of pixels, 0 or more")
    left, top, right, bottom = found * (4 // len(found))
    return left, top, right, bottom


def pad(
    images: torch.Tensor, padding: tuple[int, int, int, int], fill: float | Sequence[float], padding_mode: str
) -> torch.Tensor:
    """Images ``[N, C, H, W]`` with a border."""
    left, top, right, bottom = padding
    if padding_mode != "constant":
        # F.pad mirrors no further than the image is wide, and has no symmetric mode
        rows = _positions(images.shape[-2], top, bottom, padding_mode).to(images.device)
        columns = _positions(images.shape[-1], left, right, padding_mode).to(images.device)
        return images.index_select(-2, rows).index_select(-1, columns)
    if isinstance(fill, (int, float)):
        return F.pad(images, (left, right, top, bottom), value=fill)
    if len(fill) != images.shape[1]:
        raise DataError(f"fill has {len(fill)} values, but the image has {images.shape[1]} channels: one for each")
    return torch.cat(
        [F.pad(plane, (left, right, top, bottom), value=v) for plane, v in zip(images.split(1, 1), fill, strict=True)],
        1,
    )


def _positions(size: int, before: int, after: int, padding_mode: str) -> torch.Tensor:
    """Which of ``size`` pixels stands at each place of the padded line."""
    places = torch.arange(-before, size + after)
    if padding_mode == "edge":
        return places.clamp(0, size - 1)
    if padding_mode == "symmetric":
        places = places % (2 * size)
        return torch.where(places < size, places, 2 * size - 1 - places)
    if size == 1 and before + after:
        raise DataError("padding_mode 'reflect' needs at least two pixels, but the image has one: use 'edge'")
    period = max(1, 2 * (size - 1))
    places = places % period
    return torch.where(places < size, places, period - places)
