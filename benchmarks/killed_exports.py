"""Exports over an existing artefact that are killed: what lies there afterwards is the old one or the new one, in full.

    python -m benchmarks.killed_exports [--kinds program onnx torchscript] [--moments 100] [--seed 0] [--write]

A process exports one model over another's artefact and gets SIGKILL: at ``--moments`` random moments, and then once
before every single step in which it opens, renames, makes or removes something in the artefact's folder. After each
kill `simpletorch.export.load` must read the artefact, and what that gives must be bit for bit what the old model or the
new one gave before. In the end an export that nobody kills removes what the killed ones left. ``--write`` puts the
table into benchmarks/results/kills.md. The exit status is 1 if an artefact was lost or something was left.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import torch

from benchmarks.damaged_exports import Net
from simpletorch import export
from simpletorch.errors import TorchError

RESULTS: Final = Path(__file__).parent / "results" / "kills.md"
TITLE: Final = "An export over an existing artefact"
FILES: Final = {"program": "net.pt2", "onnx": "net.onnx", "torchscript": "net.ts", "aot": "net.pt2"}
STEPS: Final = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")  # Python's audit events
X: Final = torch.randn(3, 7, generator=torch.Generator().manual_seed(0))


def killed_after(seconds: float, work: Callable[[], object]) -> None:
    """Do the work in a process of its own, which is killed; at once if it ends before."""
    reading, writing = os.pipe()
    process = _forked(lambda: (os.write(writing, b"."), work()))
    os.read(reading, 1)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os.close(reading)
    os.close(writing)


def killed_before(step: int, folder: Path, work: Callable[[], object]) -> bool:
    """Do the work in a process that kills itself before this step in the folder; False if it has fewer."""
    left = step

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event in STEPS and str(arguments[0]).startswith(str(folder)):
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    def watched() -> None:
        sys.addaudithook(watch)
        work()

    _, status = os.waitpid(_forked(watched), 0)
    return os.WIFSIGNALED(status)


def _forked(work: Callable[[], object]) -> int:
    process = os.fork()
    if not process:
        try:
            work()
        finally:
            os._exit(0)
    return process


def kills(kind: str, moments: int, draw: random.Random) -> Iterator[tuple[str, str]]:
    """How each export was killed, and whose artefact lies there: "old", "new", or what is wrong with it."""
    make = getattr(export, kind)
    torch.manual_seed(0)
    models = {"old": Net(), "new": Net()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "live")
        path = folder / FILES[kind]
        given = {}
        for age, model in models.items():
            begun = time.perf_counter()
            make(model, Path(name, age, path.name))
            took = time.perf_counter() - begun
            given[age] = export.load(Path(name, age, path.name))(X)
        assert not torch.equal(given["old"], given["new"])

        def lies_there() -> str:
            try:
                found = export.load(path)(X)
            except TorchError as error:
                return str(error)
            return next((age for age, expected in given.items() if torch.equal(found, expected)), "other numbers")

        def fresh() -> None:
            for file in Path(name, "old").iterdir():
                shutil.copy(file, folder / file.name)

        folder.mkdir()
        for _ in range(moments):
            fresh()
            killed_after(draw.uniform(0, 1.2 * took), lambda: make(models["new"], path))
            yield "at a random moment", lies_there()
        step, going = 0, True
        while going:
            fresh()
            going = killed_before(step, folder, lambda: make(models["new"], path))
            yield ("before each step" if going else "not at all"), lies_there()
            step += 1
        left = sorted(file.name for file in folder.iterdir() if file.name not in (path.name, f"{path.name}.json"))
        if left:
            yield "not at all", f"left: {', '.join(left)}"


def main() -> int:
    """Kill, print, and write with ``--write``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=["program", "onnx", "torchscript"], choices=[*FILES])
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)  # a fork has no other threads
    lines = [
        "| export | killed | kills | the old artefact | the new one | lost |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lost = 0
    for kind in given.kinds:
        found: dict[str, Counter[str]] = {}
        for how, what in kills(kind, given.moments, random.Random(f"{given.seed} {kind}")):
            found.setdefault(how, Counter())[what if what in ("old", "new") else "lost"] += 1
            if what not in ("old", "new"):
                print(f"{kind}, killed {how}: {what}")
        lost += sum(ages["lost"] for ages in found.values())
        for how, ages in found.items():
            count = 0 if how == "not at all" else ages.total()
            lines.append(f"| {kind} | {how} | {count} | {ages['old']} | {ages['new']} | {ages['lost']} |")
    print("\n".join(lines))
    if given.write:
        head, *sections = RESULTS.read_text().split("\n## ")
        kept = {section.partition("\n")[0]: section for section in sections}
        command = f"`python -m benchmarks.killed_exports --moments {given.moments} --seed {given.seed} --write`"
        about = f"torch {torch.__version__}. What killed exports leave, the next one removes."
        kept[TITLE] = "\n".join([TITLE, "", command, "", about, "", *lines, ""])
        RESULTS.write_text("\n## ".join([head, *kept.values()]))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
