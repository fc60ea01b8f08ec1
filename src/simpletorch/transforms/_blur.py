"""Blurred images."""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F

from simpletorch.dims import Batch, C, H, W
from simpletorch.errors import DataError, ShapeMismatch
from simpletorch.tensor import Tensor
from simpletorch.transforms._transform import DT, Transform, as_before, as_float, between, check_dtype, pair


class GaussianBlur(Transform):
    """Blurs each image with a Gaussian whose width is drawn at random: ``[*B, C, H, W] -> [*B, C, H, W]``.

    The image is mirrored at its borders, without repeating the last pixel.

    Args:
        kernel_size: ``(height, width)`` of the kernel, or an int for both; odd.
        sigma: standard deviation in pixels, or the range that it is drawn from.
        generator: where random numbers come from; None: torch's global generator.

    Raises:
        DataError: an even kernel, or a sigma that is not positive.
        ShapeMismatch: the image is not larger than half the kernel.

    Examples:
        >>> import torch
        >>> from simpletorch import transforms
        >>> transforms.GaussianBlur(5)(torch.zeros(3, 32, 48)).shape
        torch.Size([3, 32, 48])

    Source: https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.GaussianBlur.html
    """

    draws = 1

    def __init__(
        self,
        kernel_size: int | tuple[int, int],
        sigma: float | tuple[float, float] = (0.1, 2.0),
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(generator)
        self.kernel_size = pair("GaussianBlur", "kernel_size", kernel_size)
        if not all(size % 2 for size in self.kernel_size):
            raise DataError(f"GaussianBlur: kernel_size is {kernel_size!r}, but must be odd, to have a middle")
        self.sigma = between("GaussianBlur", "sigma", sigma)

    def __call__(self, image: Tensor[DT, *Batch, C, H, W]) -> Tensor[DT, *Batch, C, H, W]:
        """The blurred image."""
        return cast("Tensor[DT, *Batch, C, H, W]", super().__call__(image))

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """All images in one grouped convolution, each with its own kernel.

        Returns:
            The transformed images, a batch ``[N, C, H, W]``.
        """
        check_dtype("GaussianBlur", images)
        count, channels, height, width = images.shape
        (tall, wide), half = self.kernel_size, [size // 2 for size in self.kernel_size]
        if height <= half[0] or width <= half[1]:
            raise ShapeMismatch(
                f"more than {half[0]}x{half[1]}",
                (height, width),
                f"GaussianBlur with a kernel of {tall}x{wide} needs images of more than {half[0]}x{half[1]} pixels, "
                f"but got {height}x{width}",
            )
        sigmas = (self.sigma[0] + numbers[:, 0] * (self.sigma[1] - self.sigma[0])).to(images.device)
        planes = count * channels
        # conv2d takes one set of kernels for all images, so here all their planes are the channels of a single image
        x = as_float(images).reshape(1, planes, height, width)
        x = F.pad(x, (half[1], half[1], half[0], half[0]), mode="reflect")
        for size, shape in ((tall, (-1, 1, tall, 1)), (wide, (-1, 1, 1, wide))):
            kernels = _gaussian(size, sigmas).repeat_interleave(channels, 0).to(x.dtype)
            x = F.conv2d(x, kernels.view(shape), groups=planes)
        return as_before(x.view(images.shape), images)

    def extra_repr(self) -> str:
        """The kernel and sigma."""
        return f"kernel_size={self.kernel_size}, sigma={self.sigma}"


def _gaussian(size: int, sigmas: torch.Tensor) -> torch.Tensor:
    """A Gaussian for each sigma: ``[N] -> [N, size]``, each adding up to 1."""
    places = torch.arange(size, device=sigmas.device) - (size - 1) / 2
    return torch.softmax(-0.5 * (places / sigmas.unsqueeze(1)).square(), 1)
