"""Tensors on one device where tensors on another are stated, or meet them."""

import torch
import torch.nn.functional as F
from torch import nn

from simpletorch import CPUTensor, CUDATensor, Float32, MPSTensor
from simpletorch import nn as own


def on_cuda(x: CUDATensor[Float32, 3, 5]) -> None: ...
def on_any_cuda(x: CUDATensor) -> None: ...
def on_cuda_or_none(x: CUDATensor[Float32, 3, 5] | None) -> None: ...
def on_mps(x: MPSTensor[Float32, 3, 5]) -> None: ...


class Net(own.Module):
    def forward(self, x: CUDATensor[Float32, 3, 5]) -> CUDATensor[Float32, 3, 5]:
        return x


class Box:
    x: CUDATensor[Float32, 3, 5]


def fail_argument(x: CPUTensor[Float32, 3, 5], y: CPUTensor, z: MPSTensor[Float32, 3, 5]) -> None:
    on_cuda(x)  # E: tensor-device
    on_cuda(y)  # E: tensor-device
    on_cuda(z)  # E: tensor-device
    on_any_cuda(x)  # E: tensor-device
    on_any_cuda(y)  # E: tensor-device
    on_cuda_or_none(x)  # E: tensor-device
    on_mps(x.cuda())  # E: tensor-device
    on_cuda(torch.zeros(3, 5, device="cpu"))  # E: tensor-device
    on_cuda(x=torch.zeros(3, 5).cpu())  # E: tensor-device
    Net()(x)  # E: tensor-device
    nn.Linear(5, 7, device="cuda")(x)  # E: tensor-device
    nn.Linear(5, 7).to("cuda")(x)  # E: tensor-device
    nn.Sequential(nn.Linear(5, 7), nn.ReLU()).cuda()(x)  # E: tensor-device
    own.Linear(5, 7, device="cuda").cpu()(x.cuda())  # E: tensor-device


def fail_result(x: CPUTensor[Float32, 3, 5]) -> CUDATensor[Float32, 3, 5]:
    return x  # E: tensor-device


def fail_one_result(x: CPUTensor[Float32, 3, 5]) -> tuple[int, CUDATensor[Float32, 3, 5]]:
    return 1, x  # E: tensor-device


def fail_assignment(x: CPUTensor[Float32, 3, 5], box: Box) -> None:
    a: CUDATensor[Float32, 3, 5] = x  # E: tensor-device
    b: MPSTensor[Float32, 3, 5] = CUDATensor.zeros(3, 5)  # E: tensor-device
    c: list[CUDATensor[Float32, 3, 5]] = [x]  # E: tensor-device
    box.x = x  # E: tensor-device
    print(a, b, c)


def fail_two_operands(x: CPUTensor[Float32, 3, 5], y: CUDATensor[Float32, 3, 5], z: CUDATensor[Float32]) -> None:
    x + y  # E: tensor-device
    x + z  # E: tensor-device
    x @ y.T  # E: tensor-device
    x.add_(y)  # E: tensor-device
    torch.cat([x, y])  # E: tensor-device
    torch.where(x > 0, y, y)  # E: tensor-device
    F.mse_loss(x, y)  # E: tensor-device
    x[y[0].long()]  # E: tensor-device
    torch.zeros_like(y) + x  # E: tensor-device
    y.new_zeros(5) * x  # E: tensor-device
    x.to(y) - x  # E: tensor-device
    x.to(y.device) - x  # E: tensor-device
    y.numpy()  # E: tensor-device


def fail_two_of_several() -> None:
    a = torch.zeros(3, 5, device="cuda:0") + torch.zeros(3, 5, device="cuda:1")  # E: tensor-device
    a + torch.zeros(5, device=torch.device("cuda", 1)) + torch.zeros(5).to("cuda:0")  # E: tensor-device
    CUDATensor.zeros(5, device="cuda:1") + torch.zeros(5).cuda(0)  # E: tensor-device
