"""What `Trainer(parallel="ddp")` costs a step over a loop with DDP written out.

    python benchmarks/distributed/ddp.py [--rounds 12] [--write]

Two gloo processes train an MLP, batches of 64 in each, AdamW (fused), one thread. The loop, the Trainer and the loop
once more (what it differs from itself is the measure's own error) take turns in the middle of their loops, as greenlets
of one thread: bursts of 12 steps, so that whatever else the machine does meets all alike; the first 4 of a burst warm
the caches. Of the others the time between the loader's being asked for one batch and the next is taken: the CPU time of
the thread that trains (what a loop costs), and the wall time (with its waiting for the other process). A round has
fresh models and 25 bursts; of its bursts' differences the mean of the middle half counts, and of the rounds the median.
``--write`` puts the table into benchmarks/results/ddp.md. Needs greenlet.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import greenlet
import torch
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from simpletorch import distributed
from simpletorch.train import Trainer

BURST, WARM_UP, BURSTS, DISTINCT = 12, 4, 25, 13
RESULTS = Path(__file__).parents[1] / "results" / "ddp.md"
SIZES = {"MLP 784-128-10": (784, 128, 10), "MLP 7-5-3": (7, 5, 3)}


class Batches:
    """A contender's batches, which hand over after each burst and note what its steps took."""

    def __init__(self, batches: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
        self.batches = batches
        self.bursts: list[tuple[float, float]] = []

    def __len__(self) -> int:
        return BURST * BURSTS

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for _ in range(BURSTS):
            greenlet.getcurrent().parent.switch()
            for step in range(BURST):
                if step == WARM_UP:
                    start = time.thread_time(), time.perf_counter()
                yield self.batches[step % DISTINCT]
            end, steps = (time.thread_time(), time.perf_counter()), BURST - WARM_UP
            self.bursts.append(((end[0] - start[0]) * 1e6 / steps, (end[1] - start[1]) * 1e6 / steps))


def middle(values: list[float]) -> float:
    """The mean of the middle half."""
    ordered = sorted(values)
    return statistics.fmean(ordered[len(ordered) // 4 : -len(ordered) // 4])


def by_hand(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batches: Batches) -> None:
    """What one writes without us."""
    replicated = DistributedDataParallel(model, gradient_as_bucket_view=True)
    replicated.train()
    total = 0.0
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(replicated(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(targets)


def by_trainer(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batches: Batches) -> None:
    """The same."""
    Trainer(loss=F.cross_entropy, optimizer=optimizer, progress=False, parallel="ddp").fit(model, batches)


def contender(train: Callable[..., None], sizes: tuple[int, int, int]) -> tuple[greenlet.greenlet, Batches]:
    """A model, and its training, ready to begin."""
    torch.manual_seed(0)
    first, hidden, last = sizes
    model = torch.nn.Sequential(torch.nn.Linear(first, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, last))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    batches = Batches([(torch.randn(64, first), torch.randint(last, (64,))) for _ in range(DISTINCT)])
    return greenlet.greenlet(lambda: train(model, optimizer, batches)), batches


def one_round(number: int, sizes: tuple[int, int, int]) -> list[tuple[float, float, float]]:
    """CPU and wall: a step of the loop, and what the Trainer and the loop once more take above it, in µs."""
    order = [by_hand, by_trainer, by_hand] if number % 2 else [by_hand, by_hand, by_trainer]
    contenders = [contender(train, sizes) for train in order]
    gc.collect()
    gc.disable()
    while any(not running.dead for running, _ in contenders):
        for running, _ in contenders:
            if not running.dead:
                running.switch()
    gc.enable()
    loop, second, third = (batches.bursts for _, batches in contenders)
    ours, again = (second, third) if number % 2 else (third, second)
    return [
        (
            statistics.median(each[kind] for each in loop),
            middle([a[kind] - b[kind] for a, b in zip(ours, loop, strict=True)]),
            middle([a[kind] - b[kind] for a, b in zip(again, loop, strict=True)]),
        )
        for kind in (0, 1)
    ]


def measure(rounds: int) -> dict[str, list[list[tuple[float, float, float]]]]:
    """For each model and round."""
    torch.set_num_threads(1)
    return {name: [one_round(number, sizes) for number in range(rounds)] for name, sizes in SIZES.items()}


def main() -> None:
    """Measure in two processes, and print the table of rank 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    results = distributed.launch(measure, arguments.rounds, processes=2)[0]
    lines = ["| model | time | loop (µs) | Trainer − loop (µs) | ratio | loop − loop (µs) |", "| --- " * 6 + "|"]
    for name, rounds in results.items():
        for index, kind in enumerate(("CPU", "wall")):
            loop, ours, own = (statistics.median(each[index][what] for each in rounds) for what in range(3))
            lines.append(f"| {name} | {kind} | {loop:.0f} | {ours:+.1f} | {1 + ours / loop:.3f} | {own:+.1f} |")
    print("\n".join(lines))
    if arguments.write:
        about = f"Two gloo processes, torch {torch.__version__}, {os.cpu_count()} cores (shared with other work)."
        head = (
            f'# Trainer(parallel="ddp")\n\n`python benchmarks/distributed/ddp.py --rounds {arguments.rounds} --write`'
        )
        RESULTS.write_text("\n".join([head, "", about, "", *lines, ""]))


if __name__ == "__main__":
    main()
