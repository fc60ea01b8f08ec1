"""What the follower says about other people's packages, where nearly every line is right.

``python benchmarks/follow/noise.py vit-pytorch timm`` downloads the packages into ``--cache`` and unpacks them there
(nothing is installed), follows each file as a program, and prints each place once: the findings, the faults and
crashes of the follower, and the files that took long. Findings proved to be true are in ``true_finds.md``.

``--sources`` takes the source archive, with examples and tests, where a package has one that its build allows to be
fetched. ``--results FILE`` keeps what came of each file; with ``--resume`` files that are in it are not followed again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

from simpletorch.follow import follow

CACHE = Path(os.environ.get("SIMPLETORCH_PACKAGES", Path.home() / ".cache/simpletorch/packages"))
MEMORY = 6 << 30  # bytes that following one file may take
FILES = 25  # that one process follows: what it remembers of files is not what following the last one takes


class TooLong(BaseException):
    """The time for a file is over. Not an `Exception`, so that nothing in the follower takes it for its own."""


@dataclass
class Result:
    """What came of one file."""

    path: str
    lines: int
    seconds: float = 0.0
    complete: bool = True
    findings: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    memory: int = 0
    """The most that the process has had until then, in MiB."""


def fetch(name: str, cache: Path, *, sources: bool) -> Path | None:
    """The unpacked folder of a package, None where it isn't served."""
    for kind in ("sources", "wheels") if sources else ("wheels",):
        folder, archives = cache / kind / name, cache / "archives" / kind / name
        if not folder.exists() and (any(archives.glob("*")) or _download(name, archives)):
            for archive in archives.glob("*"):
                _unpack(archive, folder)
        if folder.exists():
            return folder
    return None


def _download(name: str, archives: Path) -> bool:
    kind = (
        ["--no-binary", ":all:", "--no-build-isolation"]
        if archives.parent.name == "sources"
        else ["--only-binary", ":all:"]
    )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *kind, "-d", str(archives), name]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder, [n for n in wheel.namelist() if n.endswith(".py")])
    else:
        with tarfile.open(archive) as source:
            code = [m for m in source.getmembers() if m.isfile() and m.name.endswith(".py")]
            source.extractall(folder, code, filter="data")


def files(paths: list[Path]) -> Iterator[Path]:
    """The Python files of files and folders."""
    for path in paths:
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def one(path: str, limit: float) -> Result:
    """Follow one file, for as long as ``limit`` seconds of CPU."""
    result = Result(path, Path(path).read_bytes().count(b"\n"))
    start = time.process_time()
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit, 1.0)  # again, should one be lost in a finalizer
    try:
        found = follow(path)
    except TooLong:
        result.faults.append(f"{path}: not done after {limit:g} s")
    except Exception as error:
        result.faults.append(f"{path}: crash: {type(error).__name__}: {error}")
    else:
        result.complete = found.complete
        result.findings = ["\n    ".join(f.lines()) for f in (*found.errors, *found.warnings)]
        result.faults = list(found.faults)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    result.seconds = time.process_time() - start
    result.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return result


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooLong


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def follow_all(paths: list[Path], limit: float) -> Iterator[Result]:
    """Follow files one after the other in a process beside, that may die."""
    pool = ProcessPoolExecutor(1, initializer=_limit_memory, max_tasks_per_child=FILES)
    for path in paths:
        try:
            yield pool.submit(one, str(path), limit).result()
        except BrokenProcessPool:
            yield Result(str(path), 0, faults=[f"{path}: the process died"])
            pool = ProcessPoolExecutor(1, initializer=_limit_memory, max_tasks_per_child=FILES)
    pool.shutdown()


def tell(results: list[Result], slow: float) -> None:
    """Print every place once, then the totals."""
    findings = dict.fromkeys(f for r in results for f in r.findings)
    places = {f.partition(": ")[0] + f.partition("\n")[0].rpartition("[")[2]: f for f in findings}
    faults = dict.fromkeys(f for r in results for f in r.faults)
    for text in sorted(places.values()):
        print(text)
    for text in sorted(faults):
        print("fault:", text)
    for r in sorted(results, key=lambda r: -r.seconds)[:20]:
        if r.seconds > slow:
            print(f"slow: {r.path}: {r.seconds:.1f} s{'' if r.complete else ', not complete'}")
    lines = sum(r.lines for r in results)
    errors = sum("error: " in text.partition("\n")[0] for text in places.values())
    print(
        f"{len(results)} files, {lines:,} lines: {errors} errors "
        f"({1e5 * errors / max(lines, 1):.2f} per 100,000 lines), {len(places) - errors} warnings, "
        f"{len(faults)} faults, {sum(not r.complete for r in results)} not complete, "
        f"{sum(r.seconds for r in results):.0f} s of CPU, at most {max((r.seconds for r in results), default=0):.1f} s "
        f"and {max((r.memory for r in results), default=0)} MiB"
    )


def main() -> None:
    """Follow packages, or files and folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", help="names of packages, or paths")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--sources", action="store_true", help="the source archives: with examples and tests")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds of CPU for each file")
    parser.add_argument("--slow", type=float, default=2.0, help="seconds of CPU from which a file is told")
    parser.add_argument("--every", type=int, default=1, help="only each n-th file")
    parser.add_argument("--results", type=Path, help="a file for the results, a line of JSON for each file")
    parser.add_argument("--resume", action="store_true", help="go on where the file of results ends")
    given = parser.parse_args()
    folders = [Path(w) if Path(w).exists() else fetch(w, given.cache, sources=given.sources) for w in given.what]
    chosen = list(files([f for f in folders if f is not None]))[:: given.every]
    known = _known(given.results) if given.resume else {}
    results = [known[str(path)] for path in chosen if str(path) in known]
    with given.results.open("a" if given.resume else "w") if given.results else open(os.devnull, "w") as out:
        for result in follow_all([path for path in chosen if str(path) not in known], given.limit):
            results.append(result)
            print(json.dumps(asdict(result)), file=out, flush=True)
    tell(results, given.slow)


def _known(results: Path) -> dict[str, Result]:
    """What came of files before, by their paths."""
    lines = results.read_text().splitlines() if results.exists() else []
    return {r.path: r for r in (Result(**json.loads(line)) for line in lines)}


if __name__ == "__main__":
    main()
