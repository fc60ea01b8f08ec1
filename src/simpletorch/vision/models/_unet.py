"""U-Net: a class for each pixel.

Ronneberger, Fischer and Brox, U-Net: Convolutional Networks for Biomedical Image Segmentation, 2015; with padded
convolutions and batch norm, as most implementations have it, so that what leaves has the size of what came.

Letters: B batch, C channels in, I and O channels of a layer, H and W height and width, K classes.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import torch
import torch.nn.functional as F
from torch import nn

from simpletorch.dims import B, C, Dim, H, I, K, O, W
from simpletorch.dtypes import Float
from simpletorch.nn import Module
from simpletorch.nn._arguments import refuse, sizes
from simpletorch.tensor import Tensor
from simpletorch.vision.models._blocks import Norm
from simpletorch.vision.models._weights import Weights, load_weights

__all__ = ["UNet", "unet"]

DT = TypeVar("DT", bound=Float)


class DoubleConv(Module, Generic[I, O]):
    """Two 3×3 convolutions: ``(B, I, H, W) -> (B, O, H, W)``."""

    def __init__(self, channels: Dim[I], out: Dim[O], norm: Norm) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, kernel_size=3, padding=1, bias=False)
        self.bn1 = norm(out)
        self.conv2 = nn.Conv2d(out, out, kernel_size=3, padding=1, bias=False)
        self.bn2 = norm(out)

    def forward(self, x: Tensor[DT, B, I, H, W]) -> Tensor[DT, B, O, H, W]:
        """``O`` feature maps."""
        inner: Tensor[DT, B, O, H, W] = self.bn1(self.conv1(x))
        outer: Tensor[DT, B, O, H, W] = self.bn2(self.conv2(F.relu(inner)))
        return F.relu(outer)


class Up(Module, Generic[O]):
    """Joins a coarse image with the fine one of the way down: ``(B, 2*O, H, W), (B, O, *Fine) -> (B, O, *Fine)``."""

    def __init__(self, out: Dim[O], norm: Norm) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(2 * out, out, kernel_size=2, stride=2)
        self.conv = DoubleConv(2 * out, out, norm)

    def forward(self, coarse: torch.Tensor, fine: Tensor[DT, B, O, H, W]) -> Tensor[DT, B, O, H, W]:
        """``O`` feature maps of the fine image's size."""
        up = self.up(coarse)
        # the poolings drop the last row and column of an odd image
        up = F.pad(up, (0, fine.shape[3] - up.shape[3], 0, fine.shape[2] - up.shape[2]))
        joined: Tensor[DT, B, O, H, W] = self.conv(torch.cat([fine, up], dim=1))
        return joined


class UNet(Module, Generic[C, K]):
    """Scores of ``K`` classes for every pixel: ``(B, C, H, W) -> (B, K, H, W)``; from ``2**depth`` pixels a side up.

    Args:
        channels: channels of an image.
        num_classes: how many scores a pixel has.
        width: feature maps of the finest images; each pooling doubles them.
        depth: how many poolings there are.
        norm_layer: makes a norm, given the number of channels.

    Raises:
        ShapeMismatch: (a `ValueError` too) a number is below 1.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> models.UNet(3, 2, width=8)(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 2, 64, 64])

    Source: https://arxiv.org/abs/1505.04597, Figure 1.
    """

    def __init__(
        self,
        channels: Dim[C],
        num_classes: Dim[K],
        *,
        width: int = 64,
        depth: int = 4,
        norm_layer: Norm = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        refuse("UNet", sizes(channels=channels, num_classes=num_classes, width=width, depth=depth))
        self.stem = DoubleConv(channels, width, norm_layer)
        self.pool = nn.MaxPool2d(2)
        self.down = nn.ModuleList([DoubleConv(width * 2**i, width * 2 ** (i + 1), norm_layer) for i in range(depth)])
        self.up = nn.ModuleList([Up(width * 2**i, norm_layer) for i in reversed(range(depth))])
        self.head = nn.Conv2d(width, num_classes, kernel_size=1)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")

    def forward(self, x: Tensor[DT, B, C, H, W]) -> Tensor[DT, B, K, H, W]:
        """A score for each class of each pixel, not normalized.

        Args:
            x: images, ``(B, C, H, W)`` of a floating dtype.
        """
        images: list[torch.Tensor] = [self.stem(x)]
        for down in self.down:
            images.append(down(self.pool(images[-1])))
        made = images.pop()
        for up in self.up:
            made = up(made, images.pop())
        scores: Tensor[DT, B, K, H, W] = self.head(made)
        return scores


def unet(
    *,
    weights: Weights | None = None,
    num_classes: Dim[K] = 2,
    channels: Dim[C] = 3,
    width: int = 64,
    depth: int = 4,
) -> UNet[C, K]:
    """U-Net: 31.0M parameters for 3 channels and 2 classes.

    Args:
        weights: a file with this model's parameter names, its address, or a state dict; random by default.
        num_classes: how many scores a pixel has.
        channels: channels of an image.
        width: feature maps of the finest images; each pooling doubles them.
        depth: how many poolings there are.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> models.unet(num_classes=5, width=8)(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 5, 64, 64])
    """
    model = UNet(channels, num_classes, width=width, depth=depth)
    load_weights(model, weights)
    return model
