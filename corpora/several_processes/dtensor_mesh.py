"""DTensors and a mesh of two dims: sharded and replicated tensors, redistributed, and tensor parallel by a plan."""

import os

import torch
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.w2(torch.relu(self.w1(x)))


class Net(nn.Module):
    def __init__(self, dim=12, hidden=20, classes=7):
        super().__init__()
        self.embed = nn.Linear(5, dim)
        self.blocks = nn.ModuleList([FeedForward(dim, hidden) for _ in range(2)])
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


def main():
    world = int(os.environ["WORLD_SIZE"])
    tp = 2 if world % 2 == 0 else 1
    mesh_2d = init_device_mesh("cpu", (world // tp, tp), mesh_dim_names=("dp", "tp"))
    dp_mesh, tp_mesh = mesh_2d["dp"], mesh_2d["tp"]
    torch.manual_seed(0)

    flat = init_device_mesh("cpu", (world,))
    big = torch.randn(8, 6)
    sharded = distribute_tensor(big, flat, [Shard(0)])
    replicated = distribute_tensor(torch.randn(6, 4), flat, [Replicate()])
    product = sharded @ replicated
    assert product.shape == (8, 4)
    columns = product.redistribute(flat, [Shard(1)])
    print(columns.to_local().shape, columns.full_tensor().shape)
    again = DTensor.from_local(torch.ones(3, 4), flat, [Replicate()])
    total = (again + 1).sum(dim=0).full_tensor()
    assert total.shape == (4,)

    model = Net()
    for block in model.blocks:
        parallelize_module(block, tp_mesh, {"w1": ColwiseParallel(), "w2": RowwiseParallel()})
    fully_shard(model, mesh=dp_mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(9, 5)
    target = torch.randint(7, (9,))
    for step in range(2):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        if mesh_2d.get_rank() == 0:
            print(step, loss.item())

    whole = distribute_module(nn.Linear(6, 3), flat)
    out = whole(distribute_tensor(torch.randn(4, 6), flat, [Shard(0)]))
    print(out.full_tensor().shape)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
