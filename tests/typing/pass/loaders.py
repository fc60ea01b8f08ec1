"""Loaders in programs that are right."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.utils.data

from simpletorch import Tensor
from simpletorch.data import BucketBatchSampler, DataLoader, Dataset, DistributedSampler, Padded, TensorDataset
from simpletorch.dims import B
from simpletorch.dtypes import Float32, Int64

data = TensorDataset(torch.zeros(7, 3), torch.zeros(7, dtype=torch.int64))


def step(rows: Tensor[Float32, B, 3], targets: Tensor[Int64, B]) -> float:
    return float(rows.sum()) + float(targets.sum())


for rows, targets in DataLoader(data, 2, True, None, None, 0, None, False, True):
    step(rows, targets)
for rows, targets in DataLoader(data, 2, collate_fn=None):
    step(rows, targets)
for rows, targets in DataLoader(data, 2, sampler=DistributedSampler(data, 2, 0), num_workers=1).to("cpu"):
    step(rows, targets)
options: dict[str, Any] = {"batch_size": 2}
for batch in DataLoader(data, **options):
    step(*batch)


@dataclass
class Sample:
    row: torch.Tensor
    label: int


class Samples(Dataset[Sample]):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> Sample:
        return Sample(torch.zeros(3), index)


def use(sample: Sample) -> torch.Tensor:
    return sample.row


for sample in DataLoader(Samples(), 2):
    use(sample)  # a batch of a dataclass is that dataclass


class Words(torch.utils.data.Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.zeros(index + 1)


words = Words()
for padded in DataLoader(words, batch_sampler=BucketBatchSampler(range(1, 8), 2), collate_fn=Padded()):
    padded.sum()
state = DataLoader(data, 2).state_dict()
DataLoader(data, 2).load_state_dict(state)
theirs: torch.utils.data.DataLoader[tuple[torch.Tensor, torch.Tensor]] = torch.utils.data.DataLoader(data, 2)
our_loader: torch.utils.data.DataLoader[tuple[torch.Tensor, torch.Tensor]] = DataLoader(data, 2)
