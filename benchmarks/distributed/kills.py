"""One training of two processes, killed again and again: does it end where it would have without a kill?

    python benchmarks/distributed/kills.py [--parallel fsdp] [--kills 30] [--seed 0] [--write]

torchrun starts two processes that save after every update. Then by turns rank 1, rank 0, rank 0 while it writes a file,
and the launcher get SIGKILL, at a random moment. With ``--parallel fsdp`` the model is divided and each process writes
its part, in the foreground and after every other restart in the background: then also rank 1 is killed while parts are
written, and rank 0 while it writes the index that makes a checkpoint of them.

Of each kill is noted how long the others took to end, what they said (an error that names the process that was killed;
after the launcher's end, that the training was saved), and whether the newest checkpoint is undamaged and not older
than the last that was known to be written. torchrun restarts the processes, and is started anew after it was killed
itself. In the end the training makes 20 more updates, and its weights, optimizer and generators are compared, bit for
bit, with those of as many updates without a kill. ``--write`` puts the table into benchmarks/results/kills.md.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional as F

from simpletorch import checkpoint, distributed
from simpletorch.data import DataLoader, DistributedSampler, TensorDataset
from simpletorch.reproducibility import checksum, seed_everything
from simpletorch.train import Checkpoint, Trainer

TIMEOUT = 60.0  # of a collective, in seconds: no end may take longer
RESULTS = Path(__file__).parents[1] / "results" / "kills.md"
KINDS = {
    "ddp": ("rank 1", "rank 0", "rank 0, saving", "launcher"),
    "fsdp": ("rank 1", "rank 0", "rank 1, parts", "rank 0, parts", "rank 0, index", "launcher"),
}
# what is there while it is written, in the folder of the checkpoints
UNFINISHED = {"saving": ".*.tmp", "parts": "*/.part-*.tmp", "index": "*/.checkpoint*.tmp"}


class Announcing(Checkpoint):
    """Notes what is safely on the disk."""

    def _written(self, path: Path) -> None:
        with open(self.folder.parent / "written", "a") as file:
            file.write(path.stem.removeprefix("step-") + "\n")
        super()._written(path)


def train(folder: Path, steps: int, parallel: str) -> None:
    """One process's part."""
    torch.set_num_threads(1)
    distributed.init(timeout=TIMEOUT)
    (folder / f"rank-{distributed.rank()}").write_text(str(os.getpid()))
    seed_everything(7)
    width = 401 if parallel == "ddp" else 1009  # so that saving takes most of the time
    model = torch.nn.Sequential(torch.nn.Linear(13, width), torch.nn.Dropout(0.3), torch.nn.Linear(width, 401))
    asynchronous = parallel == "ddp" or int(os.environ["TORCHELASTIC_RESTART_COUNT"]) % 2 == 1
    dataset = TensorDataset(torch.randn(4001, 13), torch.randint(401, (4001,)))
    seed_everything(11 + distributed.rank())  # each rank has its own dropout
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
        callbacks=[Announcing(folder / "saved", every_steps=1, asynchronous=asynchronous)],
        progress=False,
        parallel=parallel,
    )
    trainer.fit(model, DataLoader(dataset, 8, sampler=DistributedSampler(dataset)), steps=steps, resume="auto")


def torchrun(folder: Path, steps: int, parallel: str) -> subprocess.Popen[bytes]:
    """The launcher, with what it and its processes say in a file."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--max-restarts", "1000"]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    with open(folder / "said", "ab") as said:
        return subprocess.Popen(
            [*command, __file__, "--worker", str(folder), "--steps", str(steps), "--parallel", parallel],
            stdout=said,
            stderr=said,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )


def written(folder: Path) -> int:
    """The newest checkpoint that was announced."""
    lines = (folder / "written").read_text().split() if (folder / "written").exists() else []
    return max(map(int, lines), default=0)


def until(happens: Callable[[], bool], limit: float = 120.0) -> float:
    """Seconds that it took."""
    start = time.perf_counter()
    while not happens():
        if time.perf_counter() - start > limit:
            raise TimeoutError(f"nothing happened in {limit} s")
        time.sleep(0.001)
    return time.perf_counter() - start


def has_ended(process: int) -> bool:
    """Whether a process runs no more."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def ranks(folder: Path) -> list[int]:
    """The two processes, once both have joined."""
    try:
        return [int((folder / f"rank-{rank}").read_text()) for rank in (0, 1)]
    except (OSError, ValueError):
        return []


def kill(folder: Path, launcher: subprocess.Popen[bytes], who: str, draw: random.Random) -> tuple[float, bool, bool]:
    """One kill: the seconds until all of them had ended, whether that was explained, and whether nothing was lost."""
    before = written(folder)
    until(lambda: len(ranks(folder)) == 2 and written(folder) > before)
    pids, said = ranks(folder), (folder / "said").stat().st_size
    time.sleep(draw.random() * 0.5)
    who, _, doing = who.partition(", ")
    if doing:
        until(lambda: any((folder / "saved").glob(UNFINISHED[doing])))
        time.sleep(draw.random() * 0.01)
    victim = {"rank 1": pids[1], "launcher": launcher.pid}.get(who, pids[0])
    for rank in (0, 1):
        (folder / f"rank-{rank}").unlink()
    os.kill(victim, signal.SIGKILL)
    known = written(folder)
    seconds = until(lambda: all(map(has_ended, pids)))
    if who == "launcher":
        launcher.wait()
    text = (folder / "said").read_bytes()[said:].decode(errors="replace")
    told = "stopped after a whole update, saved in" if who == "launcher" else f"(process {victim} on "
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # latest() warns of what is damaged
        newest = checkpoint.latest(folder / "saved")
    whole = newest is not None and checkpoint.read(newest).parts["step"] >= known
    return seconds, told in text, whole


def end_state(folder: Path, steps: int) -> str:
    """A checksum of everything that the training is at the end."""
    parts = checkpoint.read(next((folder / "saved").glob(f"step-{steps:09}*"))).parts
    tensors = {**parts["model"], "rng": parts["rng"]["torch"], "other rng": parts["ranks"][0]["rng"]["torch"]}
    for index, state in parts["optimizer"]["state"].items():
        tensors |= {f"{index}.{name}": value for name, value in state.items()}
    return checksum(tensors)


def main() -> None:
    """Kill, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parallel", choices=list(KINDS), default="ddp")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--worker", type=Path)
    parser.add_argument("--steps", type=int, default=10**6)
    arguments = parser.parse_args()
    parallel = arguments.parallel
    if arguments.worker:
        train(arguments.worker, arguments.steps, parallel)
        return
    draw, kinds = random.Random(arguments.seed), KINDS[parallel]
    rows: dict[str, list[tuple[float, bool, bool]]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as name:
        folder, straight = Path(name) / "killed", Path(name) / "straight"
        folder.mkdir()
        straight.mkdir()
        launcher = torchrun(folder, 10**6, parallel)
        for number in range(arguments.kills):
            who = kinds[number % len(kinds)]
            rows[who].append(kill(folder, launcher, who, draw))
            print(number, who, rows[who][-1], flush=True)
            if rows[who][-1][1:] != (True, True):
                print((folder / "said").read_text(errors="replace")[-6000:])
            if who == "launcher":
                launcher = torchrun(folder, 10**6, parallel)
        before = written(folder)
        until(lambda: len(ranks(folder)) == 2 and written(folder) > before)
        launcher.terminate()
        status = launcher.wait()
        steps = written(folder) + 20
        for each in (folder, straight):
            torchrun(each, steps, parallel).wait()
        same = end_state(folder, steps) == end_state(straight, steps)
    lines = ["| killed | kills | explained | nothing lost | longest end (s) |", "| --- | --- | --- | --- | --- |"]
    for who, ends in rows.items():
        seconds, told, whole = zip(*ends, strict=True) if ends else ((0.0,), (), ())
        lines.append(f"| {who} | {len(ends)} | {sum(told)} | {sum(whole)} | {max(seconds):.2f} |")
    lines += ["", f"After {steps} updates and {arguments.kills} kills bit for bit as without a kill: {same}.", ""]
    lines += [f"torchrun's own status after a SIGTERM of the job: {status}."]
    print("\n".join(lines))
    if arguments.write:
        noted(parallel, f"--kills {arguments.kills} --seed {arguments.seed}", lines)


def noted(parallel: str, how: str, lines: list[str]) -> None:
    """Put the lines into the results, in place of those that were there for the same kind."""
    about = f"Two gloo processes, torch {torch.__version__}, {os.cpu_count()} cores; time-out {TIMEOUT:.0f} s."
    head, *sections = RESULTS.read_text().split("\n## ") if RESULTS.exists() else ["# Kills\n"]
    titles = {"ddp": "Every process has the whole model", "fsdp": "The model is divided, and each writes its part"}
    kept = {section.partition("\n")[0]: section for section in sections}
    command = f"`python benchmarks/distributed/kills.py --parallel {parallel} {how} --write`"
    kept[titles[parallel]] = "\n".join([titles[parallel], "", command, "", about, "", *lines, ""])
    RESULTS.write_text("\n## ".join([head, *kept.values()]))


if __name__ == "__main__":
    main()
