"""A model that doesn't fit its dataset, and batches used as what they are not; on small files in the real formats."""

import tempfile
from pathlib import Path

import torch

from simpletorch import Float32, Tensor, nn
from simpletorch.data import CIFAR10, MNIST, CharTokens, DataLoader, Digits
from simpletorch.dims import B
from simpletorch.transforms import CenterCrop, MixUp

root = Path(tempfile.mkdtemp())
(root / "MNIST/raw").mkdir(parents=True)
(root / "cifar-10-batches-bin").mkdir()
images, labels = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28]), bytes([0, 0, 8, 1, 0, 0, 0, 2])
(root / "MNIST/raw/train-images-idx3-ubyte").write_bytes(images + bytes(2 * 28 * 28))
(root / "MNIST/raw/train-labels-idx1-ubyte").write_bytes(labels + bytes(2))
for number in range(1, 6):
    (root / f"cifar-10-batches-bin/data_batch_{number}.bin").write_bytes(bytes(3073))


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3 * 32 * 32, 10)

    def forward(self, x: Tensor[Float32, B, 3, 32, 32]) -> Tensor[Float32, B, 10]:
        return self.linear(x.flatten(1))


def fail_mnist_is_grey() -> None:
    model = Classifier()
    for x, y in DataLoader(MNIST(root), batch_size=2):
        model(x)  # E: tensor-shape


def fail_digits_are_small() -> None:
    model = Classifier()
    for x, y in DataLoader(Digits(), batch_size=64, shuffle=True):
        model(x)  # E: tensor-shape


def fail_cropped_images_are_smaller() -> None:
    model = nn.Conv2d(1, 8, 3)
    for x, y in DataLoader(CIFAR10(root, transform=CenterCrop(23)), batch_size=2):
        model(x.float())  # E: tensor-shape


def fail_labels_are_no_images() -> None:
    model = Classifier()
    for x, y in DataLoader(CIFAR10(root), batch_size=5):
        model(y)  # E: tensor-dtype


def fail_tokens_are_numbers_of_characters() -> None:
    layer = nn.Linear(7, 3)
    for x, y in DataLoader(CharTokens("to be or not to be", context=7), batch_size=2):
        layer(x)  # E: tensor-dtype


def fail_mixed_targets_have_all_classes() -> None:
    mixed, shares = MixUp(10)(torch.zeros(5, 3, 7, 7), torch.zeros(5, dtype=torch.int64))
    shares @ torch.zeros(5, 3)  # E: tensor-shape
