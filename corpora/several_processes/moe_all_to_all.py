"""Experts on different ranks: tokens sent by all_to_all_single, and sequence parallel by functional collectives."""

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(F.silu(self.up(x)))


class ExpertParallelMoE(nn.Module):
    def __init__(self, dim, hidden, capacity):
        super().__init__()
        self.world = dist.get_world_size()
        self.capacity = capacity
        self.router = nn.Linear(dim, self.world)
        self.expert = Expert(dim, hidden)

    def forward(self, x):
        tokens, dim = x.shape
        scores = self.router(x).softmax(dim=-1)
        weight, choice = scores.max(dim=-1)
        buffer = x.new_zeros(self.world * self.capacity, dim)
        place = choice * self.capacity + torch.arange(tokens, device=x.device) % self.capacity
        buffer = buffer.index_copy(0, place, x)
        received = torch.empty_like(buffer)
        dist.all_to_all_single(received, buffer.detach())
        done = self.expert(received.view(self.world, self.capacity, dim))
        back = torch.empty_like(buffer)
        dist.all_to_all_single(back, done.reshape(-1, dim).detach())
        return x + weight.unsqueeze(-1) * back[place]


def sequence_parallel(norm, linear, x):
    group = dist.group.WORLD
    whole = funcol.all_gather_tensor(norm(x), gather_dim=0, group=group)
    out = linear(whole)
    return funcol.reduce_scatter_tensor(out, "sum", scatter_dim=0, group=group)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    dim = 16
    moe = ExpertParallelMoE(dim, hidden=48, capacity=6)
    head = nn.Linear(dim, 3)
    optimizer = torch.optim.AdamW([*moe.parameters(), *head.parameters()], lr=1e-3)
    for step in range(2):
        x = torch.randn(6, dim)
        y = torch.randint(3, (6,))
        loss = F.cross_entropy(head(moe(x)), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        for p in [*moe.router.parameters(), *head.parameters()]:
            if p.grad is not None:
                dist.all_reduce(p.grad)
                p.grad.div_(world)
        optimizer.step()
        mean = funcol.all_reduce(loss.detach(), "avg" if dist.get_backend() == "nccl" else "sum", dist.group.WORLD)
        if rank == 0:
            print(step, float(mean) / world)
    with torch.no_grad():
        norm, linear = nn.LayerNorm(dim), nn.Linear(dim, dim)
        part = torch.randn(4, dim)
        out = sequence_parallel(norm, linear, part)
        assert out.shape == part.shape
        print((out + part).shape)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
