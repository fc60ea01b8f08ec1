"""Sequences of about one length together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch.utils.data import Sampler

from simpletorch.errors import DataError


class BucketBatchSampler(Sampler[list[int]]):
    """Batches of sequences of similar length, so that little is padded: a ``batch_sampler`` for `DataLoader`.

    Each epoch the samples are shuffled, every ``window`` batches of them are sorted by length and cut into batches, and
    the batches are shuffled. A larger window pads less and shuffles less. `Padded` is the ``collate_fn`` to go with it.

    Args:
        lengths: of each sample.
        batch_size: samples in a batch; the last ones may make a smaller batch.
        window: how many batches are sorted together.
        shuffle: if false, all samples are sorted by length, and batches come from the shortest to the longest.
        drop_last: leave out the batch that is smaller.
        generator: draws the orders; torch's global one if None.
        num_replicas, rank: of several processes each takes every ``num_replicas``-th batch; the generator must be in
            the same state on all. Batches that are left over at the end are left out, so that all take as many steps.

    Raises:
        DataError: an argument is out of range, or there are too few batches for the ranks.

    Examples:
        >>> from simpletorch import data
        >>> sampler = data.BucketBatchSampler([5, 90, 6, 88], batch_size=2, shuffle=False)
        >>> list(sampler)
        [[0, 2], [3, 1]]

    Source: Khomenko et al. 2016, "Accelerating recurrent neural network training using sequence bucketing and
    multi-GPU data parallelization", arXiv:1708.05604.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        batch_size: int,
        *,
        window: int = 100,
        shuffle: bool = True,
        drop_last: bool = False,
        generator: torch.Generator | None = None,
        num_replicas: int = 1,
        rank: int = 0,
    ) -> None:
        if batch_size < 1 or window < 1:
            raise DataError(f"batch_size is {batch_size} and window {window}: both must be at least 1")
        if not 0 <= rank < num_replicas:
            raise DataError(f"rank is {rank} and num_replicas {num_replicas}: ranks go from 0 to num_replicas - 1")
        if num_replicas > 1 and shuffle and generator is None:
            raise DataError("with several ranks the order must be one and the same: give a generator with a seed")
        self.lengths = torch.as_tensor(lengths, dtype=torch.int64)
        self.batch_size = batch_size
        self.window = window
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.generator = generator
        self.num_replicas = num_replicas
        self.rank = rank
        if len(self) == 0:
            raise DataError(
                f"{len(self.lengths)} samples make no batch of {batch_size} for each of {num_replicas} process(es)"
            )

    def __iter__(self) -> Iterator[list[int]]:
        size = len(self.lengths)
        if self.shuffle:
            order = torch.randperm(size, generator=self.generator)
            span = self.window * self.batch_size
            order = torch.cat([part[self.lengths[part].argsort(stable=True)] for part in torch.split(order, span)])
        else:
            order = self.lengths.argsort(stable=True)
        batches = torch.split(order, self.batch_size)
        if self.drop_last and size % self.batch_size:
            batches = batches[:-1]
        places = torch.randperm(len(batches), generator=self.generator) if self.shuffle else torch.arange(len(batches))
        mine = places[self.rank : len(self) * self.num_replicas : self.num_replicas]
        return iter([batches[place].tolist() for place in mine.tolist()])

    def __len__(self) -> int:
        whole, rest = divmod(len(self.lengths), self.batch_size)
        return (whole + (rest > 0 and not self.drop_last)) // self.num_replicas
