"""simpletorch's `DataLoader` against torch's, in one run: how many times as fast, and whether memory stays flat.

    python benchmarks/loader.py [--json] [--batches 100000] [--write]

Each pair is measured in turns, several rounds, the best of each. A ratio above 1 means that ours is faster. Memory is
the resident set of this process while it takes ``--batches`` batches. ``--write`` keeps the table in
benchmarks/results/loader.md.
"""
# ruff: noqa: D103 - what is measured does nothing

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import torch
import torch.utils.data

from simpletorch.data import DataLoader, TensorDataset

RESULTS = Path(__file__).parent / "results" / "loader.md"
ROUNDS = 7
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


def seconds_an_epoch(loader: Any) -> float:
    start = time.perf_counter()
    for _ in loader:
        pass
    return time.perf_counter() - start


def seconds_to_first(loader: Any) -> float:
    start = time.perf_counter()
    batches = iter(loader)
    next(batches)
    seconds = time.perf_counter() - start
    del batches
    return seconds


def compared(make: Make, seconds: Callable[[Any], float], rounds: int = ROUNDS) -> dict[str, float]:
    """Best seconds of torch's and ours, and their ratio; the median of what each pair says, so that a busy machine
    does not decide."""
    theirs, ours = [], []
    for _ in range(rounds):
        theirs.append(seconds(make(torch.utils.data.DataLoader)))
        ours.append(seconds(make(DataLoader)))
    ratios = sorted(t / o for t, o in zip(theirs, ours, strict=True))
    return {
        "torch": min(theirs),
        "ours": min(ours),
        "ratio": min(theirs) / min(ours),
        "median_ratio": ratios[len(ratios) // 2],
    }


def speed() -> dict[str, dict[str, float]]:
    tensors = torch.randn(SAMPLES, 1, 28, 28), torch.randint(10, (SAMPLES,))
    small = torch.randn(SAMPLES, 16), torch.randint(10, (SAMPLES,))
    rows, large = Rows((1, 28, 28)), Rows((3, 96, 96))
    large_part = torch.utils.data.Subset(large, range(1280))
    cases: dict[str, tuple[Make, Callable[[Any], float]]] = {
        "in-memory tensors [1, 28, 28], batch 64, shuffled": (
            lambda cls: cls(TensorDataset(*tensors), 64, shuffle=True),
            seconds_an_epoch,
        ),
        "in-memory tensors [16], batch 64, shuffled": (
            lambda cls: cls(TensorDataset(*small), 64, shuffle=True),
            seconds_an_epoch,
        ),
        "the same out of torch's TensorDataset": (
            lambda cls: cls(torch.utils.data.TensorDataset(*tensors), 64, shuffle=True),
            seconds_an_epoch,
        ),
        "in-memory tensors, batch 64, in order": (
            lambda cls: cls(torch.utils.data.TensorDataset(*tensors), 64),
            seconds_an_epoch,
        ),
        "map-style Python dataset, batch 64, shuffled": (
            lambda cls: cls(rows, 64, shuffle=True),
            seconds_an_epoch,
        ),
        "map-style Python dataset, 2 workers": (
            lambda cls: cls(rows, 64, shuffle=True, num_workers=2),
            seconds_an_epoch,
        ),
        "map-style, large samples [3, 96, 96], 2 workers": (
            lambda cls: cls(large_part, 64, num_workers=2),
            seconds_an_epoch,
        ),
        "first batch, 2 workers": (
            lambda cls: cls(rows, 64, shuffle=True, num_workers=2),
            seconds_to_first,
        ),
        "first batch of the second epoch, 2 persistent workers": (
            lambda cls: second_epoch(cls(rows, 64, shuffle=True, num_workers=2, persistent_workers=True)),
            seconds_to_first,
        ),
    }
    return {name: compared(make, seconds) for name, (make, seconds) in cases.items()}


def second_epoch(loader: Any) -> Any:
    """The loader after one batch of the first epoch."""
    seconds_to_first(torch.utils.data.DataLoader([0], 1))
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


def table(speeds: dict[str, dict[str, float]], memories: dict[str, dict[str, float]]) -> str:
    lines = ["| what | torch's | ours | torch's / ours | median of pairs |", "| --- | --- | --- | --- | --- |"]
    for name, r in speeds.items():
        lines.append(
            f"| {name} | {r['torch'] * 1e3:.1f} ms | {r['ours'] * 1e3:.1f} ms | {r['ratio']:.2f} "
            f"| {r['median_ratio']:.2f} |"
        )
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
    options = parser.parse_args()
    torch.set_num_threads(1)
    speeds, memories = speed(), memory(options.batches)
    text = table(speeds, memories)
    print(json.dumps({"speed": speeds, "memory": memories}) if options.json else text)
    if options.write:
        cores, load = os.cpu_count(), os.getloadavg()[0]
        about = f"torch {torch.__version__}, Python {platform.python_version()}, {cores} cores, load {load:.1f}"
        RESULTS.write_text(
            f"# DataLoader against torch's\n\n`python benchmarks/loader.py --write` on {time.strftime('%Y-%m-%d')}: "
            f"{about}. Seconds are the best of {ROUNDS} interleaved rounds of {SAMPLES:,} samples.\n\n{text}\n"
        )


if __name__ == "__main__":
    main()
