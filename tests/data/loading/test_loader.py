"""`DataLoader` gives torch's batches, and gives them fast where the data are tensors."""

import copy
import inspect
import pickle
from itertools import islice
from typing import NamedTuple

import pytest
import torch
import torch.utils.data
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import ConcatDataset, Subset, WeightedRandomSampler

from simpletorch.data import DataLoader, Dataset, IterableDataset, TensorDataset
from simpletorch.errors import DataError

IMAGES = torch.arange(23 * 2 * 3.0).reshape(23, 2, 3)
TARGETS = torch.arange(23)


class Rows(Dataset):
    """The same samples as `DATASET`, out of sight of the short cut."""

    def __len__(self):
        return 23

    def __getitem__(self, index):
        return IMAGES[index], TARGETS[index]


DATASET = TensorDataset(IMAGES, TARGETS)


def listed(loader):
    return [tuple(batch) for batch in loader]


def assert_same_batches(ours, theirs):
    assert len(ours) == len(theirs)
    for our_batch, their_batch in zip(ours, theirs, strict=True):
        assert isinstance(our_batch, tuple)
        for our_column, their_column in zip(our_batch, their_batch, strict=True):
            assert our_column.dtype == their_column.dtype
            assert torch.equal(our_column, their_column)


@settings(deadline=None, max_examples=60)
@given(
    batch_size=st.integers(1, 29),
    shuffle=st.booleans(),
    drop_last=st.booleans(),
    seeded=st.booleans(),
    seed=st.integers(0, 2**31),
    dataset=st.sampled_from(["tensors", "torch's", "subset", "nested", "rows"]),
)
def test_batches_and_random_numbers_drawn_are_torch_s(batch_size, shuffle, drop_last, seeded, seed, dataset):
    data = {
        "tensors": DATASET,
        "torch's": torch.utils.data.TensorDataset(IMAGES, TARGETS),
        "subset": Subset(DATASET, [19, 3, 3, 0, 11, 7, 2]),
        "nested": Subset(Subset(DATASET, range(5, 22)), [13, 2, 5]),
        "rows": Rows(),
    }[dataset]

    def two_epochs(cls):
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(seed) if seeded else None
        loader = cls(data, batch_size, shuffle, drop_last=drop_last, generator=generator)
        assert len(loader) == len(list(loader))
        return listed(loader) + listed(loader), torch.rand(())

    ours, our_next = two_epochs(DataLoader)
    theirs, their_next = two_epochs(torch.utils.data.DataLoader)
    assert_same_batches(ours, theirs)
    assert our_next == their_next


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize("batch_size", [1, 3, 23, 29])
def test_epochs_are_torch_s_though_nobody_asks_after_the_last_batch(batch_size, drop_last):
    """As Lightning's Trainer iterates: as often as there are batches."""

    def three_epochs(cls):
        loader = cls(DATASET, batch_size, True, drop_last=drop_last, generator=torch.Generator().manual_seed(5))
        return [tuple(batch) for _ in range(3) for batch in islice(loader, len(loader))]

    assert_same_batches(three_epochs(DataLoader), three_epochs(torch.utils.data.DataLoader))


@pytest.mark.parametrize("replacement", [True, False])
def test_weighted_sampling_is_torch_s(replacement):
    def batches(cls):
        sampler = WeightedRandomSampler(
            torch.arange(1.0, 24), 13, replacement, generator=torch.Generator().manual_seed(5)
        )
        return listed(cls(DATASET, 5, sampler=sampler))

    assert_same_batches(batches(DataLoader), batches(torch.utils.data.DataLoader))


def test_batches_of_one_s_own_and_negative_indices_are_torch_s():
    order = [[3, -1], [7], [2, 2, -23]]
    assert_same_batches(
        listed(DataLoader(DATASET, batch_sampler=order)),
        listed(torch.utils.data.DataLoader(DATASET, batch_sampler=order)),
    )


def test_without_batching_samples_come_as_they_are():
    images = [image for image, _ in DataLoader(DATASET, batch_size=None)]
    assert len(images) == 23
    assert torch.equal(images[5], IMAGES[5])


def test_arguments_and_defaults_are_torch_s():
    ours, theirs = (inspect.signature(cls.__init__) for cls in (DataLoader, torch.utils.data.DataLoader))
    assert [(p.name, p.kind, p.default) for p in ours.parameters.values()] == [
        (p.name, p.kind, p.default) for p in theirs.parameters.values()
    ]


def test_a_seeded_generator_repeats_the_order_over_epochs():
    def epochs(seed):
        loader = DataLoader(DATASET, 7, shuffle=True, generator=torch.Generator().manual_seed(seed))
        return [torch.cat([targets for _, targets in loader]).tolist() for _ in range(2)]

    assert epochs(3) == epochs(3)
    assert epochs(3) != epochs(5)
    first, second = epochs(3)
    assert first != second
    assert sorted(first) == sorted(second) == list(range(23))


@pytest.mark.parametrize("shuffle", [False, True])
def test_writing_to_a_batch_leaves_the_dataset_alone(shuffle):
    dataset = TensorDataset(IMAGES.clone())
    for (images,) in DataLoader(dataset, 5, shuffle=shuffle):
        images.zero_()
    assert torch.equal(dataset.tensors[0], IMAGES)


def test_two_iterations_at_once_do_not_disturb_each_other():
    loader = DataLoader(DATASET, 5)
    pairs = [(a[1].tolist(), b[1].tolist()) for a, b in zip(loader, loader, strict=True)]
    assert all(a == b for a, b in pairs)


def test_worker_processes_give_the_same_batches():
    with_workers = DataLoader(DATASET, 7, num_workers=2)
    assert_same_batches(listed(with_workers), listed(DataLoader(DATASET, 7)))


def test_an_overridden_getitem_is_called():
    class Negated(TensorDataset):
        def __getitem__(self, index):
            image, target = super().__getitem__(index)
            return -image, target

    (images, _), *_ = DataLoader(Negated(IMAGES, TARGETS), 5)
    assert torch.equal(images, -IMAGES[:5])


def test_concatenated_datasets():
    loader = DataLoader(ConcatDataset([DATASET, Rows()]), 29)
    assert [len(targets) for _, targets in loader] == [29, 17]


def test_streams():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(zip(IMAGES, TARGETS, strict=True))

    assert_same_batches(listed(DataLoader(Stream(), 5)), listed(DataLoader(DATASET, 5)))


class Sample(NamedTuple):
    image: torch.Tensor
    label: int


class Items(Dataset):
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def test_named_tuples_and_dicts_stay_what_they_are():
    (batch,) = DataLoader(Items(Sample(IMAGES[0], 3), Sample(IMAGES[1], 5)), 2)
    assert type(batch) is Sample
    assert torch.equal(batch.image, IMAGES[:2])
    assert batch.label.tolist() == [3, 5]
    (batch,) = DataLoader(Items({"x": (IMAGES[0], 3)}, {"x": (IMAGES[1], 5)}), 2)
    assert torch.equal(batch["x"][0], IMAGES[:2])
    assert batch["x"][1].tolist() == [3, 5]


def test_a_collate_fn_of_one_s_own_is_called():
    (sums,) = DataLoader(DATASET, 23, collate_fn=lambda samples: sum(int(target) for _, target in samples))
    assert sums == sum(range(23))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"batch_size": 0}, "batch_size is 0: it must be at least 1"),
        ({"batch_size": -3}, "batch_size is -3: it must be at least 1"),
        ({"batch_size": 2.5}, "batch_size is 2.5: it must be an integer"),
        ({"batch_size": True}, "batch_size is True: it must be an integer"),
        ({"num_workers": -1}, "num_workers is -1: it must be 0"),
        ({"shuffle": True, "sampler": [1, 2]}, "don't go together: sampler option is mutually exclusive"),
        ({"batch_sampler": [[1]], "drop_last": True}, "don't go together: batch_sampler option"),
        ({"prefetch_factor": 2}, "don't go together: prefetch_factor"),
    ],
)
def test_wrong_arguments_are_refused(arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        DataLoader(DATASET, **arguments)


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_empty_dataset_is_refused(shuffle):
    with pytest.raises(DataError, match=r"the dataset \(TensorDataset\) is empty"):
        DataLoader(TensorDataset(torch.zeros(0, 3)), shuffle=shuffle)


def test_a_dataset_without_a_length_is_refused():
    class NoLength(Dataset):
        def __getitem__(self, index):
            return index

    with pytest.raises(DataError, match="NoLength has no __len__"):
        DataLoader(NoLength())


def test_samples_of_different_shapes_are_named():
    samples = Items((torch.zeros(3), 0), (torch.zeros(3), 0), (torch.zeros(5), 0))
    with pytest.raises(
        DataError, match=r"samples 0 and 2 of Items don't .* in field 0 the one has shape \[3\] and the other \[5\]"
    ):
        list(DataLoader(samples, 3))


def test_samples_of_different_lengths_are_named():
    with pytest.raises(DataError, match=r"samples 0 and 1 of Items .* the one has 2 fields and the other 3"):
        list(DataLoader(Items((1, 2), (1, 2, 3)), 2))


def test_a_loader_can_be_pickled_and_copied_even_with_workers_running():
    loader = DataLoader(DATASET, 5, True, num_workers=1, persistent_workers=True, generator=torch.Generator())
    next(iter(loader))
    for other in (pickle.loads(pickle.dumps(loader)), copy.deepcopy(loader)):
        assert [len(targets) for _, targets in other] == [5, 5, 5, 5, 3]


def test_torch_s_own_pipes_run_on_torch_s_machinery():
    pipe = torch.utils.data.datapipes.iter.IterableWrapper(range(5))
    assert [batch.tolist() for batch in DataLoader(pipe, 3)] == [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.bool, torch.complex64,
     torch.complex128, torch.float8_e4m3fn],
)  # fmt: skip
def test_large_batches_of_any_dtype_are_copies_of_their_rows(dtype):
    rows = torch.randint(0, 2, (70, 1_000)).to(dtype)
    data = torch.utils.data.TensorDataset(rows, torch.arange(70))
    for shuffle in (True, False):
        for batch, numbers in DataLoader(data, 35, shuffle=shuffle):
            assert batch.dtype == dtype
            assert batch.view(torch.uint8).equal(rows.view(torch.uint8)[numbers])
            batch.view(torch.uint8).zero_()
    assert rows.view(torch.uint8).any()


def test_large_batches_come_of_the_memory_that_a_tensor_has_now():
    rows = torch.zeros(64, 1_000)
    loader = DataLoader(torch.utils.data.TensorDataset(rows), 64)
    assert next(iter(loader))[0].sum() == 0
    rows.data = torch.ones(64, 1_000)
    assert next(iter(loader))[0].sum() == 64_000


def test_large_batches_of_what_lies_otherwise_or_has_a_gradient():
    columns = torch.randn(1_000, 64).t()
    leaf = torch.randn(64, 1_000, requires_grad=True)
    ((first, second),) = DataLoader(torch.utils.data.TensorDataset(columns, leaf), 64)
    assert first.equal(columns)
    second.sum().backward()
    assert leaf.grad is not None


def test_a_row_of_a_large_batch_that_is_not_there_is_refused():
    data = torch.utils.data.TensorDataset(torch.zeros(64, 1_000))
    with pytest.raises(IndexError, match=r"out of bounds|out of range"):
        list(DataLoader(data, batch_sampler=[[*range(63), 64]]))
