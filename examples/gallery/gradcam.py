"""Grad-CAM: which parts of an image made a network say what it says.

A hook keeps what the last convolution gives; the gradient of an answer says how much each of its channels counts, and
their weighted sum is a map of the image. Whether the map means something is measured: the part of the image that it
marks most is wiped out, and the answers get worse than with a part that is chosen by chance. B is the batch.

Selvaraju et al., Grad-CAM: Visual Explanations from Deep Networks via Gradient-based Localization, 2017.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B
from simpletorch.optim import AdamW, OneCycleLR
from simpletorch.train import Step


class Net(nn.Module):
    """Convolutions that keep the image's size, and the mean of what they give."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3, padding=1), nn.Conv2d(32, 64, 3, padding=1)
        self.norm1, self.norm2 = nn.BatchNorm2d(32), nn.BatchNorm2d(64)
        self.head = nn.Linear(64, 10)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """A number for each digit."""
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.norm2(self.conv2(x)))
        return self.head(x.mean(dim=(2, 3)))


def explain(model: Net, images: Tensor[Float32, B, 1, 8, 8]) -> tuple[Tensor[Int64, B], Tensor[Float32, B, 8, 8]]:
    """The answers, and for each image how much each place speaks for the answer: 0 to 1."""
    kept: list[torch.Tensor] = []

    def keep(module: torch.nn.Module, args: Any, output: torch.Tensor) -> None:
        kept.append(output)

    hook = model.norm2.register_forward_hook(keep)
    scores, answers = model(images).max(dim=1)
    hook.remove()
    features: Tensor[Float32, Any, 64, 8, 8] = F.relu(kept[0])
    (slope,) = torch.autograd.grad(scores.sum(), kept[0])
    weights = slope.mean(dim=(2, 3), keepdim=True)
    maps = F.relu((weights * features).sum(dim=1)).detach()
    return answers, maps / maps.amax(dim=(1, 2), keepdim=True).clamp(min=1e-6)


def without(images: Tensor[Float32, B, 1, 8, 8], maps: Tensor[Float32, B, 8, 8]) -> Tensor[Float32, B, 1, 8, 8]:
    """The images without the twelve places that a map marks most."""
    places = maps.flatten(start_dim=1).topk(12).indices
    return images.flatten(start_dim=1).scatter(1, places, 0.0).view(-1, 1, 8, 8)


def draw(images: Tensor[Float32, B, 1, 8, 8], maps: Tensor[Float32, B, 8, 8], file: Path) -> None:
    """Images above, maps below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 1.6), layout="constrained")
    for column, axes in enumerate(figure.subplots(2, 8).T):
        axes[0].imshow(images[column, 0].tolist(), cmap="gray_r")
        axes[1].imshow(maps[column].tolist(), cmap="inferno")
        axes[0].axis("off")
        axes[1].axis("off")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The accuracy on whole images, without the places that are marked, and without as many others."""
    seed_everything(0)
    model = Net()
    epochs, loader, optimizer = 5 if quick else 15, DataLoader(Digits(), 64, shuffle=True), AdamW(model.parameters())
    step = Step(model, F.cross_entropy, optimizer)
    schedule = OneCycleLR(optimizer, max_lr=1e-2, total_steps=epochs * len(loader))
    for _ in range(epochs):
        for images, digits in loader:
            step(images, digits)
            schedule.step()
    model.eval()
    test = Digits(train=False)
    answers, maps = explain(model, test.images)
    by_chance = torch.rand(maps.shape)
    result = {"whole": (answers == test.targets).float().mean().item()}
    for name, marks in {"marked": maps, "chance": by_chance}.items():
        with torch.no_grad():
            answers = model(without(test.images, marks)).argmax(dim=1)
        result[name] = (answers == test.targets).float().mean().item()
    print(f"{result['whole']:.1%} of whole images are read correctly,")
    print(
        f"{result['chance']:.1%} without 12 of 64 pixels by chance, {result['marked']:.1%} without the 12 most marked"
    )
    if picture is not None:
        draw(test.images[:8], maps[:8], picture)
    return result


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
