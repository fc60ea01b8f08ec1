"""Sharded: each process has a part of the parameters, gradients and optimizer states, and the loss curve is the same.

Run:    python examples/distributed/fsdp.py
        torchrun --nproc-per-node 2 examples/distributed/fsdp.py
Check:  simpletorch check examples/distributed/fsdp.py
"""

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, distributed, nn, seed_everything
from simpletorch.data import DataLoader, Digits, DistributedSampler
from simpletorch.dims import B
from simpletorch.optim import AdamW
from simpletorch.train import Epoch, Trainer

GLOBAL_BATCH = 60  # which two to six processes can share
EPOCHS = 3


class DigitsNet(nn.Module):
    """Three linear layers: nothing that draws random numbers, so that curves can be compared."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 96), nn.ReLU())
        self.head = nn.Linear(96, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """Scores for each digit."""
        return self.head(self.blocks(x.flatten(start_dim=1)))


def train(model: DigitsNet, *, together: bool) -> list[Epoch]:
    """Train on batches of 60: as many processes as there are with their share of each, or this one with all of it."""
    ranks = distributed.world_size() if together else 1
    digits = Digits(train=True)
    share: DistributedSampler[int] = DistributedSampler(digits, ranks, distributed.rank() if together else 0, seed=7)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=AdamW(model.parameters(), lr=0.001),
        progress=together,
        parallel="fsdp" if together else None,
    )
    loader = DataLoader(digits, GLOBAL_BATCH // ranks, sampler=share, drop_last=True)
    return trainer.fit(model, loader, epochs=EPOCHS)


def main() -> float:
    """Train together and alone; returns how far the two loss curves are apart, relative to the loss."""
    torch.set_num_threads(1)
    device = distributed.init()
    seed_everything(0)
    model, alone = DigitsNet().to(device), DigitsNet().to(device)
    alone.load_state_dict(model.state_dict())
    curve = [epoch.loss for epoch in train(model, together=True)]
    expected = [epoch.loss for epoch in train(alone, together=False)]
    difference = max(abs(a - b) / b for a, b in zip(curve, expected, strict=True))

    elements = distributed.held(model)  # by this process alone
    images = torch.linspace(0, 1, 7 * 64, device=device).view(7, 1, 8, 8)
    with torch.no_grad():
        scores = model(images)  # of the weights as they are gathered here
    agree = torch.equal(distributed.all_gather(scores), scores.repeat(distributed.world_size(), 1))
    print(f"this process holds {elements:,} of {sum(p.numel() for p in model.parameters()):,} parameters")
    print(f"loss curve: {', '.join(f'{loss:.6f}' for loss in curve)} on {distributed.world_size()} processes")
    print(f"difference to one process with the same global batch: {difference:.1e}")
    print(f"ranks agree: {agree}")
    return difference


if __name__ == "__main__":
    main()
