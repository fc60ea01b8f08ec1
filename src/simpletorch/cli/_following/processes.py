"""Following many programs, in several processes.

A process is replaced by a new one before the modules that it has read fill the memory. One that dies takes only its
program with it. Each answer is in the cache at once, so that an interrupted run is taken up where it was.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from typing import Any, Final, final

from simpletorch.cli._following.programs import Answer, Asked, Program, answer, slim
from simpletorch.follow.cache.told import Told

__all__ = ["arriving"]

_SAFE: Final = "PYTHONSAFEPATH"
_LIFE: Final = 40  # programs that a process follows
_PRELOADED: Final = ("simpletorch.follow.followed", "simpletorch.cli._following.processes")


def arriving(
    programs: Sequence[Program], asked: Asked, count: int, keeps_passed: bool
) -> Generator[tuple[int, Answer], None, None]:
    """The answers by the places of the programs, as they come from ``count`` processes."""
    work = partial(_work, asked=asked, environment=dict(os.environ), keeps_passed=keeps_passed)
    todo = iter(enumerate(programs))
    workers: dict[Connection, _Worker] = {}
    try:
        for _ in range(count):
            _give(_Worker.started(work), todo, workers)
        while workers:
            for connection in wait(list(workers)):
                worker = workers.pop(connection)  # type: ignore[call-overload]
                place, file = worker.place, programs[worker.place].file
                try:
                    found: Answer = worker.connection.recv()
                except (EOFError, OSError):
                    found = _died(file, worker)
                    worker = _Worker.started(work)
                if found.told is not None and not found.is_kept:
                    worker.left -= 1
                if worker.left <= 0:
                    worker.end()
                    worker = _Worker.started(work)
                _give(worker, todo, workers)
                yield place, found
    finally:
        for worker in workers.values():
            worker.process.terminate()
        for worker in workers.values():
            worker.end()


@final
@dataclass(slots=True)
class _Worker:
    """A process that follows one program after the other."""

    process: Any
    connection: Connection
    left: int = _LIFE
    place: int = -1
    """Of the program that it follows."""

    @classmethod
    def started(cls, work: partial[None]) -> _Worker:
        """A new process."""
        context = _context()
        here, there = context.Pipe()
        process = context.Process(target=work, args=(there,), daemon=True)  # type: ignore[attr-defined]
        with _safe_path():
            process.start()
        there.close()
        return cls(process, here)

    def end(self) -> None:
        """Let the process end, which does so when nothing more can come."""
        self.connection.close()
        self.process.join()


@contextmanager
def _safe_path() -> Iterator[None]:
    """Python starts without the folder of the program: its inspect.py isn't the one that Python's own modules need."""
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE]
        else:
            os.environ[_SAFE] = before


def _context() -> BaseContext:
    """Processes are forked from one that has nothing but the follower: quick, and safe beside threads."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    return context


def _give(worker: _Worker, todo: Iterator[tuple[int, Program]], workers: dict[Connection, _Worker]) -> None:
    """Give the next program to a process; if there is none, the process ends."""
    following = next(todo, None)
    if following is None:
        worker.end()
        return
    worker.place, program = following
    worker.connection.send(program)
    workers[worker.connection] = worker


def _died(file: str, worker: _Worker) -> Answer:
    worker.end()
    code = worker.process.exitcode
    why = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    return Answer(Told(faults=(f"{file}:1: the process that followed it ended {why}",), complete=False))


def _work(connection: Connection, *, asked: Asked, environment: Mapping[str, str], keeps_passed: bool) -> None:
    """A process: programs come in, answers go out, until the other side closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that people see, which ends this one
    os.environ.clear()
    os.environ.update(environment)
    while True:
        try:
            program: Program = connection.recv()
        except (EOFError, OSError):
            return
        found = answer(program, asked)
        if found.told is not None:
            found = found._replace(told=slim(found.told, keeps_passed=keeps_passed))
        try:
            connection.send(found)
        except OSError:
            return
