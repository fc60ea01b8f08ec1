"""Batches: torch's `DataLoader` with typed batches, clear errors, and a short cut for tensors in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack, cast, overload

import torch
import torch.utils.data
from torch.utils.data import BatchSampler, Dataset, IterableDataset, RandomSampler, Sampler, SequentialSampler

from simpletorch.data._collate import collate
from simpletorch.data._columns import Columns
from simpletorch.data._length import length_of
from simpletorch.data._tensors import A, B, C, P, Q, R
from simpletorch.errors import DataError

if TYPE_CHECKING:
    from simpletorch.tensor import Tensor

Batch = TypeVar("Batch", covariant=True)
T = TypeVar("T")


class _Options(TypedDict, total=False):
    """The arguments of a `DataLoader` that don't change the type of a batch."""

    sampler: Sampler[Any] | Iterable[Any] | None
    batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    worker_init_fn: Callable[[int], None] | None
    multiprocessing_context: Any
    generator: torch.Generator | None
    prefetch_factor: int | None
    persistent_workers: bool
    pin_memory_device: str
    in_order: bool


class DataLoader(torch.utils.data.DataLoader[Any], Generic[Batch]):
    """Iterates over batches of ``dataset``; arguments, order of samples and random numbers drawn are torch's.

    ``Batch`` is what iterating yields. Samples ``(image [1, 8, 8], target [])`` give batches
    ``(images [B, 1, 8, 8], targets [B])``, where B is ``batch_size`` except for a smaller last batch
    (``drop_last=True`` leaves that one out). A tuple sample gives a tuple batch.

    Datasets that are tensors in memory (`TensorDataset`, `Digits`, their `random_split` parts), read in this process
    without a ``collate_fn`` of one's own, are indexed a whole batch at a time. All else runs on torch's machinery.

    Args:
        shuffle: a new random order each epoch; ``generator`` (seeded) makes it repeatable, else torch's global
            generator decides.
        num_workers: worker processes; 0 reads in this one.
        pin_memory: batches in page-locked memory, from where copies to a GPU are asynchronous.

    The other arguments: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader

    Raises:
        DataError: the dataset is empty or has no length, an argument is out of range, two arguments exclude each other,
            or, while iterating, samples of a batch have different shapes.
    """

    @overload
    def __init__(
        self: DataLoader[Batch],
        dataset: Dataset[Any],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        *,
        collate_fn: Callable[[list[Any]], Batch],
        **options: Unpack[_Options],
    ) -> None: ...
    @overload
    def __init__(self: DataLoader[T], dataset: Dataset[T], batch_size: None, **options: Unpack[_Options]) -> None: ...
    @overload
    def __init__(
        self: DataLoader[tuple[Tensor[A, Any, *P]]],
        dataset: Dataset[tuple[Tensor[A, *P]]],
        batch_size: int = 1,
        shuffle: bool | None = None,
        **options: Unpack[_Options],
    ) -> None: ...
    @overload
    def __init__(
        self: DataLoader[tuple[Tensor[A, Any, *P], Tensor[B, Any, *Q]]],
        dataset: Dataset[tuple[Tensor[A, *P], Tensor[B, *Q]]],
        batch_size: int = 1,
        shuffle: bool | None = None,
        **options: Unpack[_Options],
    ) -> None: ...
    @overload
    def __init__(
        self: DataLoader[tuple[Tensor[A, Any, *P], Tensor[B, Any, *Q], Tensor[C, Any, *R]]],
        dataset: Dataset[tuple[Tensor[A, *P], Tensor[B, *Q], Tensor[C, *R]]],
        batch_size: int = 1,
        shuffle: bool | None = None,
        **options: Unpack[_Options],
    ) -> None: ...
    @overload
    def __init__(
        self: DataLoader[Any],
        dataset: Dataset[Any],
        batch_size: int = 1,
        shuffle: bool | None = None,
        **options: Unpack[_Options],
    ) -> None: ...
    def __init__(
        self,
        dataset: Dataset[Any],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Batch] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if reason := _why_not(dataset, batch_size, num_workers, sampler is None and batch_sampler is None):
            raise DataError(reason)
        own_batches = batch_size is None and batch_sampler is None
        try:
            super().__init__(
                dataset,
                batch_size,
                shuffle,
                sampler,
                batch_sampler,
                num_workers,
                collate if collate_fn is None and not own_batches else collate_fn,
                pin_memory,
                drop_last,
                timeout,
                worker_init_fn,
                multiprocessing_context,
                generator,
                prefetch_factor=prefetch_factor,
                persistent_workers=persistent_workers,
                pin_memory_device=pin_memory_device,
                in_order=in_order,
            )
        except ValueError as error:  # torch's own checks of arguments that exclude each other
            raise DataError(f"these DataLoader arguments don't go together: {error}") from error
        vectorised = num_workers == 0 and collate_fn is None and not own_batches
        self._columns = Columns.of(dataset) if vectorised else None

    def __iter__(self) -> Iterator[Batch]:  # type: ignore[override]  # torch names a private class here
        if self._columns is None:
            return cast("Iterator[Batch]", super().__iter__())
        # torch draws a seed for workers here even when there are none: drawing it too keeps every later draw the same.
        torch.empty((), dtype=torch.int64).random_(generator=self.generator)
        batches = self._batches(self._columns)
        if self.pin_memory and torch.cuda.is_available():
            batches = (tuple([column.pin_memory() for column in batch]) for batch in batches)
        return cast("Iterator[Batch]", batches)

    def _batches(self, columns: Columns) -> Iterator[tuple[torch.Tensor, ...]]:
        """Yield what torch's iterator would, without touching single samples."""
        batches = self.batch_sampler
        if type(batches) is not BatchSampler or not (
            type(batches.sampler) is SequentialSampler or _is_permutation(batches.sampler)
        ):
            for indices in cast("Iterable[Sequence[int]]", batches):
                positions = torch.tensor(indices, dtype=torch.int64, device=columns.device)
                yield columns.rows(positions + (positions < 0) * len(columns))  # -1 is the last sample, as in torch's
            return
        sampler, size = cast("RandomSampler | SequentialSampler", batches.sampler), batches.batch_size
        total = len(sampler)
        stop = total - total % size if batches.drop_last else total
        if isinstance(sampler, SequentialSampler):
            for start in range(0, stop, size):
                yield columns.span(start, min(size, stop - start))
            return
        order = _order(sampler).to(columns.device)
        for start in range(0, stop, size):
            yield columns.rows(order.narrow(0, start, min(size, stop - start)))
        if sampler.generator is not None:
            # torch's sampler draws one more order before it stops: without it the next epoch would differ from torch's.
            torch.randperm(len(sampler.data_source), generator=sampler.generator)


def _order(sampler: RandomSampler) -> torch.Tensor:
    """The indices that iterating ``sampler`` would give, drawn from the same generator, as one tensor."""
    generator = sampler.generator
    if generator is None:
        generator = torch.Generator().manual_seed(int(torch.empty((), dtype=torch.int64).random_().item()))
    return torch.randperm(len(sampler.data_source), generator=generator)


def _is_permutation(sampler: object) -> bool:
    """Whether ``sampler`` is what ``shuffle=True`` makes."""
    return (
        type(sampler) is RandomSampler and not sampler.replacement and sampler.num_samples == len(sampler.data_source)
    )


def _why_not(dataset: object, batch_size: int | None, num_workers: int, sized: bool) -> str:
    """Why these arguments can't work; "" when they can."""
    if batch_size is not None and (isinstance(batch_size, bool) or not isinstance(batch_size, int)):
        return f"batch_size is {batch_size!r}: it must be an integer of at least 1, or None for no batching"
    if batch_size is not None and batch_size < 1:
        return f"batch_size is {batch_size}: it must be at least 1, or None for no batching"
    if num_workers < 0:
        return f"num_workers is {num_workers}: it must be 0 (read in this process) or a number of worker processes"
    if sized and not isinstance(dataset, IterableDataset) and length_of(dataset) == 0:
        return f"the dataset ({type(dataset).__name__}) is empty: a DataLoader needs at least one sample"
    return ""
