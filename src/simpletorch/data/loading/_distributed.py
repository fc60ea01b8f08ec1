"""Each process its share of the samples."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist
import torch.utils.data
from torch.utils.data.distributed import DistributedSampler as TorchDistributedSampler
from typing_extensions import TypeVar

from simpletorch.data._length import length_of
from simpletorch.errors import DataError

T_co = TypeVar("T_co", covariant=True, default=Any)


class DistributedSampler(TorchDistributedSampler[T_co]):
    """Rank ``r`` of ``n`` reads samples ``r, r + n, r + 2n, …`` of an order that all ranks have in common.

    The order of epoch ``e`` is torch's for ``seed + e``. The epoch advances with each iteration, so that a forgotten
    ``set_epoch`` doesn't mean the same order each epoch; calling ``set_epoch(e)`` before each, as torch wants it, gives
    the same orders.

    **Sizes that don't divide.** With 11 samples and 3 ranks:

    - by default the order's first samples are repeated at its end, and every rank reads 4: right for training, where
      ranks must make as many steps;
    - ``drop_last=True``: the order's last samples are left out, every rank reads 3;
    - ``pad=False``: every sample is read exactly once, ranks 0 and 1 read 4 and rank 2 reads 3: right for evaluation,
      where a repeated sample would count twice. Ranks may then have a different number of batches: exchange the sums
      at the end, not in each batch.

    Args:
        dataset: a dataset that has a length.
        num_replicas: how many ranks; by default that of the process group, else torchrun's ``WORLD_SIZE``, else 1.
        rank: this one; likewise, ``RANK``, 0.
        shuffle: draw a new random order each epoch; False keeps the dataset's order.
        seed: the same on all ranks.
        drop_last: leave out the last samples of the order, so that all ranks read equally many.
        pad: repeat the first samples of the order at its end, so that all ranks read equally many.

    Raises:
        DataError: the rank is not one of the ranks, the dataset has no length, or both ``drop_last`` and ``pad=False``.

    Examples:
        >>> from simpletorch import data
        >>> sampler = data.DistributedSampler(data.Digits(), num_replicas=4, rank=1, shuffle=False)
        >>> list(sampler)[:3]
        [1, 5, 9]

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
    """

    def __init__(
        self,
        dataset: torch.utils.data.Dataset[Any],
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        *,
        pad: bool = True,
    ) -> None:
        replicas = _world("WORLD_SIZE", dist.get_world_size, 1) if num_replicas is None else num_replicas
        rank = _world("RANK", dist.get_rank, 0) if rank is None else rank
        if replicas < 1 or not 0 <= rank < replicas:
            raise DataError(f"rank is {rank} and num_replicas {replicas}: ranks go from 0 to num_replicas - 1")
        if drop_last and not pad:
            raise DataError("drop_last=True leaves samples out and pad=False reads every one: choose one of them")
        size = length_of(dataset)
        super().__init__(dataset, replicas, rank, shuffle, seed, drop_last)
        self.pad = pad
        if not pad:
            self.num_samples = len(range(rank, size, replicas))
            self.total_size = size

    def __iter__(self) -> Iterator[T_co]:
        order = self._order() if not self.pad else super().__iter__()
        # the order is drawn already: torch's __iter__ is no generator
        self.epoch += 1
        return order

    def _order(self) -> Iterator[Any]:
        if not self.shuffle:
            return iter(range(self.rank, self.total_size, self.num_replicas))
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        return iter(torch.randperm(self.total_size, generator=generator)[self.rank :: self.num_replicas].tolist())


def _world(variable: str, ask: Any, alone: int) -> int:
    if dist.is_available() and dist.is_initialized():
        return int(ask())
    return int(os.environ.get(variable, alone))
