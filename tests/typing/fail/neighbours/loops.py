"""Mistakes that are seen in the loops of accelerate and Fabric, which say nothing of what they prepare."""

from typing import Any

import torch
from accelerate import Accelerator  # type: ignore[import-untyped]
from lightning.fabric import Fabric

from simpletorch import Float32, Int64, Tensor, nn
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(64, 10)

    def forward(self, x: Tensor[Float32, B, 64]) -> Tensor[Float32, B, 10]:
        return self.fc(x)


def fail_model_of_accelerate() -> None:
    model: Net
    batches: DataLoader[tuple[Tensor[Float32, Any, 1, 8, 8], Tensor[Int64, Any]]]
    model, batches = Accelerator(cpu=True).prepare(Net(), DataLoader(Digits(), 64))
    for images, _ in batches:
        model(images)  # E: tensor-shape


def fail_model_of_fabric() -> None:
    model: Net = Fabric(accelerator="cpu", devices=1).setup(Net())
    model(torch.zeros(7, 63))  # E: tensor-shape
