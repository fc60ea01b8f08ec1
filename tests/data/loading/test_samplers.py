"""Samplers: each rank its share, sequences of one length together, and orders that are the same everywhere."""

from itertools import chain

import pytest
import torch
from torch.utils.data.distributed import DistributedSampler as TorchDistributedSampler

from simpletorch.data import BucketBatchSampler, DataLoader, Dataset, DistributedSampler, Padded, TensorDataset
from simpletorch.errors import DataError

DATA = TensorDataset(torch.arange(23))
LENGTHS = [(index * 37) % 29 + 1 for index in range(101)]


def test_the_order_of_a_seed_is_this_one_on_every_platform():
    loader = DataLoader(TensorDataset(torch.arange(11)), 3, True, generator=torch.Generator().manual_seed(3))
    first = [batch[0].tolist() for batch in loader]
    assert first == [[7, 8, 3], [2, 6, 10], [0, 5, 9], [4, 1]]


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("replicas", [1, 2, 3, 5, 29])
def test_each_epoch_has_torch_s_order_without_set_epoch(replicas, drop_last):
    for rank in range(replicas):
        ours = DistributedSampler(DATA, replicas, rank, seed=7, drop_last=drop_last)
        theirs = TorchDistributedSampler(DATA, replicas, rank, seed=7, drop_last=drop_last)
        for epoch in range(3):
            theirs.set_epoch(epoch)
            assert list(ours) == list(theirs)
        assert len(ours) == len(theirs)


def test_set_epoch_still_decides():
    sampler = DistributedSampler(DATA, 2, 1)
    first = list(sampler)
    assert list(sampler) != first
    sampler.set_epoch(0)
    assert list(sampler) == first


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("replicas", [2, 3, 5, 29])
def test_without_padding_each_sample_is_read_once(replicas, shuffle):
    shares = [DistributedSampler(DATA, replicas, rank, shuffle, pad=False) for rank in range(replicas)]
    read = [list(share) for share in shares]
    assert sorted(chain(*read)) == list(range(23))
    assert [len(share) for share in shares] == [len(r) for r in read]
    assert max(map(len, read)) - min(map(len, read)) <= 1


def test_ranks_of_torchrun(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "3")
    monkeypatch.setenv("RANK", "2")
    assert list(DistributedSampler(DATA, shuffle=False)) == [2, 5, 8, 11, 14, 17, 20, 0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"num_replicas": 2, "rank": 2}, "rank is 2 and num_replicas 2: ranks go from 0 to num_replicas - 1"),
        ({"num_replicas": 2, "rank": 0, "drop_last": True, "pad": False}, "choose one of them"),
    ],
)
def test_impossible_ranks_are_refused(arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        DistributedSampler(DATA, **arguments)


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_buckets_have_every_sample_once(shuffle, drop_last):
    sampler = BucketBatchSampler(LENGTHS, 7, shuffle=shuffle, drop_last=drop_last, window=3)
    batches = list(sampler)
    indices = list(chain(*batches))
    assert len(batches) == len(sampler) == (14 if drop_last else 15)
    assert len(set(indices)) == len(indices) == (98 if drop_last else 101)


def test_buckets_waste_little_and_shuffle():
    def padding(batches):
        return sum(len(b) * max(LENGTHS[i] for i in b) - sum(LENGTHS[i] for i in b) for b in batches)

    generator = torch.Generator().manual_seed(3)
    sampler = BucketBatchSampler(LENGTHS, 7, generator=generator)
    batches = list(sampler)
    shuffled = torch.randperm(101, generator=generator).split(7)
    assert padding(batches) * 4 < padding([part.tolist() for part in shuffled])
    assert list(sampler) != batches
    longest = [max(LENGTHS[i] for i in b) for b in batches]
    assert longest != sorted(longest)


def test_unshuffled_buckets_go_from_short_to_long():
    lengths = [LENGTHS[i] for batch in BucketBatchSampler(LENGTHS, 7, shuffle=False) for i in batch]
    assert lengths == sorted(lengths)


@pytest.mark.parametrize("replicas", [2, 3])
def test_ranks_share_the_batches_evenly(replicas):
    def batches(rank):
        generator = torch.Generator().manual_seed(5)
        sampler = BucketBatchSampler(LENGTHS, 7, generator=generator, num_replicas=replicas, rank=rank)
        assert len(list(sampler)) == len(sampler) == 15 // replicas
        generator.manual_seed(5)
        return {tuple(batch) for batch in sampler}

    shares = [batches(rank) for rank in range(replicas)]
    assert len(set.union(*shares)) == sum(map(len, shares))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": 7, "window": 0}, "window 0"),
        ({"batch_size": 103, "drop_last": True}, "101 samples make no batch of 103"),
        ({"batch_size": 7, "num_replicas": 2, "rank": 2}, "rank is 2"),
        ({"batch_size": 7, "num_replicas": 2}, "give a generator with a seed"),
    ],
)
def test_impossible_buckets_are_refused(arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        BucketBatchSampler(LENGTHS, **arguments)


class Sentences(Dataset):
    def __len__(self):
        return len(LENGTHS)

    def __getitem__(self, index):
        return torch.full((LENGTHS[index], 2), index + 1), index


@pytest.mark.parametrize("workers", [0, 1])
def test_buckets_and_padding_in_a_loader(workers):
    sampler = BucketBatchSampler(LENGTHS, 7)
    loader = DataLoader(
        Sentences(), batch_sampler=sampler, collate_fn=Padded(-1, with_lengths=True), num_workers=workers
    )
    seen = []
    for (tokens, indices), lengths in loader:
        assert tokens.shape == (len(indices), max(lengths), 2)
        for row, index, length in zip(tokens, indices.tolist(), lengths.tolist(), strict=True):
            assert length == LENGTHS[index]
            assert (row[:length] == index + 1).all()
            assert (row[length:] == -1).all()
        seen += indices.tolist()
    assert sorted(seen) == list(range(101))


def test_sequences_that_differ_in_more_than_length_are_named():
    with pytest.raises(DataError, match=r"the one has shape \[5, 2\] and the other \[5, 3\]"):
        Padded()([torch.zeros(5, 2), torch.zeros(3, 3)])


def test_two_sequences_are_padded_each_to_its_own_longest():
    one, other = Padded()([(torch.ones(3), torch.ones(2)), (torch.ones(1), torch.ones(5))])
    assert one.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert other.shape == (2, 5)
