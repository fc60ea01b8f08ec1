"""Worker processes, seen from the loader: how they are started, spoken with, watched and ended."""

from __future__ import annotations

import os
import pickle
import signal
import time
import weakref
from collections.abc import Sequence
from multiprocessing import connection as connections
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final

from simpletorch.data.loading import _shared
from simpletorch.data.loading._worker import Job, work
from simpletorch.errors import DataError

_GRACE: Final = 2.0
"""Seconds that a worker has to finish its sample when it is no longer needed, before it is ended by a signal."""
_ADVICE: Final = {
    "SIGKILL": "if no user killed it, memory ran out: take fewer workers, smaller batches or a smaller prefetch_factor",
    "SIGSEGV": "a library that the dataset uses crashed: find out with num_workers=0",
    "SIGBUS": "memory ran out, or a file that it had mapped was cut: take fewer workers",
}
_ours: weakref.WeakSet[Connection] = weakref.WeakSet()
"""The loader's ends of all connections of this process; forked workers close them."""


class WorkerDied(DataError):
    """A worker process ended by itself or was killed."""


class Pool:
    """``job.workers`` processes, each started by `start`."""

    def __init__(self, job: Job, context: Any) -> None:
        self.job = job
        self.context = context
        self.processes: list[BaseProcess] = []
        self.connections: list[Connection] = []
        self.epoch = 0
        # it gets the lists and not the pool, which would never be collected while its own finalizer refers to it
        self._end = weakref.finalize(self, _end, self.processes, self.connections, os.getpid())
        self._watched: list[Connection | int] = []

    def start(self, worker: int) -> None:
        """Start a worker, after those before it, unless it runs already.

        Raises:
            DataError: the process can't be started, because the dataset can't be sent to it for example.
        """
        if worker < len(self.processes):
            return
        ours, theirs = self.context.Pipe()
        forks = self.context.get_start_method() == "fork"
        process = self.context.Process(
            target=work,
            args=(self.job, worker, theirs, [*_ours, ours] if forks else []),
            name=f"DataLoader worker {worker}",
            # ends with the program, even if the finalizer never runs
            daemon=True,
        )
        try:
            process.start()
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            ours.close()
            raise DataError(
                f"{type(self.job.dataset).__name__} (or its collate_fn or worker_init_fn) can't be sent to worker "
                f"processes that are not forked: {error}. Keep lambdas, locks, open files and local classes out of "
                "it, open files in __getitem__, or take num_workers=0"
            ) from error
        except OSError as error:
            ours.close()
            raise DataError(f"worker {worker} of {self.job.workers} can't be started: {error}; take fewer") from error
        finally:
            # while this process held the worker's end too, the end of the worker would not close the connection
            theirs.close()
        self.processes.append(process)
        self.connections.append(ours)
        _ours.add(ours)
        self._watched += [ours, process.sentinel]

    def send(self, worker: int, message: object) -> None:
        """Send a message to a worker."""
        try:
            _shared.send(self.connections[worker], message)
        except OSError:
            raise self._died(worker) from None

    def receive(self, timeout: float | None) -> list[tuple[int, Any]]:
        """All messages that are there, as (worker, message); waits for the first.

        Raises:
            WorkerDied: a worker is gone.
            TimeoutError: nothing came within ``timeout`` seconds.
        """
        ready = connections.wait(self._watched, timeout)
        if not ready:
            raise TimeoutError
        messages = []
        for worker, connection in enumerate(self.connections):
            if connection in ready:
                try:
                    messages.append((worker, _shared.receive(connection)))
                except (EOFError, OSError, RuntimeError) as error:  # RuntimeError: a handle was lost
                    process = self.processes[worker]
                    process.join(_GRACE)
                    if process.exitcode is not None:
                        raise self._died(worker) from None
                    raise DataError(
                        f"a batch of worker {worker} can't be received: {error}; with too many open files, raise the "
                        "limit (ulimit -n) or keep fewer batches"
                    ) from error
        # only now: what a worker sent before it died is there to be read
        if not messages:
            raise self._died(next(w for w, process in enumerate(self.processes) if process.sentinel in ready))
        return messages

    def _died(self, worker: int) -> WorkerDied:
        process = self.processes[worker]
        process.join(_GRACE)
        code = process.exitcode
        name = ""
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
            how = f"was killed by signal {name}"
        else:
            how = f"ended with exit code {code}" if code is not None else "closed its connection"
        advice = _ADVICE.get(name, "find out why with num_workers=0")
        return WorkerDied(f"worker {worker} (pid {process.pid}) of the DataLoader {how}: {advice}")

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return not self._end.alive

    def close(self) -> None:
        """End the processes; none is left afterwards."""
        self._end()


def _end(processes: Sequence[BaseProcess], ours: Sequence[Connection], owner: int) -> None:
    if os.getpid() != owner:  # a fork of the program has our objects, but not our children
        return
    for connection in ours:
        connection.close()  # a worker that waits for a task sees that and ends
    deadline = time.monotonic() + _GRACE
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
    for process in processes:
        if process.is_alive():
            process.kill()  # in the middle of a sample that takes longer
    for process in processes:
        process.join()
        process.close()
