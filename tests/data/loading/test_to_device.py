"""`DataLoader.to`: the same batches on a device, one ahead on a GPU."""

import contextlib

import pytest
import torch

from simpletorch.cuda import _transfer
from simpletorch.data import DataLoader, TensorDataset

DATA = TensorDataset(torch.arange(23), torch.arange(23) * 2)


def loader(**options):
    return DataLoader(DATA, 5, shuffle=True, generator=torch.Generator().manual_seed(3), **options)


def listed(batches):
    return [batch[0].tolist() for batch in batches]


def test_on_the_cpu_batches_stay_as_they_are():
    moved = loader().to("cpu")
    assert len(moved) == 5
    assert listed(moved) == listed(loader())


def test_on_another_device_they_are_there():
    batches = list(loader().to("meta"))
    assert [batch[0].device.type for batch in batches] == ["meta"] * 5
    assert [type(batch) for batch in batches] == [tuple] * 5


class FakeStream:
    def __init__(self, device=None):
        pass

    def wait_stream(self, other):
        EVENTS.append("wait")


EVENTS = []


@pytest.fixture
def cuda(monkeypatch):
    """A GPU that is none: the order of what happens is real, the memory is the CPU's."""
    EVENTS.clear()

    def moved(tensor, device):
        EVENTS.append(f"copy {tensor.tolist()}")
        return tensor.clone()

    monkeypatch.setattr(torch.cuda, "Stream", FakeStream)
    monkeypatch.setattr(torch.cuda, "current_stream", FakeStream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    monkeypatch.setattr(_transfer, "moved", moved)
    monkeypatch.setattr(_transfer, "device_of", torch.device)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "pin_memory", torch.Tensor.clone)


@pytest.mark.usefixtures("cuda")
def test_the_next_batch_is_copied_before_this_one_is_given():
    expected = listed(DataLoader(TensorDataset(torch.arange(7)), 3))
    for number, batch in enumerate(DataLoader(TensorDataset(torch.arange(7)), 3).to("cuda")):
        assert batch[0].tolist() == expected[number]
        assert f"copy {expected[min(number + 1, 2)]}" in EVENTS
        assert EVENTS.count("wait") == number + 1


class Graph:
    """A batch that knows by itself how to move."""

    def __init__(self, samples):
        self.nodes = torch.stack([sample for (sample,) in samples])

    def to(self, device):
        EVENTS.append(f"move {self.nodes.tolist()} to {device}")
        return self


@pytest.mark.usefixtures("cuda")
def test_what_moves_itself_does_so_on_the_program_s_own_stream():
    data = TensorDataset(torch.arange(7))
    given = list(DataLoader(data, 5, collate_fn=Graph).to("cuda"))
    assert [type(batch) for batch in given] == [Graph] * 2
    assert EVENTS == ["wait", "move [0, 1, 2, 3, 4] to cuda", "wait", "move [5, 6] to cuda"]


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stop", [1, 3, 5])
def test_the_batch_ahead_does_not_count_as_given(workers, stop):
    whole = listed(loader())
    first = loader(num_workers=workers).to("cuda")
    for count, _ in enumerate(first, 1):
        if count == stop:
            state = first.state_dict()
            break
    second = loader(num_workers=workers).to("cuda")
    second.load_state_dict(state)
    assert listed(second) == whole[stop:]


@pytest.mark.usefixtures("cuda")
def test_after_the_last_batch_the_next_epoch_begins():
    moved = loader().to("cuda")
    list(moved)
    assert moved.state_dict()["position"] is None


def test_pinning_without_an_accelerator_is_said_once_and_does_nothing():
    if torch.accelerator.is_available():
        pytest.skip("there is an accelerator")
    with pytest.warns(UserWarning, match="there is no accelerator"):
        batches = listed(loader(pin_memory=True))
    assert batches == listed(loader())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("workers", [0, 2])
def test_on_a_gpu(workers):
    given = list(loader(num_workers=workers, pin_memory=True).to("cuda"))
    assert all(batch[0].is_cuda and batch[1].is_cuda for batch in given)
    assert [batch[0].tolist() for batch in given] == listed(loader())
