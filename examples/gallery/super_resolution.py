"""Super-resolution: twice as many pixels in both directions, learned from one half of a photograph.

A small network computes, at the low resolution, four values for each pixel of a colour, and `PixelShuffle` makes them
2×2 pixels. They are added to bicubic interpolation, which is also what the network is compared with, on the other half.
The photograph ships with scikit-learn. B is the batch, H and W the size of the small image.

Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional Neural Network,
2016.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import torch
from sklearn.datasets import load_sample_image

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.dims import B, H, W
from simpletorch.optim import AdamW, OneCycleLR
from simpletorch.train import Step

Photo = Tensor[Float32, 1, 3, Any, Any]


class Upscaler(nn.Module):
    """Images of twice the height and width."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
            nn.Conv2d(32, 4, 3, padding=1), nn.PixelShuffle(2),
        )  # fmt: skip

    def forward(self, images: Tensor[Float32, B, 3, H, W]) -> Tensor[Float32, B, 3, "2*H", "2*W"]:
        """What interpolation gives, and what the network adds."""
        colours = images.flatten(0, 1).unsqueeze(1)  # each by itself: it doesn't matter which ones were learned
        return bicubic(images) + self.layers(colours).squeeze(1).unflatten(0, (-1, 3))


def bicubic(images: Tensor[Float32, B, 3, H, W]) -> Tensor[Float32, B, 3, "2*H", "2*W"]:
    """Interpolation without learning."""
    return F.interpolate(images, scale_factor=2, mode="bicubic")


def photo(name: str) -> Photo:
    """A photograph, 426×640 pixels with values from 0 to 1."""
    pixels: Tensor[Float32, Any, Any, 3] = torch.from_numpy(load_sample_image(name).copy()).float() / 255
    return pixels.permute(2, 0, 1).unsqueeze(0)[:, :, :426]


def quality(images: Tensor[Float32, B, 3, H, W], truth: Tensor[Float32, B, 3, H, W]) -> float:
    """The peak signal-to-noise ratio in decibels; 1 dB more is a fifth less error."""
    return -10 * F.mse_loss(images.clamp(0, 1), truth).log10().item()


def draw(images: dict[str, Photo], file: Path) -> None:
    """The same part of each image."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 2.4), layout="constrained")
    for axes, (name, image) in zip(figure.subplots(1, len(images)), images.items(), strict=True):
        axes.imshow(image[0, :, 220:320, 0:100].clamp(0, 1).permute(1, 2, 0).tolist())
        axes.set_title(name, fontsize=9)
        axes.axis("off")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The quality of interpolation and of the network on the half that was kept back, in dB."""
    seed_everything(0)
    train, test = photo("flower.jpg").split(320, dim=3)
    patches = train.unfold(2, 42, 21).unfold(3, 42, 21).permute(0, 2, 3, 1, 4, 5).reshape(-1, 3, 42, 42)
    loader = DataLoader(TensorDataset(F.avg_pool2d(patches, 2), patches), 16, shuffle=True)
    model = Upscaler()
    for parameter in model.layers[4].parameters():
        nn.init.zeros_(parameter)  # it begins with what interpolation gives
    optimizer = AdamW(model.parameters())
    epochs = 4 if quick else 60
    schedule = OneCycleLR(optimizer, max_lr=2e-3, total_steps=epochs * len(loader))
    step = Step(model, F.l1_loss, optimizer)
    for _ in range(epochs):
        for small, large in loader:
            step(small, large)
            schedule.step()

    small = F.avg_pool2d(test, 2)
    with torch.no_grad():
        learned = model(small)
    result = {"bicubic": quality(bicubic(small), test), "learned": quality(learned, test)}
    print("the half that was never seen:", ", ".join(f"{name} {value:.2f} dB" for name, value in result.items()))
    if picture is not None:
        nearest = F.interpolate(small, scale_factor=2, mode="nearest")
        draw({"pixels": nearest, "bicubic": bicubic(small), "learned": learned, "truth": test}, picture)
    return result


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
