"""The builder makes the loader that the constructor would."""

import pytest
import torch
from torch.utils.data import SequentialSampler

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import DataError

DATA = TensorDataset(torch.arange(23))


def test_it_is_the_loader_of_the_same_arguments():
    built = (
        DataLoader.builder()
        .dataset(DATA)
        .batch_size(5)
        .shuffle(True)
        .drop_last()
        .generator(7)
        .num_workers(1, persistent=True, prefetch=3)
        .timeout(30.0)
        .multiprocessing_context("fork")
        .pin_memory(False)
        .build()
    )
    assert type(built) is DataLoader
    assert (built.batch_size, built.drop_last, built.num_workers, built.prefetch_factor) == (5, True, 1, 3)
    assert (built.persistent_workers, built.timeout) == (True, 30.0)
    direct = DataLoader(DATA, 5, True, drop_last=True, generator=torch.Generator().manual_seed(7))
    assert [b[0].tolist() for b in built] == [b[0].tolist() for b in direct]


def test_other_steps():
    def note(worker):
        pass

    common = DataLoader.builder().dataset(DATA)
    assert len(common.sampler(SequentialSampler(DATA)).build()) == 23
    assert [b[0].tolist() for b in common.batch_sampler([[1, 2], [3]]).build()] == [[1, 2], [3]]
    assert list(common.batch_size(20).collate_fn(len).build()) == [20, 3]
    assert common.worker_init_fn(note).build().worker_init_fn is note


def test_a_common_beginning_can_be_shared():
    common = DataLoader.builder().dataset(DATA)
    assert common.batch_size(5).build().batch_size == 5
    assert common.build().batch_size == 1


def test_without_a_dataset_nothing_is_built():
    with pytest.raises(DataError, match="the builder has no dataset"):
        DataLoader.builder().batch_size(5).build()
