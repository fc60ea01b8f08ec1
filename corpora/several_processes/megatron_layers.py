"""Tensor parallel layers by hand, as Megatron-LM has them: column and row parallel, autograd functions around collectives."""

import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


def divide(numerator, denominator):
    assert numerator % denominator == 0, f"{numerator} is not divisible by {denominator}"
    return numerator // denominator


class CopyToRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad)
        return grad


class ReduceFromRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def gather_from_region(x):
    world = dist.get_world_size()
    if world == 1:
        return x
    parts = [torch.empty_like(x) for _ in range(world)]
    dist.all_gather(parts, x.contiguous())
    return torch.cat(parts, dim=-1)


def gather_along_first_dim(x):
    world = dist.get_world_size()
    size = list(x.size())
    size[0] = size[0] * world
    output = torch.empty(size, dtype=x.dtype, device=x.device)
    dist.all_gather_into_tensor(output, x.contiguous())
    return output


def reduce_scatter_along_first_dim(x):
    world = dist.get_world_size()
    size = list(x.size())
    assert size[0] % world == 0
    size[0] = size[0] // world
    output = torch.empty(size, dtype=x.dtype, device=x.device)
    dist.reduce_scatter_tensor(output, x.contiguous())
    return output


class ColumnParallelLinear(nn.Module):
    def __init__(self, in_features, out_features, gather_output=False):
        super().__init__()
        self.gather_output = gather_output
        self.per_rank = divide(out_features, dist.get_world_size())
        self.weight = nn.Parameter(torch.empty(self.per_rank, in_features))
        self.bias = nn.Parameter(torch.zeros(self.per_rank))
        nn.init.xavier_normal_(self.weight)

    def forward(self, x):
        out = F.linear(CopyToRegion.apply(x), self.weight, self.bias)
        return gather_from_region(out) if self.gather_output else out


class RowParallelLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.per_rank = divide(in_features, dist.get_world_size())
        self.weight = nn.Parameter(torch.empty(out_features, self.per_rank))
        self.bias = nn.Parameter(torch.zeros(out_features))
        nn.init.xavier_normal_(self.weight)

    def forward(self, x):
        return ReduceFromRegion.apply(F.linear(x, self.weight)) + self.bias


class ParallelMLP(nn.Module):
    def __init__(self, hidden, ffn):
        super().__init__()
        self.dense_h_to_4h = ColumnParallelLinear(hidden, ffn)
        self.dense_4h_to_h = RowParallelLinear(ffn, hidden)

    def forward(self, x):
        return self.dense_4h_to_h(F.gelu(self.dense_h_to_4h(x)))


def main():
    dist.init_process_group(os.environ.get("BACKEND", "gloo"))
    hidden, ffn, classes = 24, 96, 6
    model = nn.Sequential(ParallelMLP(hidden, ffn), ColumnParallelLinear(hidden, classes, gather_output=True))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x = torch.randn(10, hidden)
    y = torch.randint(classes, (10,))
    for _ in range(2):
        loss = F.cross_entropy(model[0](x) @ torch.randn(hidden, classes), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = model(x)
        whole = gather_along_first_dim(out)
        mine = reduce_scatter_along_first_dim(whole)
        difference = (mine - out).abs().max()
    if dist.get_rank() == 0:
        print(tuple(out.shape), difference.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
