"""What the faces make doesn't fit either."""

import torch

from simpletorch import CPUTensor, Float64, Int64, Parameter, Tensor


def fail_shapes() -> None:
    Tensor.zeros([3, 5]) + Tensor.zeros([3, 7])  # E: tensor-shape


def fail_of_a_device() -> None:
    CPUTensor.zeros(3, 5) @ CPUTensor.zeros(3, 5)  # E: tensor-shape


def fail_of_a_dtype() -> None:
    Tensor[Float64].zeros(3, 5) @ Tensor.zeros(5, 3)  # E: tensor-dtype


def fail_parameter() -> None:
    Parameter.zeros(3, 5) + torch.zeros(3, 7)  # E: tensor-shape


def fail_size() -> None:
    Tensor.zeros(3, -5)  # E: tensor-shape


def fail_call() -> None:
    CPUTensor(3, 5)  # E: arg-type, call-arg


def fail_gradient() -> None:
    weight = Parameter.zeros(3, 5)
    weight.sum().backward()
    if weight.grad is not None:
        weight.grad + torch.zeros(3, 7)  # E: tensor-shape


def fail_index() -> None:
    torch.zeros(3)[Tensor[Int64].zeros(3, 5)] + torch.zeros(3, 7)  # E: tensor-shape
