"""What torch says to each mutant: runs them, and keeps the answers.

    python benchmarks/follow/verdicts.py                 # those of all programs that aren't known yet
    python benchmarks/follow/verdicts.py vit_plain --count 40

The answers are in ``benchmarks/results/follow_verdicts.json``, by a hash of the whole text of the program, and hold for
the torch that its first line names.
"""

from __future__ import annotations

import argparse
import dis
import json
import os
import re
import runpy
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

import corpus
from corpus import Program
from forked import forked
from mutate import mutants

STORE = Path(__file__).parents[1] / "results" / "follow_verdicts.json"
COUNT = 12

HARMLESS = "harmless"  # ends as it should
TORCH = "torch"  # torch or einops refuses a shape, a dtype or an index
NUMPY = "numpy"  # numpy does
PYTHON = "python"  # any other exception, those of the program itself too
DIED = "died"  # took too long, or killed its process

# Errors of torch that no shape, dtype or index is the cause of.
_OTHER_CAUSES = re.compile(
    r"does not require grad|backward through the graph|by an inplace operation|leaf Variable|in the graph"
    r"|within the support|to satisfy the constraint|between 0 and 1|optimizer got|[Ii]nvalid (learning|momentum|beta)"
    r"|deepcopy protocol|can't allocate|No such file|does not exist|probability tensor|num_samples should be"
    r"|accelerator device|to be a dict|uninitialized parameter|required \"forward\"|must define either"
)
_NUMPY = re.compile(
    r"operands could not be|could not broadcast|cannot reshape array|array dimensions|not aligned|for axis \d"
)
_OF_PYTHON = re.compile(
    r"^(list|tuple|string|bytes|range|pop|deque)\b.*(index|empty|must not be zero)|values to unpack|invalid literal"
    r"|math domain"
)


@dataclass(frozen=True)
class Verdict:
    """How a program ends: the class of its end, the error's text, and the places on the way to it, innermost first."""

    kind: str
    error: str = ""
    trace: tuple[tuple[str, int], ...] = ()


def run(program: Program) -> Verdict:
    """Run a program here and now (in a process that may be thrown away)."""
    with program.written() as main:
        program.importable(main)
        warnings.simplefilter("ignore")
        try:
            runpy.run_path(str(main), run_name="__main__")
        except SystemExit as end:
            return Verdict(PYTHON, f"SystemExit: {end.code}") if end.code else Verdict(HARMLESS)
        except Exception as error:
            frames = list(traceback.walk_tb(error.__traceback__))
            own = [(Path(f.f_code.co_filename), line) for f, line in frames]
            trace = [(path.name, line) for path, line in reversed(own) if path.parent == main.parent]
            text = f"{type(error).__name__}: {error}".replace("\n", " ")[:160]
            return Verdict(_kind(error), text, tuple(trace))
        return Verdict(HARMLESS)


def _kind(error: Exception) -> str:
    text = str(error)
    if not isinstance(error, RuntimeError | IndexError | ValueError):
        return PYTHON
    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    raised_by = last.tb_frame.f_globals.get("__name__", "") if last else ""
    if raised_by.partition(".")[0] not in ("torch", "einops") and (_raises(last) or _OF_PYTHON.search(text)):
        return PYTHON
    if raised_by.startswith("numpy") or _NUMPY.search(text):
        return NUMPY
    return PYTHON if _OTHER_CAUSES.search(text) else TORCH


def _raises(place: TracebackType | None) -> bool:
    """Whether the line says ``raise`` or ``assert``, rather than calling what raises in C."""
    return place is not None and dis.opname[place.tb_frame.f_code.co_code[place.tb_lasti]] == "RAISE_VARARGS"


class Verdicts:
    """The verdicts that are known, and the way to more of them."""

    def __init__(self, store: Path = STORE) -> None:
        self.store = store
        self.known: dict[str, Any] = json.loads(store.read_text())["verdicts"] if store.exists() else {}

    def __getitem__(self, program: Program) -> Verdict:
        kind, error, trace = self.known[program.key]
        return Verdict(kind, error, tuple((file, line) for file, line in trace))

    def learn(self, programs: Iterable[Program], jobs: int = 2) -> None:
        """Run those that aren't known, and write down what came out."""
        unknown = {p.key: p for p in programs if p.key not in self.known}
        if not unknown:
            return
        for count, (program, answer) in enumerate(forked(_run, unknown.values(), jobs), 1):
            self.known[program.key] = answer if isinstance(answer, list) else [DIED, str(answer or ""), []]
            if count % 50 == 0 or count == len(unknown):
                print(f"{count} of {len(unknown)} run", file=sys.stderr)
                self.write()

    def write(self) -> None:
        """The store, one verdict a line."""
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(self.known[key])}" for key in sorted(self.known))
        self.store.write_text(f'{{"torch": "{metadata.version("torch")}", "verdicts": {{\n{lines}\n}}}}\n')


def _run(program: Program) -> Sequence[Any]:
    verdict = run(program)
    return [verdict.kind, verdict.error, verdict.trace]


def main() -> None:
    """Learn what isn't known, and count."""
    os.environ["OMP_NUM_THREADS"] = "1"
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="*", help="names of programs (all)")
    parser.add_argument("--count", type=int, default=COUNT, help=f"mutants of each program ({COUNT})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true", help="programs that were written apart, to examine")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    arguments = parser.parse_args()
    started, verdicts = time.perf_counter(), Verdicts()
    right = corpus.programs(arguments.program, corpus.HELD_OUT if arguments.held_out else corpus.PROGRAMS)
    wrong = [m.program for p in right for m in mutants(p, arguments.count, arguments.seed)]
    verdicts.learn([*right, *wrong], arguments.jobs)
    for program in right:
        if verdicts[program].kind != HARMLESS:
            print(f"{program.name} itself fails: {verdicts[program].error}")
    print(dict(Counter(verdicts[p].kind for p in wrong)), f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
