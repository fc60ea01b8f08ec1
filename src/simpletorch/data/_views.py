"""Datasets seen in another way: mapped, filtered, zipped, cached. Nothing is copied; torch's datasets do as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, TypeVarTuple, cast, overload

import torch.utils.data

from simpletorch.data._dataset import Dataset
from simpletorch.data._length import length_of
from simpletorch.data._subset import Subset
from simpletorch.errors import DataError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)
U = TypeVar("U")
V = TypeVar("V")
Ts = TypeVarTuple("Ts")


def samples_of(dataset: torch.utils.data.Dataset[T], indices: Sequence[int]) -> list[T]:
    """The samples at ``indices``, all at once where the dataset can do that (``__getitems__``)."""
    several = getattr(dataset, "__getitems__", None)
    if several is not None:
        return cast("list[T]", several(indices))
    return [dataset[index] for index in indices]


class MappedDataset(Dataset[R_co]):
    """Sample ``i`` is ``function(dataset[i])``, computed anew each time, so that a random ``function`` augments.

    Args:
        dataset: ours or torch's.
        function: with `DataLoader` workers that are not forked it must be picklable: no lambda.
    """

    def __init__(self, dataset: torch.utils.data.Dataset[T], function: Callable[[T], R_co]) -> None:
        self.dataset: torch.utils.data.Dataset[Any] = dataset
        self.function: Callable[[Any], R_co] = function

    def __getitem__(self, index: int) -> R_co:
        return self.function(self.dataset[index])

    def __getitems__(self, indices: Sequence[int]) -> list[R_co]:
        return [self.function(sample) for sample in samples_of(self.dataset, indices)]

    def __len__(self) -> int:
        return length_of(self.dataset)


def filtered(dataset: torch.utils.data.Dataset[T], predicate: Callable[[T], Any]) -> Subset[T]:
    """The `Subset` of the samples for which ``predicate`` is true; every sample is read once, now."""
    return Subset(dataset, [index for index in range(length_of(dataset)) if predicate(dataset[index])])


class ZippedDataset(Dataset[tuple[*Ts]], Generic[*Ts]):
    """Sample ``i`` is ``(a[i], b[i], …)``.

    Raises:
        DataError: no dataset, or datasets of different lengths.
    """

    @overload
    def __init__(self: ZippedDataset[T], a: torch.utils.data.Dataset[T], /) -> None: ...
    @overload
    def __init__(
        self: ZippedDataset[T, U], a: torch.utils.data.Dataset[T], b: torch.utils.data.Dataset[U], /
    ) -> None: ...
    @overload
    def __init__(
        self: ZippedDataset[T, U, V],
        a: torch.utils.data.Dataset[T],
        b: torch.utils.data.Dataset[U],
        c: torch.utils.data.Dataset[V],
        /,
    ) -> None: ...
    @overload
    def __init__(self: ZippedDataset[*tuple[Any, ...]], *datasets: torch.utils.data.Dataset[Any]) -> None: ...
    def __init__(self, *datasets: torch.utils.data.Dataset[Any]) -> None:
        lengths = [length_of(dataset) for dataset in datasets]
        if not datasets:
            raise DataError("there is nothing to zip: give at least one dataset")
        if len(set(lengths)) > 1:
            raise DataError(
                f"zipped datasets must have one length, but theirs are {', '.join(map(str, lengths))}: "
                "take a Subset of the longer ones"
            )
        self.datasets = datasets

    def __getitem__(self, index: int) -> tuple[*Ts]:
        return cast("tuple[*Ts]", tuple([dataset[index] for dataset in self.datasets]))

    def __getitems__(self, indices: Sequence[int]) -> list[tuple[*Ts]]:
        columns = [samples_of(dataset, indices) for dataset in self.datasets]
        return cast("list[tuple[*Ts]]", list(zip(*columns, strict=True)))

    def __len__(self) -> int:
        return length_of(self.datasets[0])


class CachedDataset(Dataset[T_co]):
    """The samples of ``dataset``, each read once and then kept in memory.

    What is kept is the sample itself: who writes to it writes to the cache. Each `DataLoader` worker has a cache of its
    own, which lives as long as the worker does (``persistent_workers=True``).
    """

    def __init__(self, dataset: torch.utils.data.Dataset[T_co]) -> None:
        self.dataset = dataset
        self._length = length_of(dataset)
        self._samples: dict[int, T_co] = {}

    def __getitem__(self, index: int) -> T_co:
        index = index if index >= 0 else index + self._length
        if index not in self._samples:
            self._samples[index] = self.dataset[index]
        return self._samples[index]

    def __getitems__(self, indices: Sequence[int]) -> list[T_co]:
        rows = [index if index >= 0 else index + self._length for index in indices]
        missing = [row for row in dict.fromkeys(rows) if row not in self._samples]
        if missing:
            self._samples.update(zip(missing, samples_of(self.dataset, missing), strict=True))
        return [self._samples[row] for row in rows]

    def __len__(self) -> int:
        return self._length
