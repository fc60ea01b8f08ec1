"""Datasets one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

import torch.utils.data

from simpletorch.data._dataset import Dataset
from simpletorch.data._length import length_of
from simpletorch.data._views import samples_of
from simpletorch.errors import DataError

T_co = TypeVar("T_co", covariant=True)


class ConcatDataset(torch.utils.data.ConcatDataset[T_co], Dataset[T_co]):
    """The samples of the first dataset, then those of the second, and so on.

    Raises:
        DataError: no dataset, or one without a length (`torch.utils.data.ChainDataset` is for streams).

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.ConcatDataset
    """

    def __init__(self, datasets: Iterable[torch.utils.data.Dataset[T_co]]) -> None:
        parts = list(datasets)
        if not parts:
            raise DataError("there is nothing to concatenate: give at least one dataset")
        for part in parts:
            length_of(part)
        super().__init__(parts)

    def __getitems__(self, indices: Sequence[int]) -> list[T_co]:
        """The samples at ``indices``; each part is asked once."""
        asked: dict[int, list[tuple[int, int]]] = defaultdict(list)
        size = len(self)
        for position, index in enumerate(indices):
            row = index if index >= 0 else index + size
            if not 0 <= row < size:
                raise IndexError(f"index {index} lies outside the {size} samples of the concatenated datasets")
            part = bisect_right(self.cumulative_sizes, row)
            asked[part].append((position, row - (self.cumulative_sizes[part - 1] if part else 0)))
        samples: dict[int, T_co] = {}
        for part, places in asked.items():
            found = samples_of(self.datasets[part], [row for _, row in places])
            samples.update(zip([position for position, _ in places], found, strict=True))
        return [samples[position] for position in range(len(indices))]
