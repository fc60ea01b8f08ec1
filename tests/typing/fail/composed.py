"""Transforms in a row that don't fit what goes through them."""

import torch

from simpletorch import Float32, Tensor
from simpletorch.transforms import CenterCrop, Compose, ToTensor

image = torch.zeros(3, 37, 31, dtype=torch.uint8)


def halved(image: Tensor[Float32, 3, 28, 28]) -> Tensor[Float32, 3, 14, 14]:
    if image.shape != (3, 28, 28):
        raise ValueError(image.shape)
    return image[:, ::2, ::2]


def fail_result() -> None:
    Compose([CenterCrop(23), ToTensor()])(image) + torch.zeros(3, 29, 29)  # E: tensor-shape


def fail_within() -> None:
    Compose([CenterCrop(29), ToTensor(), halved])(image)  # E: tensor-shape
