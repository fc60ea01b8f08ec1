"""A training that can be stopped at any time, and goes on as if nothing had happened: bit for bit.

Run:    python examples/resume.py run        # press Ctrl-C whenever you like: it ends with exit status 75
Again:  python examples/resume.py run        # goes on; the weights at the end are those of a run without a stop
Check:  simpletorch check examples/resume.py
"""

import sys

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B
from simpletorch.metrics import Accuracy
from simpletorch.optim import EMA, AdamW
from simpletorch.reproducibility import Manifest, checksum
from simpletorch.train import Checkpoint, Trainer


class DigitsNet(nn.Module):
    """A small network whose dropout draws random numbers in every step."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 128), nn.Linear(128, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """Scores for each digit."""
        return self.fc2(F.dropout(F.relu(self.fc1(x.flatten(start_dim=1))), p=0.3, training=self.training))


def main(folder: str, epochs: int = 10) -> str:
    """Train, or go on; returns a checksum of the weights."""
    seed_everything(7)
    model, digits = DigitsNet(), Digits(train=True)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=AdamW(model.parameters()),
        ema=EMA(model, 0.99),
        metrics={"accuracy": Accuracy()},
        callbacks=[Checkpoint(folder, every_steps=50, manifest=Manifest.collect(data={"digits": digits}, seed=7))],
    )
    loader = DataLoader(digits, batch_size=32, shuffle=True)
    trainer.fit(model, loader, epochs=epochs, validation=DataLoader(Digits(train=False), 360), resume="auto")
    return checksum(dict(model.state_dict()))


if __name__ == "__main__":
    torch.set_num_threads(1)  # another number of threads would add in another order
    print(f"weights {main(sys.argv[1] if len(sys.argv) > 1 else 'run')}")
