"""The interfaces of datasets: torch's own, with the views that one wants on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import torch.utils.data

if TYPE_CHECKING:
    from simpletorch.data._concat import ConcatDataset
    from simpletorch.data._streams import FilteredStream, MappedStream, ZippedStream
    from simpletorch.data._subset import Subset
    from simpletorch.data._views import CachedDataset, MappedDataset, ZippedDataset

T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R")
U = TypeVar("U")


class Dataset(torch.utils.data.Dataset[T_co]):
    """Samples by position: write ``__getitem__`` and ``__len__``; ``__getitems__(indices)`` too if a batch is cheaper.

    It is torch's `Dataset` with four views, each of which is a dataset again. All that takes datasets here takes
    torch's as well (``MappedDataset(theirs, function)`` is then the spelling of `map`), and torch takes these.

    ``Dataset[tuple[Tensor[Float32, 1, 28, 28], Tensor[Int64]]]`` as a base class says what a sample is: mypy knows the
    batches of a `DataLoader` by it, and the loader holds the samples to it.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Dataset
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Loaders, torch's too, prefer __getitems__: one inherited past a new __getitem__ would give the old samples.
        order = [name for base in cls.__mro__ for name in ("__getitems__", "__getitem__") if name in vars(base)]
        if order and order[0] == "__getitem__" and "__getitems__" in order:
            cls.__getitems__ = None  # type: ignore[attr-defined]  # to torch's loader that means there is none

    def map(self, function: Callable[[T_co], R]) -> MappedDataset[R]:
        """The dataset whose sample ``i`` is ``function(self[i])``, computed anew each time it is read."""
        from simpletorch.data._views import MappedDataset

        return MappedDataset(self, function)

    def filter(self, predicate: Callable[[T_co], Any]) -> Subset[T_co]:
        """The samples for which ``predicate`` is true, in order. Every sample is read once, now.

        Raises:
            DataError: the dataset has no length.
        """
        from simpletorch.data._views import filtered

        return filtered(self, predicate)

    def zip(self, other: torch.utils.data.Dataset[U]) -> ZippedDataset[T_co, U]:
        """The dataset of the pairs ``(self[i], other[i])``.

        Raises:
            DataError: the lengths differ, or one has none.
        """
        from simpletorch.data._views import ZippedDataset

        return ZippedDataset(self, other)

    def cache(self) -> CachedDataset[T_co]:
        """The same samples, each read once and then kept in memory."""
        from simpletorch.data._views import CachedDataset

        return CachedDataset(self)

    def __add__(self, other: torch.utils.data.Dataset[T_co]) -> ConcatDataset[T_co]:
        from simpletorch.data._concat import ConcatDataset

        return ConcatDataset([self, other])


class IterableDataset(torch.utils.data.IterableDataset[T_co]):
    """Samples as they come: write ``__iter__``. In worker processes each worker iterates over the whole of it, unless
    ``__iter__`` asks `torch.utils.data.get_worker_info` for its share.

    A loader that resumes in the middle reads the samples before again and drops them; a stream with ``state_dict()``
    and ``load_state_dict(state)`` (position as of the last sample given, and back there at the next ``__iter__``) is
    spared that.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} is an IterableDataset and has to define __iter__")

    def map(self, function: Callable[[T_co], R]) -> MappedStream[R]:
        """The stream of ``function(sample)``."""
        from simpletorch.data._streams import MappedStream

        return MappedStream(self, function)

    def filter(self, predicate: Callable[[T_co], Any]) -> FilteredStream[T_co]:
        """The stream of the samples for which ``predicate`` is true."""
        from simpletorch.data._streams import FilteredStream

        return FilteredStream(self, predicate)

    def zip(self, other: torch.utils.data.IterableDataset[U]) -> ZippedStream[T_co, U]:
        """The stream of pairs; it ends with the shorter one."""
        from simpletorch.data._streams import ZippedStream

        return ZippedStream(self, other)
