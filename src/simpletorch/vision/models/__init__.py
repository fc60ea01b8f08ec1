"""Image classifiers with torchvision's parameter names, so that its weight files load.

``resnet18(weights="resnet18-f37072fd.pth")`` reads a file (torch's ``.pth`` or ``.safetensors``) strictly: every key
has to fit. ``num_classes`` and the batch are in the type: ``resnet18(num_classes=10)`` is a ``ResNet[10]`` that takes
``Tensor[Float, B, 3, H, W]`` and gives ``Tensor[Float, B, 10]``.
"""

from simpletorch.vision.models._resnet import (
    BasicBlock,
    Bottleneck,
    ResNet,
    resnet18,
    resnet34,
    resnet50,
    resnet101,
    resnet152,
)
from simpletorch.vision.models._vgg import (
    VGG,
    vgg11,
    vgg11_bn,
    vgg13,
    vgg13_bn,
    vgg16,
    vgg16_bn,
    vgg19,
    vgg19_bn,
)
from simpletorch.vision.models._vit import VisionTransformer, vit_b_16
from simpletorch.vision.models._weights import Weights, read_weights

__all__ = [
    "VGG",
    "BasicBlock",
    "Bottleneck",
    "ResNet",
    "VisionTransformer",
    "Weights",
    "read_weights",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
    "vit_b_16",
]
