"""Pruning: nine of ten weights of a network are set to zero, and it still reads digits.

Of all layers together the smallest weights are taken away (`torch.nn.utils.prune`), a few at a time, and what is left
is trained a little after each time. Beside it the same network that is cut at once and not trained again. B is the
batch.

Han et al., Learning both Weights and Connections for Efficient Neural Networks, 2015.
"""

from argparse import ArgumentParser
from copy import deepcopy
from pathlib import Path

import torch
from torch.nn.utils import prune

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B
from simpletorch.metrics import Accuracy
from simpletorch.optim import AdamW
from simpletorch.train import Step, evaluate


class Net(nn.Module):
    """A perceptron with more weights than it needs."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(64, 256), nn.Linear(256, 128), nn.Linear(128, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """A number for each digit."""
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(start_dim=1))))))


def train(model: Net, epochs: int) -> None:
    """Weights that are taken away stay zero: `prune` multiplies them by a mask."""
    step = Step(model, F.cross_entropy, AdamW(model.parameters(), lr=2e-3))
    for _ in range(epochs):
        for images, digits in DataLoader(Digits(), 64, shuffle=True):
            step(images, digits)


def cut(model: Net, share: float) -> None:
    """Take away this share of the weights that are left, the smallest of all layers."""
    weights = [(model.fc1, "weight"), (model.fc2, "weight"), (model.fc3, "weight")]
    prune.global_unstructured(weights, pruning_method=prune.L1Unstructured, amount=share)


def left(model: Net) -> float:
    """The share of weights that aren't zero."""
    weights = torch.cat([layer.weight.flatten() for layer in (model.fc1, model.fc2, model.fc3)])
    return (weights != 0).float().mean().item()


def accuracy(model: Net) -> float:
    """On the test digits."""
    return evaluate(model, DataLoader(Digits(train=False), 360), {"accuracy": Accuracy()})["accuracy"]


def draw(curves: dict[str, list[tuple[float, float]]], file: Path) -> None:
    """The accuracy by how many weights are left."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    for name, points in curves.items():
        axes.semilogx([100 * share for share, _ in points], [right for _, right in points], "o-", label=name)
    axes.set_xlabel("% of the weights are left")
    axes.set_ylabel("accuracy")
    axes.legend()
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The accuracy of the whole network and of the last cut, trained on and not."""
    seed_everything(0)
    model = Net()
    train(model, 3 if quick else 15)
    whole = deepcopy(model)
    slowly, at_once = [(1.0, accuracy(model))], [(1.0, accuracy(model))]
    for _ in range(4 if quick else 6):
        cut(model, 0.5)
        train(model, 1 if quick else 4)
        slowly.append((left(model), accuracy(model)))
        sudden = deepcopy(whole)
        cut(sudden, 1 - left(model))
        at_once.append((left(sudden), accuracy(sudden)))
        print(f"{left(model):6.1%} of the weights: accuracy {slowly[-1][1]:.1%}; cut at once: {at_once[-1][1]:.1%}")
    if picture is not None:
        draw({"cut and trained in turn": slowly, "cut at once": at_once}, picture)
    return {"left": slowly[-1][0], "whole": slowly[0][1], "slowly": slowly[-1][1], "at once": at_once[-1][1]}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
