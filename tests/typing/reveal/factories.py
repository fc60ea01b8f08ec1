"""Tensors made by the faces, on a device, of a dtype; devices by name; gradients."""

import torch
from torch import nn

import simpletorch as st
from simpletorch import CPUTensor, Device, Float32, Float64, Int32, Parameter, Tensor

reveal_type(Tensor.zeros([3, 5], dtype=Float32))  # R: Tensor[Float32, 3, 5]
reveal_type(Tensor.zeros(3, 5))  # R: Tensor[Float32, 3, 5]
reveal_type(Tensor.ones((3, 5), dtype=torch.float64))  # R: Tensor[Float64, 3, 5]
reveal_type(Tensor.empty(3, dtype=Float64.dtype))  # R: Tensor[Float64, 3]
reveal_type(Tensor.full((3, 5), 7))  # R: Tensor[Int64, 3, 5]
reveal_type(Tensor.randint(0, 7, (3, 5), dtype=Int32))  # R: Tensor[Int32, 3, 5]
reveal_type(Tensor.arange(7))  # R: Tensor[Int64, 7]
reveal_type(Tensor.eye(3))  # R: Tensor[Float32, 3, 3]
reveal_type(Tensor.tensor([2.0, 3.0]))  # R: Tensor[Float32, 2]
reveal_type(Tensor.zeros_like(torch.zeros(3, 5), dtype=Float64))  # R: Tensor[Float64, 3, 5]
reveal_type(Tensor.one_hot(torch.zeros(3, dtype=torch.int64), 7))  # R: Tensor[Int64, 3, 7]

reveal_type(Tensor[Float32].zeros(3, 5))  # R: Tensor[Float32, 3, 5]
reveal_type(Tensor[Float64].zeros([3, 5]))  # R: Tensor[Float64, 3, 5]
reveal_type(Tensor[Float64].tensor([2, 3, 5]))  # R: Tensor[Float64, 3]
reveal_type(Tensor[Float64].one_hot(torch.zeros(3, dtype=torch.int64), 7))  # R: Tensor[Float64, 3, 7]

reveal_type(CPUTensor.zeros(3, 5))  # R: CPUTensor[Float32, 3, 5]
reveal_type(CPUTensor.rand([3, 5], dtype=Float64))  # R: CPUTensor[Float64, 3, 5]
reveal_type(CPUTensor[Float64].ones(3))  # R: CPUTensor[Float64, 3]
reveal_type(CPUTensor.ones_like(torch.zeros(3, 5)))  # R: CPUTensor[Float32, 3, 5]

reveal_type(Parameter.zeros(3, 5))  # R: Parameter[Float32, 3, 5]
reveal_type(Parameter.randn([3, 5], dtype=Float64))  # R: Parameter[Float64, 3, 5]
reveal_type(Parameter[Float64].zeros(3, 5))  # R: Parameter[Float64, 3, 5]
reveal_type(Tensor.randint(7, (3, 5)))  # R: Tensor[Int64, 3, 5]
reveal_type(Tensor.randint(2, 7, (3, 5)))  # R: Tensor[Int64, 3, 5]
reveal_type(CPUTensor.randint(7, size=[3, 5]))  # R: CPUTensor[Int64, 3, 5]
reveal_type(Tensor.arange(end=5))  # R: Tensor[Int64, 5]
reveal_type(Tensor.arange(2, 7))  # R: Tensor[Int64, 5]
reveal_type(Parameter(torch.zeros(3, 5)))  # R: Parameter[Float32, 3, 5]


def of_some_size(n: int) -> None:
    reveal_type(CPUTensor.zeros(n, 3))  # R: CPUTensor[Float32, Any, 3]
    reveal_type(Tensor[Float64].zeros(n))  # R: Tensor[Float64, Any]


of_some_size(7)


def on_the_gpu(x: Tensor[Float64, 3, 5]) -> None:
    reveal_type(x.to(Device.CUDA(0)))  # R: CUDATensor[Float64, 3, 5]
    reveal_type(x.to(Device.CUDA(1), torch.float32))  # R: CUDATensor[Float32, 3, 5]
    reveal_type(x.to(device=Device.MPS))  # R: MPSTensor[Float64, 3, 5]


x = torch.zeros(3, 5)
reveal_type(x.to(Device.CPU))  # R: CPUTensor[Float32, 3, 5]
reveal_type(x.to(Device.best()))  # R: Tensor[Float32, 3, 5]
device = Device.best()
reveal_type(x.to(device))  # R: Tensor[Float32, 3, 5]

layer = nn.Linear(5, 7)
reveal_type(layer.weight.grad)  # R: Tensor[Float32, 7, 5] | None
layer(x).sum().backward()
if layer.weight.grad is not None:
    reveal_type(layer.weight.grad)  # R: Tensor[Float32, 7, 5]
    reveal_type(layer.weight.grad.norm())  # R: Tensor[Float32]
reveal_type(st.zeros([3, 5], dtype=Float64))  # R: Tensor[Float64, 3, 5]
reveal_type(torch.zeros(3, 5).to(dtype=Float64))  # R: Tensor[Float64, 3, 5]
reveal_type(torch.zeros(3, 5).to(Float64))  # R: Tensor[Float64, 3, 5]
