"""Everything that can be saved and restored, by its type."""

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from simpletorch import checkpoint, nn, optim
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.metrics import Accuracy


@dataclass
class Config:
    rate: float = 0.1


class Counter:
    """Somebody's own part of a training."""

    def __init__(self) -> None:
        self.count = 0

    def state_dict(self) -> dict[str, int]:
        return {"count": self.count}

    def load_state_dict(self, state_dict: dict[str, int]) -> None:
        self.count = state_dict["count"]


folder = Path(tempfile.mkdtemp())
model = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2))
optimizer = optim.AdamW(model.parameters(), lr=0.1)
scheduler = optim.ExponentialLR(optimizer, 0.9)
scaler = torch.amp.GradScaler("cpu")
ema = optim.EMA(model, 0.9)
loader = DataLoader(TensorDataset(torch.randn(7, 3)), batch_size=2)
metrics = {"accuracy": Accuracy(), "loss": Accuracy()}

path = checkpoint.save(
    str(folder / "a.safetensors"),
    model=model,
    optimizer=optimizer,
    scheduler=scheduler,
    scaler=scaler,
    ema=ema,
    loader=loader,
    metrics=metrics,
    counter=Counter(),
    epoch=3,
    rate=0.1,
    note="a note",
    nothing=None,
    pair=(1, [2.5, {"x": torch.zeros(3)}]),
    array=np.zeros(5),
    config=asdict(Config()),
)
saved: checkpoint.Saved = checkpoint.load(
    path,
    model=model,
    optimizer=optimizer,
    scheduler=scheduler,
    scaler=scaler,
    ema=ema,
    loader=loader,
    metrics=metrics,
    counter=Counter(),
)
epoch: int = saved.parts["epoch"]
several = checkpoint.save(folder / "b", models=[model, ema], rng=False)
checkpoint.load(several, models=[model, ema])
report: checkpoint.Report = checkpoint.load_weights(path, model, partial=True)
names: tuple[str, ...] = report.loaded
assert epoch == 3
