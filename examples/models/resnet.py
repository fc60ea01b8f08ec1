"""ResNet-50, with torchvision's parameter names, so that its weights load.

He et al., Deep Residual Learning for Image Recognition, 2016; the stride is in the 3×3 convolution, as in torchvision.

Letters: B batch, I channels in, M channels in between, S stride, H and W height and width, K classes.
"""

from typing import Generic

import torch
import torch.nn.functional as F
from torch import nn

from simpletorch import Float32, Tensor
from simpletorch.dims import B, Dim, H, I, K, M, S, W


class Bottleneck(nn.Module, Generic[I, M, S]):
    """1×1, 3×3 and 1×1 convolutions beside a shortcut, which is a projection where the shape changes."""

    def __init__(self, channels: Dim[I], width: Dim[M], stride: Dim[S]) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, kernel_size=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, kernel_size=1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = None
        if stride != 1 or channels != 4 * width:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, 4 * width, kernel_size=1, stride=stride, bias=False), nn.BatchNorm2d(4 * width)
            )

    def forward(self, x: Tensor[Float32, B, I, H, W]) -> Tensor[Float32, B, "4*M", "(H-1)//S+1", "(W-1)//S+1"]:
        """``4*M`` feature maps, every ``S``-th pixel."""
        out = F.relu(self.bn1(self.conv1(x)))
        out = F.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        shortcut = x if self.downsample is None else self.downsample(x)
        return F.relu(out + shortcut)


class Stage(nn.Sequential, Generic[I, M, S]):
    """Blocks of one width; the first has the stride."""

    def __init__(self, channels: Dim[I], width: Dim[M], stride: Dim[S], blocks: int) -> None:
        first = Bottleneck(channels, width, stride)
        super().__init__(first, *[Bottleneck(4 * width, width, 1) for _ in range(blocks - 1)])

    def forward(self, input: Tensor[Float32, B, I, H, W]) -> Tensor[Float32, B, "4*M", "(H-1)//S+1", "(W-1)//S+1"]:
        """What the last block makes of what the blocks before it made."""
        first, *rest = self
        out: Tensor[Float32, B, "4*M", "(H-1)//S+1", "(W-1)//S+1"] = first(input)
        for block in rest:
            out = block(out)
        return out


class ResNet(nn.Module, Generic[K, M]):
    """Scores for ``K`` classes. The defaults are ResNet-50 for ImageNet."""

    def __init__(
        self, classes: Dim[K] = 1000, width: Dim[M] = 64, blocks: tuple[int, int, int, int] = (3, 4, 6, 3)
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = Stage(width, width, 1, blocks[0])
        self.layer2 = Stage(4 * width, 2 * width, 2, blocks[1])
        self.layer3 = Stage(8 * width, 4 * width, 2, blocks[2])
        self.layer4 = Stage(16 * width, 8 * width, 2, blocks[3])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(32 * width, classes)

    def forward(self, images: Tensor[Float32, B, 3, H, W]) -> Tensor[Float32, B, K]:
        """A score for each class; of any size, from 1×1 up."""
        x = self.maxpool(F.relu(self.bn1(self.conv1(images))))
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.layer4(x)
        return self.fc(torch.flatten(self.avgpool(x), start_dim=1))
