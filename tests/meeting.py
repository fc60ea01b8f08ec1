"""Processes of a test that meet in a process group of torch's own, by a file: no port that another may take first."""

import atexit
from pathlib import Path

import torch
import torch.distributed as dist

from simpletorch.distributed._group import _leave


def meet(file: Path, rank: int, world_size: int = 2) -> None:
    """Join the gloo group that meets at ``file``; it is left when the process ends."""
    torch.set_num_threads(1)
    atexit.register(_leave)
    dist.init_process_group("gloo", f"file://{file}", rank=rank, world_size=world_size)
