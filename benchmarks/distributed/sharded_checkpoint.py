"""What saving a divided model costs over DCP alone.

Run: torchrun --standalone --nproc-per-node 2 benchmarks/distributed/sharded_checkpoint.py

A model of the given size is divided by FSDP2 (SGD with momentum doubles it) and saved in turn by DCP as people call it
(`FileSystemWriter`, which flushes its files too, the optimizer's state under the model's names), by ours, and by both
in the background, where the time is what training waits for. Then loaded back. All in one run; compare within it.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict

from simpletorch import checkpoint
from simpletorch.distributed._shard import shard


def trained(megabytes: int) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """A divided model and an optimizer that has state."""
    width = 1024
    layers = max(megabytes * 2**20 // (width * width * 4), 2)
    model = torch.nn.Sequential(*[torch.nn.Linear(width, width, bias=False) for _ in range(layers)])
    shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    return model, optimizer


def timed(function) -> float:
    """Seconds that a call takes, of the slowest process."""
    dist.barrier()
    start = time.perf_counter()
    function()
    seconds = torch.tensor(time.perf_counter() - start)
    dist.all_reduce(seconds, dist.ReduceOp.MAX)
    return seconds.item()


def main() -> None:
    """Let the ways take turns, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200, help="of weights; the optimizer has as many")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    model, optimizer = trained(arguments.megabytes)
    made = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(made)
    folder = Path(str(made[0]))
    pending = []
    own = dist.new_group(backend="gloo")  # in the training's group DCP's thread hangs: its messages meet `timed`'s

    def states():
        weights, averages = get_state_dict(model, optimizer)
        return {"model": weights, "optimizer": averages}

    def dcp_load():
        state = states()
        dcp.load(state, checkpoint_id=folder / "dcp")

    ways = {
        "DCP": lambda: dcp.save(states(), checkpoint_id=folder / "dcp"),
        "ours": lambda: checkpoint.save(folder / "ours", model=model, optimizer=optimizer),
        "DCP in the background: the wait": lambda: pending.append(
            dcp.async_save(states(), checkpoint_id=folder / "dcp-late", process_group=own)
        ),
        "ours in the background: the wait": lambda: pending.append(
            checkpoint.save_async(folder / "ours-late", model=model, optimizer=optimizer)
        ),
        "DCP: load": dcp_load,
        "ours: load (verified)": lambda: checkpoint.load(folder / "ours", model=model, optimizer=optimizer),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(arguments.rounds + 1):
        for name, way in ways.items():
            seconds = timed(way)
            while pending:
                pending.pop().result()
            os.sync()  # so that nobody pays for what another left in the caches
            if number:  # the first round imports, and makes groups
                times[name].append(seconds)
    if dist.get_rank() == 0:
        size = sum(path.stat().st_size for path in (folder / "ours").iterdir()) / 2**20
        print(
            f"{size:,.0f} MiB by {dist.get_world_size()} processes, median of {arguments.rounds} rounds, "
            f"torch {torch.__version__}"
        )
        others = [values for name, values in times.items() if "DCP" in name for _ in (0, 1)]
        for (name, values), other in zip(times.items(), others, strict=True):
            ratio = median(mine / its for mine, its in zip(values, other, strict=True))
            print(f"{name:34} {median(values) * 1000:9,.0f} ms {ratio:6.2f} x DCP")
        shutil.rmtree(folder)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
