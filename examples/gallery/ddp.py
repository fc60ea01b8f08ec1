"""Distributed training: two processes train one model, each on half of every batch.

`DistributedDataParallel` takes the mean of the gradients, so both processes have the same model after each step; a
`DistributedSampler` deals the samples out; `Accuracy` counts over both. It runs on one machine without a GPU (gloo);
on several, `torchrun` starts the processes and sets rank and address. B is the batch of one process.
"""

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, nn, seed_everything
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


def work(rank: int, folder: Path, epochs: int) -> None:
    """What each process does; the first one writes what came out."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder / 'meeting'}", rank=rank, world_size=PROCESSES)
    seed_everything(0)
    model = Net()
    train, test = Digits(), Digits(train=False)
    share: DistributedSampler[Any] = DistributedSampler(train, PROCESSES, rank, shuffle=True)
    rest: DistributedSampler[Any] = DistributedSampler(test, PROCESSES, rank, shuffle=False, pad=False)
    loader, held = DataLoader(train, 32, sampler=share), DataLoader(test, 90, sampler=rest)
    shared = DistributedDataParallel(model)
    step = Step(shared, F.cross_entropy, AdamW(shared.parameters(), lr=3e-3))
    losses: list[float] = []
    for _ in range(epochs):
        mean = Mean()
        for images, digits in loader:
            mean.update(step(images, digits), len(digits))
        losses.append(mean.compute())  # of all processes
    accuracy = evaluate(model, held, {"accuracy": Accuracy()})["accuracy"]

    weights = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    everyone = [torch.empty_like(weights) for _ in range(PROCESSES)]
    dist.all_gather(everyone, weights)
    difference = (everyone[0] - everyone[1]).abs().max().item()
    if rank == 0:
        torch.save({"losses": losses, "accuracy": accuracy, "difference": difference}, folder / "result.pt")
    dist.destroy_process_group()


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
    with TemporaryDirectory() as folder:
        given = (Path(folder), 3 if quick else 25)
        torch.multiprocessing.spawn(work, given, nprocs=PROCESSES)  # type: ignore[attr-defined, no-untyped-call]  # torch's
        found = torch.load(Path(folder) / "result.pt")
    losses, accuracy, difference = found["losses"], found["accuracy"], found["difference"]
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
