"""The learning rate at which the loss falls fastest."""

import pytest
import torch
from torch.nn import functional as F

from simpletorch.errors import TorchError
from simpletorch.optim import SGD, CosineAnnealingLR, OneCycleLR
from simpletorch.train import LearningRateFinder, Trainer
from tests.train.callbacks.small_training import after_one_epoch, loader, net, trainer


def test_finding_a_learning_rate_leaves_no_trace():
    finder = LearningRateFinder(batches=31, apply=False)
    found, _ = after_one_epoch(finder)
    plain, _ = after_one_epoch()
    assert finder.suggestion is not None
    for ours, theirs in zip(found.parameters(), plain.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_the_suggestion_is_where_a_quadratic_falls_fast_and_does_not_diverge():
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(model.weight, 5.0)
    # the loss is w², its gradient 2 w: the best rate is 0.5, and from 1 on it diverges
    batches = [(torch.ones(1, 1), torch.zeros(1, 1))]
    finder = LearningRateFinder(1e-4, 10.0, 61)
    optimizer = SGD(model.parameters(), lr=0.1)
    Trainer(loss=F.mse_loss, optimizer=optimizer, callbacks=[finder], progress=False).fit(model, batches)
    assert 0.005 < finder.suggestion < 1.0
    assert optimizer.param_groups[0]["lr"] == finder.suggestion
    assert finder.rates == sorted(finder.rates)
    assert len(finder.rates) == len(finder.losses)


def test_a_scheduler_starts_from_the_suggestion():
    model, finder = net(), LearningRateFinder(batches=31)
    optimizer = SGD(model.parameters(), lr=0.1)
    scheduler = CosineAnnealingLR(optimizer, 10)
    trainer(model, finder, optimizer=optimizer, scheduler=scheduler).fit(model, loader(), epochs=5)
    assert scheduler.get_last_lr()[0] == pytest.approx(finder.suggestion / 2)


def test_groups_keep_their_proportion():
    model, finder = net(), LearningRateFinder(batches=31)
    optimizer = SGD([{"params": model[0].parameters(), "lr": 0.1}, {"params": model[2].parameters(), "lr": 0.3}])
    trainer(model, finder, optimizer=optimizer).fit(model, loader())
    first, second = (group["lr"] for group in optimizer.param_groups)
    assert (first, second) == (finder.suggestion, pytest.approx(3 * finder.suggestion))


def test_a_scheduler_with_rates_of_its_own_is_refused():
    model = net()
    optimizer = SGD(model.parameters())
    cycle = OneCycleLR(optimizer, 0.1, total_steps=4)
    with pytest.raises(TorchError, match="OneCycleLR has learning rates of its own"):
        trainer(model, LearningRateFinder(), optimizer=optimizer, scheduler=cycle, schedule="step").fit(model, loader())


def test_a_loss_that_never_falls_is_an_error():
    model = net()
    stuck = Trainer(
        loss=lambda output, target: output.sum() * 0 + 1,
        optimizer=SGD(model.parameters()),
        callbacks=[LearningRateFinder()],
        progress=False,
    )
    with pytest.raises(TorchError, match="the loss falls nowhere with learning rates from 1e-07 to 1"):
        stuck.fit(model, loader())


def test_the_finder_draws_its_curve():
    pytest.importorskip("matplotlib").use("Agg")
    model, finder = net(), LearningRateFinder(batches=31)
    with pytest.raises(TorchError, match="nothing to draw yet"):
        finder.plot()
    trainer(model, finder).fit(model, loader())
    axes = finder.plot()
    assert list(axes.lines[0].get_xdata()) == finder.rates
    assert list(axes.lines[0].get_ydata()) == finder.losses
    assert axes.get_xscale() == "log"
