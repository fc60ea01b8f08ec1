"""Random splits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import torch
import torch.utils.data

from simpletorch.data._dataset import Subset
from simpletorch.data._length import length_of
from simpletorch.errors import DataError

T = TypeVar("T")


def random_split(
    dataset: torch.utils.data.Dataset[T], lengths: Sequence[int | float], generator: torch.Generator | None = None
) -> list[Subset[T]]:
    """Split ``dataset`` at random into parts without overlap, of the given lengths or fractions (which sum to 1).

    The same state of ``generator`` (torch's global one when it is None) gives the same split as torch's function does.

    Args:
        dataset: a dataset that has a length.
        lengths: numbers of samples that add up to the dataset's length, or fractions that add up to 1.
        generator: draws the order; None is torch's global generator.

    Returns:
        A `Subset` for each length, in their order.

    Raises:
        DataError: the lengths don't add up to the dataset's, or leave a part empty.

    Examples:
        >>> import torch
        >>> from simpletorch.data import TensorDataset, random_split
        >>> training, validation = random_split(TensorDataset(torch.arange(101)), [0.8, 0.2])
        >>> len(training), len(validation)
        (81, 20)

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split
    """
    size = length_of(dataset)
    # as torch reads them: ``[1]`` is the whole dataset, not one sample
    counts = _counts(size, lengths) if math.isclose(sum(lengths), 1) else list(lengths)
    for position, count in enumerate(counts):
        if count < 1 or count != int(count):
            raise DataError(
                f"part {position} of the split would have {count} of {size} samples: every part needs at least one"
            )
    if sum(counts) != size:
        raise DataError(
            f"the parts of the split add up to {sum(counts)} but the dataset has {size} samples: "
            "give lengths that add up to it, or fractions that add up to 1"
        )
    parts = torch.utils.data.random_split(dataset, counts, torch.default_generator if generator is None else generator)
    return [Subset(dataset, part.indices) for part in parts]


def _counts(size: int, fractions: Sequence[int | float]) -> list[int | float]:
    """Round the parts down, then hand the samples left over to the first parts, one each, as torch does."""
    counts: list[int | float] = [math.floor(size * fraction) for fraction in fractions]
    for left_over in range(int(size - sum(counts))):
        counts[left_over % len(counts)] += 1
    return counts
