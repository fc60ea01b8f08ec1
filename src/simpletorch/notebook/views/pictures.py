"""Images as small pictures: of tensors, of NumPy's arrays and of Pillow's images."""

from __future__ import annotations

import math
import sys
from typing import Any, Final

import numpy as np
import torch

from simpletorch._drawing import picture

__all__ = ["as_image", "is_image", "picture_of"]

_SMALLEST: Final = 8  # pixels of a side: what is smaller is a matrix
_LARGEST: Final = 96


def is_image(tensor: torch.Tensor) -> bool:
    """Whether a tensor can be looked at as one picture, ``(C, H, W)``."""
    if tensor.dim() != 3 or tensor.is_complex() or tensor.layout is not torch.strided or tensor.is_meta:
        return False
    channels, *size = tensor.shape
    return channels in (1, 3) and min(size) >= _SMALLEST


def as_image(value: Any) -> torch.Tensor | None:
    """A sample's item as ``(C, H, W)``; None if it is no image."""
    if isinstance(value, torch.Tensor):
        return value.detach() if is_image(value) else None
    pillow = sys.modules.get("PIL.Image")  # who has such an image has loaded it
    if pillow is not None and isinstance(value, pillow.Image):
        value = np.array(value.convert("L" if value.mode in ("1", "L") else "RGB"))
        value = value if value.ndim == 3 else value[..., None]
    if not isinstance(value, np.ndarray) or value.ndim != 3 or value.dtype.kind not in "buif":
        return None
    channels_last = value.shape[-1] in (1, 3)
    image = torch.from_numpy(np.ascontiguousarray(value))
    image = image.movedim(-1, 0) if channels_last else image
    return image if is_image(image) else None


def picture_of(image: torch.Tensor) -> str:
    """An image ``(C, H, W)`` as HTML: pixels between its smallest and largest number unless they are from 0 to 1.

    Of a large one each second, third, … pixel is copied.
    """
    step = math.ceil(max(image.shape[-2:]) / _LARGEST)
    small = image[:, ::step, ::step].to("cpu", torch.float32).nan_to_num()
    if image.dtype is not torch.uint8:
        low, high = small.min(), small.max()
        small = small * 255 if low >= 0 and high <= 1 else (small - low) / (high - low).clamp_min(1e-12) * 255
    pixels = small.clamp(0, 255).to(torch.uint8).movedim(0, -1).contiguous()
    height, width, channels = pixels.shape
    return picture(pixels.numpy().tobytes(), width, height, grey=channels == 1)
