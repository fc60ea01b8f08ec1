"""Kernels: an annotated function becomes an operator of torch, with a gradient and a faster way to compute it.

The function is the reference. From its annotations come sizes without values (for `torch.compile`), checks and samples;
`kernels.verify` holds the implementation and the gradient against it. Then the operator is a network's activation.
In C++ and Triton: `docs/kernels.md`. B is the batch.
"""

from argparse import ArgumentParser
from pathlib import Path

import torch

import simpletorch.nn.functional as F
from simpletorch import Float, Float32, Tensor, kernels, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B
from simpletorch.optim import AdamW
from simpletorch.train import Step


@kernels.operator("gallery::squared_relu")
def squared_relu(x: Tensor[Float, "*Batch"]) -> Tensor[Float, "*Batch"]:
    """relu(x)² (So et al., Primer, 2021)."""
    return torch.relu(x).square()


@squared_relu.cpu
def _(x: torch.Tensor) -> torch.Tensor:
    kept = x.clamp(min=0)
    return kept.mul_(kept)  # no second tensor


@squared_relu.backward
def _(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return 2 * grad * x.clamp(min=0)


class Net(nn.Module):
    """A perceptron with the new operator."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 128), nn.Linear(128, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """A number for each digit."""
        return self.fc2(squared_relu(self.fc1(x.flatten(start_dim=1))))


def draw(file: Path) -> None:
    """The operator and its gradient."""
    from matplotlib.figure import Figure

    x = torch.linspace(-2, 2, 101, requires_grad=True)
    y = squared_relu(x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(x.tolist(), y.tolist(), label="squared_relu")
    axes.plot(x.tolist(), slope.tolist(), label="gradient")
    axes.legend()
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """How many samples were verified, the losses, and the accuracy of the network."""
    seed_everything(0)
    report = kernels.verify(squared_relu)
    print(report)
    try:
        squared_relu(torch.arange(3))  # type: ignore[tensor-dtype]  # on purpose
    except TypeError as error:
        print(f"\nrefused: {error}\n")

    model = Net()
    step = Step(model, F.cross_entropy, AdamW(model.parameters(), lr=3e-3))
    losses: list[float] = []
    for _ in range(3 if quick else 20):
        for images, digits in DataLoader(Digits(), 64, shuffle=True):
            losses.append(step(images, digits).item())
    test = Digits(train=False)
    with torch.no_grad():
        right = (model(test.images).argmax(dim=1) == test.targets).float().mean().item()
    print(f"{right:.1%} of the test digits are read correctly")
    if picture is not None:
        draw(picture)
    return {"first": losses[0], "last": losses[-1], "accuracy": right}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
