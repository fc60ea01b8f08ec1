"""Models for images with torchvision's parameter names, so that its weight files load.

``resnet18(weights="resnet18-f37072fd.pth")`` reads a file (torch's ``.pth`` or ``.safetensors``) strictly: every key
has to fit. ``num_classes`` and the batch are in the type: ``resnet18(num_classes=10)`` is a ``ResNet[10]`` that takes
``Tensor[Float, B, 3, H, W]`` and gives ``Tensor[Float, B, 10]``. `unet`, which is ours, gives a score for each pixel.
"""

from simpletorch.vision.models._convnext import (
    ConvNeXt,
    ConvNeXtBlock,
    convnext_base,
    convnext_large,
    convnext_small,
    convnext_tiny,
)
from simpletorch.vision.models._efficientnet import (
    EfficientNet,
    efficientnet_b0,
    efficientnet_b1,
    efficientnet_b2,
    efficientnet_b3,
    efficientnet_b4,
    efficientnet_b5,
    efficientnet_b6,
    efficientnet_b7,
)
from simpletorch.vision.models._mobilenet import MobileNetV3, mobilenet_v3_large, mobilenet_v3_small
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
from simpletorch.vision.models._swin import SwinBlock, SwinTransformer, swin_b, swin_s, swin_t
from simpletorch.vision.models._timm import from_timm, to_timm
from simpletorch.vision.models._unet import UNet, unet
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
    "ConvNeXt",
    "ConvNeXtBlock",
    "EfficientNet",
    "MobileNetV3",
    "ResNet",
    "SwinBlock",
    "SwinTransformer",
    "UNet",
    "VisionTransformer",
    "Weights",
    "convnext_base",
    "convnext_large",
    "convnext_small",
    "convnext_tiny",
    "efficientnet_b0",
    "efficientnet_b1",
    "efficientnet_b2",
    "efficientnet_b3",
    "efficientnet_b4",
    "efficientnet_b5",
    "efficientnet_b6",
    "efficientnet_b7",
    "from_timm",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
    "read_weights",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "swin_b",
    "swin_s",
    "swin_t",
    "to_timm",
    "unet",
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
