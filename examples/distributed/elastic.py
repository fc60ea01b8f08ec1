"""A process is killed in the middle of a training; the launcher starts all anew, and the training goes on, exactly.

Run:    python examples/distributed/elastic.py
        torchrun --nproc-per-node 2 --max-restarts 1 examples/distributed/elastic.py
Check:  simpletorch check examples/distributed/elastic.py

Rank 1 kills itself after 31 updates if there is a restart left. SIGTERM ends the training too, saved, with status 75.
"""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, distributed, nn, seed_everything
from simpletorch.data import DataLoader, Digits, DistributedSampler
from simpletorch.dims import B
from simpletorch.optim import AdamW
from simpletorch.train import Callback, Checkpoint, Fit, Trainer

GLOBAL_BATCH, EPOCHS, KILLED_AFTER = 60, 3, 31


class DigitsNet(nn.Module):
    """Two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 128), nn.Linear(128, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """Scores for each digit."""
        return self.fc2(F.relu(self.fc1(x.flatten(start_dim=1))))


class Accident(Callback):
    """Kills rank 1 once, as a machine's failure or the system's memory killer would."""

    def on_step_end(self, fit: Fit) -> None:
        """No error, no word of farewell."""
        restarts = int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", 0))
        done = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))
        if fit.step == KILLED_AFTER and done < restarts and distributed.rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)


def train(model: DigitsNet, folder: Path | None) -> list[float]:
    """The loss of each epoch: with a folder by all processes, saved every 5 updates; without one by this one alone."""
    ranks, rank = (1, 0) if folder is None else (distributed.world_size(), distributed.rank())
    digits = Digits(train=True)
    share: DistributedSampler[int] = DistributedSampler(digits, ranks, rank, seed=7)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=AdamW(model.parameters(), lr=0.003),
        callbacks=[] if folder is None else [Accident(), Checkpoint(folder, every_steps=5)],
        progress=folder is not None,
        parallel=None if folder is None else "ddp",
    )
    loader = DataLoader(digits, GLOBAL_BATCH // ranks, sampler=share, drop_last=True)
    history = trainer.fit(model, loader, epochs=EPOCHS, resume=None if folder is None else "auto")
    return [epoch.loss for epoch in history]


def main(folder: str) -> float:
    """Train, or go on; returns how far the loss curve is from that of one process that nothing happened to."""
    torch.set_num_threads(1)
    device = distributed.init()
    attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0)) + 1
    print(f"attempt {attempt}, {distributed.world_size()} processes", flush=True)
    seed_everything(0)
    model, alone = DigitsNet().to(device), DigitsNet().to(device)
    alone.load_state_dict(model.state_dict())
    curve, expected = train(model, Path(folder)), train(alone, None)

    weights = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    agree = torch.equal(distributed.all_gather(weights), weights.repeat(distributed.world_size()))
    difference = max(abs(a - b) / b for a, b in zip(curve, expected, strict=True))
    print(f"loss curve: {', '.join(f'{loss:.6f}' for loss in curve)} on {distributed.world_size()} processes")
    print(f"difference to one process that was never killed: {difference:.1e}")
    print(f"ranks agree: {agree}", flush=True)
    return difference


if __name__ == "__main__":
    if "TORCHELASTIC_RUN_ID" in os.environ:  # the launcher, which is the parent, stays the same when it restarts
        place = Path(tempfile.gettempdir()) / f"elastic-{os.getppid()}"
        main(str(place))
        distributed.barrier()
        shutil.rmtree(place, ignore_errors=True)
    else:
        with tempfile.TemporaryDirectory() as own:
            distributed.launch(main, own, processes=2, restarts=1)
