"""The code of a worker process."""

from __future__ import annotations

import gc
import os
import pickle
import random
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np
import torch
from torch.utils.data._utils import worker as torch_worker

from simpletorch.data.loading import _shared
from simpletorch.data.loading._columns import Columns
from simpletorch.data.loading._fetch import StreamFetcher, fetcher
from simpletorch.errors import DataError, TorchError, as_also

PARENT_CHECKED_EVERY: Final = 1.0  # seconds


@dataclass(frozen=True)
class Job:
    """The common arguments of a loader's workers."""

    dataset: Any
    is_stream: bool
    batched: bool
    collate_fn: Callable[[Any], Any]
    vectorised: bool
    batch_size: int | None
    drop_last: bool
    init_fn: Callable[[int], None] | None
    workers: int


@dataclass(frozen=True)
class Epoch:
    """A message: a new pass over the data begins. ``position`` is where a stream goes on."""

    number: int
    base_seed: int
    position: dict[str, Any] | None = None


@dataclass(frozen=True)
class Task:
    """A message: load this batch. A stream has no ``indices``."""

    epoch: int
    number: int
    indices: Any = None


@dataclass(frozen=True)
class Result:
    """The answer to a task: a batch, a failure, or, of a stream, that there is no more."""

    epoch: int
    number: int
    batch: Any = None
    position: dict[str, Any] | None = None
    failure: Failure | None = None
    ended: bool = False


@dataclass(frozen=True)
class Failure:
    """An exception, as far as it can travel.

    Parts that may fail to be pickled or unpickled are separate bytes, so the message around them always arrives.
    """

    kind: bytes
    summary: str
    text: str
    notes: tuple[str, ...]
    ours: bytes

    @staticmethod
    def of(error: BaseException) -> Failure:
        """The exception being handled."""
        notes = tuple(getattr(error, "__notes__", ()))
        # or the text would have them too, and `error` says them in its first line
        error.__notes__ = []
        text = "".join(traceback.format_exception(error))
        summary = "".join(traceback.format_exception_only(error)).strip()
        ours = _pickled(error) if isinstance(error, TorchError) else b""
        return Failure(_pickled(type(error)), summary, text, notes, ours)

    def error(self, worker: int) -> Exception:
        """A `DataError` that also is of the class that was raised."""
        where = f"worker {worker} failed {'; '.join(self.notes)}" if self.notes else f"worker {worker} failed"
        if self.ours:
            error: Exception = pickle.loads(self.ours)
            error.add_note(f"{where}; in the worker:\n\n{self.text}")
            return error
        kind = pickle.loads(self.kind) if self.kind else Exception
        also = kind if issubclass(kind, Exception) else Exception
        return as_also(DataError, also)(f"{where}: {self.summary}\n\nIn the worker:\n\n{self.text}")


def _pickled(value: object) -> bytes:
    """``value`` pickled; empty if it can't be, or can't be had back from that."""
    try:
        data = pickle.dumps(value)
        pickle.loads(data)
    except Exception:  # whatever a class's own __reduce__ raises
        return b""
    return data


def work(job: Job, worker: int, connection: Connection, others: list[Connection]) -> None:
    """Answer tasks until the loader closes the connection, or is gone."""
    # Ctrl-C goes to every process of the terminal: the loader decides what becomes of its workers. A handler for
    # SIGTERM that the program has set is not meant for them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:  # a forked worker has the loader's ends too, and would keep the others' connections open
        other.close()
    # as torch's own workers: with each of them taking all cores, they would fight for them
    torch.set_num_threads(1)
    gc.freeze()  # what came with the fork is not collected here: looking at it would copy the memory it is in
    _shared.begin()
    try:
        _Worker(job, worker, connection).run()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the loader has closed the connection, or is gone
    finally:
        connection.close()


class _Worker:
    def __init__(self, job: Job, worker: int, connection: Connection) -> None:
        self.job = job
        self.worker = worker
        self.connection = connection
        self.parent = os.getppid()
        self.epoch = Epoch(-1, 0)
        self.failure: Failure | None = None
        self.is_ready = False
        self.fetch = fetcher(
            job.dataset, job.collate_fn, job.batched, Columns.of(job.dataset) if job.vectorised else None
        )
        self.stream: StreamFetcher | None = None

    def run(self) -> None:
        while True:
            while not self.connection.poll(PARENT_CHECKED_EVERY):
                # the connection may stay open: other processes that the program forked hold copies of the loader's end
                if os.getppid() != self.parent:
                    return
            message = _shared.receive(self.connection)
            if isinstance(message, Epoch):
                self.begin(message)
            else:
                self.answer(message)

    def begin(self, epoch: Epoch) -> None:
        self.epoch = epoch
        self.stream = None
        self.failure = None
        if self.is_ready:
            return
        self.is_ready = True
        seed = epoch.base_seed + self.worker
        # torch.utils.data.get_worker_info reads this private variable; datasets rely on it and there is no other way
        torch_worker._worker_info = torch_worker.WorkerInfo(
            id=self.worker, num_workers=self.job.workers, seed=seed, dataset=self.job.dataset
        )
        # number 0 is for worker_init_fn; batches of indices begin with 1, a stream itself has 1 and its batches follow
        _seed(seed, 0)
        if self.job.init_fn is not None:
            try:
                self.job.init_fn(self.worker)
            except Exception as error:
                error.add_note("in worker_init_fn")
                self.failure = Failure.of(error)

    def answer(self, task: Task) -> None:
        if task.epoch != self.epoch.number:  # the loader has begun anew meanwhile
            return
        answer = partial(Result, task.epoch, task.number)
        if self.failure is not None:
            self.send(answer(failure=self.failure))
            return
        try:
            if self.job.is_stream:
                batch, position = self.next_of_stream()
                result = answer(batch, position)
            else:
                _seed(self.epoch.base_seed, task.number + 1)
                result = answer(self.fetch(task.indices))
        except StopIteration as stop:
            if self.job.is_stream:
                result = answer(ended=True)
            else:
                stop.add_note(f"in batch {task.number}")
                result = answer(failure=Failure.of(stop))
        except Exception as error:
            error.add_note(f"in batch {task.number}")
            result = answer(failure=Failure.of(error))
        self.send(result)

    def next_of_stream(self) -> tuple[Any, dict[str, Any]]:
        job = self.job
        if self.stream is None:
            base = self.epoch.base_seed + self.worker
            self.stream = StreamFetcher(
                job.dataset,
                job.collate_fn,
                job.batch_size,
                job.drop_last,
                self.epoch.position,
                lambda batch: _seed(base, batch + 2),
            )
        batch = self.stream.fetch()
        return batch, self.stream.position()

    def send(self, result: Result) -> None:
        try:
            _shared.send(self.connection, result)
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:  # the batch can't be pickled, or there is no memory to share
            error.add_note(f"while sending batch {result.number} to the loader")
            _shared.send(self.connection, Result(result.epoch, result.number, failure=Failure.of(error)))


def _seed(base: int, number: int) -> None:
    """Set the random state of this process by the batch's number, so that what is drawn for a batch depends neither on
    the number of workers nor on whether the run was interrupted."""
    seed = _mixed(base, number)
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed((seed & 0xFFFFFFFF, seed >> 32))  # NumPy takes words of 32 bits


def _mixed(base: int, number: int) -> int:
    """64 bits that have nothing in common for neighbours: splitmix64 (Steele et al. 2014, "Fast splittable
    pseudorandom number generators")."""
    z = (base + number * 0x9E3779B97F4A7C15) & _BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _BITS
    return z ^ (z >> 31)


_BITS: Final = (1 << 64) - 1
