"""Neural architecture search: evolution of small convolutional networks, against as many drawn by chance.

An architecture is a number of channels for each stage, a kernel size and whether stages have residuals. Evolution
changes one of these in the best of a few, and forgets the oldest (Real et al., "Regularized Evolution for Image
Classifier Architecture Search", 2019). Both searches train as many networks, judge them on digits that were held back,
and pay for each parameter. With a search space this small, chance is a strong rival: both numbers are printed. B is
the batch, I and O are channels, H and W pixels.
"""

import random
from argparse import ArgumentParser
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic

import simpletorch.nn.functional as F
from simpletorch import Dim, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits, TensorDataset
from simpletorch.dims import B, H, I, O, W
from simpletorch.metrics import Accuracy
from simpletorch.optim import AdamW
from simpletorch.train import Step, evaluate

Images = TensorDataset[Tensor[Float32, 1, 8, 8], Tensor[Int64, ""]]
CHANNELS = (4, 8, 16, 32)
KERNELS = (1, 3, 5)


@dataclass(frozen=True)
class Architecture:
    """What is searched for."""

    first: int
    second: int
    kernel: int
    residual: bool


class Stage(nn.Module, Generic[I, O]):
    """A convolution that keeps the picture's size, with a residual if that is asked for."""

    def __init__(self, inputs: Dim[I], outputs: Dim[O], kernel: int, residual: bool) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding="same")
        self.side = nn.Conv2d(inputs, outputs, 1) if residual else None

    def forward(self, x: Tensor[Float32, B, I, H, W]) -> Tensor[Float32, B, O, H, W]:
        """The features of the stage."""
        y = F.relu(self.conv(x))
        return y if self.side is None else y + self.side(x)


class Net(nn.Module):
    """Two stages, each followed by a pooling, and a linear layer."""

    def __init__(self, chosen: Architecture) -> None:
        super().__init__()
        self.first = Stage(1, chosen.first, chosen.kernel, chosen.residual)
        self.second = Stage(chosen.first, chosen.second, chosen.kernel, chosen.residual)
        self.last = nn.Linear(chosen.second * 4, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """A number for each digit."""
        x = F.max_pool2d(self.first(x), 2)
        x = F.max_pool2d(self.second(x), 2)
        return self.last(x.flatten(1))


def drawn() -> Architecture:
    """An architecture by chance."""
    return Architecture(random.choice(CHANNELS), random.choice(CHANNELS), random.choice(KERNELS), random.random() < 0.5)


def changed(parent: Architecture) -> Architecture:
    """One of its parts is another."""
    other = drawn()
    part = random.choice(("first", "second", "kernel", "residual"))
    return replace(parent, **{part: getattr(other, part)})


def train(chosen: Architecture, samples: Images, held: Images, epochs: int) -> tuple[float, int]:
    """The accuracy on ``held`` after training, and how many parameters it took."""
    model = Net(chosen)
    step = Step(model, F.cross_entropy, AdamW(model.parameters(), lr=0.01))
    model.train()
    for _ in range(epochs):
        for images, digits in DataLoader(samples, 64, shuffle=True):
            step(images, digits)
    accuracy = evaluate(model, DataLoader(held, 500), {"accuracy": Accuracy()})["accuracy"]
    return accuracy, sum(p.numel() for p in model.parameters())


def draw(found: dict[str, list[float]], file: Path) -> None:
    """The best score so far, by the networks that were trained."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    for name, scores in found.items():
        axes.plot([max(scores[: i + 1]) for i in range(len(scores))], label=name)
    axes.set_xlabel("networks trained")
    axes.set_ylabel("best score so far")
    axes.legend()
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The best score of evolution and of chance, and the accuracy of evolution's network on the test."""
    seed_everything(0)
    digits, test = Digits(), Digits(train=False)
    samples = TensorDataset(digits.images[:1000], digits.targets[:1000])
    held = TensorDataset(digits.images[1000:], digits.targets[1000:])
    networks, epochs = (8, 1) if quick else (24, 3)
    known: dict[Architecture, float] = {}

    def score(chosen: Architecture) -> float:
        if chosen not in known:
            accuracy, size = train(chosen, samples, held, epochs)
            known[chosen] = accuracy - size / 200_000
        return known[chosen]

    by_chance = [score(drawn()) for _ in range(networks)]
    population = deque((drawn() for _ in range(4)), maxlen=4)
    evolved = [score(each) for each in population]
    best = max(population, key=score)
    while len(evolved) < networks:
        parent = max(random.sample(list(population), 2), key=score)
        population.append(changed(parent))
        evolved.append(score(population[-1]))
        best = max(best, population[-1], key=score)
    accuracy, size = train(best, digits, test, 3 * epochs)
    print(f"{len(known)} of {len(CHANNELS) ** 2 * len(KERNELS) * 2} architectures were trained")
    print(f"best score: {max(evolved):.3f} by evolution, {max(by_chance):.3f} by chance")
    print(f"{best}: {size:,} parameters, {accuracy:.1%} on the test")
    if picture is not None:
        draw({"evolution": evolved, "chance": by_chance}, picture)
    return {"evolved": max(evolved), "chance": max(by_chance), "test": accuracy}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
