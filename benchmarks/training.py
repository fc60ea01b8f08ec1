"""What a training loop costs per step, over the loop written out: ours by hand, our Trainer, and others.

    python benchmarks/training.py [--rounds 2] [--write]

An MLP 784-128-10, batches of 64, AdamW (fused), one thread. Each contender has a process of its own, in which it and
the raw loop train the same model with the same optimizer (where one lies in memory makes it faster or slower) and take
turns in the middle of their loops (as greenlets): a burst of steps each, so that whatever else the machine does meets
both alike. The first steps of a burst warm the caches; of the others the CPU time is taken, between the loop's asking
for one batch and the next. Bursts are summed up by the dozen, so that what happens only now and then (a bar is drawn,
rows are written) counts. A contender's overhead is its difference to the raw loop in the same dozen: the mean of the
middle half of all dozens, since on a shared machine some are far off. The raw loop is a contender too: what it differs
from itself is the measure's own error. All of it is done again for an MLP 7-5-3: the loops cost the same, and less
disturbs the measure. ``--write`` puts the tables into benchmarks/results/training.md.

This needs greenlet, and the others are benchmark-only too; who is missing is left out:
pip install -c constraints.txt greenlet lightning pytorch-ignite accelerate torchmetrics
"""

# ruff: noqa: D102, D103 - the contenders are described in their table

from __future__ import annotations

import argparse
import gc
import io
import logging
import multiprocessing
import os
import platform
import random
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import greenlet
import torch
from torch.nn import Module
from torch.nn import functional as F
from torch.optim import Optimizer

from simpletorch.metrics import Accuracy
from simpletorch.train import CSVLogger, Step, Trainer, track

BURST, WARM_UP, DOZEN, DOZENS = 60, 10, 12, 5
# one arena that gives nothing back: no step waits for the system's memory
MALLOC = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824"}
BATCH = 64
DISTINCT = 13
FOLDER = Path(__file__).parent / "results"


class Round:
    """A model and batches, which the contenders use in turn."""

    def __init__(self, sizes: Sequence[int]) -> None:
        torch.manual_seed(0)
        self.classes = sizes[-1]
        self.model = torch.nn.Sequential(
            torch.nn.Linear(sizes[0], sizes[1]), torch.nn.ReLU(), torch.nn.Linear(sizes[1], sizes[2])
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True)
        self.batches = [(torch.randn(BATCH, sizes[0]), torch.randint(sizes[2], (BATCH,))) for _ in range(DISTINCT)]
        self.is_over = False


class Batches:
    """The round's batches, which hand over after each burst and note the CPU time of a step."""

    def __init__(self, of: Round) -> None:
        self.round = of
        self.seconds: list[float] = []

    def __len__(self) -> int:
        return BURST * DOZEN * DOZENS

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        clock, others = time.thread_time, greenlet.getcurrent().parent
        index, start = 0, 0.0
        while True:
            place = index % BURST
            if place == WARM_UP:
                start = clock()
            elif place == 0 and index:
                self.seconds.append((clock() - start) / (BURST - WARM_UP))
                others.switch()
            if self.round.is_over:
                return
            yield self.round.batches[index % DISTINCT]
            index += 1


class Terminal(io.StringIO):
    """Where a bar is drawn as in a terminal, and thrown away."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)


def raw(model: Module, optimizer: Optimizer, batches: Batches) -> None:
    model.train()
    for images, targets in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), targets)
        loss.backward()
        optimizer.step()


def by_hand(model: Module, optimizer: Optimizer, batches: Batches) -> None:
    step = Step(model, F.cross_entropy, optimizer)
    model.train()
    for images, targets in track(batches):
        loss = step(images, targets)  # noqa: F841 - as one does


def trainer_bare(model: Module, optimizer: Optimizer, batches: Batches) -> None:
    Trainer(loss=F.cross_entropy, optimizer=optimizer, progress=False).fit(model, batches)


def trainer_full(model: Module, optimizer: Optimizer, batches: Batches) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Trainer(
            loss=F.cross_entropy,
            optimizer=optimizer,
            train_metrics={"accuracy": Accuracy()},
            callbacks=[CSVLogger(Path(folder) / "log.csv")],
        ).fit(model, batches)


def fabric(model: Module, optimizer: Optimizer, batches: Batches) -> None:
    from lightning.fabric import Fabric

    engine = Fabric(accelerator="cpu", devices=1)
    model, optimizer = engine.setup(model, optimizer)
    model.train()
    for images, targets in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), targets)
        engine.backward(loss)
        optimizer.step()


def ignite(model: Module, optimizer: Optimizer, batches: Batches) -> None:
    from ignite.engine import Engine

    def update(_: Engine, batch: tuple[torch.Tensor, torch.Tensor]) -> float:
        model.train()
        optimizer.zero_grad()
        images, targets = batch
        loss = F.cross_entropy(model(images), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    Engine(update).run(batches, max_epochs=1)


def accelerate(model: Module, optimizer: Optimizer, batches: Batches) -> None:
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model, optimizer = accelerator.prepare(model, optimizer)
    model.train()
    for images, targets in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), targets)
        accelerator.backward(loss)
        optimizer.step()


def lightning(model: Module, optimizer: Optimizer, batches: Batches, *, full: bool = False) -> None:
    import lightning as L

    class Module(L.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = model
            if full:
                from torchmetrics.classification import MulticlassAccuracy

                self.accuracy = MulticlassAccuracy(batches.round.classes, average="micro")

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


def lightning_full(model: Module, optimizer: Optimizer, batches: Batches) -> None:
    lightning(model, optimizer, batches, full=True)


CONTENDERS: dict[str, tuple[Callable[[Module, Optimizer, Batches], None], str, float | None]] = {
    "the raw loop: written out in torch": (raw, "torch", None),
    "`Step` and `track` by hand": (by_hand, "simpletorch", 5),
    "`Trainer`, bare": (trainer_bare, "simpletorch", 30),
    "`Trainer` with bar, CSV row per step, accuracy": (trainer_full, "simpletorch", 60),
    "Lightning Fabric": (fabric, "lightning", None),
    "Ignite": (ignite, "ignite", None),
    "accelerate": (accelerate, "accelerate", None),
    "Lightning `Trainer`, bare": (lightning, "lightning", None),
    "Lightning `Trainer` with bar, CSV row per 50 steps (its default), accuracy": (lightning_full, "lightning", None),
}


def measure(name: str, sizes: Sequence[int]) -> list[tuple[float, float]]:
    """CPU seconds per step of the raw loop and of a contender, by dozen."""
    of = Round(sizes)
    both = [(Batches(of), train) for train in (raw, CONTENDERS[name][0])]
    loops = [greenlet.greenlet(partial(train, of.model, of.optimizer, batches)) for batches, train in both]
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    order = random.Random(0)
    screen = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = Terminal()
    try:
        for burst in range(DOZEN * DOZENS + 1):
            if burst == 1:
                gc.collect()
                gc.freeze()  # or whoever is on when the collector runs pays for all of torch's objects
            for loop in order.sample(loops, 2):
                loop.switch()
        of.is_over = True
        for loop in loops:
            loop.switch()
    finally:
        sys.stdout, sys.stderr = screen
        gc.unfreeze()
    raws, others = (  # without the first burst, which has what happens once
        [statistics.fmean(batches.seconds[1 + DOZEN * i :][:DOZEN]) for i in range(DOZENS)] for batches, _ in both
    )
    return list(zip(raws, others, strict=True))


def middle(values: Sequence[float]) -> float:
    """The mean of the middle half."""
    quarter = len(values) // 4
    return statistics.fmean(sorted(values)[quarter : len(values) - quarter])


def table(found: dict[str, list[tuple[float, float]]]) -> tuple[str, bool]:
    """The results as Markdown, and whether ours are within their limits."""
    rows = [
        "| loop | CPU time per step | the raw loop beside it | over it: middle half | quartiles | limit |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    good = True
    for name, pairs in found.items():
        over = [(time - base) * 1e6 for base, time in pairs]
        mean, limit = middle(over), CONTENDERS[name][2]
        low, _, high = statistics.quantiles(over, n=4)
        good = good and (limit is None or mean <= limit)
        times = " | ".join(f"{middle(column) * 1e6:.0f} µs" for column in list(zip(*pairs, strict=True))[::-1])
        shown = f"{mean:+.1f} µs | {low:+.0f} to {high:+.0f} µs | {f'+{limit:g} µs' if limit else ''}"
        rows.append(f"| {name} | {times} | {shown} |")
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=["lightning", "ignite", "accelerate"], help="which others")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    parts = [
        f"{environment()}.\nBatches of {BATCH}, fused AdamW for all; {options.rounds} rounds of {DOZENS} times {DOZEN} "
        f"bursts of {BURST} steps; load average {os.getloadavg()[0]:.1f} at the start.\n"
    ]
    needs = ["torch", "simpletorch", *options.only]
    names = [name for name, (_, package, _) in CONTENDERS.items() if package in needs and find_spec(package)]
    order, verdicts = random.Random(0), []
    for sizes in ([784, 128, 10], [7, 5, 3]):
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        for _ in range(options.rounds):
            for name in order.sample(names, len(names)):
                with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
                    found[name] += process.submit(measure, name, sizes).result()
        text, good = table(found)
        parts.append(f"## MLP {'-'.join(map(str, sizes))}\n\n{text}\n")
        verdicts.append(good)
    print("\n".join(parts))
    if options.write:
        command = f"python benchmarks/training.py --rounds {options.rounds} --write"
        title = f"# Training: overhead per step\n\n`{command}`, {time.strftime('%Y-%m-%d')}.\n"
        (FOLDER / "training.md").write_text(title + "\n".join(parts), encoding="utf-8")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in MALLOC.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **MALLOC})
    sys.exit(main())
