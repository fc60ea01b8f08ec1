"""Models for images: the number of classes is in the type, and so is a wrong image."""

import torch

from simpletorch import B, Dim, Float32, H, K, Tensor, W
from simpletorch.vision import models

images = torch.zeros(2, 3, 67, 71)

reveal_type(models.convnext_tiny(num_classes=7))  # R: simpletorch.vision.models._convnext.ConvNeXt[7]
reveal_type(models.convnext_tiny(num_classes=7)(images))  # R: Tensor[Float32, 2, 7]
reveal_type(models.efficientnet_b0()(images))  # R: Tensor[Float32, 2, 1000]
reveal_type(models.mobilenet_v3_small(num_classes=7)(images))  # R: Tensor[Float32, 2, 7]
reveal_type(models.swin_t(num_classes=7)(images))  # R: Tensor[Float32, 2, 7]
reveal_type(models.unet(num_classes=7))  # R: simpletorch.vision.models._unet.UNet[3, 7]
reveal_type(models.unet(num_classes=7)(images))  # R: Tensor[Float32, 2, 7, 67, 71]


def classify(k: Dim[K], x: Tensor[Float32, B, 3, H, W]) -> Tensor[Float32, B, K]:
    return models.swin_t(num_classes=k)(x)


def segment(k: Dim[K], x: Tensor[Float32, B, 5, H, W]) -> Tensor[Float32, B, K, H, W]:
    return models.unet(num_classes=k, channels=5)(x)
