"""Replay buffers."""

from typing import NamedTuple

import numpy as np
import pytest
import torch

from simpletorch.data import PrioritizedReplayBuffer, ReplayBuffer
from simpletorch.data.datasets._sum_tree import SumTree
from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch


class Step(NamedTuple):
    state: torch.Tensor
    action: torch.Tensor
    done: torch.Tensor


def step(number):
    return Step(torch.full((3, 5), float(number)), torch.tensor(number), torch.tensor(number % 2 == 0))


def steps(numbers):
    columns = zip(*[step(number) for number in numbers], strict=True)
    return Step(*[torch.stack(column) for column in columns])


def filled(kind, count, capacity=7, **options):
    buffer = kind(capacity, generator=torch.Generator().manual_seed(3), **options)
    for number in range(count):
        buffer.add(step(number))
    return buffer


def actions(buffer):
    return [buffer[index].action.item() for index in range(len(buffer))]


KINDS = pytest.mark.parametrize("kind", [ReplayBuffer, PrioritizedReplayBuffer])


@KINDS
def test_the_last_transitions_are_kept_in_order(kind):
    assert actions(filled(kind, 5)) == [0, 1, 2, 3, 4]
    assert actions(filled(kind, 17)) == [10, 11, 12, 13, 14, 15, 16]
    assert filled(kind, 17)[-1].action == 16


@KINDS
@pytest.mark.parametrize("sizes", [(3, 4), (5, 5, 3), (2, 11), (23,)])
def test_several_at_once_are_the_same_as_one_by_one(kind, sizes):
    buffer, number = kind(7), 0
    for size in sizes:
        buffer.extend(steps(range(number, number + size)))
        number += size
    assert actions(buffer) == actions(filled(kind, number))


def test_a_sample_is_a_batch_of_transitions():
    batch = filled(ReplayBuffer, 5).sample(11)
    assert isinstance(batch, Step)
    assert [list(field.shape) for field in batch] == [[11, 3, 5], [11], [11]]
    assert [field.dtype for field in batch] == [torch.float32, torch.int64, torch.bool]
    assert torch.equal(batch.state[:, 1, 2], batch.action.float())
    assert torch.equal(batch.done, batch.action % 2 == 0)


def test_samples_are_uniform_over_what_is_there():
    for count, expected in ((3, {0, 1, 2}), (10, set(range(3, 10)))):
        found = filled(ReplayBuffer, count).sample(4001).action
        assert set(found.tolist()) == expected
        assert torch.bincount(found).max() < 1.25 * 4001 / len(expected)


@KINDS
def test_a_generator_repeats(kind):
    def draw():
        sampled = filled(kind, 7).sample(13)
        return (sampled if isinstance(sampled, Step) else sampled.batch).action

    assert torch.equal(draw(), draw())


def test_writing_to_a_sample_leaves_the_buffer_alone():
    buffer = filled(ReplayBuffer, 3)
    buffer.sample(5).state.zero_()
    buffer[2].state.zero_()
    assert buffer[2].state.max() == 2


def test_gradients_and_numbers_and_plain_tuples():
    buffer = ReplayBuffer(3)
    buffer.add((torch.ones(2, requires_grad=True), 1.5, 7))
    state, reward, action = buffer.sample(5)
    assert not state.requires_grad
    assert (reward.dtype, action.dtype) == (torch.float32, torch.int64)
    assert type(buffer[0]) is tuple


@KINDS
def test_a_checkpoint_goes_on_as_the_original(kind, tmp_path):
    buffer = filled(kind, 10)
    if kind is PrioritizedReplayBuffer:
        buffer.update(torch.tensor([1, 5]), torch.tensor([3.0, -7.0]))
    torch.save(buffer.state_dict(), tmp_path / "buffer.pt")
    again = kind(7, generator=torch.Generator())
    again.load_state_dict(torch.load(tmp_path / "buffer.pt", weights_only=True), like=Step)
    for one in (buffer, again):
        one.add(step(99))
    assert actions(again) == actions(buffer)
    first, second = buffer.sample(13), again.sample(13)
    first, second = (s if kind is ReplayBuffer else s.batch for s in (first, second))
    assert torch.equal(first.action, second.action)
    assert isinstance(second, Step)
    with pytest.raises(DataError, match="a buffer of 7, but this one holds 11"):
        kind(11).load_state_dict(buffer.state_dict())


def test_priorities_decide_how_often():
    buffer = filled(PrioritizedReplayBuffer, 5, alpha=1.0)
    buffer.update(torch.arange(5), torch.tensor([1.0, -2.0, 3.0, 0.0, 4.0]))
    counts = torch.bincount(buffer.sample(10_007).indices, minlength=5)
    assert counts[3] == 0
    torch.testing.assert_close(counts / 10_007, torch.tensor([0.1, 0.2, 0.3, 0.0, 0.4]), atol=0.001, rtol=0)


def test_alpha_0_is_uniform():
    buffer = filled(PrioritizedReplayBuffer, 7, alpha=0.0)
    buffer.update(torch.arange(3), torch.tensor([1.0, 100.0, 0.1]))
    counts = torch.bincount(buffer.sample(7007).indices, minlength=7)
    assert (counts - 1001).abs().max() <= 2


def test_weights_correct_for_the_uneven_drawing():
    buffer = filled(PrioritizedReplayBuffer, 4, alpha=1.0, beta=1.0, epsilon=1e-9)
    buffer.update(torch.arange(4), torch.tensor([1.0, 2.0, 4.0, 8.0]))
    _, indices, weights = buffer.sample(1009)
    torch.testing.assert_close(weights, torch.tensor([1.0, 0.5, 0.25, 0.125])[indices])
    buffer.beta = 0.5
    _, indices, weights = buffer.sample(1009)
    torch.testing.assert_close(weights, torch.tensor([1.0, 0.5, 0.25, 0.125])[indices].sqrt())


def test_new_transitions_have_the_highest_priority():
    buffer = filled(PrioritizedReplayBuffer, 6, alpha=1.0)
    buffer.update(torch.arange(6), torch.tensor([50.0, 0, 0, 0, 0, 0]))
    buffer.add(step(6))
    counts = torch.bincount(buffer.sample(1000).indices, minlength=7)
    assert counts[0] in (499, 500, 501)
    assert counts[6] in (499, 500, 501)


def test_the_sum_tree_finds_what_a_search_finds():
    dice = np.random.default_rng(5)
    for capacity in (1, 2, 3, 7, 64, 101):
        tree, weights = SumTree(capacity), np.zeros(capacity)
        for _ in range(20):
            positions = dice.integers(0, capacity, 5)
            values = dice.random(5) * (dice.random(5) < 0.8)
            tree[positions] = values
            for position, value in zip(positions, values, strict=True):
                weights[position] = value
            assert np.isclose(tree.total, weights.sum())
            if weights.sum():
                sums = dice.random(50) * weights.sum()
                expected = np.searchsorted(np.cumsum(weights), sums, side="right")
                found = tree.find(sums)
                assert (weights[found] > 0).all()
                assert (found == expected).mean() > 0.95  # cumsum rounds otherwise than the tree


@KINDS
@pytest.mark.parametrize(
    ("item", "error", "said"),
    [
        ([1, 2], DataError, "a transition is a tuple of tensors or numbers, but got a list"),
        ((), DataError, "but got a tuple"),
        ((torch.zeros(3, 5), 1), DataError, "has 2 fields, but the first had 3"),
        (step(1)._replace(state=torch.zeros(3, 4)), ShapeMismatch, r"field 'state' has shape \[3, 4\], but \[3, 5\]"),
        (step(1)._replace(done=1.0), DTypeMismatch, "field 'done' is torch.float32, but torch.bool"),
    ],
)
def test_transitions_that_do_not_fit(kind, item, error, said):
    buffer = filled(kind, 2)
    with pytest.raises(error, match=said):
        buffer.add(item)
    assert len(buffer) == 2


def test_bad_input():
    with pytest.raises(DataError, match="capacity is 0"):
        ReplayBuffer(0)
    with pytest.raises(DataError, match="is empty: add transitions before you sample"):
        ReplayBuffer(3).sample(1)
    with pytest.raises(DataError, match="batch_size is 0"):
        filled(ReplayBuffer, 3).sample(0)
    with pytest.raises(IndexError, match="transition 3 of 3"):
        filled(ReplayBuffer, 3)[3]
    with pytest.raises(ShapeMismatch, match="state: 3, action: 2, done: 3"):
        ReplayBuffer(7).extend(steps(range(3))._replace(action=torch.zeros(2)))
    with pytest.raises(DataError, match="alpha is -1"):
        PrioritizedReplayBuffer(3, alpha=-1)
    buffer = filled(PrioritizedReplayBuffer, 3)
    with pytest.raises(ShapeMismatch, match="one error for each index"):
        buffer.update(torch.arange(3), torch.zeros(2))
    with pytest.raises(DataError, match="indices go from 0 to 3, but there are 3 transitions"):
        buffer.update(torch.arange(4), torch.zeros(4))
    with pytest.raises(DataError, match="not finite"):
        buffer.update(torch.arange(2), torch.tensor([1.0, float("nan")]))
