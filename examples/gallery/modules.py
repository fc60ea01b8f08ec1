"""Modules: a model made of parts, with sizes in its type, looked at from all sides.

`Network[64, 10]` learns to read digits with residual blocks. Then its parameters are counted and listed by name, a
hook measures what flows through each block, a buffer has counted the samples, and the weights go through a file
into a second model that answers the same. I are the inputs, O the outputs, D the width, B the batch.
"""

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic

import torch

import simpletorch.nn.functional as F
from simpletorch import Dim, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B, D, I, O
from simpletorch.metrics import Accuracy
from simpletorch.optim import AdamW
from simpletorch.train import Step, evaluate


class Block(nn.Module, Generic[D]):
    """Adds to ``x`` what a small perceptron finds in it."""

    def __init__(self, width: Dim[D]) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor[Float32, B, D]) -> Tensor[Float32, B, D]:
        """As many features as before."""
        return x + self.layers(self.norm(x))


class Network(nn.Module, Generic[I, O]):
    """Blocks between a first and a last layer."""

    seen: Tensor[Int64, ""]

    def __init__(self, inputs: Dim[I], outputs: Dim[O], blocks: int = 3) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, 32)
        self.blocks = nn.ModuleList([Block(32) for _ in range(blocks)])
        self.last = nn.Linear(32, outputs)
        self.register_buffer("seen", torch.tensor(0))  # saved and moved with the model, and not trained

    def forward(self, x: Tensor[Float32, B, I]) -> Tensor[Float32, B, O]:
        """The largest number is the answer."""
        if self.training:
            self.seen += len(x)
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def flow(model: Network[I, O], x: Tensor[Float32, B, I]) -> list[float]:
    """How large the numbers are behind each block."""
    sizes: list[float] = []

    def measure(module: torch.nn.Module, args: Any, output: torch.Tensor) -> None:
        sizes.append(output.std().item())

    hooks = [block.register_forward_hook(measure) for block in model.blocks]
    with torch.no_grad():
        model(x)
    for hook in hooks:
        hook.remove()
    return sizes


def draw(sizes: list[float], file: Path) -> None:
    """What flows through the blocks."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.bar([f"block {number}" for number in range(len(sizes))], sizes)
    axes.set_ylabel("standard deviation")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The accuracy, the number of parameters, and how far the model from the file is from the first."""
    seed_everything(0)
    model = Network(64, 10)
    step = Step(model, F.cross_entropy, AdamW(model.parameters(), lr=3e-3))
    for _ in range(3 if quick else 20):
        for images, digits in DataLoader(Digits(), 32, shuffle=True):
            step(images.flatten(start_dim=1), digits)
    test = [(images.flatten(start_dim=1), digits) for images, digits in DataLoader(Digits(train=False), 360)]
    accuracy = evaluate(model, test, {"accuracy": Accuracy()})["accuracy"]
    print(nn.summary(model, (1, 64)))
    print(f"{accuracy:.1%} of the test digits are read correctly after {int(model.seen):,} samples")

    images = test[0][0]
    model.eval()
    sizes = flow(model, images)
    print("behind the blocks:", [round(size, 2) for size in sizes])
    copy = Network(64, 10).eval()
    with TemporaryDirectory() as folder:
        torch.save(model.state_dict(), Path(folder) / "weights.pt")
        copy.load_state_dict(torch.load(Path(folder) / "weights.pt"))
    difference = (model(images) - copy(images)).abs().max().item()
    if picture is not None:
        draw(sizes, picture)
    return {
        "accuracy": accuracy,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "difference": difference,
        "seen": int(copy.seen),
    }


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
