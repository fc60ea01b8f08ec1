"""Tensors of several processes: collectives, models that are sharded, tensors over a mesh."""

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.distributed.nn.functional as with_gradients
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, Shard, distribute_tensor

from simpletorch import Float32, Tensor
from simpletorch.dims import B, N


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 5)

    def forward(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 5]:
        return self.fc(x)


def gathered(x: Tensor[Float32, N, 3], group: dist.ProcessGroup) -> None:
    dist.all_gather_into_tensor(torch.empty(21, 3), x)
    dist.all_gather([torch.empty(7, 3), torch.empty(7, 3)], torch.empty(7, 3))
    reveal_type(functional.all_gather_tensor(x, 0, group))  # R: Tensor[Float32, Any, 3]
    reveal_type(functional.reduce_scatter_tensor(x, "sum", 1, group))  # R: Tensor[Float32, N, Any]
    reveal_type(functional.all_reduce(x, "sum", group))  # R: Tensor[Float32, N, 3]
    reveal_type(with_gradients.all_gather(x))  # R: tuple[Tensor[Float32, N, 3], ...]
    reveal_type(with_gradients.all_reduce(x))  # R: Tensor[Float32, N, 3]


def sharded(x: Tensor[Float32, 7, 3]) -> None:
    net = fully_shard(Net())
    reveal_type(net(x))  # R: Tensor[Float32, 7, 5]
    reveal_type(net.fc(x))  # R: Tensor[Float32, 7, 5]
    net.set_requires_gradient_sync(False)
    kept: FSDPModule = net
    kept.unshard()
    layers = fully_shard(nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2)))
    reveal_type(layers(x))  # R: Tensor[Float32, 7, 2]


def spread(x: Tensor[Float32, 7, 3]) -> DTensor:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "tensor"))
    whole = distribute_tensor(x, mesh["data"], [Shard(0)])
    reveal_type(whole.full_tensor())  # R: Tensor[Float32, 7, 3]
    reveal_type(whole.redistribute(placements=[Shard(1)]).full_tensor())  # R: Tensor[Float32, 7, 3]
    reveal_type(whole.to_local())  # R: Tensor[Float32, Any, Any]
    plain: torch.Tensor = whole
    print(plain.shape)
    return whole


def unknown(whole: DTensor) -> torch.Tensor:
    reveal_type(whole.full_tensor())  # R: Tensor
    return whole.to_local()
