"""Diffusion: digits made of noise, step by step, each of the kind that was asked for.

A perceptron is told a noisy image, how noisy it is and which digit it shows, and predicts the noise. To make an image,
what it predicts is taken away in 100 steps. A nearest-neighbour classifier says whether the digit that was asked for is
what came out. B is the batch.

Ho, Jain and Abbeel, Denoising Diffusion Probabilistic Models, 2020; a U-Net for it: `examples/models/diffusion.py`.
"""

from argparse import ArgumentParser
from pathlib import Path

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B
from simpletorch.optim import EMA, AdamW

STEPS = 100
BETAS = torch.linspace(1e-4, 0.1, STEPS)  # how much noise each step adds
SIGNAL = (1 - BETAS).cumprod(dim=0)  # how much of the image's variance is left after it


class Denoiser(nn.Module):
    """Predicts the noise in an image of 64 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.time, self.digit = nn.Embedding(STEPS, 256), nn.Embedding(10, 256)
        self.first, self.last = nn.Linear(64, 256), nn.Linear(256, 64)
        self.layers = nn.ModuleList(
            [nn.Sequential(nn.LayerNorm(256), nn.Linear(256, 256), nn.SiLU(), nn.Linear(256, 256)) for _ in range(3)]
        )

    def forward(
        self, x: Tensor[Float32, B, 64], time: Tensor[Int64, B], digit: Tensor[Int64, B]
    ) -> Tensor[Float32, B, 64]:
        """The noise, of variance 1."""
        h = self.first(x)
        told = self.time(time) + self.digit(digit)
        for layer in self.layers:
            h = h + layer(h + told)
        return self.last(F.silu(h))


def loss(model: Denoiser, images: Tensor[Float32, B, 64], digits: Tensor[Int64, B]) -> Tensor[Float32, ""]:
    """The squared error of the predicted noise, at a random time for each image."""
    time = torch.randint(STEPS, (len(images),))
    noise = torch.randn_like(images)
    signal = SIGNAL[time].unsqueeze(1)
    return F.mse_loss(model(signal.sqrt() * images + (1 - signal).sqrt() * noise, time, digits), noise)


@torch.no_grad()
def make(model: torch.nn.Module, digits: Tensor[Int64, B]) -> Tensor[Float32, B, 64]:
    """An image of each digit, of noise."""
    x = torch.randn(len(digits), 64)
    for step in reversed(range(STEPS)):
        noise = model(x, torch.full_like(digits, step), digits)
        x = (x - BETAS[step] / (1 - SIGNAL[step]).sqrt() * noise) / (1 - BETAS[step]).sqrt()
        if step > 0:
            x = x + BETAS[step].sqrt() * torch.randn_like(x)
    return x.clamp(-1, 1)


def draw(images: Tensor[Float32, 100, 64], file: Path) -> None:
    """Ten images of each digit, a column a digit."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6, 3.6))
    axes = figure.add_axes((0, 0, 1, 1))
    sheet = F.pad(images.view(10, 10, 8, 8), (1, 1, 1, 1), value=-1).permute(0, 2, 1, 3)
    axes.imshow(sheet.reshape(100, 100).tolist(), cmap="gray_r")
    axes.axis("off")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The losses, and the share of made images that show the digit that was asked for."""
    seed_everything(0)
    train = Digits()
    model = Denoiser()
    optimizer, average = AdamW(model.parameters(), lr=1e-3), EMA(model, decay=0.99)
    losses: list[float] = []
    for _ in range(10 if quick else 200):
        for images, digits in DataLoader(train, 64, shuffle=True):
            value = loss(model, 2 * images.flatten(start_dim=1) - 1, digits)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            average.update_parameters(model)
            losses.append(value.item())
    first, last = sum(losses[:20]) / 20, sum(losses[-20:]) / 20

    asked = torch.arange(10).repeat(10)
    made = make(average.module, asked)
    nearest = torch.cdist(made, 2 * train.images.flatten(start_dim=1) - 1).argmin(dim=1)
    right = (train.targets[nearest] == asked).float().mean().item()
    print(
        f"error of the noise {first:.3f} at first, {last:.3f} in the end; {right:.0%} are the digit that was asked for"
    )
    if picture is not None:
        draw(made, picture)
    return {"first": first, "last": last, "right": right}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
