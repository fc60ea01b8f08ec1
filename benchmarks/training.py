"""What a training loop costs per step, over the loop written out: ours by hand, our Trainer, and others.

    python benchmarks/training.py [--rounds 6] [--bursts 10] [--write]

An MLP 784-128-10, batches of 64, AdamW (fused), one thread. Each contender trains in a thread of its own, and they take
turns: a burst of steps each, so that whatever else the machine does meets all of them alike. The first steps of a burst
warm the caches; of the others the CPU time is taken, between the loop's asking for one batch and the next, with
everything that happens only now and then (bars, flushes). A contender's overhead is the mean, over all turns, of its
difference to the raw loop in the same turn; the median is shown beside it. Every round begins with new models, because
where one lies in memory makes it faster or slower; for the same reason malloc uses one arena and gives nothing back.
All of it is done again for an MLP 7-5-3: the loops cost the same, and less disturbs the measure. ``--write`` puts the
tables into benchmarks/results/training.md.

The others are benchmark-only: pip install lightning pytorch-ignite accelerate torchmetrics; who is missing is left out.
"""

# ruff: noqa: D102, D103 - the contenders are described in their table

from __future__ import annotations

import argparse
import io
import logging
import os
import platform
import random
import statistics
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from torch.nn import functional as F

from simpletorch.metrics import Accuracy
from simpletorch.train import CSVLogger, Step, Trainer, track

BURST, WARM_UP = 60, 10
MALLOC = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824"}
BATCH = 64
DISTINCT = 13
SIZES = [784, 128, 10]
FOLDER = Path(__file__).parent / "results"


class Turns:
    """Lets one thread run at a time, each for a burst of steps, in an order that is drawn anew for every round."""

    def __init__(self) -> None:
        self.gates: list[threading.Semaphore] = []
        self.order: list[int] = []
        self.draw = random.Random(0)

    def join(self) -> int:
        """Take part; returns one's number."""
        self.gates.append(threading.Semaphore(0))
        return len(self.gates) - 1

    def wait(self, number: int) -> None:
        """Wait for one's turn."""
        self.gates[number].acquire()

    def pass_on(self) -> None:
        """Let the next one run."""
        if not self.order:
            self.order = self.draw.sample(range(len(self.gates)), len(self.gates))
        self.gates[self.order.pop()].release()


class Batches:
    """Ready-made batches, which hand over to the next contender after each burst and note the time of each."""

    def __init__(self, bursts: int, turns: Turns) -> None:
        generator = torch.Generator().manual_seed(0)
        self.batches = [
            (torch.randn(BATCH, SIZES[0], generator=generator), torch.randint(SIZES[2], (BATCH,), generator=generator))
            for _ in range(DISTINCT)
        ]
        self.bursts = bursts
        self.turns = turns
        self.number = turns.join()
        self.seconds: list[float] = []

    def __len__(self) -> int:
        return self.bursts * BURST

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        clock = time.thread_time
        start = 0.0
        for index in range(len(self)):
            place = index % BURST
            if place == WARM_UP:
                start = clock()
            elif place == 0 and index:
                self.seconds.append((clock() - start) / (BURST - WARM_UP))
                self.turns.pass_on()
                self.turns.wait(self.number)
            yield self.batches[index % DISTINCT]
        self.seconds.append((clock() - start) / (BURST - WARM_UP))


class Terminal(io.StringIO):
    """Where a bar is drawn as in a terminal, and thrown away."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)


def new() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(SIZES[0], SIZES[1]), torch.nn.ReLU(), torch.nn.Linear(SIZES[1], SIZES[2])
    )
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)


def raw(batches: Batches) -> None:
    model, optimizer = new()
    model.train()
    for images, targets in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), targets)
        loss.backward()
        optimizer.step()


def by_hand(batches: Batches) -> None:
    model, optimizer = new()
    step = Step(model, F.cross_entropy, optimizer)
    model.train()
    for images, targets in track(batches):
        step(images, targets)


def trainer_bare(batches: Batches) -> None:
    model, optimizer = new()
    Trainer(loss=F.cross_entropy, optimizer=optimizer, progress=False).fit(model, batches)


def trainer_full(batches: Batches) -> None:
    model, optimizer = new()
    with tempfile.TemporaryDirectory() as folder:
        Trainer(
            loss=F.cross_entropy,
            optimizer=optimizer,
            train_metrics={"accuracy": Accuracy()},
            callbacks=[CSVLogger(Path(folder) / "log.csv")],
        ).fit(model, batches)


def fabric(batches: Batches) -> None:
    from lightning.fabric import Fabric

    engine = Fabric(accelerator="cpu", devices=1)
    model, optimizer = engine.setup(*new())
    model.train()
    for images, targets in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), targets)
        engine.backward(loss)
        optimizer.step()


def ignite(batches: Batches) -> None:
    from ignite.engine import Engine

    model, optimizer = new()

    def update(_: Engine, batch: tuple[torch.Tensor, torch.Tensor]) -> float:
        model.train()
        optimizer.zero_grad()
        images, targets = batch
        loss = F.cross_entropy(model(images), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    Engine(update).run(batches, max_epochs=1)


def accelerate(batches: Batches) -> None:
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model, optimizer = accelerator.prepare(*new())
    model.train()
    for images, targets in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), targets)
        accelerator.backward(loss)
        optimizer.step()


def lightning(batches: Batches, *, full: bool = False) -> None:
    import lightning as L

    model, optimizer = new()

    class Module(L.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = model
            if full:
                from torchmetrics.classification import MulticlassAccuracy

                self.accuracy = MulticlassAccuracy(SIZES[2], average="micro")

        def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], _: int) -> torch.Tensor:
            images, targets = batch
            output = self.model(images)
            loss = F.cross_entropy(output, targets)
            if full:
                self.accuracy(output, targets)
                self.log("loss", loss, prog_bar=True)
                self.log("accuracy", self.accuracy)
            return loss

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return optimizer

    with tempfile.TemporaryDirectory() as folder:
        from lightning.pytorch.loggers import CSVLogger as LightningCSV

        L.Trainer(
            accelerator="cpu",
            devices=1,
            max_epochs=1,
            logger=LightningCSV(folder) if full else False,
            enable_progress_bar=full,
            enable_checkpointing=False,
            enable_model_summary=False,
        ).fit(Module(), batches)


def lightning_full(batches: Batches) -> None:
    lightning(batches, full=True)


CONTENDERS: dict[str, tuple[Callable[[Batches], None], str, float | None]] = {
    "the loop written out in torch": (raw, "torch", None),
    "`Step` and `track` by hand": (by_hand, "simpletorch", 5),
    "`Trainer`, bare": (trainer_bare, "simpletorch", 30),
    "`Trainer` with bar, CSV row per step, accuracy": (trainer_full, "simpletorch", 60),
    "Lightning Fabric": (fabric, "lightning", None),
    "Ignite": (ignite, "ignite", None),
    "accelerate": (accelerate, "accelerate", None),
    "Lightning `Trainer`, bare": (lightning, "lightning", None),
    "Lightning `Trainer` with bar, CSV row per 50 steps (its default), accuracy": (lightning_full, "lightning", None),
}


def measure(bursts: int, needs: Sequence[str]) -> dict[str, list[float]]:
    """CPU seconds per step of every contender of these packages, by turn."""
    names = [name for name, (_, package, _) in CONTENDERS.items() if package in needs and find_spec(package)]
    turns = Turns()
    batches = {name: Batches(bursts, turns) for name in names}

    def run(name: str) -> None:
        turns.wait(batches[name].number)
        CONTENDERS[name][0](batches[name])
        turns.pass_on()

    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    screen = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = Terminal()
    try:
        for thread in threads:
            thread.start()
        turns.pass_on()
        for thread in threads:
            thread.join()
    finally:
        sys.stdout, sys.stderr = screen
    count = min(len(batches[name].seconds) for name in names)  # Lightning never asks for the end
    return {name: batches[name].seconds[1:count] for name in names}  # the first has what happens once


def table(found: dict[str, list[float]]) -> tuple[str, bool]:
    """The results as Markdown, and whether ours are within their limits."""
    base = found[next(iter(CONTENDERS))]
    rows = [
        "| loop | CPU time per step | over the raw loop: mean | median | limit |",
        "| --- | --- | --- | --- | --- |",
    ]
    good = True
    for name, times in found.items():
        over = [(t - b) * 1e6 for t, b in zip(times, base, strict=True)]
        mean, limit = statistics.fmean(over), CONTENDERS[name][2]
        good = good and (limit is None or mean <= limit)
        shown = "| |" if times is base else f"{mean:+.1f} µs | {statistics.median(over):+.1f} µs |"
        rows.append(
            f"| {name} | {statistics.fmean(times) * 1e6:.0f} µs | {shown} {f'+{limit:g} µs' if limit else ''} |"
        )
    return "\n".join(rows), good


def environment() -> str:
    names = ("torch", "lightning", "pytorch-ignite", "accelerate", "torchmetrics")
    versions = []
    for name in names:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, one thread; {', '.join(versions)}"


def report(rounds: int, bursts: int, needs: Sequence[str]) -> tuple[str, bool]:
    """The table for the model of the current sizes, with a heading, and whether ours are within their limits."""
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, times in measure(bursts, needs).items():
            found.setdefault(name, []).extend(times)
    text, good = table(found)
    return f"## MLP {'-'.join(map(str, SIZES))}\n\n{text}\n", good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--bursts", type=int, default=10)
    parser.add_argument("--only", nargs="+", default=["lightning", "ignite", "accelerate"], help="which others")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    head = f"{environment()}.\nBatches of {BATCH}, fused AdamW for all; {options.rounds} rounds of {options.bursts} "
    head += f"bursts of {BURST} steps, taking turns; load average {os.getloadavg()[0]:.1f} at the start.\n"
    parts, verdicts = [head], []
    for sizes in ([784, 128, 10], [7, 5, 3]):
        SIZES[:] = sizes
        text, good = report(options.rounds, options.bursts, ["torch", "simpletorch", *options.only])
        parts.append(text)
        verdicts.append(good)
    print("\n".join(parts))
    if options.write:
        command = f"python benchmarks/training.py --rounds {options.rounds} --bursts {options.bursts} --write"
        title = f"# Training: overhead per step\n\n`{command}`, {time.strftime('%Y-%m-%d')}.\n"
        (FOLDER / "training.md").write_text(title + "\n".join(parts), encoding="utf-8")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in MALLOC.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **MALLOC})
    sys.exit(main())
