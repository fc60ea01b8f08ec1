"""What ``for x, y in loader`` gives, for each dataset; on small files in the real formats."""
# ruff: noqa: B007 - loops are there for their types, which may be long

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image

from simpletorch import Bool, Float32, Int64, Tensor
from simpletorch.data import (
    CIFAR10,
    CIFAR100,
    MNIST,
    CharTokens,
    DataLoader,
    Digits,
    FashionMNIST,
    ImageFolder,
    ImageNet,
    ReplayBuffer,
    Table,
    lines,
)
from simpletorch.transforms import (
    CenterCrop,
    ColorJitter,
    Compose,
    CutMix,
    GaussianBlur,
    Grayscale,
    MixUp,
    Normalize,
    Pad,
    RandomCrop,
    RandomErasing,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    ToTensor,
)
from simpletorch.vision.io import read_image

root = Path(tempfile.mkdtemp())


def write(name: str, content: bytes) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(content)


def idx(*shape: int) -> bytes:
    sizes = b"".join(size.to_bytes(4, "big") for size in shape)
    return bytes([0, 0, 8, len(shape)]) + sizes + bytes(int(np.prod(shape)))


for folder in ("MNIST", "FashionMNIST"):
    write(f"{folder}/raw/train-images-idx3-ubyte", idx(7, 28, 28))
    write(f"{folder}/raw/train-labels-idx1-ubyte", idx(7))
for number in range(1, 6):
    write(f"cifar-10-batches-bin/data_batch_{number}.bin", bytes(3073))
write("cifar-100-binary/train.bin", bytes(5 * 3074))
for name in ("images/cat/1.png", "images/dog/1.png", "train/n01/1.png"):
    write(name, b"")
    Image.new("RGB", (53, 37)).save(root / name)
write("table.csv", b"a,b,c\n1,2,3\n4,5,6\n")
write("text.txt", b"to be\nor not to be\n")

for images, labels in DataLoader(MNIST(root), batch_size=5):
    reveal_type(images)  # R: Tensor[Float32, Any, 1, 28, 28]
    reveal_type(labels)  # R: Tensor[Int64, Any]
for images, labels in DataLoader(MNIST(root), batch_size=5, drop_last=True):
    reveal_type(images)  # R: Tensor[Float32, 5, 1, 28, 28]
    reveal_type(labels)  # R: Tensor[Int64, 5]
for images, labels in DataLoader(FashionMNIST(root), batch_size=5):
    reveal_type(images)  # R: Tensor[Float32, Any, 1, 28, 28] | Tensor[Float32, 5, 1, 28, 28]
for images, labels in DataLoader(CIFAR10(root), batch_size=5, shuffle=True, drop_last=True):
    reveal_type(images)  # R: Tensor[Float32, 5, 3, 32, 32]
    reveal_type(labels)  # R: Tensor[Int64, 5]
for images, labels in DataLoader(CIFAR100(root), batch_size=3):
    reveal_type(images)  # R: Tensor[Float32, 5, 3, 32, 32] | Tensor[Float32, Any, 3, 32, 32]
for images, labels in DataLoader(Digits(), batch_size=67, drop_last=True):
    reveal_type(images)  # R: Tensor[Float32, 67, 1, 8, 8]
for photos, kinds in DataLoader(ImageFolder(root / "images"), batch_size=2):
    reveal_type(photos)  # R: Tensor[Float32, Any, 3, Any, Any]
    reveal_type(kinds)  # R: Tensor[Int64, Any]
for picture, _ in DataLoader(ImageNet(root), batch_size=1):
    reveal_type(picture)  # R: Tensor[Float32, 1, 3, Any, Any]
for images, labels in DataLoader(ImageFolder(root / "images", transform=CenterCrop(31)), batch_size=2, drop_last=True):
    reveal_type(images)  # R: Tensor[UInt8, 2, 3, 31, 31]
for images, labels in DataLoader(MNIST(root, transform=RandomCrop(23)), batch_size=5):
    reveal_type(images)  # R: Tensor[UInt8, Any, 1, 23, 23]
augment = Compose([RandomCrop(23), ToTensor(), Normalize(0.1, 0.3)])
for _, digits in DataLoader(MNIST(root, transform=augment), batch_size=5):
    reveal_type(digits)  # R: Tensor[Int64, Any]
stated: MNIST[Tensor[Float32, 1, 23, 23], Tensor[Int64]] = MNIST(root, transform=augment)
for images, labels in DataLoader(stated, batch_size=5):
    reveal_type(images)  # R: Tensor[Float32, Any, 1, 23, 23]
for inputs, targets in DataLoader(CharTokens("to be or not to be", context=7), batch_size=5):
    reveal_type(inputs)  # R: Tensor[Int64, Any, 7]
    reveal_type(targets)  # R: Tensor[Int64, Any, 7]
for inputs, target in DataLoader(Table.from_csv(root / "table.csv", "c"), batch_size=2):
    reveal_type(inputs)  # R: Tensor[Float32, Any, Any]
    reveal_type(target)  # R: Tensor[Any, Any]
for batch in DataLoader(lines(root / "text.txt"), batch_size=2):
    reveal_type(batch)  # R: list[str]


class Step(NamedTuple):
    state: Tensor[Float32, 4]
    action: Tensor[Int64]
    done: Tensor[Bool]


buffer = ReplayBuffer[Step](11)
buffer.add(Step(torch.zeros(4), torch.tensor(1), torch.tensor(False)))
reveal_type(buffer[0].state)  # R: Tensor[Float32, 4]

image = read_image(root / "images/cat/1.png", "RGB")
reveal_type(image)  # R: Tensor[UInt8, 3, Any, Any]
reveal_type(CenterCrop(31)(image))  # R: Tensor[UInt8, 3, 31, 31]
reveal_type(CenterCrop((31, 29))(image))  # R: Tensor[UInt8, 3, Any, Any]
reveal_type(RandomCrop(23, padding=2)(image))  # R: Tensor[UInt8, 3, 23, 23]
reveal_type(RandomResizedCrop(29)(image))  # R: Tensor[UInt8, 3, 29, 29]
reveal_type(Resize(31)(image))  # R: Tensor[UInt8, 3, Any, Any]
reveal_type(RandomHorizontalFlip()(image))  # R: Tensor[UInt8, 3, Any, Any]
reveal_type(RandomVerticalFlip()(image))  # R: Tensor[UInt8, 3, Any, Any]
reveal_type(ColorJitter(0.2)(image))  # R: Tensor[UInt8, 3, Any, Any]
reveal_type(RandomErasing()(image))  # R: Tensor[UInt8, 3, Any, Any]
reveal_type(GaussianBlur(3)(image))  # R: Tensor[UInt8, 3, Any, Any]
reveal_type(Grayscale()(image))  # R: Tensor[UInt8, Any, Any, Any]
reveal_type(Pad(2)(image))  # R: Tensor[UInt8, 3, Any, Any]
floats = ToTensor()(image)
reveal_type(floats)  # R: Tensor[Float32, 3, Any, Any]
reveal_type(ToTensor()(Image.new("RGB", (5, 7))))  # R: Tensor[Float32, Any, Any, Any]
reveal_type(Normalize(0.5, 0.3)(floats))  # R: Tensor[Float32, 3, Any, Any]
pictures, classes = torch.zeros(5, 3, 31, 29), torch.zeros(5, dtype=torch.int64)
mixed, shares = MixUp(10)(pictures, classes)
reveal_type(mixed)  # R: Tensor[Float32, 5, 3, 31, 29]
reveal_type(shares)  # R: Tensor[Float32, 5, 10]
reveal_type(CutMix(10)(pictures, classes)[1])  # R: Tensor[Float32, 5, 10]


def through_a_parameter(data: MNIST, transform: Compose) -> Any:
    reveal_type(data[0][0])  # R: Tensor[Float32, 1, 28, 28]
    return transform(data.images)
