"""One network in three spellings (jaxtyping's, ours, none): one bug, one message, at the line of the call."""

import torch
import torch.nn.functional as F
from jaxtyping import Float32
from torch import nn

import simpletorch as st
from simpletorch import Tensor
from simpletorch.dims import B


class PlainTorch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(784, 128)
        self.fc2 = nn.Linear(100, 10)

    def forward(self, x: Float32[torch.Tensor, "batch 784"]) -> Float32[torch.Tensor, "batch 10"]:
        x = self.fc1(x)
        x = F.relu(x)
        x = self.fc2(x)  # E: tensor-shape
        return x


class Ours(st.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = st.nn.Linear(784, 128)
        self.fc2 = st.nn.Linear(100, 10)

    def forward(self, x: Tensor[st.Float32, B, 784]) -> Tensor[st.Float32, B, 10]:
        x = self.fc1(x)
        x = F.relu(x)
        x = self.fc2(x)  # E: tensor-shape
        return x


class Unannotated(nn.Module):
    def __init__(self):  # E: no-untyped-def
        super().__init__()
        self.fc1 = nn.Linear(784, 128)
        self.fc2 = nn.Linear(100, 10)

    def forward(self, x):  # E: no-untyped-def
        return self.fc2(torch.relu(self.fc1(x)))  # E: tensor-shape


def fail_plain() -> None:
    PlainTorch()(torch.zeros(7, 784))


def fail_ours() -> None:
    Ours()(torch.zeros(7, 784))


def fail_unannotated() -> None:
    Unannotated()(torch.zeros(7, 784))
