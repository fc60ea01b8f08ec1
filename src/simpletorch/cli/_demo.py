"""``simpletorch demo``: the main points in a minute. Everything it shows has just happened, or it fails."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from simpletorch._distribution import torch_available
from simpletorch.cli._check import why_not
from simpletorch.cli._run import Diagnostic
from simpletorch.cli._show import block

if TYPE_CHECKING:
    import torch

SCRIPT: Final = """\
import torch
from torch import nn

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(100, 10))
images = torch.randn(64, 1, 28, 28)
loss = nn.functional.cross_entropy(model(images), torch.randint(10, (64,)))
loss.backward()
"""
RIGHT: Final = "nn.Linear(1024, 128)"
WRONG: Final = "nn.Linear(4096, 128)"  # as if the images were not halved by the pooling before it
EPOCHS: Final = 8
ACCURACY: Final = 0.97


class DemoError(Exception):
    """A step of the demo did not hold; the text says which and how."""


def demo() -> int:
    """Follow a plain script, catch a seeded shape bug with mypy, train on real digits; 1 if any step does not hold."""
    if not torch_available():
        raise ModuleNotFoundError("No module named 'torch'", name="torch")
    console = Console(highlight=False)
    start = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="simpletorch-demo-") as folder:
            _follow(console, Path(folder) / "net.py")
            file = Path(folder) / "model.py"
            _check_both(console, file)
            model = _train(console, file)
            _run_time(console, file, model)
    except DemoError as error:
        console.print(Text("✘ demo failed: ", "bold red") + Text(str(error)))
        return 1
    _next(console, time.perf_counter() - start)
    return 0


def _follow(console: Console, file: Path) -> None:
    """Step 1: a script without an annotation, followed on shapes."""
    _title(console, 1, "A plain PyTorch script, nothing annotated: followed on shapes, nothing is run")
    file.write_text(SCRIPT, encoding="utf-8")
    _code(console, SCRIPT, "model = ")
    console.print(Text(f"\n  $ simpletorch follow {file.name}", "bold"))
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "simpletorch.cli", "follow", file.name],
        cwd=file.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    for line in done.stdout.splitlines():
        console.print(Text(f"  {line}"), soft_wrap=True)
    if done.returncode != 1 or not re.search(rf"^{file.name}:6: error: .*\[tensor-shape\]$", done.stdout, re.MULTILINE):
        raise DemoError(f"following should find the bug in line 6 of the script, but said: {done.stdout}{done.stderr}")
    console.print(Text(f"\n  The bug is found in {seconds:.1f} s, with the layer that would fit.", "green"))


def _check_both(console: Console, file: Path) -> None:
    """Steps 2 to 4: the model with the bug, what mypy says of it, the model without the bug."""
    source = _source("_digits_model.py")
    if source.count(RIGHT) != 1:
        raise DemoError(f"the model has {RIGHT} {source.count(RIGHT)} times, not once: there is no place for the bug")
    buggy = source.replace(RIGHT, WRONG)
    file.write_text(buggy, encoding="utf-8")
    _title(console, 2, "A model in plain PyTorch, its shapes annotated")
    _code(console, buggy, "class ")

    _title(console, 3, "mypy reads it with simpletorch's plugin; nothing has run yet")
    diagnostics, seconds = _check(console, file)
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    for diagnostic in diagnostics:
        console.print(block(diagnostic, console.width, file.parent), end="")
    if [error.code for error in errors] != ["tensor-shape"]:
        raise DemoError(f"mypy should report one tensor-shape error for {WRONG}, but it reported {len(errors)} errors")
    console.print(Text(f"\n  The bug is found in {seconds:.1f} s, with its place and the sizes.", "green"))

    _title(console, 4, "The fix")
    line = next(line.strip() for line in source.splitlines() if RIGHT in line)
    console.print(Text(f"  - {line.replace(RIGHT, WRONG)}", "red"))
    console.print(Text(f"  + {line}", "green"))
    later = file.stat().st_mtime + 1
    file.write_text(source, encoding="utf-8")
    os.utime(file, (later, later))  # mypy takes a file of the same size and second to be the same
    diagnostics, seconds = _check(console, file)
    if diagnostics:
        raise DemoError(f"mypy should find nothing in the fixed model, but it says: {diagnostics[0]}")
    console.print(Text(f"  ✔ No error. Checked again in {seconds:.1f} s.", "green"))


def _source(name: str) -> str:
    return resources.files("simpletorch.cli").joinpath(name).read_text(encoding="utf-8")


def _check(console: Console, file: Path) -> tuple[list[Diagnostic], float]:
    """Run ``simpletorch check`` on ``file``: what it found, and the seconds it took."""
    if reason := why_not([str(file)]):
        raise DemoError(reason)
    console.print(Text(f"  $ simpletorch check {file.name}", "bold"))
    command = [sys.executable, "-m", "simpletorch.cli", "check", "--json", file.name, "--", "--config-file="]
    start = time.perf_counter()
    with _waiting(console, "mypy is reading the model, and PyTorch the first time (5 to 20 s, once)"):
        done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise DemoError(f"simpletorch check did not work: {(done.stderr or done.stdout).strip()}")
    return [Diagnostic(**diagnostic) for diagnostic in json.loads(done.stdout)["diagnostics"]], seconds


def _train(console: Console, file: Path) -> torch.nn.Module:
    """Step 5: train the very file that mypy passed."""
    import torch
    from torch.nn import functional as F

    from simpletorch.data import DataLoader, Digits
    from simpletorch.metrics import Accuracy
    from simpletorch.optim import AdamW, OneCycleLR
    from simpletorch.train import Trainer

    training, test = Digits(train=True), Digits(train=False)
    _title(console, 5, f"Training on {len(training):,} scanned digits; {len(test)} others are the test")
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the model is so small that threads only wait for each other
    start = time.perf_counter()
    try:
        model: torch.nn.Module = _module(file).DigitsNet()
        loader = DataLoader(training, batch_size=64, shuffle=True)
        optimizer = AdamW(model.parameters(), weight_decay=0.01)
        trainer = Trainer(
            loss=F.cross_entropy,
            optimizer=optimizer,
            scheduler=OneCycleLR(optimizer, max_lr=0.005, total_steps=EPOCHS * len(loader)),
            schedule="step",
            metrics={"accuracy": Accuracy()},
        )
        history = trainer.fit(model, loader, epochs=EPOCHS, validation=DataLoader(test, batch_size=len(test)))
    finally:
        torch.set_num_threads(threads)
    seconds = time.perf_counter() - start
    accuracy = history[-1].validation["accuracy"]
    if accuracy < ACCURACY:
        raise DemoError(f"the model should reach {ACCURACY:.0%} on the test images, but it reached {accuracy:.2%}")
    console.print(Text(f"  ✔ {accuracy:.1%} of the test images are read correctly, after {seconds:.1f} s.", "green"))
    return model


def _module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("simpletorch_demo_model", file)
    if spec is None or spec.loader is None:
        raise DemoError(f"{file} can't be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run_time(console: Console, file: Path, model: torch.nn.Module) -> None:
    """Step 6: what no checker can know, caught and explained when it happens."""
    import torch

    from simpletorch.errors import ShapeMismatch

    _title(console, 6, "At run time: images from elsewhere, one column short")
    source = _source("_digits_predict.py")
    predict_file = file.with_name("predict.py")
    predict_file.write_text(source, encoding="utf-8")
    _code(console, source, "def ")
    model.eval()
    images = torch.rand(16, 1, 8, 7)
    try:
        model(images)
    except RuntimeError as error:
        console.print()
        console.print(Text.assemble(("  PyTorch alone:  ", "bold"), str(error)), soft_wrap=True)
    else:
        raise DemoError(f"the model takes images of {list(images.shape)}, but PyTorch should have refused them")
    try:
        _module(predict_file).predict(model, images)
    except ShapeMismatch as error:
        first, *rest = str(error).splitlines()
        console.print(Text.assemble(("  simpletorch:    ", "bold"), (first, "red")), soft_wrap=True)
        for line in rest:
            console.print(Text(f"                {line}"), soft_wrap=True)
        return
    raise DemoError(f"simpletorch.checked let images of {list(images.shape)} pass, against the annotation")


def _next(console: Console, seconds: float) -> None:
    _title(console, None, f"That was all, in {seconds:.0f} s. Next")
    for command, what in (
        ("simpletorch follow SCRIPT", "your own script, as it is"),
        ("simpletorch check FILE_OR_FOLDER", "with mypy; annotate one forward and see"),
        ("plugins = simpletorch.mypy", "in your mypy configuration, for mypy, dmypy and editors"),
        ("simpletorch env", "versions and devices, for a bug report"),
    ):
        console.print(Text.assemble((f"  {command:34}", "bold"), what), soft_wrap=True)


def _title(console: Console, number: int | None, text: str) -> None:
    label = "" if number is None else f"{number}  "
    console.print()
    if console.is_terminal:
        console.rule(Text(f"{label}{text}", "bold cyan"), align="left", style="cyan")
    else:
        console.print(f"== {label}{text}", soft_wrap=True)


def _code(console: Console, source: str, start: str) -> None:
    """Show ``source`` from ``start`` on, with its line numbers."""
    before = source[: source.index(start)]
    code, first = source[len(before) :].rstrip(), before.count("\n") + 1
    if console.is_terminal:
        options: dict[str, Any] = {"line_numbers": True, "start_line": first, "word_wrap": True}
        console.print(Syntax(code, "python", theme="ansi_dark", background_color="default", **options))
    else:
        for number, line in enumerate(code.splitlines(), first):
            console.print(Text(f"  {number:3} {line}".rstrip()), soft_wrap=True)


@contextmanager
def _waiting(console: Console, text: str) -> Iterator[Any]:
    """A spinner in a terminal, nothing elsewhere."""
    if console.is_terminal:
        with console.status(Text(text, "dim")):
            yield
    else:
        yield
