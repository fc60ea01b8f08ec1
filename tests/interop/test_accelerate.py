"""Typed modules and our loaders in a loop of Hugging Face's accelerate."""

from __future__ import annotations

import accelerate
import pytest
import torch
from torch.nn import functional as F

from simpletorch.errors import ShapeMismatch
from simpletorch.metrics import Accuracy
from simpletorch.optim import SGD
from tests.interop.loops import INPUTS, TARGETS, Net, loader

pytestmark = pytest.mark.neighbour("accelerate")


@pytest.fixture(autouse=True)
def nothing_is_shared():
    """accelerate keeps its settings for the process."""
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    yield
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)


def plainly() -> Net:
    model = Net()
    optimizer = SGD(model.parameters(), lr=0.1)
    for x, y in loader():
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    return model


def test_what_is_prepared_trains_as_by_hand():
    accelerator = accelerate.Accelerator(cpu=True)
    plain = Net()
    model, optimizer, batches = accelerator.prepare(plain, SGD(plain.parameters(), lr=0.1), loader())
    assert accelerator.unwrap_model(model) is plain
    for x, y in batches:
        accelerator.backward(F.cross_entropy(model(x), y))
        optimizer.step()
        optimizer.zero_grad()
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), plainly().parameters(), strict=True))


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_its_forward_is_still_checked(precision):
    accelerator = accelerate.Accelerator(cpu=True, mixed_precision=precision)
    model = accelerator.prepare(Net())
    assert model(torch.zeros(2, 3)).dtype == torch.float32
    with pytest.raises(ShapeMismatch, match="dim 1 of x is 4, not 3"):
        model(torch.zeros(2, 4))


def test_our_metrics_take_what_it_gathers():
    accelerator = accelerate.Accelerator(cpu=True)
    model, batches = accelerator.prepare(Net(), loader())
    accuracy, whole = Accuracy(), Accuracy()
    with torch.no_grad():
        for x, y in batches:
            accuracy.update(*accelerator.gather_for_metrics((model(x), y)))
        whole.update(model(INPUTS), TARGETS)
    assert accuracy.compute() == whole.compute()


def test_a_loader_that_is_registered_goes_on_in_the_middle_of_its_epoch(tmp_path):
    """`prepare` makes a loader of torch's of ours, which has no place to go on from: register it instead."""
    accelerator, batches = accelerate.Accelerator(cpu=True), loader()
    accelerator.register_for_checkpointing(batches)
    left = iter(batches)
    next(left), next(left)
    accelerator.save_state(str(tmp_path / "state"))
    rest = [y.tolist() for _, y in left]

    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    accelerator, batches = accelerate.Accelerator(cpu=True), loader(seed=11)
    accelerator.register_for_checkpointing(batches)
    accelerator.load_state(str(tmp_path / "state"))
    assert [y.tolist() for _, y in batches] == rest
    assert len(rest) == 6
