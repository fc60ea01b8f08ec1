"""VAE: an autoencoder whose middle is a normal distribution, so that new digits can be drawn from it.

The encoder gives each image a normal distribution over eight latent values, the decoder makes an image of a sample of
it. The loss is the negative evidence lower bound: what is lost of the image, and how far the distributions are from the
standard one. B is the batch, L latent values.

Kingma and Welling, Auto-Encoding Variational Bayes, 2013.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Generic, NamedTuple

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B
from simpletorch.metrics import Mean
from simpletorch.optim import AdamW


class Seen(NamedTuple, Generic[B]):
    """What the model makes of images: their logits, and the distributions in the middle."""

    logits: Tensor[Float32, B, 64]
    mean: Tensor[Float32, B, 8]
    log_variance: Tensor[Float32, B, 8]


class VAE(nn.Module):
    """Encoder and decoder for 64 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2 * 8))
        self.decoder = nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, images: Tensor[Float32, B, 64]) -> Seen[B]:
        """The images by way of a sample; the sample has a gradient because the noise comes from outside."""
        mean, log_variance = self.encoder(images).chunk(2, dim=1)
        sample = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        return Seen(self.decoder(sample), mean, log_variance)


def loss(seen: Seen[B], images: Tensor[Float32, B, 64]) -> Tensor[Float32, ""]:
    """The negative evidence lower bound of an image, in nats."""
    lost = F.binary_cross_entropy_with_logits(seen.logits, images, reduction="sum")
    apart = -0.5 * (1 + seen.log_variance - seen.mean.square() - seen.log_variance.exp()).sum()
    return (lost + apart) / len(images)


def draw(model: VAE, images: Tensor[Float32, B, 64], file: Path) -> None:
    """New digits, and the way from one real digit to another through the middle."""
    from matplotlib.figure import Figure

    with torch.no_grad():
        new = model.decoder(torch.randn(30, 8))
        start, end = model(images[:2]).mean
        way = torch.lerp(start, end, torch.linspace(0, 1, 10).unsqueeze(1))
        sheet = F.pad(torch.cat([new, model.decoder(way)]).sigmoid().view(4, 10, 8, 8), (1, 1, 1, 1))
    figure = Figure(figsize=(5, 2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(sheet.permute(0, 2, 1, 3).reshape(40, 100).tolist(), cmap="gray_r")
    axes.axis("off")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The bound in the first and the last epoch, and on images that were kept back."""
    seed_everything(0)
    model = VAE()
    optimizer = AdamW(model.parameters(), lr=3e-3)
    epochs: list[float] = []
    for _ in range(5 if quick else 80):
        mean = Mean()
        for images, _ in DataLoader(Digits(), 64, shuffle=True):
            pixels = images.flatten(start_dim=1)
            value = loss(model(pixels), pixels)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            mean.update(value.detach())
        epochs.append(mean.compute())
    test = Digits(train=False).images.flatten(start_dim=1)
    with torch.no_grad():
        held = loss(model(test), test).item()
    print(
        f"negative bound: {epochs[0]:.1f} nats in the first epoch, {epochs[-1]:.1f} in the last, {held:.1f} on the test"
    )
    if picture is not None:
        draw(model, test, picture)
    return {"first": epochs[0], "last": epochs[-1], "test": held}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
