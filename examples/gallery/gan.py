"""GAN: a generator learns to write digits that a discriminator can't tell from real ones.

Two models and two optimizers, in a loop by hand. `detach` keeps the discriminator's step out of the generator. How
good the images are is measured: by the distance to the real image that is most similar. B is the batch, M generated
images, N real ones.

Goodfellow et al., Generative Adversarial Networks, 2014; the layers are those of Radford et al., 2015, made small.
"""

from argparse import ArgumentParser
from pathlib import Path

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B, M, N
from simpletorch.optim import Adam

NOISE = 16


class Generator(nn.Module):
    """From noise to images."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(16, 64 * 2 * 2), nn.Unflatten(1, (64, 2, 2)), nn.BatchNorm2d(64), nn.ReLU(),
            nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, noise: Tensor[Float32, B, 16]) -> Tensor[Float32, B, 1, 8, 8]:
        """Images with values from 0 to 1."""
        return self.layers(noise)


class Discriminator(nn.Module):
    """From images to how real they look."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 32, 3, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Dropout(0.2),
            nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Dropout(0.2),
            nn.Flatten(), nn.Linear(64 * 2 * 2, 1),
        )  # fmt: skip

    def forward(self, images: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B]:
        """A logit: above 0 it says "real"."""
        return self.layers(images).squeeze(1)


def loss(logits: Tensor[Float32, B], real: bool) -> Tensor[Float32, ""]:
    """How far the answers are from "all real", or "all made"."""
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, 0.9 if real else 0.0))


def train(generator: Generator, discriminator: Discriminator, epochs: int) -> tuple[float, float]:
    """The mean losses of generator and discriminator in the last epoch."""
    make = Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
    judge = Adam(discriminator.parameters(), lr=5e-4, betas=(0.5, 0.999))
    made_sum, judged_sum, batches = 0.0, 0.0, 0
    for _ in range(epochs):
        made_sum, judged_sum, batches = 0.0, 0.0, 0
        for real, _ in DataLoader(Digits(), 64, shuffle=True, drop_last=True):
            made = generator(torch.randn(len(real), NOISE))

            judged = loss(discriminator(real), real=True) + loss(discriminator(made.detach()), real=False)
            judge.zero_grad()
            judged.backward()
            judge.step()

            fooled = loss(discriminator(made), real=True)
            make.zero_grad()
            fooled.backward()
            make.step()
            made_sum, judged_sum, batches = made_sum + fooled.item(), judged_sum + judged.item(), batches + 1
    return made_sum / batches, judged_sum / batches


def distance(images: Tensor[Float32, M, 1, 8, 8], real: Tensor[Float32, N, 1, 8, 8]) -> float:
    """How far an image is from the most similar real one, in the mean."""
    return torch.cdist(images.flatten(1), real.flatten(1)).amin(dim=1).mean().item()


def draw(images: Tensor[Float32, 40, 1, 8, 8], file: Path) -> None:
    """Four rows of ten images."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 2))
    sheet = F.pad(images.view(4, 10, 8, 8), (1, 1, 1, 1)).permute(0, 2, 1, 3).reshape(40, 100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(sheet.tolist(), cmap="gray_r")
    axes.axis("off")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The distance of generated images from real ones: before training, after it, and of real images kept back."""
    seed_everything(0)
    real, noise = Digits().images, torch.randn(40, NOISE)
    generator, discriminator = Generator(), Discriminator()
    with torch.no_grad():
        before = distance(generator(noise), real)
    fooled, judged = train(generator, discriminator, 12 if quick else 150)
    with torch.no_grad():
        images = generator.eval()(noise)
    result = {"before": before, "after": distance(images, real), "real": distance(Digits(train=False).images, real)}
    print(f"losses in the last epoch: generator {fooled:.2f}, discriminator {judged:.2f}")
    print("distance to the nearest real image:", ", ".join(f"{key} {value:.2f}" for key, value in result.items()))
    if picture is not None:
        draw(images, picture)
    return result


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
