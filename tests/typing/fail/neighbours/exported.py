"""Exported models are called as the model is: with what its ``forward`` takes."""

import tempfile
from pathlib import Path

import torch
from jaxtyping import Float32 as F32

from simpletorch import Float32, Tensor, export, nn, zeros
from simpletorch.dims import B


class Ours(nn.Module):
    def forward(self, x: Tensor[Float32, B, 11]) -> Tensor[Float32, B, 13]:
        return torch.zeros(len(x), 13)


class Torchs(torch.nn.Module):
    def forward(self, x: F32[torch.Tensor, "batch 11"]) -> F32[torch.Tensor, "batch 13"]:
        return torch.zeros(len(x), 13)


def fail_another_size_than_the_model_takes() -> None:
    run = export.program(Ours())
    good: Tensor[Float32, 5, 13] = run(zeros(5, 11))
    run(zeros(len(good), 7))  # E: tensor-shape


def fail_an_exported_module_of_torch() -> None:
    run = export.program(Torchs())
    run(zeros(5, 7))  # E: tensor-shape


def fail_another_size_than_the_model_that_it_is_like() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.pt2")
        export.program(Ours(), path)
        run = export.load(path, like=Ours())
        good: Tensor[Float32, 5, 13] = run(zeros(5, 11))
        run(zeros(len(good), 7))  # E: tensor-shape
