"""Batches of a DataLoader: the samples' types with the batch in front."""

from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import torch
import torch.utils.data

from simpletorch import Tensor
from simpletorch.data import (
    CIFAR10,
    CIFAR100,
    MNIST,
    CachedDataset,
    CharTokens,
    ConcatDataset,
    DataLoader,
    Dataset,
    Digits,
    FashionMNIST,
    ImageFolder,
    ImageNet,
    IterableDataset,
    Lines,
    MappedDataset,
    Subset,
    Table,
    TensorDataset,
    ZippedDataset,
    from_hugging_face,
    random_split,
)
from simpletorch.dtypes import Float32, Int64


class Pair(Dataset[tuple[Tensor[Float32, 1, 28, 28], Tensor[Int64]]]):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> tuple[Tensor[Float32, 1, 28, 28], Tensor[Int64]]:
        return torch.zeros(1, 28, 28), torch.tensor(index)


pairs = Pair()
for x, y in DataLoader(pairs, 3):
    reveal_type(x)  # R: Tensor[Float32, Any, 1, 28, 28]
    reveal_type(y)  # R: Tensor[Int64, Any]
for x, y in DataLoader(pairs, batch_size=3, shuffle=True, drop_last=True):
    reveal_type(x)  # R: Tensor[Float32, 3, 1, 28, 28]
    reveal_type(y)  # R: Tensor[Int64, 3]
for x, _ in DataLoader(pairs):
    reveal_type(x)  # R: Tensor[Float32, 1, 1, 28, 28]
SIZE = 5
for x, _ in DataLoader(pairs, SIZE, drop_last=True):
    reveal_type(x)  # R: Tensor[Float32, 5, 1, 28, 28]
for unsized, _ in DataLoader(pairs, batch_sampler=[[0, 1]]):
    reveal_type(unsized)  # R: Tensor[Float32, Any, 1, 28, 28]
for x, _ in DataLoader(pairs, batch_size=None):
    reveal_type(x)  # R: Tensor[Float32, 1, 28, 28]
for x, _ in DataLoader(Subset(pairs, [1, 2]), 2, drop_last=True):
    reveal_type(x)  # R: Tensor[Float32, 2, 1, 28, 28]
for x, _ in DataLoader(random_split(pairs, [5, 2])[0], 2, drop_last=True):
    reveal_type(x)  # R: Tensor[Float32, 2, 1, 28, 28]
for _, (_, y2) in DataLoader(pairs.zip(pairs), 2, drop_last=True):
    reveal_type(y2)  # R: Tensor[Int64, 2]
for (z,) in DataLoader(TensorDataset(torch.zeros(7, 3)), 2):
    reveal_type(z)  # R: Tensor[Float32, Any, 3]

built = DataLoader.builder().dataset(pairs).batch_size(3).shuffle(True).num_workers(0).build()
for first, _ in built:
    reveal_type(first)  # R: Tensor[Float32, Any, 1, 28, 28]
for x, _ in DataLoader.builder().dataset(pairs).batch_size(3).drop_last().build():
    reveal_type(x)  # R: Tensor[Float32, 3, 1, 28, 28]
for x, _ in DataLoader.builder().dataset(pairs).build().to("cpu"):
    reveal_type(x)  # R: Tensor[Float32, 1, 1, 28, 28]


class Fields(NamedTuple):
    image: Tensor[Float32, 3, 5]
    label: int


class Named(Dataset[Fields]):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> Fields:
        return Fields(torch.zeros(3, 5), index)


for named in DataLoader(Named(), 2, drop_last=True):
    reveal_type(named.image)  # R: Tensor[Float32, 2, 3, 5]
    reveal_type(named.label)  # R: Tensor[Int64, 2]
    image, label = named
    reveal_type(label)  # R: Tensor[Int64, 2]


@dataclass
class Sample:
    image: Tensor[Float32, 3, 5]
    weight: float
    name: str


class Samples(Dataset[Sample]):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> Sample:
        return Sample(torch.zeros(3, 5), 0.5, "x")


for sample in DataLoader(Samples(), 2, drop_last=True):
    reveal_type(sample)  # R: reveal.loaders.Sample
    reveal_type(sample.image)  # R: Tensor[Float32, 2, 3, 5]
    reveal_type(sample.weight)  # R: Tensor[Float64, 2]
    reveal_type(sample.name)  # R: list[str]
reveal_type(Samples()[0].image)  # R: Tensor[Float32, 3, 5]


class Keys(TypedDict):
    image: Tensor[Float32, 3, 5]
    label: bool


class Dicts(Dataset[Keys]):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> Keys:
        return {"image": torch.zeros(3, 5), "label": True}


for keys in DataLoader(Dicts(), 2, drop_last=True):
    reveal_type(keys["image"])  # R: Tensor[Float32, 2, 3, 5]
    reveal_type(keys["label"])  # R: Tensor[Bool, 2]


class Nested(Dataset[dict[str, tuple[Tensor[Float32, 3], list[int]]]]):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> dict[str, tuple[Tensor[Float32, 3], list[int]]]:
        return {"a": (torch.zeros(3), [1, 2])}


for nested in DataLoader(Nested(), 2, drop_last=True):
    reveal_type(nested["a"][0])  # R: Tensor[Float32, 2, 3]
    reveal_type(nested["a"][1][0])  # R: Tensor[Int64, 2]


class Stream(IterableDataset[Tensor[Float32, 3]]):
    pass


stream = DataLoader(Stream(), 2, drop_last=True)
reveal_type(stream)  # R: simpletorch.data.loading._loader.DataLoader[Tensor[Float32, 2, 3]]


def total(samples: list[tuple[Tensor[Float32, 1, 28, 28], Tensor[Int64]]]) -> float:
    return float(sum(float(image.sum()) for image, _ in samples))


for sum_ in DataLoader(pairs, 3, collate_fn=total):
    reveal_type(sum_)  # R: float


class Untyped(torch.utils.data.Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> int:
        return index


for anything in DataLoader(Untyped(), 3):
    reveal_type(anything)  # R: Any


def named_datasets(
    digits: Digits,
    mnist: MNIST,
    fashion: FashionMNIST,
    cifar10: CIFAR10,
    cifar100: CIFAR100,
    folder: ImageFolder[Tensor[Float32, 3, 64, 64], Tensor[Int64]],
    imagenet: ImageNet[Tensor[Float32, 3, 224, 224], Tensor[Int64]],
    lines: Lines,
    tokens: CharTokens[17],
    table: Table,
) -> None:
    for digit in DataLoader(digits, 5):
        reveal_type(digit)  # R: tuple[Tensor[Float32, Any, 1, 8, 8], Tensor[Int64, Any]]
    for digit in DataLoader(mnist, 5, drop_last=True):
        reveal_type(digit)  # R: tuple[Tensor[Float32, 5, 1, 28, 28], Tensor[Int64, 5]]
    for shirt in DataLoader(fashion, 5, drop_last=True):
        reveal_type(shirt)  # R: tuple[Tensor[Float32, 5, 1, 28, 28], Tensor[Int64, 5]]
    for cat in DataLoader(cifar10, 5, drop_last=True):
        reveal_type(cat)  # R: tuple[Tensor[Float32, 5, 3, 32, 32], Tensor[Int64, 5]]
    for dog in DataLoader(cifar100, 5):
        reveal_type(dog)  # R: tuple[Tensor[Float32, Any, 3, 32, 32], Tensor[Int64, Any]]
    for photo in DataLoader(folder, 5):
        reveal_type(photo)  # R: tuple[Tensor[Float32, Any, 3, 64, 64], Tensor[Int64, Any]]
    for picture in DataLoader(imagenet, 5):
        reveal_type(picture)  # R: tuple[Tensor[Float32, Any, 3, 224, 224], Tensor[Int64, Any]]
    for line in DataLoader(lines, 5):
        reveal_type(line)  # R: list[str]
    for window in DataLoader(tokens, 5):
        reveal_type(window)  # R: tuple[Tensor[Int64, Any, 17], Tensor[Int64, Any, 17]]
    for row in DataLoader(table, 5):
        reveal_type(row)  # R: tuple[Tensor[Float32, Any, Any], Tensor[Any, Any]]


def hugging_face(dataset: object, to_pair: type[Fields]) -> None:
    for pair in DataLoader(from_hugging_face(dataset, transform=to_pair), 2):
        reveal_type(pair.image)  # R: Tensor[Float32, Any, 3, 5]


def views(theirs: torch.utils.data.Dataset[Tensor[Float32, 3]], digits: Digits) -> None:
    for mapped in DataLoader(MappedDataset(theirs, lambda row: (row, 1)), 2):
        reveal_type(mapped)  # R: tuple[Tensor[Float32, Any, 3], Tensor[Int64, Any]]
    for zipped in DataLoader(ZippedDataset(theirs, theirs), 2):
        reveal_type(zipped)  # R: tuple[Tensor[Float32, Any, 3], Tensor[Float32, Any, 3]]
    for cached in DataLoader(CachedDataset(theirs), 2):
        reveal_type(cached)  # R: Tensor[Float32, Any, 3]
    for kept, _ in DataLoader(digits.filter(lambda sample: sample[1] > 5), 2):
        reveal_type(kept)  # R: Tensor[Float32, Any, 1, 8, 8]
    for joined in DataLoader(ConcatDataset([theirs, theirs]), 2):
        reveal_type(joined)  # R: Tensor[Float32, Any, 3]
