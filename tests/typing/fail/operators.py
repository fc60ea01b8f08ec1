"""Calls of operators that don't fit their annotations."""

import torch

from simpletorch import Float, Float32, Tensor, kernels
from simpletorch.dims import B, N


@kernels.operator
def relu_add(x: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    return torch.relu(x + y)


@kernels.operator("typing::halve", mutates=())
def halve(x: Tensor[Float32, B, "2*N"], scale: float = 3.0) -> Tensor[Float32, B, N]:
    return x[:, ::2] * scale


def fail_sizes() -> None:
    relu_add(torch.ones(3, 5), torch.ones(3, 7))  # E: tensor-shape


def fail_odd() -> None:
    halve(torch.ones(3, 7))  # E: tensor-shape


def fail_rank() -> None:
    halve(torch.ones(4))  # E: tensor-shape


def fail_dtype() -> None:
    relu_add(torch.ones(3), torch.arange(3))  # E: tensor-dtype


def fail_kind() -> None:
    halve(torch.ones(3, 4), "two")  # E: arg-type


def fail_attribute() -> None:
    relu_add.gpu  # E: attr-defined


def fail_result() -> None:
    halve(torch.ones(3, 4)) @ torch.ones(3, 5)  # E: tensor-shape


def fail_dtype_of_result() -> None:
    relu_add(torch.ones(3, 4).double(), torch.ones(3, 4).double()) @ torch.ones(4, 5)  # E: tensor-dtype
