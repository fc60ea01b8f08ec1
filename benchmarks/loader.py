"""simpletorch's `DataLoader` against torch's, in one run: how many times as fast, and whether memory stays flat.

    python benchmarks/loader.py [--json] [--batches 100000] [--write] [--busy]

Each pair is measured in turns (ours first in every other round), the best of the rounds counts. A ratio above 1 means
that ours is faster. CPU time is that of this process and its workers: on a busy machine it says more than wall time.
Tensors in memory are torch's `TensorDataset` for both. "bare" is what indexing alone takes, without any loader. Memory
is the resident set of this process and its workers while it takes ``--batches`` batches. ``--write`` keeps the table
in benchmarks/results/loader.md.
"""
# ruff: noqa: D102, D103 - what is measured does nothing

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import torch
import torch.utils.data

from simpletorch.data import DataLoader, TensorDataset

RESULTS = Path(__file__).parent / "results" / "loader.md"
ROUNDS = 9
SAMPLES = 12_800

Make = Callable[[Any], Any]


class Rows(torch.utils.data.Dataset):
    """A map-style dataset as one writes it: some Python, then a tensor and an int."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.images = torch.randn(256, *shape)

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.images[index % 256], index % 10


class Clock:
    """Wall and CPU seconds since it was made; workers count once they have ended."""

    def __init__(self) -> None:
        self.start = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.perf_counter(), time.process_time() + children.ru_utime + children.ru_stime

    def read(self) -> tuple[float, float]:
        now = self._now()
        return now[0] - self.start[0], now[1] - self.start[1]


def epoch(loader: Any) -> tuple[float, float]:
    clock = Clock()
    for _ in loader:
        pass
    return clock.read()


def first_batch(loader: Any) -> tuple[float, float]:
    clock = Clock()
    batches = iter(loader)
    next(batches)
    seconds = clock.read()
    del batches
    return seconds


def compared(make: Make, seconds: Callable[[Any], tuple[float, float]]) -> dict[str, float]:
    """Best wall and CPU seconds of torch's and ours, and their ratios."""
    found: dict[Any, list[tuple[float, float]]] = {torch.utils.data.DataLoader: [], DataLoader: []}
    for number in range(ROUNDS):
        for cls in list(found)[:: -1 if number % 2 else 1]:
            found[cls].append(seconds(make(cls)))
    (wall, cpu), (our_wall, our_cpu) = ([min(column) for column in zip(*r, strict=True)] for r in found.values())
    return {
        "torch": wall,
        "ours": our_wall,
        "ratio": wall / our_wall,
        "torch_cpu": cpu,
        "ours_cpu": our_cpu,
        "cpu_ratio": cpu / max(our_cpu, 1e-9),
    }


class Bare:
    """Just the indexing of a shuffled epoch."""

    def __init__(self, data: torch.utils.data.TensorDataset) -> None:
        self.data = data

    def __iter__(self) -> Iterator[tuple[torch.Tensor, ...]]:
        for rows in torch.randperm(len(self.data)).split(64):
            yield tuple([tensor.index_select(0, rows) for tensor in self.data.tensors])


def tensors(*shape: int) -> torch.utils.data.TensorDataset:
    return torch.utils.data.TensorDataset(torch.randn(SAMPLES, *shape), torch.randint(10, (SAMPLES,)))


def speed() -> dict[str, dict[str, float]]:
    table, digits, images = tensors(16), tensors(1, 8, 8), tensors(1, 28, 28)
    rows = Rows((1, 28, 28))
    large = torch.utils.data.Subset(Rows((3, 96, 96)), range(1280))
    cases: dict[str, tuple[Make, Callable[[Any], tuple[float, float]]]] = {
        "tensors in memory [16], batch 64, shuffled": (lambda cls: cls(table, 64, shuffle=True), epoch),
        "tensors in memory [1, 8, 8] (Digits), batch 64, shuffled": (lambda cls: cls(digits, 64, shuffle=True), epoch),
        "tensors in memory [1, 28, 28], batch 64, shuffled": (lambda cls: cls(images, 64, shuffle=True), epoch),
        "the same, bare indexing instead of ours": (
            lambda cls: Bare(images) if cls is DataLoader else cls(images, 64, shuffle=True),
            epoch,
        ),
        "tensors in memory [1, 8, 8], batch 64, in order": (lambda cls: cls(digits, 64), epoch),
        "map-style Python dataset, batch 64, shuffled": (lambda cls: cls(rows, 64, shuffle=True), epoch),
        "map-style Python dataset, 2 workers": (lambda cls: cls(rows, 64, shuffle=True, num_workers=2), epoch),
        "map-style, large samples [3, 96, 96], 2 workers": (lambda cls: cls(large, 64, num_workers=2), epoch),
        "first batch, 2 workers": (lambda cls: cls(rows, 64, shuffle=True, num_workers=2), first_batch),
        "first batch of the second epoch, 2 persistent workers": (
            lambda cls: second_epoch(cls(rows, 64, shuffle=True, num_workers=2, persistent_workers=True)),
            first_batch,
        ),
    }
    return {name: compared(make, seconds) for name, (make, seconds) in cases.items()}


def crowded() -> dict[str, dict[str, float]]:
    """Mean microseconds of a batch with one and two threads of torch's, alone and beside two processes that compute.

    The mean, as what waits for another thread does so now and then, and long.
    """
    data = {str(list(shape)): tensors(*shape) for shape in ((1, 28, 28), (3, 48, 48))}
    found = {}
    for beside in (0, 2):
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(beside)]
        try:
            for threads in (1, 2):
                torch.set_num_threads(threads)
                for name, rows in data.items():
                    loaders = {"ours": DataLoader(rows, 64, shuffle=True), "bare indexing": Bare(rows)}
                    loaders["torch's"] = torch.utils.data.DataLoader(rows, 64, shuffle=True)
                    means = {key: _mean(loader) for key, loader in loaders.items()}
                    found[f"{name}, {threads} threads, beside {beside} busy processes"] = means
        finally:
            for other in others:
                other.kill()
                other.wait()
    torch.set_num_threads(1)
    return found


def _mean(loader: Any) -> float:
    seconds = [epoch(loader)[0] for _ in range(ROUNDS)]
    return 1e6 * sum(seconds) / ROUNDS / (SAMPLES // 64)


def second_epoch(loader: Any) -> Any:
    """The loader after one batch of the first epoch."""
    for _ in loader:
        break
    return loader


def memory(batches: int) -> dict[str, dict[str, float]]:
    """Resident MiB after a tenth of the batches and after all of them."""
    data = TensorDataset(torch.randn(6400, 16), torch.randint(10, (6400,)))
    found = {}
    for name, workers in (("in this process", 0), ("2 persistent workers", 2)):
        loader = DataLoader(data, 64, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
        done, early = 0, 0.0
        while done < batches:
            for _ in loader:
                done += 1
            if not early and done >= batches // 10:
                early = resident()
        late = resident()
        found[f"{done} batches, {name}"] = {"after a tenth": early, "at the end": late, "growth": late - early}
        del loader
    return found


def resident() -> float:
    gc.collect()
    process = psutil.Process()
    return sum(p.memory_info().rss for p in (process, *process.children())) / 2**20


def crowd_table(found: dict[str, dict[str, float]]) -> str:
    lines = ["| mean time of a batch of 64 | torch's | bare indexing | ours |", "| --- | --- | --- | --- |"]
    for name, means in found.items():
        row = " | ".join(f"{means[key]:.0f} µs" for key in ("torch's", "bare indexing", "ours"))
        lines.append(f"| {name} | {row} |")
    return "\n".join(lines)


def table(speeds: dict[str, dict[str, float]], memories: dict[str, dict[str, float]]) -> str:
    lines = ["| what | torch's | ours | ratio, wall time | ratio, CPU time |", "| --- | --- | --- | --- | --- |"]
    for name, r in speeds.items():
        cpu = f"{r['cpu_ratio']:.2f}" if "first batch" not in name else ""
        lines.append(f"| {name} | {r['torch'] * 1e3:.1f} ms | {r['ours'] * 1e3:.1f} ms | {r['ratio']:.2f} | {cpu} |")
    lines += [
        "",
        "| memory, this process and its workers | after a tenth | at the end | growth |",
        "| --- | --- | --- | --- |",
    ]
    for name, m in memories.items():
        lines.append(f"| {name} | {m['after a tenth']:.1f} MiB | {m['at the end']:.1f} MiB | {m['growth']:+.1f} MiB |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--batches", type=int, default=100_000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--busy", action="store_true", help="only how long a batch takes beside other processes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.busy:
        found = crowded()
        print(json.dumps(found) if options.json else crowd_table(found))
        return
    speeds, memories, crowd = speed(), memory(options.batches), crowded()
    text = f"{table(speeds, memories)}\n\n{crowd_table(crowd)}"
    print(json.dumps({"speed": speeds, "memory": memories, "busy": crowd}) if options.json else text)
    if options.write:
        cores, load = os.cpu_count(), os.getloadavg()[0]
        about = f"torch {torch.__version__}, Python {platform.python_version()}, {cores} cores, load {load:.1f}"
        RESULTS.write_text(
            f"# DataLoader against torch's\n\n`python benchmarks/loader.py --write` on {time.strftime('%Y-%m-%d')}: "
            f"{about}. Seconds are the best of {ROUNDS} interleaved rounds of {SAMPLES:,} samples.\n\n{text}\n"
        )


if __name__ == "__main__":
    main()
