"""The iterators behind a loader: in this process, or with workers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from simpletorch.data.loading._fetch import Fetch, StreamFetcher
from simpletorch.data.loading._pool import Pool
from simpletorch.data.loading._worker import Epoch, Result, Task
from simpletorch.errors import DataError


@dataclass
class Progress:
    """How far an iteration is, kept apart from the iterator so that it outlives it without keeping its workers."""

    batches: int = 0
    """How many were given, failed ones included."""
    finished: bool = False
    streams: list[dict[str, Any] | None] = field(default_factory=list)
    """Of an iterable dataset: where it is, in each worker."""
    turn: int = 0
    """Which worker's batch is next."""

    def snapshot(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"batches": self.batches, "streams": list(self.streams), "turn": self.turn}


class MapBatches:
    """Batches by indices, in this process."""

    def __init__(self, indices: Iterator[Any], fetch: Fetch, progress: Progress) -> None:
        self._indices = indices
        self._fetch = fetch
        self._progress = progress

    def __iter__(self) -> MapBatches:
        return self

    def __next__(self) -> Any:
        try:
            indices = next(self._indices)
        except StopIteration:
            self._progress.finished = True
            raise
        # before it is fetched: a batch that fails counts too, so a resumed loop goes on behind it
        self._progress.batches += 1
        return self._fetch(indices)


class StreamBatches:
    """Batches of an iterable dataset, in this process."""

    def __init__(self, fetcher: StreamFetcher, progress: Progress) -> None:
        self._fetcher = fetcher
        self._progress = progress

    def __iter__(self) -> StreamBatches:
        return self

    def __next__(self) -> Any:
        try:
            batch = self._fetcher.fetch()
        except StopIteration:
            self._progress.finished = True
            raise
        self._progress.batches += 1
        self._progress.streams = [self._fetcher.position()]
        return batch


class WorkerBatches:
    """Batches from worker processes, in order: batch ``k`` of indices is worker ``k % workers``'s, and streams take
    turns.

    Args:
        prefetch: batches that each worker has been asked for ahead.
        timeout: seconds to wait for a batch; 0 waits as long as it takes.
        keep: leave the workers running at the end.
    """

    def __init__(
        self,
        pool: Pool,
        indices: Iterator[Any],
        base_seed: int,
        progress: Progress,
        *,
        prefetch: int,
        timeout: float,
        keep: bool,
        in_order: bool,
    ) -> None:
        self._pool = pool
        self._indices = indices
        self._progress = progress
        self._timeout = timeout
        self._keep = keep
        self._in_order = in_order
        self._prefetch = prefetch
        workers = pool.job.workers
        self._asked: list[deque[Task]] = [deque() for _ in range(workers)]
        self._ready: list[deque[Result]] = [deque() for _ in range(workers)]
        self._ended = [False] * workers
        # a batch's number seeds what its worker draws, so it goes on where the epoch was left
        self._numbers = count(progress.batches)
        self._ask_next = progress.turn
        self._is_done = False
        pool.epoch += 1
        self._epoch = pool.epoch
        try:
            self._begin(base_seed)
        except BaseException:
            self._close()
            raise

    def _begin(self, base_seed: int) -> None:
        positions = self._progress.streams or [None] * len(self._asked)
        self._progress.streams = list(positions)
        for worker, position in enumerate(positions):
            self._pool.start(worker)
            self._pool.send(worker, Epoch(self._epoch, base_seed, position))
            if self._progress.turn == 0:
                self._ask_worker(worker)  # it can begin while the next one is started
        # resumed in mid-round, the first batch isn't worker 0's: then all are asked in turn, from there on
        rounds = self._prefetch - (self._progress.turn == 0)
        for _ in range(rounds * len(self._asked)):
            self._ask()

    def __iter__(self) -> WorkerBatches:
        return self

    def __next__(self) -> Any:
        if self._pool.epoch != self._epoch:
            raise DataError(
                "this iteration is over: a newer one over the same loader has taken its persistent workers; "
                "iterate over one at a time, or take two loaders"
            )
        try:
            worker, result = self._next()
        except (StopIteration, DataError):
            self._close()
            raise
        # the workers stay: a loop that catches the error can have the next batch
        if result.failure is not None:
            raise result.failure.error(worker)
        return result.batch

    def _next(self) -> tuple[int, Result]:
        """The next batch or failure, after which its worker has been asked for another.

        Raises:
            StopIteration: there is none.
        """
        while not self._is_done:
            worker = self._worker_of_next()
            if worker is None:
                break
            if not self._ready[worker]:
                self._wait(worker)
                continue
            result = self._ready[worker].popleft()
            if result.ended:
                self._ended[worker] = True
                # whatever else it was asked for, it answers with "ended" too
                self._asked[worker].clear()
                self._advance(worker)
                continue
            self._progress.batches += 1
            self._progress.streams[worker] = result.position
            self._advance(worker)
            # the turn stays strict, so that batch k is always worker k % workers's; a stream is where its worker is
            if self._in_order and not self._pool.job.is_stream:
                self._ask()
            else:
                self._ask_worker(worker)
            return worker, result
        self._progress.finished = True
        self._is_done = True
        raise StopIteration

    def _worker_of_next(self) -> int | None:
        """Whose batch is next; None when nothing more is to come."""
        if not self._in_order:
            ready = [w for w, results in enumerate(self._ready) if results]
            waiting = [w for w, asked in enumerate(self._asked) if asked]
            return next(iter(ready or waiting), None)
        for step in range(len(self._asked)):
            worker = (self._progress.turn + step) % len(self._asked)
            if self._ended[worker]:
                continue
            if self._asked[worker] or self._ready[worker]:
                return worker
            # indices are given out in turns: if this worker has none left, no later one has
            if not self._pool.job.is_stream:
                return None
        return None

    def _advance(self, worker: int) -> None:
        self._progress.turn = (worker + 1) % len(self._asked)

    def _ask(self) -> None:
        """Give the next indices to the worker whose turn it is."""
        self._ask_worker(self._ask_next)
        self._ask_next = (self._ask_next + 1) % len(self._asked)

    def _ask_worker(self, worker: int) -> None:
        if self._ended[worker]:
            return
        try:
            indices = None if self._pool.job.is_stream else next(self._indices)
        except StopIteration:
            return
        task = Task(self._epoch, next(self._numbers), indices)
        self._asked[worker].append(task)
        self._pool.send(worker, task)

    def _wait(self, worker: int) -> None:
        """Until any worker has sent something; ``worker`` is the one whose batch is missed if none does."""
        deadline = time.monotonic() + self._timeout if self._timeout > 0 else None
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                messages = self._pool.receive(left)
            except TimeoutError:
                raise DataError(
                    f"no batch arrived within {self._timeout:g} s: worker {worker} (pid "
                    f"{self._pool.processes[worker].pid}) is still at batch {self._asked[worker][0].number}. "
                    "Raise timeout, or find out with num_workers=0 where it takes so long"
                ) from None
            # persistent workers may still answer an epoch that was given up
            current = [(sender, result) for sender, result in messages if result.epoch == self._epoch]
            for sender, result in current:
                if not result.ended and self._asked[sender]:
                    self._asked[sender].popleft()
                self._ready[sender].append(result)
            if current:
                return

    def _close(self) -> None:
        if not (self._keep and self._is_done):
            self._is_done = True
            self._pool.close()


Batches = MapBatches | StreamBatches | WorkerBatches
