"""A loader that is saved at any batch and loaded elsewhere gives exactly the batches of the run that went on."""

import io
import os
import random

import numpy as np
import pytest
import torch
from torch.utils.data import RandomSampler, SubsetRandomSampler, WeightedRandomSampler

from simpletorch.data import (
    BucketBatchSampler,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    TensorDataset,
    get_worker_info,
)
from simpletorch.errors import DataError
from tests.marks import thorough

COMBINATIONS = int(os.environ.get("SIMPLETORCH_RESUMES", "200"))


class Noisy(Dataset):
    """Samples with an augmentation drawn from all three global generators."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return torch.tensor(index), torch.rand(3), random.random(), np.random.rand()


class Count(IterableDataset):
    """Each worker its share of 0..size, shuffled by the global generator, noisy."""

    def __init__(self, size):
        self.size = size

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for place in torch.randperm(len(range(first, self.size, step))).tolist():
            yield torch.tensor(first + step * place), torch.rand(2)


class Position(IterableDataset):
    """A stream that knows where it is, and counts how often it was asked."""

    def __init__(self, size):
        self.size = size
        self.at = 0
        self.reads = 0

    def __iter__(self):
        start, self.at = self.at, 0
        for number in range(start, self.size):
            self.at = number + 1
            self.reads += 1
            yield torch.tensor(number)

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def through_a_file(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def flat(batch):
    return batch if isinstance(batch, torch.Tensor) else torch.cat([column.flatten().double() for column in batch])


def assert_same(ours, theirs):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert torch.equal(flat(a), flat(b))


def resumed(make, epoch, stop, epochs):
    """What the run gives after ``stop`` batches of ``epoch``: uninterrupted, and saved there and loaded."""
    torch.manual_seed(11)
    random.seed(11)
    np.random.seed(11)
    loader, rest, state, noise = make(), [], None, None
    for number in range(epochs):
        for place, batch in enumerate(loader):
            if state is not None:
                rest.append(batch)
            if (number, place + 1) == (epoch, stop):
                state = through_a_file(loader.state_dict())
                noise = torch.get_rng_state(), random.getstate(), np.random.get_state()
    assert state is not None
    torch.manual_seed(999)
    loader = make()
    loader.load_state_dict(state)
    torch.set_rng_state(noise[0])
    random.setstate(noise[1])
    np.random.set_state(noise[2])
    again = [batch for _ in range(epoch, epochs) for batch in loader]
    return rest, again


def combination(seed):
    """A random loader, as a function that makes it, and how many batches an epoch of it has."""
    draw = random.Random(seed)
    size, batch_size = draw.randint(1, 43), draw.randint(1, 13)
    workers = draw.choice([0, 0, 0, 0, 1, 2, 3])
    replicas = draw.choice([1, 1, 2, 3])
    rank = draw.randrange(replicas)
    seeded, drop_last = draw.random() < 0.5, draw.random() < 0.3
    persistent = workers > 0 and draw.random() < 0.5
    kind = draw.choice(["tensors", "noisy"] if replicas > 1 else ["tensors", "noisy", "stream", "weighted", "buckets"])
    order = draw.choice(["plain", "shuffle"])

    def make():
        generator = torch.Generator().manual_seed(seed) if seeded else None
        data = TensorDataset(torch.arange(size), torch.arange(size) * 2) if kind == "tensors" else Noisy(size)
        options = {"num_workers": workers, "generator": generator, "persistent_workers": persistent}
        if kind == "stream":
            return DataLoader(Count(size), batch_size, drop_last=drop_last, **options)
        if kind == "buckets":
            lengths = [(index * 7) % 11 for index in range(size)]
            return DataLoader(
                data, batch_sampler=BucketBatchSampler(lengths, batch_size, generator=generator), **options
            )
        options["drop_last"] = drop_last
        if kind == "weighted":
            sampler = WeightedRandomSampler(torch.arange(1.0, size + 1), size, generator=generator)
            return DataLoader(data, batch_size, sampler=sampler, **options)
        if replicas > 1:
            sampler = DistributedSampler(data, replicas, rank, shuffle=order == "shuffle", seed=seed)
            return DataLoader(data, batch_size, sampler=sampler, **options)
        return DataLoader(data, batch_size, shuffle=order == "shuffle", **options)

    torch.manual_seed(0)
    loader = make()
    batches = sum(1 for _ in loader)
    epochs = draw.randint(1, 3)
    return make, batches, draw.randrange(epochs), draw.randint(1, max(1, batches)), epochs


@pytest.mark.parametrize("block", [0, *thorough(range(1, 10))])
def test_random_combinations(block):
    done = 0
    for seed in range(block * COMBINATIONS // 10, (block + 1) * COMBINATIONS // 10):
        make, batches, epoch, stop, epochs = combination(seed)
        if batches == 0:
            continue
        assert_same(*resumed(make, epoch, stop, epochs))
        done += 1
    assert done > 0


def test_workers_draw_the_same_whatever_their_number():
    def batches(workers):
        generator = torch.Generator().manual_seed(3)
        return list(DataLoader(Noisy(23), 5, shuffle=True, num_workers=workers, generator=generator))

    assert_same(batches(1), batches(3))


def test_a_run_goes_on_with_another_number_of_workers():
    def loader(workers):
        return DataLoader(Noisy(31), 3, True, num_workers=workers, generator=torch.Generator().manual_seed(5))

    whole = list(loader(3))
    first = loader(2)
    batches = iter(first)
    begun = [next(batches) for _ in range(4)]
    other = loader(1)
    other.load_state_dict(first.state_dict())
    assert_same(whole, begun + list(other))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stream_with_a_state_is_not_read_again(workers):
    loader = DataLoader(Position(29), 3, num_workers=workers)
    batches = iter(loader)
    for _ in range(4):
        next(batches)
    state = through_a_file(loader.state_dict())
    rest = list(batches)
    data = Position(29)
    loader = DataLoader(data, 3, num_workers=workers)
    loader.load_state_dict(state)
    assert_same(list(loader), rest)
    if workers == 0:
        assert data.reads == 29 - 12


def test_the_state_survives_the_iterator():
    loader = DataLoader(Noisy(23), 5, shuffle=True, generator=torch.Generator().manual_seed(7))
    for count, _ in enumerate(loader, 1):
        if count == 2:
            break
    state = loader.state_dict()
    assert state["position"]["batches"] == 2
    assert loader.state_dict() == state


def test_after_the_last_batch_the_epoch_is_empty_and_the_next_one_whole():
    def make():
        return DataLoader(TensorDataset(torch.arange(23)), 5, True, generator=torch.Generator().manual_seed(7))

    loader = make()
    for _ in loader:
        state = loader.state_dict()
    following = list(loader)
    other = make()
    other.load_state_dict(state)
    assert list(other) == []
    assert_same([batch[0] for batch in other], [batch[0] for batch in following])


def test_between_epochs():
    def make():
        return DataLoader(TensorDataset(torch.arange(23)), 5, True, generator=torch.Generator().manual_seed(7))

    loader = make()
    list(loader)
    state = loader.state_dict()
    assert state["position"] is None
    other = make()
    other.load_state_dict(state)
    assert other.state_dict() is state
    assert_same([b[0] for b in other], [b[0] for b in loader])


@pytest.mark.parametrize(
    "sampler",
    [
        lambda: RandomSampler(range(23), replacement=True, num_samples=71),
        lambda: RandomSampler(range(23), num_samples=31),
        lambda: SubsetRandomSampler(range(3, 20)),
        lambda: random.sample(range(23), 23),
    ],
)
@pytest.mark.parametrize("workers", [0, 1])
def test_other_samplers(sampler, workers):
    random.seed(3)
    order = sampler()
    assert_same(*resumed(lambda: DataLoader(Noisy(23), 5, sampler=order, num_workers=workers), 1, 2, 3))


class Drawing:
    """A sampler of a user's own that draws from Python's generator."""

    def __iter__(self):
        order = list(range(23))
        random.shuffle(order)
        return iter(order)

    def __len__(self):
        return 23


def test_a_sampler_of_one_s_own_that_draws_from_a_global_generator():
    assert_same(*resumed(lambda: DataLoader(Noisy(23), 5, sampler=Drawing(), num_workers=1), 1, 2, 3))


def test_resuming_leaves_the_global_random_state_alone():
    loader = DataLoader(TensorDataset(torch.arange(23)), 5, shuffle=True)
    next(iter(loader))
    state = loader.state_dict()
    torch.manual_seed(17)
    expected = torch.rand(())
    torch.manual_seed(17)
    loader.load_state_dict(state)
    list(loader)
    assert torch.rand(()) == expected


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"dataset": TensorDataset(torch.arange(29))}, "23 samples in the dataset, but this one has 29"),
        ({"batch_size": 7}, "5 as batch_size, but this one has 7"),
        ({"drop_last": True}, "False as drop_last, but this one has True"),
        ({"shuffle": True}, "SequentialSampler as sampler, but this one has RandomSampler"),
    ],
)
def test_a_state_of_another_loader_is_refused(change, sentence):
    loader = DataLoader(TensorDataset(torch.arange(23)), 5)
    next(iter(loader))
    arguments = {"dataset": TensorDataset(torch.arange(23)), "batch_size": 5} | change
    with pytest.raises(DataError, match=sentence):
        DataLoader(**arguments).load_state_dict(loader.state_dict())


@pytest.mark.parametrize("state", [None, {}, {"epoch": 3}])
def test_what_is_no_state_is_refused(state):
    with pytest.raises(DataError, match="this isn't the state of a DataLoader"):
        DataLoader(TensorDataset(torch.arange(23)), 5).load_state_dict(state)


def test_another_number_of_ranks_is_refused():
    data = TensorDataset(torch.arange(24))

    def loader(replicas):
        return DataLoader(data, 2, sampler=DistributedSampler(data, replicas, 0, pad=replicas != 5))

    first = loader(2)
    next(iter(first))
    state = first.state_dict()
    state["loader"]["sampled"] = len(loader(3).sampler)
    second = loader(3)
    second.load_state_dict(state)
    with pytest.raises(DataError, match="saved with 2 ranks, but now there are 3"):
        iter(second)


def test_a_stream_needs_as_many_workers():
    loader = DataLoader(Count(23), 5, num_workers=2)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    del batches
    with pytest.raises(DataError, match=r"read by 2 process\(es\), but now there are 1"):
        DataLoader(Count(23), 5).load_state_dict(state)


def test_batches_as_they_get_ready_have_no_state():
    loader = DataLoader(Noisy(23), 5, num_workers=2, in_order=False)
    batches = iter(loader)
    next(batches)
    with pytest.raises(DataError, match="in_order=False gives batches as they get ready"):
        loader.state_dict()
