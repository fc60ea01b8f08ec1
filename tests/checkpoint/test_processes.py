"""Two processes that train together, are stopped together, and go on together."""

import signal
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from simpletorch import checkpoint
from simpletorch.data import DataLoader, DistributedSampler, TensorDataset
from simpletorch.errors import CheckpointError
from simpletorch.metrics import Accuracy
from simpletorch.reproducibility import seed_everything
from simpletorch.train import INTERRUPTED, Checkpoint, Trainer
from tests import meeting
from tests.checkpoint.training import At, Augmented, nothing, same


def run(folder, rank, *others, seed=0, resume=None):
    seed_everything(seed)
    inner = torch.nn.Sequential(torch.nn.Linear(3, 7), torch.nn.Dropout(0.3), torch.nn.Linear(7, 2))
    model = DistributedDataParallel(inner)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(5)
    dataset = Augmented(torch.randn(23, 3, generator=generator), torch.randint(2, (23,), generator=generator))
    seed_everything(10 * seed + rank)  # each process has its own dropout and augmentation
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=optimizer,
        train_metrics={"accuracy": Accuracy()},
        metrics={"accuracy": Accuracy()},
        callbacks=[*others, Checkpoint(folder)],
        progress=False,
    )
    loader = DataLoader(dataset, 3, sampler=DistributedSampler(dataset))
    held_out = TensorDataset(dataset.inputs[:7], dataset.targets[:7])
    validation = DataLoader(held_out, 2, sampler=DistributedSampler(held_out, shuffle=False, pad=False))
    history = trainer.fit(model, loader, epochs=3, validation=validation, resume=resume)
    return {
        "model": inner.state_dict(),
        "optimizer": optimizer.state_dict(),
        "history": [(e.loss, e.validation, e.training) for e in history],
        "next": torch.rand(3),
    }


def both(rank, folder, world):
    meeting.meet(folder / f"meet-{world}", rank, world)
    if world == 1:
        with pytest.raises(CheckpointError, match="was saved by 2 processes, and 1 can't go on with it"):
            run(folder / "one", rank, At(0, nothing), resume=folder / "stopped" / "step-000000006.safetensors")
        return
    straight = run(folder / "straight", rank, At(0, nothing))
    told = (lambda: signal.raise_signal(signal.SIGTERM)) if rank == 1 else nothing  # one of them alone
    with pytest.raises(SystemExit) as caught:
        run(folder / "stopped", rank, At(6, told))
    assert caught.value.code == INTERRUPTED
    assert checkpoint.latest(folder / "stopped") == folder / "stopped" / "step-000000006.safetensors"
    resumed = run(folder / "stopped", rank, At(0, nothing), seed=1, resume="auto")
    for part in straight:
        assert same(straight[part], resumed[part]), part
    (folder / f"done-{rank}").touch()


@pytest.mark.slow
def test_two_processes_stop_after_the_same_update_and_go_on_bit_for_bit(tmp_path: Path):
    meeting.start(both, (tmp_path, 2), 2)
    assert (tmp_path / "done-0").exists()
    assert (tmp_path / "done-1").exists()
    parts = checkpoint.read(tmp_path / "stopped" / "step-000000006.safetensors").parts
    assert len(parts["ranks"]) == 1
    assert not {"model", "optimizer"} & parts["ranks"][0].keys()
    assert not torch.equal(parts["ranks"][0]["rng"]["torch"], parts["rng"]["torch"])
    assert "0.weight" in parts["model"]  # the model's own names, without the wrapper's
    meeting.start(both, (tmp_path, 1), 1)
