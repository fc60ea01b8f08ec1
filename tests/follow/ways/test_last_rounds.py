"""The last round of a long loop is followed too, where it goes a way that the first rounds don't go."""

import pytest
from scripts import Scripts

HEAD = """import torch
from torch import nn
x, model, losses, warmup = torch.zeros(7, 3), nn.Linear(3, 3), [], 31
"""
lines = Scripts(HEAD).lines


LOOP = """for step in range(101):
    y = model(x)
    losses.append(y.sum().item())
    if {test}:
        {body}
"""


@pytest.mark.parametrize(
    "test",
    [
        "step >= warmup",
        "step >= warmup and step % 7 == 3",
        "step % 13 == 12",
        "step + 1 > 2 * warmup",
        "step == 100",
        "not step < warmup",
        "warmup < step and warmup != step",
    ],
)
def test_what_only_later_rounds_do(test, tmp_path):
    assert lines(LOOP.format(test=test, body="y @ torch.zeros(5, 2)"), tmp_path) == [5]
    assert lines(LOOP.format(test=test, body="y @ torch.zeros(3, 2)"), tmp_path) == []


@pytest.mark.parametrize("test", ["step >= 1_000", "step == 101", "step < -1"])
def test_what_no_round_does(test, tmp_path):
    assert lines(LOOP.format(test=test, body="y @ torch.zeros(5, 2)"), tmp_path) == []


def test_where_the_loop_may_end_before(tmp_path):
    source = LOOP.format(test="step >= warmup", body="y @ torch.zeros(5, 2)")
    assert lines(source + "    if y.sum() > 3:\n        break\n", tmp_path) == []
    assert lines(source + "    if y.sum() > 3:\n        raise ValueError\n", tmp_path) == []


def test_numbers_of_an_enumeration(tmp_path):
    source = LOOP.format(test="step >= warmup", body="y @ torch.zeros(5, 2)")
    source = source.replace("for step in range(101)", "for step, seed in enumerate(list(range(101)))")
    assert lines(source, tmp_path) == [5]


def test_what_has_grown_by_then_is_not_what_it_was(tmp_path):
    source = """z = torch.zeros(1, 5)
for step in range(101):
    model(x)
    if step < 7:
        z = torch.cat([z, z])
    if step >= warmup:
        z + torch.zeros(128, 5)
"""
    assert lines(source, tmp_path) == []


def test_nothing_of_that_round_stays(tmp_path):
    source = LOOP.format(test="step >= warmup", body="x = torch.zeros(5, 3)") + "reveal_type(x)\nmodel(x)\n"
    assert lines(source, tmp_path) == []
