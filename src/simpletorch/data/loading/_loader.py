"""Batches: torch's `DataLoader` with typed batches, exact resumption, clear errors, and short cuts."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar, Unpack, cast, overload

import torch
import torch.utils.data
from torch.utils.data import Dataset, IterableDataset, Sampler
from torch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

from simpletorch._tensors import map_tensors
from simpletorch.checks import config
from simpletorch.data._length import length_of
from simpletorch.data._tensors import A, B, C, P, Q, R
from simpletorch.data.loading import _state
from simpletorch.data.loading._asynchronous import read
from simpletorch.data.loading._batches import MapBatches, Progress, StreamBatches, WorkerBatches
from simpletorch.data.loading._builder import LoaderBuilder
from simpletorch.data.loading._collate import collate
from simpletorch.data.loading._columns import Columns
from simpletorch.data.loading._declared import Declared, sample_hint
from simpletorch.data.loading._device import DeviceLoader
from simpletorch.data.loading._fetch import StreamFetcher, fetcher
from simpletorch.data.loading._order import Source, index_batches
from simpletorch.data.loading._pool import Pool
from simpletorch.data.loading._worker import Job
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


class _Collated(_Options, total=False):
    """The same without a ``collate_fn``."""

    collate_fn: None


class DataLoader(torch.utils.data.DataLoader[Any], Generic[Batch]):
    """Iterates over batches of ``dataset``; arguments, order of samples and random numbers drawn are torch's.

    ``Batch`` is the type of the batches. Samples ``(image [1, 8, 8], target [])`` give batches
    ``(images [B, 1, 8, 8], targets [B])``, where B is ``batch_size`` except for a smaller last batch
    (``drop_last=True`` leaves that one out, and mypy then knows B). A tuple sample gives a tuple batch; dicts, lists,
    named tuples and dataclasses keep their class; see `collate`.

    Datasets that are tensors in memory (`TensorDataset`, `Digits`, their `random_split` parts) are indexed a whole
    batch at a time if there is no ``collate_fn``.

    **Workers** answer for one batch each, in turn. The random numbers that a worker draws for a batch from torch's,
    Python's and NumPy's global generators depend only on the epoch's seed and the batch's number. The number of workers
    doesn't matter, except for an `IterableDataset`, where they depend on the worker and the number. A worker that
    fails, is killed or hangs (``timeout``) is a `DataError`; workers never outlive the loader.

    **Resuming**: ``state_dict()`` at any batch, ``load_state_dict()`` in another process, and the next iteration gives
    the rest of that epoch; later epochs follow. With ``shuffle=True`` and no ``generator``, *later* epochs are drawn
    from torch's global random state, as in torch: save that too (a checkpoint does), or give the loader a generator.

    Args:
        dataset: a dataset of simpletorch or torch, with indices or iterable.
        batch_size: the number of samples in a batch; None yields the samples themselves.
        shuffle: a new random order each epoch; ``generator`` (seeded) makes it repeatable, else torch's global
            generator decides.
        sampler: yields indices of the dataset, in place of ``shuffle``; None reads in order.
        batch_sampler: yields a list of indices for each batch, in place of ``batch_size``, ``shuffle``, ``sampler`` and
            ``drop_last``.
        num_workers: worker processes; 0 reads in this one.
        collate_fn: takes the list of a batch's samples and returns the batch; None is `collate`.
        pin_memory: batches in page-locked memory, from where copies to a GPU are asynchronous.
        drop_last: leave out a last batch that is smaller than ``batch_size``.
        timeout: seconds to wait for a batch from a worker before it is an error; 0 waits without a limit.
        worker_init_fn: called with the worker's number, from 0, when a worker starts.
        multiprocessing_context: how workers start: ``"fork"``, ``"spawn"``, ``"forkserver"``, or a context; None is
            Python's default.
        generator: draws the order and the workers' seeds; None is torch's global generator.
        prefetch_factor: the number of batches that each worker loads ahead; None is 2.
        persistent_workers: keep the workers between epochs.
        pin_memory_device: deprecated by torch, which takes the current accelerator.
        in_order: False gives batches as they get ready; such an iteration has no state to resume from.

    Raises:
        DataError: the dataset is empty or has no length, an argument is out of range, or two arguments exclude each
            other. While iterating: a worker failed, samples of a batch don't fit together, or they are not what the
            dataset's class declares. A batch is checked by its first sample, once for each combination of dtypes and
            shapes.
    Examples:
        >>> from simpletorch.data import DataLoader, Digits
        >>> images, labels = next(iter(DataLoader(Digits(), batch_size=100, shuffle=True)))
        >>> images.shape, labels.shape
        (torch.Size([100, 1, 8, 8]), torch.Size([100]))

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
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
    def __init__(self: DataLoader[T], dataset: Dataset[T], batch_size: None, **options: Unpack[_Collated]) -> None: ...
    @overload
    def __init__(
        self: DataLoader[tuple[Tensor[A, Any, *P]]],
        dataset: Dataset[tuple[Tensor[A, *P]]],
        batch_size: int = 1,
        shuffle: bool | None = None,
        **options: Unpack[_Collated],
    ) -> None: ...
    @overload
    def __init__(
        self: DataLoader[tuple[Tensor[A, Any, *P], Tensor[B, Any, *Q]]],
        dataset: Dataset[tuple[Tensor[A, *P], Tensor[B, *Q]]],
        batch_size: int = 1,
        shuffle: bool | None = None,
        **options: Unpack[_Collated],
    ) -> None: ...
    @overload
    def __init__(
        self: DataLoader[tuple[Tensor[A, Any, *P], Tensor[B, Any, *Q], Tensor[C, Any, *R]]],
        dataset: Dataset[tuple[Tensor[A, *P], Tensor[B, *Q], Tensor[C, *R]]],
        batch_size: int = 1,
        shuffle: bool | None = None,
        **options: Unpack[_Collated],
    ) -> None: ...
    @overload
    def __init__(
        self: DataLoader[Any],
        dataset: Dataset[Any],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
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
        self._columns = Columns.of(dataset) if collate_fn is None and not own_batches else None
        self.is_stream = isinstance(dataset, IterableDataset)
        self._source = Source((self.batch_sampler, self.sampler), generator, self.is_stream and num_workers == 0)
        hint = sample_hint(type(dataset)) if collate_fn is None and not own_batches else None
        size = batch_size if drop_last else None
        self._declared = None if hint is None else Declared(dataset, hint, size)
        self._pool: Pool | None = None
        self._start: dict[str, Any] = {}
        self._progress: Progress | None = None
        self._held: dict[str, Any] | None = None
        self._loaded: dict[str, Any] | None = None

    @staticmethod
    def builder() -> LoaderBuilder[Any, Literal[1], Literal[False]]:
        """A loader step by step: ``DataLoader.builder().dataset(data).batch_size(32).shuffle().build()``."""
        return LoaderBuilder(DataLoader)

    # -- iterating ----------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Batch]:  # type: ignore[override]  # torch names a private class here
        if isinstance(self.dataset, IterDataPipe | MapDataPipe):
            return cast("Iterator[Batch]", super().__iter__())  # these shuffle and shard by torch's own machinery
        loaded, self._loaded, self._held = self._loaded, None, None
        position = None if loaded is None else loaded["position"]
        if loaded is not None and position is None:
            self._source.restore(loaded["start"])
        if position is None:
            self._start = self._source.capture()
            batches = self._open(Progress())
        else:
            assert loaded is not None
            self._start = loaded["start"]
            with self._source.replayed(self._start):
                batches = self._open(_state.progress_at(position, self.num_workers, self.is_stream))
        if self._declared is not None and config.check != "off":
            batches = map(self._declared, batches)
        if self.pin_memory and _can_pin():
            batches = (map_tensors(batch, torch.Tensor.pin_memory, "pin_memory") for batch in batches)
        return cast("Iterator[Batch]", batches)

    def __aiter__(self) -> AsyncGenerator[Batch, None]:
        """``async for batch in loader``: the same batches in the same order, while other tasks run."""
        return read(iter(self))

    def _open(self, progress: Progress) -> Iterator[Any]:
        """The iterator, with its order drawn if ``progress`` is not the beginning."""
        self._progress = progress
        resumed = progress.batches > 0
        # torch takes the sampler's iterator first and draws a seed for workers then, even when there are none: doing
        # the same keeps every later draw the same.
        indices = iter(()) if self.is_stream else self._indices(progress.batches)
        base_seed = int(torch.empty((), dtype=torch.int64).random_(generator=self.generator).item())
        if resumed and not self.is_stream:
            indices = _begun(indices)
        if self.num_workers > 0:
            return self._with_workers(indices, base_seed, progress)
        if not self.is_stream:
            fetch = fetcher(self.dataset, self.collate_fn, self._auto_collation, self._columns)
            return MapBatches(indices, fetch, progress)
        at = progress.streams[0] if progress.streams else None
        return StreamBatches(
            StreamFetcher(self.dataset, self.collate_fn, self.batch_size, self.drop_last, at), progress
        )

    def _indices(self, skip: int) -> Iterator[Any]:
        device = None if self._columns is None or self.num_workers > 0 else self._columns.device
        return index_batches(self._index_sampler, skip, device)

    def _with_workers(self, indices: Iterator[Any], base_seed: int, progress: Progress) -> WorkerBatches:
        pool = self._pool
        if pool is None or pool.is_closed:
            pool = Pool(self._job(), self.multiprocessing_context or multiprocessing.get_context())
        batches = WorkerBatches(
            pool,
            indices,
            base_seed,
            progress,
            prefetch=self.prefetch_factor or 2,
            timeout=self.timeout,
            keep=self.persistent_workers,
            in_order=self.in_order,
        )
        self._pool = pool if self.persistent_workers else None
        return batches

    def _job(self) -> Job:
        return Job(
            dataset=self.dataset,
            is_stream=self.is_stream,
            batched=self._auto_collation,
            collate_fn=self.collate_fn,
            vectorised=self._columns is not None,
            batch_size=self.batch_size,
            drop_last=self.drop_last,
            init_fn=self.worker_init_fn,
            workers=self.num_workers,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pool": None, "_progress": None, "_held": None}  # a copy has no workers yet

    def to(self, device: torch.device | str) -> DeviceLoader[Batch]:
        """The same batches on ``device``; on a GPU each is copied while the program works on the one before.

        Args:
            device: a device or its name.
        """
        return DeviceLoader(self, device)

    # -- state ----------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Where the latest iteration is, in tensors and plain values (so it loads with ``weights_only=True``).

        A worker's batches that were prefetched but not given don't count. The dataset itself is not in it.

        Raises:
            DataError: the iteration is not ``in_order``.
        """
        if self._loaded is not None:
            return self._loaded
        progress = self._progress
        if progress is None or (progress.finished and self._held is None):
            return _state.saved(self, None, self._source.capture())
        if not self.in_order and self.num_workers > 0:
            raise DataError(
                "a loader with in_order=False gives batches as they get ready, which can't be repeated: save its state "
                "between epochs, or take in_order=True"
            )
        return _state.saved(self, self._held or progress.snapshot(), self._start)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The next iteration goes on where ``state_dict`` was saved.

        Another number of workers is fine, except for an `IterableDataset` in the middle of an epoch.

        Args:
            state_dict: a state that `state_dict` returned.

        Raises:
            DataError: the state is not one of a loader like this one: other samples, batches or ranks.
        """
        if reason := _state.why_not(self, state_dict):
            raise DataError(reason)
        self._loaded = state_dict
        self._held = None

    def hold_state(self) -> None:
        """Until `release_state`, the state is that of now: batches that are taken from now on are not given yet."""
        self._held = None if self._progress is None else self._progress.snapshot()

    def release_state(self) -> None:
        """The end of `hold_state`."""
        self._held = None


def _begun(indices: Iterator[Any]) -> Iterator[Any]:
    """The same, but drawn now: random state is restored only for the moment."""
    first = list(islice(indices, 1))
    return chain(first, indices)


def _can_pin() -> bool:
    if torch.accelerator.is_available() and torch.accelerator.current_accelerator() != torch.device("mps"):
        return True
    warnings.warn(
        "pin_memory=True, but there is no accelerator that could use it: batches stay in ordinary memory", stacklevel=3
    )
    return False


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
