"""Processes that are killed while they save their parts, and go on; in the end they are where they'd be without."""

import os
import signal
from pathlib import Path

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
