"""What processes send and receive must fit, and a model that is sharded takes what it took before."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor


def fail_no_multiple() -> None:
    dist.all_gather_into_tensor(torch.empty(11, 3), torch.empty(7, 3))  # E: tensor-shape


def fail_other_sizes() -> None:
    dist.all_gather([torch.empty(7, 5), torch.empty(7, 5)], torch.empty(7, 3))  # E: tensor-shape


def fail_other_dtype() -> None:
    dist.reduce_scatter_tensor(torch.empty(7, dtype=torch.int64), torch.empty(14))  # E: tensor-dtype


def fail_sharded_model() -> None:
    fully_shard(nn.Linear(3, 5))(torch.empty(7, 11))  # E: tensor-shape


def fail_whole_tensor() -> None:
    distribute_tensor(torch.empty(7, 3)).full_tensor() @ torch.empty(5, 2)  # E: tensor-shape
