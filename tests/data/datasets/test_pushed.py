"""`ReplayBuffer.push`: a transition by its fields."""

from typing import NamedTuple

import pytest
import torch

from simpletorch.data import ReplayBuffer, Transition
from simpletorch.errors import DataError


class Pair(NamedTuple):
    state: torch.Tensor
    reward: torch.Tensor


def test_five_fields_make_a_transition():
    buffer = ReplayBuffer(7)
    for i in range(3):
        buffer.push(torch.full((5,), float(i)), i, float(i), torch.zeros(5), i == 2)
    batch = buffer.sample(11)
    assert isinstance(batch, Transition)
    assert batch.state.shape == batch.next_state.shape == (11, 5)
    assert [field.dtype for field in batch] == [torch.float32, torch.int64, torch.float32, torch.float32, torch.bool]
    assert torch.equal(batch.state[:, 0], batch.reward)
    assert torch.equal(batch.done, batch.action == 2)


def test_the_stated_class_is_made():
    buffer = ReplayBuffer[Pair](7)
    buffer.push(torch.zeros(3), 1.0)
    assert isinstance(buffer.sample(2), Pair)
    buffer.push(torch.ones(3), 2.0)
    assert buffer[1].reward == 2
    with pytest.raises(DataError, match="push got 3 fields, but a Pair has 2: state, reward"):
        buffer.push(torch.zeros(3), 1.0, 2.0)


def test_another_number_of_fields_makes_a_tuple():
    buffer = ReplayBuffer(7)
    buffer.push(torch.zeros(3), 1.0)
    assert type(buffer.sample(2)) is tuple
