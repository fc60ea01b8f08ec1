"""`TensorDataset` and `random_split`."""

import pytest
import torch
import torch.utils.data

from simpletorch.data import IterableDataset, TensorDataset, random_split
from simpletorch.errors import DataError

IMAGES, TARGETS = torch.arange(7 * 3.0).reshape(7, 3), torch.arange(7)


def test_a_sample_is_a_row_of_each_tensor():
    dataset = TensorDataset(IMAGES, TARGETS)
    image, target = dataset[5]
    assert len(dataset) == 7
    assert torch.equal(image, IMAGES[5])
    assert target.item() == 5


def test_torch_s_loader_takes_it():
    loader = torch.utils.data.DataLoader(TensorDataset(IMAGES, TARGETS), batch_size=5)
    assert [list(images.shape) for images, _ in loader] == [[5, 3], [2, 3]]


@pytest.mark.parametrize(
    ("tensors", "sentence"),
    [
        ((), "needs at least one tensor"),
        ((IMAGES, [1, 2]), "argument 1 of TensorDataset is a list, not a tensor"),
        ((IMAGES, torch.tensor(3)), "argument 1 of TensorDataset has no dimension"),
        ((IMAGES, TARGETS, TARGETS[:5]), "must have one length, but theirs are 7, 7, 5"),
    ],
)
def test_what_makes_no_dataset_is_refused(tensors, sentence):
    with pytest.raises(DataError, match=sentence):
        TensorDataset(*tensors)


@pytest.mark.parametrize("lengths", [[5, 2], [0.7, 0.3], [0.5, 0.25, 0.25], [3, 3, 1]])
def test_a_split_is_torch_s_for_the_same_generator(lengths):
    dataset = TensorDataset(IMAGES)
    ours = random_split(dataset, lengths, torch.Generator().manual_seed(3))
    theirs = torch.utils.data.random_split(dataset, lengths, torch.Generator().manual_seed(3))
    assert [part.indices for part in ours] == [part.indices for part in theirs]
    assert sorted(index for part in ours for index in part.indices) == list(range(7))


def test_a_split_without_a_generator_follows_the_global_one():
    torch.manual_seed(11)
    first = random_split(TensorDataset(IMAGES), [5, 2])
    torch.manual_seed(11)
    second = random_split(TensorDataset(IMAGES), [5, 2])
    assert first[0].indices == second[0].indices


@pytest.mark.parametrize(
    ("lengths", "sentence"),
    [
        ([5, 3], "add up to 8 but the dataset has 7 samples"),
        ([0.5, 0.3], "would have 0.5 of 7 samples"),
        ([7, 0], "part 1 of the split would have 0 of 7 samples"),
        ([9, -2], "part 1 of the split would have -2 of 7 samples"),
        ([0.9, 0.05, 0.05], "part 1 of the split would have 0 of 7 samples"),
    ],
)
def test_an_impossible_split_is_refused(lengths, sentence):
    with pytest.raises(DataError, match=sentence):
        random_split(TensorDataset(IMAGES), lengths)


def test_a_stream_can_not_be_split():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(3))

    with pytest.raises(DataError, match="Stream has no __len__"):
        random_split(Stream(), [2, 1])
