"""Distributed training: two processes train one model, each on half of every batch.

`distributed.launch` starts the processes, here on one machine without a GPU (gloo); on several, `torchrun` does.
`distributed.replicate` takes the mean of the gradients, so both have the same model after each step; a
`DistributedSampler` deals the samples out; `Accuracy` counts over both. B is the batch of one process.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NamedTuple

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, distributed, nn, seed_everything
from simpletorch.data import DataLoader, Digits, DistributedSampler
from simpletorch.dims import B
from simpletorch.metrics import Accuracy, Mean
from simpletorch.optim import AdamW
from simpletorch.train import Step, evaluate

PROCESSES = 2


class Net(nn.Module):
    """A perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """A number for each digit."""
        return self.layers(x)


class Trained(NamedTuple):
    """The loss of each epoch over all processes, the accuracy, and by how much the processes' models differ."""

    losses: list[float]
    accuracy: float
    difference: float


def train(epochs: int) -> Trained:
    """What each process does."""
    torch.set_num_threads(1)
    seed_everything(0)
    model = Net()
    rank, ranks = distributed.rank(), distributed.world_size()
    digits, test = Digits(), Digits(train=False)
    share: DistributedSampler[Any] = DistributedSampler(digits, ranks, rank, shuffle=True)
    rest: DistributedSampler[Any] = DistributedSampler(test, ranks, rank, shuffle=False, pad=False)
    loader, held = DataLoader(digits, 32, sampler=share), DataLoader(test, 90, sampler=rest)
    shared = distributed.replicate(model)
    step = Step(shared, F.cross_entropy, AdamW(shared.parameters(), lr=3e-3))
    losses: list[float] = []
    for _ in range(epochs):
        mean = Mean()
        for images, labels in loader:
            mean.update(step(images, labels), len(labels))
        losses.append(mean.compute())  # of all processes
    accuracy = evaluate(model, held, {"accuracy": Accuracy()})["accuracy"]

    weights = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    everyone = distributed.all_gather(weights).reshape(ranks, -1)
    return Trained(losses, accuracy, (everyone - weights).abs().max().item())


def draw(losses: list[float], file: Path) -> None:
    """The loss of each epoch."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(losses)
    axes.set_xlabel("epoch")
    axes.set_ylabel("loss over both processes")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The losses, the accuracy, and by how much the models of the two processes differ."""
    results = distributed.launch(train, 3 if quick else 25, processes=PROCESSES)
    losses, accuracy, difference = results[0]
    print(f"{PROCESSES} processes: loss {losses[0]:.3f} in the first epoch, {losses[-1]:.3f} in the last")
    print(f"{accuracy:.1%} of the test digits are read correctly; the models differ by {difference:g}")
    if picture is not None:
        draw(losses, picture)
    return {"first": losses[0], "last": losses[-1], "accuracy": accuracy, "difference": difference}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
