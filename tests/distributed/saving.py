"""Processes that are killed while they save their parts, and go on; in the end they are where they'd be without."""

import os
import signal
from pathlib import Path

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from torch.nn import functional as F

from simpletorch import checkpoint
from simpletorch.optim import AdamW
from simpletorch.reproducibility import checksum, seed_everything
from simpletorch.train import Checkpoint, Trainer
from tests import meeting
from tests.distributed.variants import loaders, network, whole

# by attempt: who, and before which file gets its name
KILLS = (
    (1, "step-000000004", "part-00001"),
    (0, "step-000000007", "checkpoint.safetensors"),
)


def end_before_naming(folder, name):
    """End by SIGKILL when a file is complete that is going to get this name."""
    replace = os.replace

    def instead(source, target):
        if Path(target).parent.name == folder and Path(target).name.startswith(name):
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)

    os.replace = instead


def train(folder, **options):
    """A checksum of the weights after two epochs of five steps."""
    seed_everything(3)
    model = network()
    saving = Checkpoint(folder, every_steps=1, keep=2)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=AdamW(model.parameters(), lr=0.01),
        callbacks=[saving],
        progress=False,
        parallel="fsdp",
    )
    trainer.fit(model, loaders()[0], epochs=2, **options)
    return checksum(whole(model))


def go_on(rank, folder, attempt):
    """One attempt."""
    meeting.meet(folder / f"meeting-{attempt}", rank)
    if rank == 0:
        newest = checkpoint.latest(folder / "killed")
        (folder / f"from-{attempt}").write_text(newest.name if newest else "the beginning")
    if attempt < len(KILLS) and KILLS[attempt][0] == rank:
        end_before_naming(*KILLS[attempt][1:])
    killed = train(folder / "killed", resume="auto")
    straight = train(folder / "straight")
    if rank == 0:
        (folder / "as-without").write_text(str(killed == straight))


def write_and_read(rank, folder, rounds):
    """One of two programs that save to one folder, each of a group of its own, and read what is there."""
    meeting.meet(folder / f"meeting-{rank}", 0, 1)
    mesh = init_device_mesh("cpu", (1,))
    path, seen = folder / "shared", set()
    for number in range(rounds):
        mine = float(1000 * rank + number)
        model = {name: distribute_tensor(torch.full((7, 3), mine), mesh, [Shard(0)]) for name in ("a", "b")}
        checkpoint.save(path, rng=False, model=model, number=mine)
        found = checkpoint.read(path).parts
        numbers = {found["number"], *found["model"]["a"].flatten().tolist(), *found["model"]["b"].flatten().tolist()}
        assert len(numbers) == 1, numbers
        seen |= numbers
    (folder / f"seen-{rank}").write_text(str(len(seen)))
