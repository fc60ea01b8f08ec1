"""What the class of a dataset says of its samples holds for the batches, or the loader says so."""

from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import pytest
import torch
import torch.utils.data

from simpletorch import Tensor, config
from simpletorch.data import DataLoader, Dataset, Digits, IterableDataset, TensorDataset
from simpletorch.dtypes import Float32, Int64
from simpletorch.errors import DataError

Image = Tensor[Float32, 1, 28, 23]


class Named(NamedTuple):
    image: Image
    label: int


@dataclass
class Sample:
    image: Image
    label: int


class Keys(TypedDict):
    image: Image
    label: int


class Items:
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


class Pairs(Items, Dataset[tuple[Image, Tensor[Int64]]]):
    pass


class More(Pairs):
    pass


class Singles(Items, Dataset[Image]):
    pass


class Nameds(Items, Dataset[Named]):
    pass


class Samples(Items, Dataset[Sample]):
    pass


class Dicts(Items, Dataset[dict[str, Image]]):
    pass


class TypedDicts(Items, Dataset[Keys]):
    pass


class Lists(Items, torch.utils.data.Dataset[tuple[Image, ...]]):
    pass


class Stored(TensorDataset[Image, Tensor[Int64]]):
    pass


class Stream(IterableDataset[Image]):
    def __init__(self, shape):
        self.shape = shape

    def __iter__(self):
        yield torch.zeros(self.shape)


RIGHT, WRONG, LABEL = torch.zeros(1, 28, 23), torch.zeros(28, 23, 1), torch.tensor(3)
CASES = [
    (Pairs, lambda image: (image, LABEL), "field 0 of a sample"),
    (More, lambda image: (image, LABEL), "field 0 of a sample"),
    (Singles, lambda image: image, "a sample"),
    (Nameds, lambda image: Named(image, 3), "field 'image' of a sample"),
    (Samples, lambda image: Sample(image, 3), "field 'image' of a sample"),
    (Dicts, lambda image: {"a": image}, "field 'a' of a sample"),
    (TypedDicts, lambda image: {"image": image, "label": 3}, "field 'image' of a sample"),
    (Lists, lambda image: (image, image), "field 0 of a sample"),
]


@pytest.mark.parametrize(("kind", "sample", "what"), CASES)
def test_a_sample_of_another_shape(kind, sample, what):
    assert len(list(DataLoader(kind(sample(RIGHT), sample(RIGHT)), 2))) == 1
    with pytest.raises(
        DataError, match=rf"^{what} is Float32\[28, 23, 1\], but {kind.__name__} .* Float32\[1, 28, 23\]"
    ):
        list(DataLoader(kind(sample(WRONG), sample(WRONG)), 2))


def test_a_sample_of_another_dtype():
    with pytest.raises(DataError, match=r"is Float64\[1, 28, 23\], but Singles declares Float32\[1, 28, 23\]"):
        list(DataLoader(Singles(RIGHT.double()), 2))


def test_another_number_of_fields():
    with pytest.raises(DataError, match="samples have 3 fields, but Pairs declares 2"):
        list(DataLoader(Pairs((RIGHT, LABEL, LABEL)), 2))


def test_tensors_in_memory():
    assert len(list(DataLoader(Stored(torch.zeros(3, 1, 28, 23), torch.arange(3)), 2))) == 2
    with pytest.raises(DataError, match="field 0 of a sample"):
        list(DataLoader(Stored(torch.zeros(3, 28, 23, 1), torch.arange(3)), 2))


@pytest.mark.parametrize("workers", [0, 1])
def test_streams(workers):
    assert len(list(DataLoader(Stream((1, 28, 23)), 2, num_workers=workers))) == 1
    with pytest.raises(DataError, match="a sample is"):
        list(DataLoader(Stream((28, 23, 1)), 2, num_workers=workers))


def test_a_later_batch_is_checked_too():
    batches = iter(DataLoader(Singles(RIGHT, WRONG), 1))
    next(batches)
    with pytest.raises(DataError, match="a sample is"):
        next(batches)


def test_digits_keep_to_what_they_declare():
    (images, targets), *_ = DataLoader(Digits(), 7)
    assert images.shape == (7, 1, 8, 8)
    assert targets.shape == (7,)


def test_nothing_is_checked_when_checks_are_off_or_the_batch_is_one_s_own():
    with config(check="off"):
        assert len(list(DataLoader(Singles(WRONG), 2))) == 1
    assert len(list(DataLoader(Singles(WRONG), 2, collate_fn=list))) == 1
    assert len(list(DataLoader(Singles(WRONG), batch_size=None))) == 1
