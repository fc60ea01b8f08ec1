"""From stored values to those that a network takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast, overload

import numpy as np
import torch

from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch
from simpletorch.transforms._transform import DT, Transform

if TYPE_CHECKING:
    from PIL.Image import Image

    from simpletorch.dims import Batch, C, H, W
    from simpletorch.dtypes import Float32
    from simpletorch.tensor import Tensor


_LARGEST: Final = {torch.uint8: 255, torch.uint16: 65535, torch.bool: 1}


class ToTensor(Transform):
    """An image as Float32 ``[C, H, W]`` between 0 and 1.

    Takes a Pillow image (``[1, H, W]`` if it is grey, else as many channels as it has), a NumPy array ``[H, W]`` or
    ``[H, W, C]``, or a tensor ``[*B, C, H, W]``. UInt8 values are divided by 255 and UInt16 values by 65,535, true
    becomes 1; floats are taken as they are.

    Raises:
        DTypeMismatch: values of another dtype, whose range isn't known.
        DataError: it is none of these.

    Examples:
        >>> import numpy as np
        >>> from simpletorch import transforms
        >>> image = transforms.ToTensor()(np.full((28, 28, 3), 255, dtype=np.uint8))
        >>> image.shape, image.max()
        (torch.Size([3, 28, 28]), tensor(1.))

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.ToTensor.html
    """

    @overload
    def __call__(self, image: Tensor[Any, *Batch]) -> Tensor[Float32, *Batch]: ...
    @overload
    def __call__(self, image: Image | np.ndarray[Any, Any]) -> Tensor[Float32, Any, Any, Any]: ...
    def __call__(self, image: Any) -> Any:
        """``[C, H, W]`` of any of these, ``[*B, C, H, W]`` of a tensor."""
        return super().__call__(image)

    def run(self, image: Any, generator: torch.Generator | None) -> Any:
        """Convert, first to a tensor; takes no random numbers.

        Returns:
            Float32 ``[C, H, W]`` in 0..1.
        """
        return super().run(image if isinstance(image, torch.Tensor) else _planes(image), generator)

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Float32 in 0..1.

        Returns:
            The images as Float32 in 0..1.
        """
        largest = _LARGEST.get(images.dtype)
        if largest is not None:
            # planes one after the other: what a batch is stacked from, and most layers want
            return images.to(torch.float32, memory_format=torch.contiguous_format).div_(largest)
        if images.is_floating_point():
            return images.to(torch.float32)
        raise DTypeMismatch(
            "UInt8, UInt16, Bool or Float",
            images.dtype,
            f"ToTensor can't tell how large the values of {images.dtype} images may be",
            hint="convert them to UInt8, or to floats between 0 and 1",
        )


def _planes(image: Any) -> torch.Tensor:
    """Rows of pixels as ``[C, H, W]``."""
    if not isinstance(image, np.ndarray):
        if not hasattr(image, "__array_interface__"):  # Pillow's images have one
            raise DataError(f"ToTensor takes a Pillow image, an array or a tensor, but got a {type(image).__name__}")
        image = np.asarray(image)
    if image.ndim not in (2, 3):
        raise DataError(f"ToTensor takes arrays [H, W] or [H, W, C], but got {list(image.shape)}")
    pixels = torch.from_numpy(np.array(image))  # a copy: Pillow's memory can't be written to
    return pixels.unsqueeze(0) if pixels.ndim == 2 else pixels.permute(2, 0, 1)


class Normalize(Transform):
    """``(image - mean) / std`` for each channel of a float image.

    Args:
        mean: one number for each channel, or one for all.
        std: the same; none of them 0.
        inplace: write into the image instead of a new tensor.

    Raises:
        DataError: a ``std`` of 0, or different numbers of means and deviations.
        DTypeMismatch: the image is not a float image; `ToTensor` makes it one.
        ShapeMismatch: the image has another number of channels.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> normalize = transforms.Normalize(mean=0.5, std=0.25)
        >>> normalize(torch.ones(1, 2, 2))
        tensor([[[2., 2.],
                 [2., 2.]]])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.Normalize.html
    """

    def __init__(self, mean: float | Sequence[float], std: float | Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        means, deviations = ([x] if isinstance(x, (int, float)) else list(x) for x in (mean, std))
        if len(means) != len(deviations) or not means:
            raise DataError(f"Normalize got {len(means)} means but {len(deviations)} deviations: one of each a channel")
        self.mean, self.std = (torch.tensor(x, dtype=torch.float32).view(-1, 1, 1) for x in (means, deviations))
        if 0 in deviations or not bool(self.std.all()):  # a small one may be 0 in float32
            raise DataError(f"Normalize divides by std, but it is {deviations}: none of them may be 0")
        self.inplace = inplace

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, H, W]:
        """The normalised image."""
        return cast("Tensor[DT, *Batch, C, H, W]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """The same shape and dtype.

        Returns:
            The normalized images, of the same shape and dtype.
        """
        return self.normalized(images, self.inplace)

    def normalized(self, images: torch.Tensor, inplace: bool) -> torch.Tensor:
        """The formula; ``inplace`` writes it into ``images``.

        Args:
            images: images ``[N, C, H, W]`` of a floating dtype.
            inplace: write the result into ``images``.

        Returns:
            The normalized images, of the same shape and dtype.
        """
        if not images.is_floating_point():
            raise DTypeMismatch(
                "Float",
                images.dtype,
                f"Normalize takes float images, but got {images.dtype}",
                hint="put ToTensor() in front of it",
            )
        if len(self.mean) not in (1, images.shape[1]):
            raise ShapeMismatch(
                len(self.mean),
                images.shape[1],
                f"Normalize has {len(self.mean)} means, but the image has {images.shape[1]} channels",
            )
        mean, std = self.mean, self.std
        if images.dtype != mean.dtype or images.device != mean.device:
            mean, std = mean.to(images.device, images.dtype), std.to(images.device, images.dtype)
        return (images.sub_(mean) if inplace else images - mean).div_(std)

    def extra_repr(self) -> str:
        """The mean and deviation."""
        return f"mean={self.mean.flatten().tolist()}, std={self.std.flatten().tolist()}"
