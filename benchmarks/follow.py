"""What following costs: each program of the corpus and of the examples in one process, and the command as a process.

    python benchmarks/follow.py                # the table; exit status 1 where a measure is missed
    python benchmarks/follow.py --rounds 5     # the fastest of five, where the machine is shared
    python benchmarks/follow.py --json         # for programs

Times are CPU seconds. A shared machine makes all of them longer alike, so each is also given in units of a fixed piece
of Python that is timed beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM_MS = 100  # a program, in the process
MEDIAN_MS = 50  # one of about 300 lines
PROCESS_MS = 400  # the command
KEPT_MS = 200  # the command where nothing has changed since
LARGE_MS = 2_000  # a file of 3,000 lines
MEMORY_MB = 200


@dataclass(frozen=True)
class Row:
    """One program: its lines, and what following it takes."""

    name: str
    lines: int
    milliseconds: float
    units: float


def programs() -> list[Path]:
    """The corpus, the examples and the ports."""
    corpus = HERE.parent / "corpora" / "programs"
    folders = [p / "main.py" for p in corpus.iterdir() if (p / "main.py").exists()]
    examples = (HERE.parent / "examples").rglob("*.py")
    return sorted([*corpus.glob("*.py"), *folders, *(p for p in examples if p.name != "__init__.py")])


def unit() -> float:
    """CPU seconds of a fixed piece of Python."""
    started = time.process_time()
    table: dict[int, tuple[int, ...]] = {}
    for i in range(60_000):
        table[i % 997] = (*table.get(i % 991, ())[-3:], i)
    return time.process_time() - started


def fastest(work: Callable[[], object], rounds: int) -> float:
    """The CPU seconds of the fastest round."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def large(folder: Path) -> Path:
    """A file of 3,000 lines: models of the corpus one after the other, each of which is built and called."""
    source = (HERE.parent / "corpora" / "programs" / "t5_small.py").read_text()
    copies = 3_000 // source.count("\n") + 1
    path = folder / "large.py"
    path.write_text("\n".join(source.replace("__main__", f"__main__{i or ''}") for i in reversed(range(copies))))
    return path


def measure(path: Path, rounds: int) -> Row:
    """One program in this process."""
    from simpletorch.follow import follow

    seconds = fastest(lambda: follow(path), rounds)
    return Row(path.stem, len(path.read_text().splitlines()), 1_000 * seconds, seconds / fastest(unit, rounds))


def as_process(path: Path, rounds: int, *options: str) -> tuple[float, float]:
    """CPU milliseconds and megabytes of the command. Its modules are compiled once, as pip leaves them.

    After the first round the answer is in the cache, but for the option ``--no-cache``.
    """
    command = [sys.executable, "-m", "simpletorch.cli", "follow", *options, str(path)]
    best = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": folder, "XDG_CACHE_HOME": folder}
        for _ in range(rounds + 1):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=False, capture_output=True, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1_000 * best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1_024


def main() -> int:
    """Print what was measured, and what is above the measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="times that each is followed; the fastest counts")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    paths = programs()
    rows = [measure(path, arguments.rounds) for path in paths]
    program = HERE.parent / "corpora" / "programs" / "vit_plain.py"
    kept, _ = as_process(program, arguments.rounds)
    command, megabytes = as_process(program, arguments.rounds, "--no-cache")
    with tempfile.TemporaryDirectory() as folder:
        long = measure(large(Path(folder)), 1)
    usual = [r.milliseconds for r in rows if 150 <= r.lines <= 450]
    median = statistics.median(usual)
    missed = [
        *(f"{r.name} takes {r.milliseconds:.0f} ms" for r in rows if r.milliseconds > PROGRAM_MS),
        *([f"the median is {median:.0f} ms"] if median > MEDIAN_MS else []),
        *([f"the command takes {command:.0f} ms"] if command > PROCESS_MS else []),
        *([f"the command takes {kept:.0f} ms where nothing has changed"] if kept > KEPT_MS else []),
        *([f"the command takes {megabytes:.0f} MB"] if megabytes > MEMORY_MB else []),
        *([f"the large file takes {long.milliseconds:.0f} ms"] if long.milliseconds > LARGE_MS else []),
    ]
    if arguments.json:
        found = {"median_ms": median, "process_ms": command, "kept_ms": kept, "process_mb": megabytes, "missed": missed}
        print(json.dumps({**found, "large": asdict(long), "programs": [asdict(r) for r in rows]}, indent=2))
        return int(bool(missed))
    for row in sorted(rows, key=lambda r: -r.milliseconds):
        print(f"{row.name:28}{row.lines:6} lines{row.milliseconds:8.0f} ms{row.units:8.1f} units")
    print(f"{len(rows)} programs; median of those of about 300 lines {median:.0f} ms")
    print(f"the command: {command:.0f} ms, {megabytes:.0f} MB; where nothing has changed: {kept:.0f} ms")
    print(f"a file of {long.lines} lines: {long.milliseconds:.0f} ms")
    print("\n".join(f"over the measure: {m}" for m in missed))
    return int(bool(missed))


if __name__ == "__main__":
    raise SystemExit(main())
