"""Devices that fit, that are moved, or that nothing is known of."""

import torch
from jaxtyping import Float
from torch import nn

from simpletorch import CPUTensor, CUDATensor, Device, Float32, MPSTensor, Tensor
from simpletorch import nn as own


def on_cuda(x: CUDATensor[Float32, 3, 5]) -> CUDATensor[Float32, 3, 5]:
    return x


def anywhere(x: Tensor[Float32, 3, 5]) -> Tensor[Float32, 3, 5]:
    return x


def moved(x: CPUTensor[Float32, 3, 5], like: CUDATensor[Float32, 7], z: MPSTensor[Float32, 3, 5]) -> None:
    for each in (x.cuda(), x.to("cuda"), x.to(device="cuda:1"), x.to(Device.CUDA(1)), x.to(like), x.to(like.device)):
        on_cuda(each)
    on_cuda(torch.zeros_like(like).new_zeros(3, 5))
    on_cuda(x.type_as(like))
    on_cuda(nn.Linear(5, 5).cuda()(x.cuda()))
    home: CPUTensor[Float32, 3, 5] = on_cuda(x.cuda()).cpu()
    back: CPUTensor[Float32, 3, 5] = z.to("cpu")
    print(home.numpy(), back.numpy(), x.cuda().numpy(force=True))


def not_stated(x: Float[torch.Tensor, "3 5"], device: torch.device, name: str) -> CUDATensor[Float32, 3, 5]:
    on_cuda(torch.zeros(3, 5))  # on torch's default device
    on_cuda(torch.zeros(3, 5, device=device))
    on_cuda(CPUTensor.zeros(3, 5).to(name))
    on_cuda(CPUTensor.zeros(3, 5).to(device))
    on_cuda(anywhere(torch.zeros(3, 5, device=device)))
    on_cuda(own.Linear(5, 5)(x))
    return CUDATensor.zeros(5) + x


def of_any_device(x: CPUTensor[Float32, 3, 5], y: CUDATensor[Float32, 3, 5], flag: bool) -> CUDATensor[Float32, 3, 5]:
    z = x if flag else y
    anywhere(z)
    on_cuda(z)
    many = [x]
    many.append(y)
    both: list[Tensor[Float32, 3, 5]] = [x, y]
    state = torch.zeros(3, 5, device="cpu")
    if flag:
        state = state.cuda()
    print(z + y, state + y, both, many)
    return torch.zeros(3, 5, device="cuda:0") if flag else torch.zeros(3, 5, device="cuda:1")


def as_torch_takes_them(x: CPUTensor[Float32, 3, 5], y: CUDATensor[Float32, 3, 5], n: CPUTensor[Float32]) -> None:
    print(y + n, n * y, y[x[0].long()], y.view_as(x), y.expand_as(x), x.copy_(y), torch.broadcast_tensors(x, y))
    y.index_put_((x[0].long(),), y[0])


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.state = torch.zeros(3, 5, device="cpu")

    def move(self) -> None:
        self.state = self.state.cuda()

    def forward(self, x: CUDATensor[Float32, 3, 5]) -> CUDATensor[Float32, 3, 5]:
        x = x + self.state
        return x * 2


def in_another_memory_format(net: nn.Module) -> nn.Module:
    nn.Conv2d(3, 4, 3).to("cpu", memory_format=torch.channels_last)
    return net.to(memory_format=torch.channels_last)
