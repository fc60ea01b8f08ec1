"""Two processes over gloo: models under DistributedDataParallel, and collectives that don't meet."""

import datetime
import os

import torch.distributed as dist
from torch import Tensor, zeros
from torch.nn.parallel import DistributedDataParallel

from simpletorch import nn
from simpletorch.errors import TorchError, explain

LONG, SHORT = datetime.timedelta(seconds=60), datetime.timedelta(seconds=1)


class Two(nn.Module):
    def __init__(self, hidden: int = 5) -> None:
        super().__init__()
        self.fc1 = nn.Linear(3, 5)
        self.fc2 = nn.Linear(hidden, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.fc1(x)
        return self.fc2(h) if x.shape[0] < 7 else h


def a_model_under_ddp(rank: int, group: dist.ProcessGroup) -> None:
    model = DistributedDataParallel(Two(11), process_group=group)
    model(zeros(2, 3))


def parameters_without_gradients(rank: int, group: dist.ProcessGroup) -> None:
    model = DistributedDataParallel(Two(), process_group=group)
    for _ in range(2):
        model(zeros(7, 3)).sum().backward()


def nothing_to_train(rank: int, group: dist.ProcessGroup) -> None:
    DistributedDataParallel(nn.ReLU(), process_group=group)


def too_few_outputs(rank: int, group: dist.ProcessGroup) -> None:
    parts = [zeros(3)]
    dist.all_gather(parts, zeros(3), group=group)


def a_collective_that_one_rank_leaves_out(rank: int, group: dist.ProcessGroup) -> None:
    if rank == 0:
        dist.barrier(group=group)


PROGRAMS = {
    a_model_under_ddp: LONG,
    parameters_without_gradients: LONG,
    nothing_to_train: LONG,
    too_few_outputs: LONG,
    a_collective_that_one_rank_leaves_out: SHORT,
}


def main(rank: int, folder: str) -> None:
    """Run every program as one of two ranks, and write what its errors say to ``folder/program.rank``."""
    store = dist.FileStore(f"{folder}/store", 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=LONG)
    groups = {program: dist.new_group(timeout=timeout) for program, timeout in PROGRAMS.items()}
    for program, group in groups.items():
        try:
            with explain():
                program(rank, group)
        except TorchError as error:
            with open(f"{folder}/{program.__name__}.{rank}", "w") as file:
                file.write(str(error))
    store.set(f"done {rank}", "yes")
    store.wait(["done 0", "done 1"], LONG)  # who leaves early breaks the connection of who still waits
    os._exit(0)  # groups whose collectives failed can't be taken down in order
