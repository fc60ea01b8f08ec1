"""Mixed precision: the forward pass in bfloat16, weights and updates in float32.

`Step(precision="bfloat16")` runs the model under `torch.autocast`. The same model is trained in both precisions, from
the same weights and with the same batches. What each layer gives is looked at with `amp.autocast`. Whether it is faster
depends on the machine; what a GPU gains is in `docs/gpu.md`. B is the batch.
"""

from argparse import ArgumentParser
from pathlib import Path
from time import perf_counter

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, amp, nn, seed_everything
from simpletorch.amp import Precision
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B
from simpletorch.metrics import Accuracy
from simpletorch.optim import AdamW
from simpletorch.train import Step, evaluate


class Net(nn.Module):
    """A perceptron with normalization."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.norm, self.fc2 = nn.Linear(64, 256), nn.LayerNorm(256), nn.Linear(256, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> torch.Tensor:
        """A number for each digit, in the precision that is in force."""
        return self.fc2(F.gelu(self.norm(self.fc1(x.flatten(start_dim=1)))))


def train(precision: Precision, epochs: int) -> tuple[list[float], float]:
    """The loss of each step, and the accuracy on the test."""
    seed_everything(0)
    model = Net()
    step = Step(model, F.cross_entropy, AdamW(model.parameters(), lr=3e-3), precision=precision)
    losses: list[float] = []
    begin = perf_counter()
    for _ in range(epochs):
        for images, digits in DataLoader(Digits(), 64, shuffle=True):
            losses.append(step(images, digits).item())
    milliseconds = 1e3 * (perf_counter() - begin) / len(losses)
    accuracy = evaluate(model, DataLoader(Digits(train=False), 360), {"accuracy": Accuracy()})["accuracy"]
    kept = {parameter.dtype for parameter in model.parameters()}
    print(f"{precision:9} loss {losses[-1]:.3f}, accuracy {accuracy:.1%}, {milliseconds:.1f} ms a step, weights {kept}")
    return losses, accuracy


def draw(curves: dict[str, list[float]], file: Path) -> None:
    """The losses of both precisions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    for name, losses in curves.items():
        axes.semilogy(losses, linewidth=0.8, label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.legend()
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The accuracies in both precisions, and the largest difference of the losses."""
    images = Digits(train=False).images
    model = Net()
    with torch.no_grad(), amp.autocast(dtype=torch.bfloat16):
        x = model.fc1(images.flatten(start_dim=1))
        print(f"under autocast a linear layer gives {x.dtype}, a layer norm {model.norm(x).dtype}")
    full, exact = train("float32", 3 if quick else 20)
    half, mixed = train("bfloat16", 3 if quick else 20)
    if picture is not None:
        draw({"float32": full, "bfloat16": half}, picture)
    apart = max(abs(a - b) for a, b in zip(full, half, strict=True))
    return {"float32": exact, "bfloat16": mixed, "apart": apart}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
