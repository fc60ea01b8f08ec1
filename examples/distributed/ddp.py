"""Data parallel: the same script on one process and on two, with the same loss curve.

Run:    python examples/distributed/ddp.py
        torchrun --nproc-per-node 2 examples/distributed/ddp.py
Check:  simpletorch check examples/distributed/ddp.py
"""

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, distributed, nn, seed_everything
from simpletorch.data import DataLoader, Digits, DistributedSampler
from simpletorch.dims import B
from simpletorch.metrics import Accuracy
from simpletorch.optim import SGD
from simpletorch.train import Epoch, Trainer

GLOBAL_BATCH = 60  # which two to six processes can share
EPOCHS = 3


class DigitsNet(nn.Module):
    """Two linear layers: nothing that draws random numbers, so that curves can be compared."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 128), nn.Linear(128, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """Scores for each digit."""
        return self.fc2(F.relu(self.fc1(x.flatten(start_dim=1))))


def train(model: DigitsNet, *, together: bool) -> list[Epoch]:
    """Train on batches of 60: as many processes as there are with their share of each, or this one with all of it."""
    ranks = distributed.world_size() if together else 1
    digits, held_out = Digits(train=True), Digits(train=False)
    rank = distributed.rank() if together else 0
    share: DistributedSampler[int] = DistributedSampler(digits, ranks, rank, seed=7)
    mine: DistributedSampler[int] = DistributedSampler(held_out, ranks, rank, shuffle=False, pad=False)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=SGD(model.parameters(), lr=0.1, momentum=0.9),
        metrics={"accuracy": Accuracy()},
        progress=together,
        parallel="ddp" if together else None,
    )
    return trainer.fit(
        model,
        DataLoader(digits, GLOBAL_BATCH // ranks, sampler=share, drop_last=True),
        epochs=EPOCHS,
        validation=DataLoader(held_out, 60, sampler=mine) if together else None,
    )


def main() -> float:
    """Train together and alone; returns how far the two loss curves are apart, relative to the loss."""
    torch.set_num_threads(1)
    device = distributed.init()
    seed_everything(0)
    model = DigitsNet().to(device)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    curve = [epoch.loss for epoch in train(model, together=True)]

    weights = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    agree = torch.equal(distributed.all_gather(weights), weights.repeat(distributed.world_size()))
    alone = DigitsNet().to(device)
    alone.load_state_dict(start)
    expected = [epoch.loss for epoch in train(alone, together=False)]
    difference = max(abs(a - b) / b for a, b in zip(curve, expected, strict=True))
    print(f"loss curve: {', '.join(f'{loss:.6f}' for loss in curve)} on {distributed.world_size()} processes")
    print(f"difference to one process with the same global batch: {difference:.1e}")
    print(f"ranks agree: {agree}")
    return difference


if __name__ == "__main__":
    main()
