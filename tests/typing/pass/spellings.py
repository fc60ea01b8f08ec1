"""The networks of `fail/spellings.py` without their bug."""

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
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x: Float32[torch.Tensor, "batch 784"]) -> Float32[torch.Tensor, "batch 10"]:
        x = self.fc1(x)
        x = F.relu(x)
        x = self.fc2(x)
        return x


class Ours(st.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = st.nn.Linear(784, 128)
        self.fc2 = st.nn.Linear(128, 10)

    def forward(self, x: Tensor[st.Float32, B, 784]) -> Tensor[st.Float32, B, 10]:
        x = self.fc1(x)
        x = F.relu(x)
        x = self.fc2(x)
        return x


assert PlainTorch()(torch.zeros(7, 784)).shape == (7, 10)
assert Ours()(torch.zeros(7, 784)).shape == (7, 10)
