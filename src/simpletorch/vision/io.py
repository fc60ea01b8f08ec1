"""Images from files: PNG, JPEG and their like, read by Pillow as tensors."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, overload

import numpy as np
import torch

from simpletorch._distribution import installing
from simpletorch.errors import DataError
from simpletorch.vision._pillow import pixels

if TYPE_CHECKING:
    from PIL.Image import Image

    from simpletorch.dtypes import UInt8
    from simpletorch.tensor import Tensor

__all__ = ["FORMATS", "Mode", "decode_image", "read_image"]

Mode: TypeAlias = Literal["UNCHANGED", "GRAY", "GRAY_ALPHA", "RGB", "RGB_ALPHA"]

FORMATS: Final = ("JPEG", "PNG", "WEBP", "BMP", "PPM", "TIFF")
"""What is read; Pillow knows more formats, but each is a parser that an attacker can choose."""

_PILLOW_MODES: Final = {"GRAY": "L", "GRAY_ALPHA": "LA", "RGB": "RGB", "RGB_ALPHA": "RGBA"}
_MAX_PIXELS: Final = 1 << 27
_AS_THEY_ARE: Final = ("L", "LA", "RGB", "RGBA")


@overload
def read_image(
    path: str | os.PathLike[str],
    mode: Literal["RGB"],
    apply_exif_orientation: bool = ...,
    *,
    max_pixels: int = ...,
) -> Tensor[UInt8, 3, Any, Any]: ...
@overload
def read_image(
    path: str | os.PathLike[str],
    mode: Literal["GRAY"],
    apply_exif_orientation: bool = ...,
    *,
    max_pixels: int = ...,
) -> Tensor[UInt8, 1, Any, Any]: ...
@overload
def read_image(
    path: str | os.PathLike[str], mode: Mode = ..., apply_exif_orientation: bool = ..., *, max_pixels: int = ...
) -> Tensor[UInt8, Any, Any, Any]: ...
def read_image(
    path: str | os.PathLike[str],
    mode: Mode = "UNCHANGED",
    apply_exif_orientation: bool = False,
    *,
    max_pixels: int = _MAX_PIXELS,
) -> Tensor[UInt8, Any, Any, Any]:
    """The image in a file: UInt8 ``[C, H, W]`` from 0 to 255, in memory pixel by pixel.

    Args:
        path: of a file in one of `FORMATS`; its contents decide, not its name.
        mode: the channels wanted: 1 for ``GRAY``, 2 for ``GRAY_ALPHA``, 3 for ``RGB``, 4 for ``RGB_ALPHA``.
            ``UNCHANGED`` takes the file's, with the colours of a palette and of CMYK as RGB. From 16-bit values, the
            upper 8 bits are kept.
        apply_exif_orientation: turn the image as its camera's note says.
        max_pixels: refuse larger images before they are decoded; a small file can claim to be huge.

    Raises:
        DataError: there is no such file, it is no image in a known format, it is truncated or damaged, it has too many
            pixels, or Pillow is not installed.

    Examples:
        >>> from PIL import Image
        >>> from simpletorch.vision import io
        >>> Image.new("RGB", (48, 32)).save("cat.png")
        >>> io.read_image("cat.png").shape
        torch.Size([3, 32, 48])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.io.read_image.html
    """
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise DataError(f"can't read the image {path}: {error.strerror}") from error
    return _decoded(content, mode, apply_exif_orientation, max_pixels, os.fspath(path))


def decode_image(
    input: bytes | torch.Tensor,
    mode: Mode = "UNCHANGED",
    apply_exif_orientation: bool = False,
    *,
    max_pixels: int = _MAX_PIXELS,
) -> Tensor[UInt8, Any, Any, Any]:
    """The image in the bytes of a file (``bytes``, or UInt8 ``[n]``); otherwise as `read_image`.

    Args:
        input: the contents of an image file.
        mode, apply_exif_orientation, max_pixels: as for `read_image`.

    Examples:
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> from simpletorch.vision import io
        >>> Image.new("L", (48, 32)).save("cat.png")
        >>> io.decode_image(Path("cat.png").read_bytes()).shape
        torch.Size([1, 32, 48])
    """
    content = input.cpu().numpy().tobytes() if isinstance(input, torch.Tensor) else bytes(input)
    return _decoded(content, mode, apply_exif_orientation, max_pixels, "the bytes given")


def _decoded(content: bytes, mode: str, turned: bool, max_pixels: int, source: str) -> torch.Tensor:
    if mode != "UNCHANGED" and mode not in _PILLOW_MODES:
        raise DataError(f"mode is {mode!r}, but must be UNCHANGED, {', '.join(_PILLOW_MODES)}")
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as error:
        raise DataError(f"images are read by Pillow, which is not installed: {installing('vision')}") from error
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            _check_size(image, max_pixels, source)
            upright = ImageOps.exif_transpose(image) if turned else image
            return _pixels(upright, mode)
    except DataError:
        raise
    except UnidentifiedImageError as error:
        raise DataError(
            f"{source} is no image that can be read: its first bytes are {content[:8]!r}",
            hint=f"the formats are {', '.join(FORMATS)}; the file may be empty, cut off or an error page",
        ) from error
    except Image.DecompressionBombError as error:
        raise DataError(f"{source} is not decoded: {error}", hint=_BOMB) from error
    except MemoryError:  # the file isn't damaged
        raise
    except Exception as error:  # a damaged file can make a decoder raise anything
        raise DataError(
            f"the image in {source} is truncated or damaged: {error}", hint="delete the file, or get it again"
        ) from error


_BOMB: Final = "if you trust the file, pass a larger max_pixels"


def _check_size(image: Image, max_pixels: int, source: str) -> None:
    width, height = image.size
    if width * height > max_pixels:
        raise DataError(
            f"{source} is not decoded: it claims {height} x {width} pixels, and {max_pixels:,} are allowed", hint=_BOMB
        )


def _pixels(image: Image, mode: str) -> torch.Tensor:
    """``[C, H, W]`` of an open image, decoded now."""
    if image.mode.startswith("I"):  # 16 bits, or 32 that hold 16
        values = np.asarray(image)
        image = _from_array((values.clip(0, 65535) >> 8).astype(np.uint8))
    if mode != "UNCHANGED":
        image = image if image.mode == _PILLOW_MODES[mode] else image.convert(_PILLOW_MODES[mode])
    elif image.mode == "1":
        image = image.convert("L")
    elif image.mode not in _AS_THEY_ARE:
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    return pixels(image)


def _from_array(values: np.ndarray[Any, Any]) -> Image:
    from PIL import Image

    return Image.fromarray(values)
