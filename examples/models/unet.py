"""The U-Net for segmentation: down to a sixteenth of the size and up again, with skips between equal sizes.

Ronneberger, Fischer and Brox, U-Net: Convolutional Networks for Biomedical Image Segmentation, 2015; with padding, so
that the map is as large as the image, and batch normalization. Height and width have to be multiples of 16, and the
type of ``UNet.forward`` says so.

Letters: B batch, C and I channels in, M channels out, H and W height and width, K classes.
"""

from typing import Generic

import torch

from simpletorch import Float32, Tensor, nn
from simpletorch.dims import B, C, Dim, H, I, K, M, W


class DoubleConv(nn.Module, Generic[I, M]):
    """Two 3×3 convolutions."""

    def __init__(self, channels: Dim[I], out: Dim[M]) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, out, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
            nn.Conv2d(out, out, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
        )

    def forward(self, x: Tensor[Float32, B, I, H, W]) -> Tensor[Float32, B, M, H, W]:
        """Other channels, the same size."""
        return self.layers(x)


class Down(nn.Module, Generic[C]):
    """Half the size, twice the channels."""

    def __init__(self, channels: Dim[C]) -> None:
        super().__init__()
        self.pool = nn.MaxPool2d(kernel_size=2)
        self.conv = DoubleConv(channels, 2 * channels)

    def forward(self, x: Tensor[Float32, B, C, "2*H", "2*W"]) -> Tensor[Float32, B, "2*C", H, W]:
        """The largest of each four pixels, then two convolutions."""
        return self.conv(self.pool(x))


class Up(nn.Module, Generic[C]):
    """Twice the size, half the channels, joined with the map of that size from the way down."""

    def __init__(self, channels: Dim[C]) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(2 * channels, channels, kernel_size=2, stride=2)
        self.conv = DoubleConv(2 * channels, channels)

    def forward(
        self, x: Tensor[Float32, B, "2*C", H, W], skip: Tensor[Float32, B, C, "2*H", "2*W"]
    ) -> Tensor[Float32, B, C, "2*H", "2*W"]:
        """What ``x`` knows about the whole and ``skip`` about the place."""
        return self.conv(torch.cat([skip, self.up(x)], dim=1))


class UNet(nn.Module, Generic[I, C, K]):
    """Scores for ``K`` classes at every pixel. The defaults are the paper's."""

    def __init__(self, channels: Dim[I] = 1, width: Dim[C] = 64, classes: Dim[K] = 2) -> None:
        super().__init__()
        self.first = DoubleConv(channels, width)
        self.down1 = Down(width)
        self.down2 = Down(2 * width)
        self.down3 = Down(4 * width)
        self.down4 = Down(8 * width)
        self.up4 = Up(8 * width)
        self.up3 = Up(4 * width)
        self.up2 = Up(2 * width)
        self.up1 = Up(width)
        self.last = nn.Conv2d(width, classes, kernel_size=1)

    def forward(self, images: Tensor[Float32, B, I, "16*H", "16*W"]) -> Tensor[Float32, B, K, "16*H", "16*W"]:
        """A score for each class and pixel."""
        full = self.first(images)
        half = self.down1(full)
        quarter = self.down2(half)
        eighth = self.down3(quarter)
        x = self.down4(eighth)
        x = self.up4(x, eighth)
        x = self.up3(x, quarter)
        x = self.up2(x, half)
        x = self.up1(x, full)
        return self.last(x)


def dice_loss(
    scores: Tensor[Float32, B, K, H, W], masks: Tensor[Float32, B, K, H, W], smooth: float = 1.0
) -> Tensor[Float32, ""]:
    """One less the overlap of classes and masks, 0 to 1 (Milletari et al., V-Net, 2016)."""
    probabilities = scores.softmax(dim=1)
    both = (probabilities * masks).sum(dim=(2, 3))
    either = probabilities.sum(dim=(2, 3)) + masks.sum(dim=(2, 3))
    return 1 - ((2 * both + smooth) / (either + smooth)).mean()
