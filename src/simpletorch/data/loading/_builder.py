"""A loader step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, overload

import torch
import torch.utils.data
from torch.utils.data import Sampler

from simpletorch.errors import DataError

if TYPE_CHECKING:
    from simpletorch.data.loading._loader import DataLoader
    from simpletorch.dims import Dim

Sample = TypeVar("Sample")
Size = TypeVar("Size")
Drop = TypeVar("Drop")
S = TypeVar("S")
N = TypeVar("N")
Batch = TypeVar("Batch")


class LoaderBuilder(Generic[Sample, Size, Drop]):
    """The arguments of a `DataLoader`, each by a method of its name; `build` makes it.

    ::

        loader = DataLoader.builder().dataset(data).batch_size(32).shuffle().num_workers(4).build()

    The type parameters hold the facts known so far: the type of a sample, the batch size, and `drop_last`. Each method
    returns a new builder, so that a common beginning can be shared.

    Args:
        make: the class of the loader. `DataLoader.builder` passes it, so that nothing here has to import it.
        arguments: the arguments given so far, by the names that `DataLoader` has for them.

    Examples:
        >>> from simpletorch import data
        >>> loader = data.DataLoader.builder().dataset(data.Digits()).batch_size(100).shuffle().build()
        >>> len(loader)
        15
    """

    def __init__(self, make: Callable[..., DataLoader[Any]], **arguments: Any) -> None:
        self._make = make
        self._arguments = arguments

    def _with(self, **arguments: Any) -> Any:
        return LoaderBuilder(self._make, **{**self._arguments, **arguments})

    def dataset(self, dataset: torch.utils.data.Dataset[S]) -> LoaderBuilder[S, Size, Drop]:
        """The dataset; required.

        Args:
            dataset: a dataset of simpletorch or torch, with indices or iterable.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[S, Size, Drop]", self._with(dataset=dataset))

    def batch_size(self, size: Dim[N]) -> LoaderBuilder[Sample, N, Drop]:
        """Samples in a batch; 1 without this.

        Args:
            size: the number of samples, 1 or more.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[Sample, N, Drop]", self._with(batch_size=size))

    @overload
    def drop_last(self, drop: Literal[True] = ...) -> LoaderBuilder[Sample, Size, Literal[True]]: ...
    @overload
    def drop_last(self, drop: bool) -> LoaderBuilder[Sample, Size, Any]: ...
    def drop_last(self, drop: bool = True) -> LoaderBuilder[Sample, Size, Any]:
        """Leave out a last batch that is smaller.

        Args:
            drop: False keeps the last batch, as without this call.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[Sample, Size, Any]", self._with(drop_last=drop))

    def shuffle(self, shuffle: bool = True) -> LoaderBuilder[Sample, Size, Drop]:
        """A new random order each epoch.

        Args:
            shuffle: False reads the samples in order, as without this call.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[Sample, Size, Drop]", self._with(shuffle=shuffle))

    def generator(self, generator: torch.Generator | int) -> LoaderBuilder[Sample, Size, Drop]:
        """The generator of orders; a number is a seed.

        Args:
            generator: a generator of torch on the CPU, or an int that seeds a new one.

        Returns:
            The builder, for the next step.
        """
        if isinstance(generator, int):
            generator = torch.Generator().manual_seed(generator)
        return cast("LoaderBuilder[Sample, Size, Drop]", self._with(generator=generator))

    def sampler(self, sampler: Sampler[Any] | Iterable[Any]) -> LoaderBuilder[Sample, Size, Drop]:
        """Which samples, in which order.

        Args:
            sampler: yields indices of the dataset; it excludes `shuffle`.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[Sample, Size, Drop]", self._with(sampler=sampler))

    def batch_sampler(self, batch_sampler: Sampler[list[Any]] | Iterable[list[Any]]) -> LoaderBuilder[Sample, Any, Any]:
        """Which samples in each batch.

        Args:
            batch_sampler: yields a list of indices for each batch; it excludes `batch_size`, `shuffle`, `sampler` and
                `drop_last`.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[Sample, Any, Any]", self._with(batch_sampler=batch_sampler))

    def num_workers(
        self, workers: int, *, persistent: bool = False, prefetch: int | None = None
    ) -> LoaderBuilder[Sample, Size, Drop]:
        """Worker processes; ``persistent`` keeps them between epochs, ``prefetch`` is the batches each loads ahead.

        Args:
            workers: the number of processes; 0 reads in the program's own.
            persistent: keep them between epochs.
            prefetch: the number of batches that each loads ahead; None is torch's default, 2.

        Returns:
            The builder, for the next step.
        """
        given = self._with(num_workers=workers, persistent_workers=persistent, prefetch_factor=prefetch)
        return cast("LoaderBuilder[Sample, Size, Drop]", given)

    def pin_memory(self, pin: bool = True) -> LoaderBuilder[Sample, Size, Drop]:
        """Batches in page-locked memory.

        Args:
            pin: False leaves batches in ordinary memory, as without this call.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[Sample, Size, Drop]", self._with(pin_memory=pin))

    def timeout(self, seconds: float) -> LoaderBuilder[Sample, Size, Drop]:
        """How long to wait for a batch of a worker; 0 is as long as it takes.

        Args:
            seconds: the longest wait for one batch; 0 waits without a limit.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[Sample, Size, Drop]", self._with(timeout=seconds))

    def worker_init_fn(self, function: Callable[[int], None]) -> LoaderBuilder[Sample, Size, Drop]:
        """Called first in each worker, with its number.

        Args:
            function: takes the worker's number, from 0.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[Sample, Size, Drop]", self._with(worker_init_fn=function))

    def multiprocessing_context(self, context: Any) -> LoaderBuilder[Sample, Size, Drop]:
        """How workers are started: ``"fork"``, ``"spawn"``, ``"forkserver"``, or a context.

        Args:
            context: a start method or a context of `multiprocessing`.

        Returns:
            The builder, for the next step.
        """
        return cast("LoaderBuilder[Sample, Size, Drop]", self._with(multiprocessing_context=context))

    def collate_fn(self, function: Callable[[list[Sample]], Batch]) -> CollatedBuilder[Batch]:
        """Makes a batch of samples; its result type is the type of a batch. The last step before `build`.

        Args:
            function: takes the list of a batch's samples and returns the batch.

        Returns:
            The builder, for the next step.
        """
        return CollatedBuilder(self._make, **self._arguments, collate_fn=function)

    def build(self) -> DataLoader[Any]:
        """The loader.

        Raises:
            DataError: there is no dataset, or as `DataLoader` does.
        """
        return _built(self._make, self._arguments)


class CollatedBuilder(Generic[Batch]):
    """A builder that has everything, a ``collate_fn`` too."""

    def __init__(self, make: Callable[..., DataLoader[Any]], **arguments: Any) -> None:
        self._make = make
        self._arguments = arguments

    def build(self) -> DataLoader[Batch]:
        """The loader.

        Raises:
            DataError: there is no dataset, or as `DataLoader` does.
        """
        return _built(self._make, self._arguments)


def _built(make: Callable[..., DataLoader[Any]], arguments: dict[str, Any]) -> DataLoader[Any]:
    if "dataset" not in arguments:
        raise DataError("the builder has no dataset: call .dataset(…) before .build()")
    return make(**arguments)
