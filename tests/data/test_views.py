"""Views of datasets: map, filter, zip, cache, parts and sums, over ours and torch's."""

import pickle

import pytest
import torch
import torch.utils.data

from simpletorch.data import (
    CachedDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    MappedDataset,
    Subset,
    TensorDataset,
    ZippedDataset,
)
from simpletorch.errors import DataError


class Numbers(Dataset):
    def __init__(self, size):
        self.size = size
        self.reads = []

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        self.reads.append(index)
        return range(self.size)[index]


class Theirs(torch.utils.data.Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, index):
        return index * 10


class Batched(Numbers):
    def __getitems__(self, indices):
        self.reads.append(list(indices))
        return [self.size - 1 - index for index in indices]


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(11))


def double(value):
    return value * 2


def is_odd(value):
    return value % 2 == 1


def test_map_is_computed_on_each_read():
    data = Numbers(7)
    view = data.map(double)
    assert len(view) == 7
    assert data.reads == []
    assert [view[5], view[5]] == [10, 10]
    assert data.reads == [5, 5]


def test_filter_reads_each_sample_once():
    data = Numbers(7)
    view = data.filter(is_odd)
    assert data.reads == list(range(7))
    assert [view[i] for i in range(len(view))] == [1, 3, 5]


def test_a_filtered_dataset_of_tensors_is_still_indexed_by_batches():
    data = TensorDataset(torch.arange(11)).filter(lambda sample: sample[0] % 2 == 1)
    loader = DataLoader(data, 3)
    assert [batch[0].tolist() for batch in loader] == [[1, 3, 5], [7, 9]]
    assert loader._columns is not None


def test_zip_pairs_samples():
    view = Numbers(7).zip(Theirs())
    assert len(view) == 7
    assert view[3] == (3, 30)
    assert ZippedDataset(Numbers(7), Theirs(), Numbers(7))[-1] == (6, -10, 6)


def test_cache_reads_each_sample_once():
    data = Numbers(7)
    view = data.cache()
    assert [view[2], view[-5], *view.__getitems__([2, 3, -4, 3])] == [2, 2, 2, 3, 3, 3]
    assert data.reads == [2, 3]


@pytest.mark.parametrize("make", [lambda d: d.map(double), lambda d: d.cache(), lambda d: d.zip(d)])
def test_a_view_asks_for_whole_batches_where_the_dataset_can(make):
    data = Batched(7)
    batches = list(DataLoader(make(data), 3, collate_fn=list))
    assert [0, 1, 2] in data.reads
    assert 0 not in data.reads
    assert len(batches) == 3


def test_views_of_torch_s_datasets():
    assert MappedDataset(Theirs(), double)[3] == 60
    assert CachedDataset(Theirs())[3] == 30
    assert Subset(Theirs(), [3, 1])[1] == 10
    assert ConcatDataset([Theirs(), Numbers(3)])[8] == 1


def test_torch_s_loader_takes_views():
    data = Numbers(5).map(double) + Numbers(3)
    batches = [batch.tolist() for batch in torch.utils.data.DataLoader(data, 3)]
    assert batches == [[0, 2, 4], [6, 8, 0], [1, 2]]


def test_ours_are_torch_s():
    for kind, data in (
        (torch.utils.data.Dataset, Numbers(3)),
        (torch.utils.data.IterableDataset, Stream()),
        (torch.utils.data.Subset, Subset(Numbers(3), [1])),
        (torch.utils.data.ConcatDataset, Numbers(3) + Numbers(5)),
    ):
        assert isinstance(data, kind)


def test_concatenated_datasets_are_asked_once_each():
    first, second = Batched(3), Batched(5)
    data = ConcatDataset([first, second])
    assert data.__getitems__([4, 0, -1, 2]) == [3, 2, 0, 0]
    assert first.reads == [[0, 2]]
    assert second.reads == [[1, 4]]


def test_views_can_be_pickled():
    view = Numbers(7).map(double).cache().zip(Theirs())
    assert pickle.loads(pickle.dumps(view))[2] == (4, 20)


def test_streams_are_mapped_filtered_and_zipped():
    view = Stream().filter(is_odd).map(double).zip(Stream())
    assert list(view) == [(2, 0), (6, 1), (10, 2), (14, 3), (18, 4)]
    assert [b[0].tolist() for b in DataLoader(view, 3)] == [[2, 6, 10], [14, 18]]


def test_a_subclass_with_its_own_getitem_is_not_bypassed():
    class Negated(TensorDataset):
        def __getitem__(self, index):
            return (-super().__getitem__(index)[0],)

    data = Negated(torch.arange(5))
    for loader in (DataLoader(data, 3), torch.utils.data.DataLoader(data, 3)):
        assert next(iter(loader))[0].tolist() == [0, -1, -2]


@pytest.mark.parametrize("loader", [DataLoader, torch.utils.data.DataLoader])
def test_whole_batches_of_a_tensor_dataset(loader):
    batch = next(iter(loader(TensorDataset(torch.arange(5), torch.arange(5) * 3), 3, collate_fn=list)))
    assert [tuple(int(t) for t in sample) for sample in batch] == [(0, 0), (1, 3), (2, 6)]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Numbers(7).zip(Numbers(5)), "must have one length, but theirs are 7, 5"),
        (lambda: ZippedDataset(), "nothing to zip"),
        (lambda: ConcatDataset([]), "nothing to concatenate"),
        (lambda: ConcatDataset([Stream()]), "Stream has no __len__"),
        (lambda: Subset(Numbers(7), [3, 7]), "index 7 of the Subset lies outside the dataset, which has 7 samples"),
        (lambda: Subset(Numbers(7), [-8]), "index -8 of the Subset"),
        (lambda: Stream().zip(Stream()).cache, "cache"),
    ],
)
def test_impossible_views_are_refused(make, sentence):
    with pytest.raises((DataError, AttributeError), match=sentence):
        make()


def test_an_index_outside_a_sum_is_an_index_error():
    with pytest.raises(IndexError, match="index 8 lies outside the 8 samples"):
        (Numbers(3) + Numbers(5)).__getitems__([1, 8])


def test_getitems_with_a_wrong_count_is_refused():
    class Short(Numbers):
        def __getitems__(self, indices):
            return [0]

    with pytest.raises(DataError, match="was asked for 3 samples but returned 1"):
        next(iter(DataLoader(Short(7), 3)))
