"""Transfer learning: a network that reads digits is asked a new question, and thirty answers are enough.

A body of convolutions is trained with a head for ten digits; then it is frozen, and only a new head learns which
digits are odd. The same network from scratch shows what that is worth. (Weights of ImageNet would need a download;
the steps are the same: replace the head, freeze the body, train.) B is the batch, K the classes.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Generic

import simpletorch.nn.functional as F
from simpletorch import Dim, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits, TensorDataset
from simpletorch.dims import B, K
from simpletorch.metrics import Accuracy
from simpletorch.optim import AdamW
from simpletorch.train import Trainer, evaluate

Images = TensorDataset[Tensor[Float32, 1, 8, 8], Tensor[Int64, ""]]


class Body(nn.Module):
    """From an image to 32 features."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3, padding=1), nn.Conv2d(32, 64, 3, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(4, 32), nn.GroupNorm(4, 64)
        self.features = nn.Linear(64 * 4 * 4, 32)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 32]:
        """What a head needs to know of the image."""
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.norm2(self.conv2(x)))
        return F.relu(self.features(F.max_pool2d(x, 2).flatten(start_dim=1)))


class Classifier(nn.Module, Generic[K]):
    """A body, which may have learned before, and a new head."""

    def __init__(self, body: Body, classes: Dim[K]) -> None:
        super().__init__()
        self.body, self.head = body, nn.Linear(32, classes)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, K]:
        """A number for each class."""
        return self.head(self.body(x))


def odd(digits: Digits, count: int) -> Images:
    """The first images, each labelled 1 if its digit is odd."""
    return TensorDataset(digits.images[:count], digits.targets[:count] % 2)


def fit(model: Classifier[Any], samples: Images, test: Images, epochs: int) -> float:
    """Trains what may change of ``model``; gives the accuracy on ``test``."""
    optimizer = AdamW([parameter for parameter in model.parameters() if parameter.requires_grad], lr=2e-3)
    trainer = Trainer(loss=F.cross_entropy, optimizer=optimizer, progress=False)
    trainer.fit(model, DataLoader(samples, 32, shuffle=True), epochs=epochs)
    return evaluate(model, DataLoader(test, 100), {"accuracy": Accuracy()})["accuracy"]


def draw(result: dict[str, float], file: Path) -> None:
    """The accuracies beside each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 2.2), layout="constrained")
    axes = figure.subplots()
    axes.barh(list(result), list(result.values()))
    axes.set_xlabel("accuracy")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """Accuracies of the old task, and of the new one with and without what was learned before."""
    seed_everything(0)
    train, test = Digits(train=True), Digits(train=False)
    body = Body()
    old = fit(Classifier(body, 10), train, test, 4 if quick else 15)
    print(f"which digit, from {len(train):,} examples:       {old:.1%}")

    few, new = odd(train, 30), odd(test, len(test))
    body.requires_grad_(False)
    transferred = fit(Classifier(body, 2), few, new, 100 if quick else 300)
    print(f"odd, from {len(few)} examples, frozen body:    {transferred:.1%}")
    scratch = fit(Classifier(Body(), 2), few, new, 100 if quick else 300)
    print(f"odd, from {len(few)} examples, from scratch:   {scratch:.1%}")
    result = {"old": old, "transferred": transferred, "scratch": scratch}
    if picture is not None:
        draw(result, picture)
    return result


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
