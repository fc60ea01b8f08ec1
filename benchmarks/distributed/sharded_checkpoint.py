"""What saving a divided model costs over DCP alone.

Run: torchrun --standalone --nproc-per-node 2 benchmarks/distributed/sharded_checkpoint.py

A model of the given size is divided by FSDP2 (SGD with momentum doubles it) and saved in turn by DCP as people call it
(`FileSystemWriter`, the optimizer's state under the model's names), by ours, and by both in the background, where the
time is what training waits for. Each save makes a new folder, as in a run. **Durability is the same**: DCP's writer has
``sync_files=True``, so both flush every process's file and then the index; ours flushes the folders' entries too.

Then loaded back, as at a process's start (an optimizer without state) and into what is there already. DCP's own way is
`get_state_dict`, `dcp.load`, `set_state_dict`; ``dcp.load`` alone leaves the learning rate and the like, and is shown
for what it is. The files are in memory, as they are after a save; ``--cold`` has them read from the disk.

The ways take turns, and each round begins with another. All in one run; compare within it.
"""

import argparse
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

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


class Ways:
    """What is timed; each is called in every process."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder, self.pending = folder, []
        self.model, self.optimizer = trained(megabytes)
        # in the training's group DCP's thread hangs: its messages meet `timed`'s
        self.own = dist.new_group(backend="gloo")

    def _states(self):
        weights, averages = get_state_dict(self.model, self.optimizer)
        return {"model": weights, "optimizer": averages}

    def prepared(self, way: str) -> None:
        """What is not timed."""
        if "start" in way:
            for parameter in self.model.parameters():
                parameter.grad = None  # where there is one, get_state_dict would leave out the optimizer's state
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def dcp_save(self) -> None:
        """As people call it."""
        dcp.save(self._states(), checkpoint_id=self.folder / "dcp")

    def our_save(self) -> None:
        """The same, by ours."""
        checkpoint.save(self.folder / "ours", model=self.model, optimizer=self.optimizer)

    def dcp_later(self) -> None:
        """In a thread of DCP's."""
        late = self.folder / "late-dcp"
        self.pending.append(dcp.async_save(self._states(), checkpoint_id=late, process_group=self.own))

    def our_later(self) -> None:
        """In a thread of ours."""
        late = self.folder / "late-ours"
        self.pending.append(checkpoint.save_async(late, model=self.model, optimizer=self.optimizer))

    def dcp_load(self) -> None:
        """All of it."""
        state = self._states()
        dcp.load(state, checkpoint_id=self.folder / "dcp")
        weights, averages = state["model"], state["optimizer"]
        set_state_dict(self.model, self.optimizer, model_state_dict=weights, optim_state_dict=averages)

    def dcp_load_alone(self) -> None:
        """The tensors."""
        dcp.load(self._states(), checkpoint_id=self.folder / "dcp")

    def our_load(self) -> None:
        """All of it, compared with its checksums."""
        checkpoint.load(self.folder / "ours", model=self.model, optimizer=self.optimizer)

    def pairs(self) -> dict[str, tuple[tuple[str, Callable[[], None]], ...]]:
        """What is compared, DCP's first."""
        return {
            "save": (("DCP", self.dcp_save), ("ours", self.our_save)),
            "save in the background: the wait": (("DCP", self.dcp_later), ("ours", self.our_later)),
            "load at the start": (("DCP", self.dcp_load), ("ours, verified", self.our_load)),
            "load into what is there": (
                ("DCP", self.dcp_load),
                ("dcp.load alone", self.dcp_load_alone),
                ("ours, verified", self.our_load),
            ),
        }


def forget(folder: Path) -> None:
    """Drop what the system keeps of the files in memory."""
    if dist.get_rank() == 0:
        for path in folder.rglob("*"):
            if path.is_file():
                descriptor = os.open(path, os.O_RDONLY)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(descriptor)


def measured(ways: Ways, rounds: int, cold: bool) -> dict[tuple[str, str], list[float]]:
    """Seconds of each round, after one that isn't counted."""
    times: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        if dist.get_rank() == 0:
            for path in ways.folder.iterdir():
                shutil.rmtree(path)
        for what, its in ways.pairs().items():
            for who, way in its[number % 2 :] + its[: number % 2]:
                ways.prepared(what)
                if dist.get_rank() == 0:
                    os.sync()  # so that nobody pays for what another left in the caches
                if cold:
                    forget(ways.folder)
                seconds = timed(way)
                while ways.pending:
                    ways.pending.pop().result()
                if number:  # the first round imports, and makes groups
                    times.setdefault((what, who), []).append(seconds)
    return times


def main() -> None:
    """Let the ways take turns, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200, help="of weights; the optimizer has as many")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cold", action="store_true", help="load from the disk, not from the system's memory")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    made = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(made)
    folder = Path(str(made[0]))
    times = measured(Ways(folder, arguments.megabytes), arguments.rounds, arguments.cold)
    if dist.get_rank() == 0:
        size = sum(path.stat().st_size for path in (folder / "ours").iterdir()) / 2**20
        print(
            f"{size:,.0f} MiB by {dist.get_world_size()} processes, {arguments.rounds} rounds, "
            f"{'files on the disk' if arguments.cold else 'files in memory'}, torch {torch.__version__}\n"
        )
        print("| | | median | quickest | of DCP's, median of the rounds' | quickest |")
        print("| --- | --- | --- | --- | --- | --- |")
        for (what, who), values in times.items():
            other = times[what, "DCP"]
            ratio = median(mine / its for mine, its in zip(values, other, strict=True))
            print(
                f"| {what} | {who} | {median(values) * 1000:,.0f} ms | {min(values) * 1000:,.0f} ms | {ratio:.2f} "
                f"| {min(values) / min(other):.2f} |"
            )
        shutil.rmtree(folder)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
