"""Processes that don't come, and what the others say."""

import sys
import threading

import torch

from simpletorch import distributed

distributed.init(timeout=60)  # a busy machine starts one process seconds after the other
distributed.barrier()
if sys.argv[1] == "hangs":  # from here on both are awake
    torch.distributed.destroy_process_group()
    distributed.init(timeout=3)
case, other = sys.argv[1], distributed.rank() == 1
if case == "hangs" and other:
    threading.Event().wait(100)
if case == "raises":  # in an ordinary loop around torch's own wrapper
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 5))
    for _ in range(2):
        loss = model(torch.ones(2, 3)).sum()
        if other:
            raise KeyError("its own")
        loss.backward()
distributed.all_reduce(torch.ones(3, 5))
