"""Models for images, given what isn't one."""

import torch

from simpletorch.vision import models

gray = torch.zeros(2, 1, 37, 41, device="meta")
whole = torch.zeros(2, 3, 37, 41, device="meta", dtype=torch.int64)


def fail_convnext() -> None:
    models.convnext_tiny()(gray)  # E: tensor-shape


def fail_efficientnet() -> None:
    models.efficientnet_b0()(whole)  # E: type-var


def fail_mobilenet() -> None:
    models.mobilenet_v3_large()(gray)  # E: tensor-shape


def fail_swin() -> None:
    models.swin_t(num_classes=7)(torch.zeros(2, 3, 37, 41)) + torch.zeros(11)  # E: tensor-shape


def fail_unet() -> None:
    models.unet(channels=5)(gray)  # E: tensor-shape


def fail_pixels() -> None:
    models.unet(num_classes=7)(torch.zeros(2, 3, 37, 41)) + torch.zeros(37, 43)  # E: tensor-shape
