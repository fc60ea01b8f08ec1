"""The counts of all processes of a training, joined."""

from __future__ import annotations

import torch
import torch.distributed as dist


def world_size() -> int:
    """How many processes train together; 1 without a process group."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def summed(tensor: torch.Tensor) -> torch.Tensor:
    """The sum of ``tensor`` ``[*S]`` over all ranks, on its own device; a collective operation."""
    if world_size() == 1:
        return tensor
    total = tensor.to(_collective_device(tensor), copy=True)
    dist.all_reduce(total)
    return total.to(tensor.device)


def gathered(tensor: torch.Tensor) -> torch.Tensor:
    """``tensor`` ``[n, *S]`` of every rank, one after the other: ``[N, *S]``. The ``n`` may differ; collective."""
    if world_size() == 1:
        return tensor
    moved = tensor.to(_collective_device(tensor))
    length = torch.tensor([len(moved)], device=moved.device)
    lengths = [torch.zeros_like(length) for _ in range(world_size())]
    dist.all_gather(lengths, length)
    longest = max(int(each) for each in lengths)
    padded = moved.new_zeros(longest, *moved.shape[1:])  # all_gather wants the same shape everywhere
    padded[: len(moved)] = moved
    parts = [torch.empty_like(padded) for _ in lengths]
    dist.all_gather(parts, padded)
    return torch.cat([part[: int(n)] for part, n in zip(parts, lengths, strict=True)]).to(tensor.device)


def _collective_device(tensor: torch.Tensor) -> torch.device:
    """Where the process group takes tensors from."""
    backend = dist.get_backend()
    if backend == "nccl":
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu") if backend == "gloo" else tensor.device
