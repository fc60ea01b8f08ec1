"""Reading handwritten digits: MNIST's program, on the 1,797 real digits that ship with scikit-learn.

They are 8×8 pixels where MNIST's are 28×28, need no download, and take seconds. `DataLoader`, `Trainer` and
`Accuracy` are the whole program beside the model. The picture has the digits that it is least sure of. B is the batch.
"""

from argparse import ArgumentParser
from pathlib import Path

import torch

import simpletorch.nn.functional as F
from simpletorch import Float32, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.dims import B
from simpletorch.metrics import Accuracy
from simpletorch.optim import AdamW, OneCycleLR
from simpletorch.train import Trainer


class Net(nn.Module):
    """Two convolutions and two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 16, kernel_size=3, padding=1), nn.BatchNorm2d(16)
        self.conv2, self.norm2 = nn.Conv2d(16, 32, kernel_size=3, padding=1), nn.BatchNorm2d(32)
        self.fc1, self.fc2 = nn.Linear(32 * 4 * 4, 64), nn.Linear(64, 10)
        self.dropout = nn.Dropout(0.3)

    def forward(self, x: Tensor[Float32, B, 1, 8, 8]) -> Tensor[Float32, B, 10]:
        """A number for each digit; the largest is the answer."""
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), kernel_size=2)
        return self.fc2(self.dropout(F.relu(self.fc1(x.flatten(start_dim=1)))))


def draw(model: Net, file: Path) -> None:
    """The digits of the test that the model is least sure of, and what it says."""
    from matplotlib.figure import Figure

    test = Digits(train=False)
    with torch.no_grad():
        sure, answers = model(test.images).softmax(dim=1).max(dim=1)
    figure = Figure(figsize=(6, 1.6), layout="constrained")
    for axes, place in zip(figure.subplots(1, 8), sure.argsort()[:8].tolist(), strict=True):
        axes.imshow(test.images[place, 0].tolist(), cmap="gray_r")
        axes.set_title(f"{answers[place]} ({test.targets[place]})", fontsize=9)
        axes.axis("off")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The loss of the first and the last epoch, and the accuracy on digits that were kept back."""
    seed_everything(0)
    epochs = 2 if quick else 15
    model = Net()
    loader, test = DataLoader(Digits(), 64, shuffle=True), DataLoader(Digits(train=False), 360)
    optimizer = AdamW(model.parameters(), weight_decay=0.01)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=optimizer,
        scheduler=OneCycleLR(optimizer, max_lr=0.01, total_steps=epochs * len(loader)),
        schedule="step",
        metrics={"accuracy": Accuracy()},
    )
    history = trainer.fit(model, loader, epochs=epochs, validation=test)
    accuracy = history[-1].validation["accuracy"]
    print(f"{accuracy:.1%} of the test digits are read correctly")
    if picture is not None:
        draw(model.eval(), picture)
    return {"first": history[0].loss, "last": history[-1].loss, "accuracy": accuracy}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
