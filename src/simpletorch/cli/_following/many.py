"""The answers on all programs of a command line, in this process or in several."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Final

from simpletorch.cli._following.programs import Answer, Asked, Program, answer

__all__ = ["answers", "processes_for"]

_FEW: Final = 8  # programs that are followed in this process: starting another takes as long
_MOST_PROCESSES: Final = 8  # unless more are asked for: each takes a few hundred megabytes


def processes_for(jobs: int | None, programs: int) -> int:
    """The number of processes that follow so many programs; 0 for none beside this one.

    Args:
        jobs: as many as were asked for; None for as many as there are CPUs.
    """
    if programs <= _FEW and (jobs is None or jobs == 1 or programs < 2):
        return 0
    if jobs is None:
        jobs = min(_processors(), _MOST_PROCESSES)
    return min(jobs, programs)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def answers(
    programs: Sequence[Program], asked: Asked, jobs: int | None, *, keeps_passed: bool = False
) -> Generator[Answer, None, None]:
    """The answer on each program, in their order.

    Args:
        programs: the files.
        asked: what they are followed with.
        jobs: the number of processes; None for as many as there are CPUs.
        keeps_passed: as `slim` takes it.
    """
    count = processes_for(jobs, len(programs))
    if not count:
        yield from (answer(program, asked) for program in programs)
        return
    from simpletorch.cli._following.processes import arriving  # multiprocessing takes 40 ms to import

    waiting: dict[int, Answer] = {}
    following = 0
    with closing(arriving(programs, asked, count, keeps_passed)) as coming:
        for place, found in coming:
            waiting[place] = found
            while following in waiting:
                yield waiting.pop(following)
                following += 1
