"""Transfer learning: the layers that were put into a model count, not those that it was made with."""

import torch
from torch import nn

from simpletorch import B, Dim, Float32, K, N, Tensor
from simpletorch import nn as snn
from simpletorch.vision.models import resnet18, vgg11


class Features(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.backbone = resnet18()
        self.backbone.fc = nn.Identity()
        self.head = nn.Linear(512, 7)

    def forward(self, x: Tensor[Float32, B, 3, 64, 64]) -> Tensor[Float32, B, 7]:
        return self.head(self.backbone(x))


class Own(snn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.inner = resnet18(num_classes=11)
        self.inner.conv1 = nn.Conv2d(n, 64, 7, 2, 3)

    def forward(self, x: Tensor[Float32, B, N, 64, 64]) -> Tensor[Float32, B, 11]:
        return self.inner(x)


def swapped(k: Dim[K], x: Tensor[Float32, B, 3, 64, 64]) -> Tensor[Float32, B, K]:
    model = resnet18()
    model.fc = nn.Linear(512, k)
    return model(x)


images = torch.zeros(2, 3, 64, 64)
vgg = vgg11(num_classes=13)
vgg.classifier[6] = nn.Linear(4096, 5)
vgg(images) + torch.zeros(5)
gray = resnet18()
gray.conv1 = nn.Conv2d(1, 64, kernel_size=7, stride=2, padding=3)
gray(torch.zeros(2, 1, 64, 64))
Features()(images)
Own(5)(torch.zeros(2, 5, 64, 64))
swapped(7, images)
