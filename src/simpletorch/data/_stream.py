"""Streams: datasets that are read from the beginning to the end, with their views: mapped, filtered, zipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import torch.utils.data

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
U_co = TypeVar("U_co", covariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class IterableDataset(torch.utils.data.IterableDataset[T_co]):
    """Samples as they come: write ``__iter__``. In worker processes each worker iterates over the whole of it, unless
    ``__iter__`` asks `torch.utils.data.get_worker_info` for its share.

    A loader that resumes in the middle reads the earlier samples again and drops them. A stream with ``state_dict()``
    and ``load_state_dict(state)`` is spared that. Its state is the position after the last sample, where the next
    ``__iter__`` continues.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> class Squares(data.IterableDataset[torch.Tensor]):
        ...     def __iter__(self):
        ...         return (torch.tensor(n * n) for n in range(5))
        >>> list(data.DataLoader(Squares(), batch_size=3))
        [tensor([0, 1, 4]), tensor([ 9, 16])]

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} is an IterableDataset and has to define __iter__")

    def map(self, function: Callable[[T_co], R]) -> MappedStream[R]:
        """The stream of ``function(sample)``.

        Args:
            function: takes a sample and returns the new sample.
        """
        return MappedStream(self, function)

    def filter(self, predicate: Callable[[T_co], Any]) -> FilteredStream[T_co]:
        """The stream of the samples for which ``predicate`` is true.

        Args:
            predicate: takes a sample; a true result keeps it.
        """
        return FilteredStream(self, predicate)

    def zip(self, other: torch.utils.data.IterableDataset[U]) -> ZippedStream[T_co, U]:
        """The stream of pairs; it ends with the shorter one.

        Args:
            other: another stream.
        """
        return ZippedStream(self, other)


@runtime_checkable
class Stateful(Protocol):
    """Objects that can save and restore their position; torch's checkpoints know the same protocol.

    Examples:
        >>> from simpletorch import data
        >>> loader = data.DataLoader(data.Digits(), batch_size=100, shuffle=True)
        >>> isinstance(loader, data.Stateful)
        True
    """

    def state_dict(self) -> dict[str, Any]:
        """The current position."""

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Put it back there.

        Args:
            state_dict: a state that `state_dict` returned.
        """


class MappedStream(IterableDataset[R_co]):
    """The stream of ``function(sample)``."""

    def __init__(self, dataset: torch.utils.data.IterableDataset[T], function: Callable[[T], R_co]) -> None:
        self.dataset: torch.utils.data.IterableDataset[Any] = dataset
        self.function: Callable[[Any], R_co] = function

    def __iter__(self) -> Iterator[R_co]:
        return map(self.function, self.dataset)


class FilteredStream(IterableDataset[T_co]):
    """The stream of the samples for which ``predicate`` is true."""

    def __init__(self, dataset: torch.utils.data.IterableDataset[T_co], predicate: Callable[[T_co], Any]) -> None:
        self.dataset = dataset
        self.predicate: Callable[[Any], Any] = predicate

    def __iter__(self) -> Iterator[T_co]:
        return filter(self.predicate, self.dataset)


class ZippedStream(IterableDataset[tuple[T_co, U_co]]):
    """The stream of pairs; it ends with the shorter one."""

    def __init__(
        self, first: torch.utils.data.IterableDataset[T_co], second: torch.utils.data.IterableDataset[U_co]
    ) -> None:
        self.first = first
        self.second = second

    def __iter__(self) -> Iterator[tuple[T_co, U_co]]:
        return zip(self.first, self.second, strict=False)


def stateful(dataset: object) -> Stateful | None:
    """The stream that knows its position, looked for under views that read one sample for one or more."""
    while isinstance(dataset, MappedStream | FilteredStream):
        dataset = cast("object", dataset.dataset)
    return dataset if isinstance(dataset, Stateful) else None
