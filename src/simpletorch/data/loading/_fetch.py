"""From indices to a batch, in the loader's process or in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simpletorch.data._stream import stateful
from simpletorch.data.loading._collate import Misfit
from simpletorch.data.loading._columns import Columns
from simpletorch.errors import DataError, explain

Collate = Callable[[Any], Any]
Fetch = Callable[[Any], Any]


def fetcher(dataset: Any, collate_fn: Collate, batched: bool, columns: Columns | None) -> Fetch:
    """The function from indices (one index if not ``batched``) to a batch of a map-style dataset."""
    if columns is not None:
        return columns.batch
    if not batched:
        return explain()(lambda index: collate_fn(_sample(dataset, index)))

    @explain()
    def fetch(indices: Any) -> Any:
        samples = _samples(dataset, indices)
        try:
            return collate_fn(samples)
        except Misfit as misfit:
            raise _placed(misfit, indices, dataset) from misfit.__cause__

    return fetch


def _sample(dataset: Any, index: Any) -> Any:
    try:
        return dataset[index]
    except Exception as error:
        error.add_note(f"while loading sample {index!r} of {type(dataset).__name__}")
        raise


def _samples(dataset: Any, indices: Sequence[Any]) -> Sequence[Any]:
    several = getattr(dataset, "__getitems__", None)
    if several is None:
        # One loop inside of one try, not `_sample` for each: a call more per sample is much where a sample is quick.
        index = None
        samples = []
        try:
            for index in indices:
                samples.append(dataset[index])
        except Exception as error:
            error.add_note(f"while loading sample {index!r} of {type(dataset).__name__}")
            raise
        return samples
    try:
        found: Sequence[Any] = several(indices)
    except Exception as error:
        error.add_note(f"while loading samples {_shown(indices)} of {type(dataset).__name__}")
        raise
    if len(found) != len(indices):
        raise DataError(
            f"{type(dataset).__name__}.__getitems__ was asked for {len(indices)} samples but returned {len(found)}: "
            "it must return one sample for each index, in the same order"
        )
    return found


def _placed(misfit: Misfit, indices: Sequence[Any], dataset: object) -> DataError:
    """The same complaint with the samples' places in the dataset."""
    first, second = indices[misfit.first], indices[misfit.second]
    name = type(dataset).__name__
    return DataError(f"samples {first} and {second} of {name} don't fit in one batch: {misfit.problem}")


def _shown(indices: Sequence[Any]) -> str:
    few = ", ".join(map(repr, indices[:8]))
    return f"{few}, … ({len(indices)} of them)" if len(indices) > 8 else few


class StreamFetcher:
    """Batches of an iterable dataset, and where it is.

    Args:
        size: samples of a batch; None gives samples as they come.
        at: an earlier result of `position`, from which the stream goes on.
    """

    def __init__(
        self,
        dataset: Any,
        collate_fn: Collate,
        size: int | None,
        drop_last: bool,
        at: dict[str, Any] | None = None,
        before: Callable[[int], None] = lambda batch: None,
    ) -> None:
        self.collate_fn = collate_fn
        self.size = size
        self.drop_last = drop_last
        self.before = before
        self.batches = 0
        self.ended = False
        self.stateful = stateful(dataset)
        # first, because ``iter`` and the constructors behind it may draw random numbers
        before(-1)
        if at is not None and self.stateful is not None and at["dataset"] is not None:
            self.stateful.load_state_dict(at["dataset"])
            self.batches = at["batches"]
        self.iterator: Iterator[Any] = iter(dataset)
        if at is not None:
            while self.batches < at["batches"]:
                before(self.batches)
                # read and thrown away: only the stream itself can say what comes behind
                self._samples()
                self.batches += 1
            self.ended = at["ended"]

    @explain()
    def fetch(self) -> Any:
        """The next batch.

        Raises:
            StopIteration: there is none.
        """
        if self.ended:
            raise StopIteration
        self.before(self.batches)
        if self.size is None:
            sample = next(self.iterator)
            self.batches += 1
            return self.collate_fn(sample)
        samples = self._samples()
        # an iterator that has ended isn't asked again: some begin anew
        self.ended = len(samples) < self.size
        if not samples or (self.ended and self.drop_last):
            self.ended = True
            raise StopIteration
        self.batches += 1
        return self.collate_fn(samples)

    def _samples(self) -> list[Any]:
        samples: list[Any] = []
        for sample in self.iterator:
            samples.append(sample)
            if self.size is None or len(samples) == self.size:
                break
        return samples

    def position(self) -> dict[str, Any]:
        """Where the stream is after the last batch."""
        state = None if self.stateful is None else self.stateful.state_dict()
        return {"batches": self.batches, "ended": self.ended, "dataset": state}
