"""Sizes of 0 where they are allowed: torch's own classes, a vocabulary that will grow, and sizes that aren't known."""

import torch

from simpletorch import nn


def layers(width: int) -> None:
    torch.nn.Linear(0, 5)
    nn.Linear(width, 5)
    nn.Embedding(0, 5)
