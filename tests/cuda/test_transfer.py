"""On the way to a device: pinned memory, batches ahead, channels last."""

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from simpletorch import cuda

DEVICE = cuda.current_stream().device


@dataclass
class Batch:
    images: torch.Tensor
    names: list[str]


@pytest.mark.parametrize("ahead", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_every_batch_comes_once_in_order(ahead, count):
    given = [Batch(torch.full((5, 3), float(i)), [str(i)]) for i in range(count)]
    got = list(cuda.prefetch(given, ahead=ahead))
    assert [b.images.max().item() for b in got] == [float(i) for i in range(count)]
    assert [b.names for b in got] == [[str(i)] for i in range(count)]
    assert all(b.images.device.type == DEVICE.type for b in got)


def test_no_more_than_asked_for_is_under_way():
    taken: list[int] = []

    def source():
        for i in range(7):
            taken.append(i)
            yield torch.zeros(3)

    batches = cuda.prefetch(source(), ahead=2)
    next(batches)
    assert len(taken) == (3 if DEVICE.type == "cuda" else 1)


def test_ahead_must_be_a_number_of_batches():
    with pytest.raises(ValueError, match="ahead is 0"):
        cuda.prefetch([], ahead=0)


def test_pinned_keeps_types_and_values():
    batch = (torch.arange(5), {"x": torch.ones(3)}, "text")
    got = cuda.pinned(batch)
    assert got[0].tolist() == [0, 1, 2, 3, 4]
    assert got[2] == "text"
    assert got[0].is_pinned() == torch.cuda.is_available()


def test_channels_last_changes_strides_only():
    model = nn.Sequential(nn.Conv2d(3, 7, 5), nn.Flatten(), nn.Linear(11, 13))
    images = torch.randn(2, 3, 11, 13)
    moved = cuda.channels_last((images, torch.zeros(5)))
    assert moved[0].is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(moved[0], images)
    assert cuda.channels_last(model) is model
    assert model[0].weight.is_contiguous(memory_format=torch.channels_last)
    assert model[2].weight.is_contiguous()
    volume = cuda.channels_last(torch.zeros(2, 3, 5, 7, 11))
    assert volume.is_contiguous(memory_format=torch.channels_last_3d)
