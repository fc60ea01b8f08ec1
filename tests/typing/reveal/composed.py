"""Transforms in a row."""

import torch

from simpletorch import Float32, Tensor, UInt8
from simpletorch.transforms import CenterCrop, Compose, Grayscale, Normalize, RandomCrop, RandomHorizontalFlip, ToTensor

image = torch.zeros(3, 37, 31, dtype=torch.uint8)
augment = Compose([RandomCrop(23), RandomHorizontalFlip(), ToTensor(), Normalize(0.1, 0.3)])
reveal_type(augment(image))  # R: Tensor[Float32, 3, 23, 23]
reveal_type(augment(torch.zeros(5, 3, 37, 31, dtype=torch.uint8)))  # R: Tensor[Float32, 5, 3, 23, 23]
reveal_type(Compose((CenterCrop(29), Compose([ToTensor()])))(image))  # R: Tensor[Float32, 3, 29, 29]


def halved(image: Tensor[Float32, 3, 29, 29]) -> Tensor[Float32, 3, 14, 14]:
    return image[:, :28:2, :28:2]


reveal_type(Compose([CenterCrop(29), ToTensor(), halved])(image))  # R: Tensor[Float32, 3, 14, 14]


def through_a_parameter(transform: Compose, image: Tensor[UInt8, 3, 37, 31]) -> None:
    reveal_type(transform(image))  # R: Any


def of_steps(grey: bool) -> None:
    steps = [CenterCrop(29), Grayscale()] if grey else [CenterCrop(29)]
    reveal_type(Compose(steps)(image))  # R: Any


through_a_parameter(augment, image)
of_steps(True)
