"""What saving costs: `python benchmarks/checkpoint.py [--megabytes 400]`.

A model of the given size (SGD with momentum doubles it) is saved in turn by each way: torch.save as people call it,
torch.save made as safe as ours (written beside, flushed, renamed), ours, and ours in the background, where the time is
what training waits for. Then loaded back. All in one run; compare within it.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from statistics import median

import torch

from simpletorch import checkpoint


def model_of(megabytes: int) -> torch.nn.Module:
    """A model with so much in weights."""
    width = 1024
    layers = max(megabytes * 2**20 // (width * width * 4), 1)
    return torch.nn.Sequential(*[torch.nn.Linear(width, width, bias=False) for _ in range(layers)])


def trained(megabytes: int) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """A model and an optimizer that has state."""
    model = model_of(megabytes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    return model, optimizer


def timed(function) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    """Let the ways take turns, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200, help="of weights; the optimizer has as many")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=None)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model, optimizer = trained(arguments.megabytes)
    folder = Path(tempfile.mkdtemp(dir=arguments.folder))
    plain, safe, ours = folder / "plain.pt", folder / "safe.pt", folder / "ours.safetensors"
    pending = []

    def state():
        return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}

    def save_safely():
        with open(folder / "new", "wb") as file:
            torch.save(state(), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(folder / "new", safe)

    def load_torch():
        parts = torch.load(plain, weights_only=True)
        model.load_state_dict(parts["model"])
        optimizer.load_state_dict(parts["optimizer"])

    ways = {
        "torch.save": lambda: torch.save(state(), plain),
        "torch.save, fsync, rename": save_safely,
        "ours (checksum, fsync, rename)": lambda: checkpoint.save(ours, model=model, optimizer=optimizer),
        "ours in the background: the wait": lambda: pending.append(
            checkpoint.save_async(ours, model=model, optimizer=optimizer)
        ),
        "torch.load, weights_only": load_torch,
        "ours: load (verified)": lambda: checkpoint.load(ours, model=model, optimizer=optimizer),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(arguments.rounds):
        for name, way in ways.items():
            times[name].append(timed(way))
            while pending:
                pending.pop().result()
    size = ours.stat().st_size / 2**20
    first = median(times["torch.save"])
    print(f"{size:,.0f} MiB, median of {arguments.rounds} rounds, one thread, torch {torch.__version__}")
    for name, values in times.items():
        middle = median(values)
        print(f"{name:34} {middle * 1000:9,.0f} ms {size / middle:9,.0f} MiB/s {middle / first:6.2f} x torch.save")
    for path in (plain, safe, ours):
        path.unlink()
    folder.rmdir()


if __name__ == "__main__":
    main()
