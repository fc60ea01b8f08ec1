"""Functions with a gradient of their own: ``apply`` takes and gives what ``forward`` does."""

from typing import Any

import torch
from torch.autograd.function import FunctionCtx

from simpletorch import Float32, Tensor
from simpletorch.dims import B, N


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, N]:
        return x * x

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor[Float32, B, N]) -> Tensor[Float32, B, N]:
        return grad


class Sums(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor[Float32, B, N], scale: float) -> tuple[Tensor[Float32, B], Tensor[Float32, N]]:
        return x.sum(1) * scale, x.sum(0)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: torch.Tensor, factor: int) -> torch.Tensor:
        return x * factor


class Cubed(Square):
    @classmethod
    def of(cls, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, N]:
        reveal_type(cls.apply(x))  # R: Tensor[Float32, B, N]
        return cls.apply(x) * x


x = torch.zeros(3, 5)
reveal_type(Square.apply(x))  # R: Tensor[Float32, 3, 5]
reveal_type(Sums.apply(x, 2.0))  # R: tuple[Tensor[Float32, 3], Tensor[Float32, 5]]
reveal_type(Plain.apply(x, 7))  # R: Tensor
reveal_type(Plain.apply(x, torch.tensor(7)))  # R: Tensor
reveal_type(Cubed.of(x))  # R: Tensor[Float32, 3, 5]
square = Square.apply
reveal_type(square(x))  # R: Tensor[Float32, 3, 5]
