"""The largest batch that fits in memory."""

import math

import pytest
import torch

from simpletorch.errors import OutOfMemory
from simpletorch.train import BatchSizeFinder
from tests.train.callbacks.small_training import after_one_epoch, loader, many, net, trainer


class Hungry(torch.nn.Linear):
    """Needs memory that no machine has when a batch is larger than ``most``."""

    most = 37

    def forward(self, input):
        if len(input) > self.most:
            torch.empty(2**55)
        return super().forward(input)


@pytest.mark.parametrize(("refine", "size"), [(False, 32), (True, 36)])
def test_the_largest_batch_that_fits_is_found_and_used(refine, size):
    model, finder = Hungry(3, 2), BatchSizeFinder(many, start=4, refine=refine)
    (epoch,) = trainer(model, finder, dry_run=False).fit(model, many(4))
    assert finder.batch_size == size
    assert epoch.steps == math.ceil(253 / size)


def test_the_batch_is_not_larger_than_the_data_or_the_limit():
    model, finder = net(), BatchSizeFinder(many, start=3, largest=100)
    trainer(model, finder).fit(model, many(3))
    assert finder.batch_size == 100
    finder = BatchSizeFinder(many, start=3)
    trainer(model, finder).fit(model, many(3))
    assert finder.batch_size == 192


def test_finding_a_batch_size_leaves_no_trace():
    finder = BatchSizeFinder(lambda size: loader(7, shuffle=True), start=7, largest=7)
    found, _ = after_one_epoch(finder)
    plain, _ = after_one_epoch()
    for ours, theirs in zip(found.parameters(), plain.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_nothing_that_fits_is_an_error():
    model = Hungry(3, 2)
    with pytest.raises(OutOfMemory, match="not even batches of 64 fit in memory"):
        trainer(model, BatchSizeFinder(many, start=64), dry_run=False).fit(model, many(4))
