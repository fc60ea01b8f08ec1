"""Functions with a gradient of their own are called as their ``forward`` says."""

import torch
from torch.autograd.function import FunctionCtx

from simpletorch import Float32, Tensor
from simpletorch.dims import B, N


class Scores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor[Float32, B, N], y: Tensor[Float32, B, N]) -> Tensor[Float32, B]:
        return (x @ y.mT).sum(1)


def fail_sizes() -> None:
    Scores.apply(torch.zeros(3, 5), torch.zeros(3, 7))  # E: tensor-shape


def fail_result() -> None:
    Scores.apply(torch.zeros(3, 5), torch.zeros(3, 5)) + torch.zeros(7)  # E: tensor-shape


def fail_count() -> None:
    Scores.apply(torch.zeros(3, 5))  # E: call-arg
