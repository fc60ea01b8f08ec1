"""Tensors: principal components and nearest neighbours of handwritten digits, without a model.

Indexing, broadcasting, reductions, a product and a decomposition are enough to read digits that were never seen:
the answer is that of the five most similar images. Sizes stand in the annotations: N known images, M new ones, D
pixels, K directions.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import torch

from simpletorch import Dim, Float32, Int64, Tensor
from simpletorch.data import Digits
from simpletorch.dims import D, K, M, N


def distances(a: Tensor[Float32, M, D], b: Tensor[Float32, N, D]) -> Tensor[Float32, M, N]:
    """Squared distances of all pairs: |a|² - 2ab + |b|², where a column meets a row."""
    return a.square().sum(dim=1, keepdim=True) - 2 * a @ b.T + b.square().sum(dim=1)


def nearest(
    known: Tensor[Float32, N, D], labels: Tensor[Int64, N], new: Tensor[Float32, M, D], neighbours: int
) -> Tensor[Int64, M]:
    """The label that most of the nearest known images have."""
    places = distances(new, known).topk(neighbours, largest=False).indices
    return labels[places].mode(dim=1).values


def directions(x: Tensor[Float32, N, D], count: Dim[K]) -> Tensor[Float32, D, K]:
    """The orthogonal directions in which the rows of ``x`` vary most: its principal components."""
    covariance = torch.cov(x.T)
    _, vectors = torch.linalg.eigh(covariance)  # from the smallest variance to the largest
    return vectors[:, -count:].flip(1)


def draw(points: Tensor[Float32, N, 2], labels: Tensor[Int64, N], file: Path) -> None:
    """The images as points in the plane of the two main directions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3.2), layout="constrained")
    axes = figure.subplots()
    across, up = points.T.tolist()
    dots = axes.scatter(across, up, c=labels.tolist(), cmap="tab10", s=6)
    figure.colorbar(dots, label="digit")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The share of digits read correctly, from 64 pixels and from a few directions."""
    train, test = Digits(train=True), Digits(train=False)
    known, new = train.images.flatten(start_dim=1), test.images.flatten(start_dim=1)
    labels: Tensor[Int64, Any] = train.targets
    right = nearest(known, labels, new, 5) == test.targets
    print(f"nearest neighbours of 64 pixels:      {right.float().mean():.1%} of {len(new)} digits are read correctly")

    mean = known.mean(dim=0)
    result = {"pixels": right.float().mean().item()}
    for count in [2, 12] if quick else [2, 4, 8, 12, 16, 32]:
        basis = directions(known, count)
        right = nearest((known - mean) @ basis, labels, (new - mean) @ basis, 5) == test.targets
        result[f"{count} directions"] = right.float().mean().item()
        print(f"nearest neighbours in {count:2} directions:    {right.float().mean():.1%}")
    if picture is not None:
        draw((known - mean) @ directions(known, 2), labels, picture)
    return result


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
