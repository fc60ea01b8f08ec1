"""The interface of datasets, torch's own, with the views that one wants on them: parts, sums, mapped, zipped, cached.

A dataset makes its views and each view is a dataset again, so they are one file. Nothing is copied; torch's datasets do
as well wherever one is taken.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any, Generic, TypeVar, TypeVarTuple, cast, overload

import torch.utils.data

from simpletorch.data._length import length_of
from simpletorch.errors import DataError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
U = TypeVar("U")
V = TypeVar("V")
Ts = TypeVarTuple("Ts")


class Dataset(torch.utils.data.Dataset[T_co]):
    """Samples by position: write ``__getitem__`` and ``__len__``; ``__getitems__(indices)`` too if a batch is cheaper.

    It is torch's `Dataset` with four views; each is a dataset again. All that takes datasets here takes
    torch's as well (``MappedDataset(theirs, function)`` is then the spelling of `map`), and torch takes these.

    ``Dataset[tuple[Tensor[Float32, 1, 28, 28], Tensor[Int64]]]`` as a base class declares the type of a sample. From
    it, mypy knows the batches of a `DataLoader`, and the loader checks the samples against it.

    Examples:
        >>> from simpletorch.data import Dataset
        >>> class Squares(Dataset[int]):
        ...     def __len__(self):
        ...         return 5
        ...
        ...     def __getitem__(self, index):
        ...         return index**2
        >>> negative = Squares().map(lambda square: -square)
        >>> len(negative), negative[3]
        (5, -9)

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Dataset
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Loaders, torch's too, prefer __getitems__: one inherited past a new __getitem__ would give the old samples.
        order = [name for base in cls.__mro__ for name in ("__getitems__", "__getitem__") if name in vars(base)]
        if order and order[0] == "__getitem__" and "__getitems__" in order:
            cls.__getitems__ = None  # type: ignore[attr-defined]  # to torch's loader that means there is none

    def map(self, function: Callable[[T_co], R]) -> MappedDataset[R]:
        """The dataset whose sample ``i`` is ``function(self[i])``, computed anew each time it is read.

        Args:
            function: takes a sample and returns the new sample.
        """
        return MappedDataset(self, function)

    def filter(self, predicate: Callable[[T_co], Any]) -> Subset[T_co]:
        """The samples for which ``predicate`` is true, in order. Every sample is read once, now.

        Args:
            predicate: takes a sample; a true result keeps it.

        Raises:
            DataError: the dataset has no length.
        """
        chosen = [index for index in range(length_of(self)) if predicate(self[index])]
        return Subset(self, chosen)

    def zip(self, other: torch.utils.data.Dataset[U]) -> ZippedDataset[T_co, U]:
        """The dataset of the pairs ``(self[i], other[i])``.

        Args:
            other: a dataset of the same length.

        Raises:
            DataError: the lengths differ, or one has none.
        """
        return ZippedDataset(self, other)

    def cache(self) -> CachedDataset[T_co]:
        """The same samples, each read once and then kept in memory."""
        return CachedDataset(self)

    def __add__(self, other: torch.utils.data.Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class Subset(torch.utils.data.Subset[T_co], Dataset[T_co]):
    """The samples of ``dataset`` at ``indices``, in that order.

    Args:
        dataset: the whole dataset.
        indices: positions in ``dataset``; a position may occur more than once.

    Raises:
        DataError: an index lies outside the dataset.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> dataset = data.TensorDataset(torch.arange(6.0), torch.arange(6))
        >>> data.Subset(dataset, [5, 0])[0]
        (tensor(5.), tensor(5))

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


class ConcatDataset(torch.utils.data.ConcatDataset[T_co], Dataset[T_co]):
    """The samples of the first dataset, then those of the second, and so on.

    Args:
        datasets: one or more datasets that have a length.

    Raises:
        DataError: no dataset, or one without a length (`torch.utils.data.ChainDataset` is for streams).

    Examples:
        >>> from simpletorch import data
        >>> len(data.ConcatDataset([data.Digits(), data.Digits(train=False)]))
        1797

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
            found = _samples_of(self.datasets[part], [row for _, row in places])
            samples.update(zip([position for position, _ in places], found, strict=True))
        return [samples[position] for position in range(len(indices))]


class MappedDataset(Dataset[R_co]):
    """Sample ``i`` is ``function(dataset[i])``, computed anew each time, so that a random ``function`` augments.

    Args:
        dataset: ours or torch's.
        function: with `DataLoader` workers that are not forked it must be picklable: no lambda.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> dataset = data.TensorDataset(torch.arange(6.0), torch.arange(6))
        >>> doubled = data.MappedDataset(dataset, lambda sample: (2 * sample[0], sample[1]))
        >>> doubled[3]
        (tensor(6.), tensor(3))
    """

    def __init__(self, dataset: torch.utils.data.Dataset[T], function: Callable[[T], R_co]) -> None:
        self.dataset: torch.utils.data.Dataset[Any] = dataset
        self.function: Callable[[Any], R_co] = function

    def __getitem__(self, index: int) -> R_co:
        return self.function(self.dataset[index])

    def __getitems__(self, indices: Sequence[int]) -> list[R_co]:
        return [self.function(sample) for sample in _samples_of(self.dataset, indices)]

    def __len__(self) -> int:
        return length_of(self.dataset)


class ZippedDataset(Dataset[tuple[*Ts]], Generic[*Ts]):
    """Sample ``i`` is ``(a[i], b[i], …)``.

    Args:
        datasets: one or more datasets of the same length.

    Raises:
        DataError: no dataset, or datasets of different lengths.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> pairs = data.ZippedDataset(["a", "b"], [1, 2])
        >>> pairs[1]
        ('b', 2)
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
        columns = [_samples_of(dataset, indices) for dataset in self.datasets]
        return cast("list[tuple[*Ts]]", list(zip(*columns, strict=True)))

    def __len__(self) -> int:
        return length_of(self.datasets[0])


class CachedDataset(Dataset[T_co]):
    """The samples of ``dataset``, each read once and then kept in memory.

    The sample itself is kept: a write to it changes the cache. Each `DataLoader` worker has a cache of its
    own, which lives as long as the worker does (``persistent_workers=True``).

    Args:
        dataset: a dataset with indices; samples are read from it when they are first asked for.

    Examples:
        >>> from simpletorch import data
        >>> cached = data.CachedDataset(data.MappedDataset(data.Digits(), lambda sample: sample))
        >>> len(cached)
        1437
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
            self._samples.update(zip(missing, _samples_of(self.dataset, missing), strict=True))
        return [self._samples[row] for row in rows]

    def __len__(self) -> int:
        return self._length


def _samples_of(dataset: torch.utils.data.Dataset[T], indices: Sequence[int]) -> list[T]:
    """The samples at ``indices``, all at once where the dataset can do that (``__getitems__``)."""
    several = getattr(dataset, "__getitems__", None)
    if several is not None:
        return cast("list[T]", several(indices))
    return [dataset[index] for index in indices]
