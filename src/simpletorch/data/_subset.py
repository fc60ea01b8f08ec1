"""A part of a dataset."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TypeVar

import torch.utils.data

from simpletorch.data._dataset import Dataset
from simpletorch.errors import DataError

T_co = TypeVar("T_co", covariant=True)


class Subset(torch.utils.data.Subset[T_co], Dataset[T_co]):
    """The samples of ``dataset`` at ``indices``, in that order.

    Raises:
        DataError: an index lies outside the dataset.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Subset
    """

    def __init__(self, dataset: torch.utils.data.Dataset[T_co], indices: Sequence[int]) -> None:
        if len(indices) and isinstance(dataset, Sized):
            size = len(dataset)
            for index in (min(indices), max(indices)):
                if isinstance(index, int) and not -size <= index < size:
                    raise DataError(
                        f"index {index} of the Subset lies outside the dataset, which has {size} samples: "
                        f"indices go from 0 to {size - 1}"
                    )
        super().__init__(dataset, indices)
