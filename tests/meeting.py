"""Processes of a test that meet in a process group of torch's own, by a file: no port that another may take first."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, Final

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from simpletorch.distributed._group import _leave

LOADED: Final = (
    *("torch._dynamo", "torch.distributed.fsdp", "torch.distributed.pipelining", "torch.distributed.tensor.parallel"),
    *("simpletorch.checkpoint", "simpletorch.distributed", "simpletorch.nn", "simpletorch.optim", "simpletorch.train"),
)


def start(function: Callable[..., None], arguments: tuple[Any, ...], processes: int) -> None:
    """Run ``function(rank, *arguments)`` in new processes, and wait for them.

    They are forked from one that has loaded torch: started anew, each would take three seconds of CPU for that. The
    environment is that of the first that was started.
    """
    multiprocessing.set_forkserver_preload([*LOADED])
    mp.start_processes(function, arguments, nprocs=processes, start_method="forkserver")


def meet(file: Path, rank: int, world_size: int = 2) -> None:
    """Join the gloo group that meets at ``file``; it is left when the process ends."""
    torch.set_num_threads(1)
    Finalize(None, _leave, exitpriority=0)  # a process that was forked runs no handlers of atexit
    dist.init_process_group("gloo", f"file://{file}", rank=rank, world_size=world_size)
