"""Augmented batches from a folder of JPEGs: ours against torch's DataLoader over a plain Pillow pipeline, in one run.

    python benchmarks/image_folder.py [--json] [--images 2000] [--workers 0 2] [--rounds 3]

Both read the same generated photographs and do what ImageNet training does: decode, random resized crop to 224, flip,
to floats, normalise; batches of 64, shuffled. What counts is CPU time, of all processes, so that the ratio is per core
and other programs on the machine matter little; the two take turns on slices of the images. It needs PIL (the extra
`vision`).
"""
# ruff: noqa: D102, D103 - what is measured does nothing

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.utils.data
from PIL import Image

from simpletorch.data import DataLoader, ImageFolder
from simpletorch.transforms import Compose, Normalize, RandomHorizontalFlip, RandomResizedCrop, ToTensor

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
CLASSES = 10
SLICES = 8
SHAPES = ((375, 500), (333, 500), (500, 375), (400, 400))  # ImageNet's usual sizes


def generate(root: Path, images: int) -> int:
    """Write photographs with structure at several scales, as real ones have; returns their bytes."""
    dice = np.random.default_rng(7)
    for number in range(images):
        height, width = SHAPES[number % len(SHAPES)]
        pixels = np.zeros((height, width, 3), np.float32)
        for cell, strength in ((97, 90), (29, 45), (7, 18), (1, 6)):
            coarse = dice.standard_normal((height // cell + 2, width // cell + 2, 3)).astype(np.float32)
            planes = [Image.fromarray(coarse[..., i]).resize((width, height), Image.BICUBIC) for i in range(3)]
            pixels += strength * np.stack([np.asarray(plane) for plane in planes], -1)
        folder = root / f"class{number % CLASSES}"
        folder.mkdir(exist_ok=True)
        Image.fromarray(np.uint8((pixels + 128).clip(0, 255))).save(folder / f"{number:05}.jpg", quality=90)
    return sum(path.stat().st_size for path in root.rglob("*.jpg"))


class PillowFolder(torch.utils.data.Dataset):
    """What one writes without us: Pillow from the file to the crop, torchvision's steps to the tensor."""

    def __init__(self, root: Path) -> None:
        self.samples = [
            (str(path), number)
            for number, folder in enumerate(sorted(root.iterdir()))
            for path in sorted(folder.iterdir())
        ]
        self.mean, self.std = (torch.tensor(values).view(-1, 1, 1) for values in (MEAN, STD))

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        path, target = self.samples[index]
        with open(path, "rb") as file:
            image = Image.open(file).convert("RGB")
        left, top, width, height = self.window(*image.size)
        image = image.crop((left, top, left + width, top + height)).resize((224, 224), Image.BILINEAR)
        if random.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        tensor = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().to(torch.float32).div(255)
        return tensor.sub_(self.mean).div_(self.std), target

    def window(self, width: int, height: int) -> tuple[int, int, int, int]:
        for _ in range(10):
            area = width * height * random.uniform(0.08, 1.0)
            ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                return random.randint(0, width - w), random.randint(0, height - h), w, h
        return 0, 0, width, height


def cpu_seconds() -> float:
    """Of this process and of the workers that have ended."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def seconds(loader: object) -> float:
    start = cpu_seconds()
    for images, _ in loader:  # type: ignore[attr-defined]
        assert images.shape[1:] == (3, 224, 224)
    return cpu_seconds() - start


def measured(root: Path, workers: int, rounds: int) -> dict[str, float]:
    """Images a CPU second of each: slice after slice, the best of the rounds of each slice, added up."""
    transform = Compose([RandomResizedCrop(224), RandomHorizontalFlip(), ToTensor(), Normalize(MEAN, STD)])
    kinds = {
        "ours": (ImageFolder(root, transform), DataLoader),
        "torch + Pillow": (PillowFolder(root), torch.utils.data.DataLoader),
    }
    images = len(PillowFolder(root))
    spent = dict.fromkeys(kinds, 0.0)
    for start in range(SLICES):
        best = dict.fromkeys(kinds, float("inf"))
        for turn in range(rounds):
            for name in sorted(kinds, reverse=bool(turn % 2)):
                dataset, loader = kinds[name]
                part = torch.utils.data.Subset(dataset, range(start, images, SLICES))  # type: ignore[arg-type]
                best[name] = min(best[name], seconds(loader(part, 64, shuffle=True, num_workers=workers)))
        for name, time in best.items():
            spent[name] += time
    return {name: images / time for name, time in spent.items()}


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        size = generate(Path(folder), arguments.images)
        found = {workers: measured(Path(folder), workers, arguments.rounds) for workers in arguments.workers}
    if arguments.json:
        print(json.dumps({workers: {**rates, "ratio": _ratio(rates)} for workers, rates in found.items()}))
        return
    print(
        f"torch {torch.__version__}, {arguments.images} JPEGs of {size / arguments.images / 1024:.0f} KiB on average,"
    )
    print(f"images a CPU second, best of {arguments.rounds} rounds, load average {os.getloadavg()[0]:.1f}")
    for workers, rates in found.items():
        shown = ", ".join(f"{name} {rate:7.1f}" for name, rate in rates.items())
        print(f"  {workers} workers: {shown}, ratio {_ratio(rates):.2f}")


def _ratio(rates: dict[str, float]) -> float:
    return rates["ours"] / rates["torch + Pillow"]


if __name__ == "__main__":
    main()
