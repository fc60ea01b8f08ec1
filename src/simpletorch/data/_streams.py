"""Streams seen in another way: mapped, filtered, zipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import torch.utils.data

from simpletorch.data._dataset import IterableDataset

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U_co = TypeVar("U_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)


@runtime_checkable
class Stateful(Protocol):
    """What can say where it is, and be put back there; torch's checkpoints know the same protocol."""

    def state_dict(self) -> dict[str, Any]:
        """Where it is."""

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Put it back there."""


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
