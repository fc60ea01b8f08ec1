"""XOR: the smallest problem that one layer can't solve, with a loop written out by hand.

Two inputs, eight hidden units, one output. What is learned is shown as a truth table, and as a picture of what the
network says of every point of the plane. B is the batch.
"""

from argparse import ArgumentParser
from pathlib import Path

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, nn, seed_everything
from simpletorch.dims import B
from simpletorch.optim import Adam


class Xor(nn.Module):
    """A perceptron with one hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x: Tensor[Float32, B, 2]) -> Tensor[Float32, B]:
        """The logit of "exactly one of the two is set"."""
        return self.layers(x).squeeze(1)


def train(model: Xor, steps: int) -> list[float]:
    """The loss before each step."""
    inputs = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    targets = torch.tensor([0.0, 1.0, 1.0, 0.0])
    optimizer = Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        loss = F.binary_cross_entropy_with_logits(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        for (a, b), answer in zip(inputs.tolist(), model(inputs).sigmoid().tolist(), strict=True):
            print(f"{a:.0f} xor {b:.0f} = {answer:.3f}")
    return losses


def draw(model: Xor, file: Path) -> None:
    """What the network says between and around the four points."""
    from matplotlib.figure import Figure

    line = torch.linspace(-0.5, 1.5, 81)
    plane = torch.cartesian_prod(line, line)
    with torch.no_grad():
        answers = model(plane).sigmoid().view(81, 81)
    figure = Figure(figsize=(4, 3.2), layout="constrained")
    axes = figure.subplots()
    shades = axes.imshow(answers.T.tolist(), origin="lower", extent=(-0.5, 1.5, -0.5, 1.5), cmap="RdBu")
    axes.scatter([0, 0, 1, 1], [0, 1, 0, 1], c=[0, 1, 1, 0], cmap="RdBu", edgecolors="black")
    figure.colorbar(shades)
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The first loss and the last."""
    seed_everything(0)
    model = Xor()
    losses = train(model, 200 if quick else 1000)
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.4f} in the end")
    if picture is not None:
        draw(model, picture)
    return {"first": losses[0], "last": losses[-1]}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
