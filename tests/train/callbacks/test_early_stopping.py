"""Ending a training that no longer gets better."""

import math

import pytest
import torch
from torch.nn import functional as F

from simpletorch.errors import TorchError
from simpletorch.optim import SGD
from simpletorch.train import Callback, EarlyStopping, Trainer
from tests.train.callbacks.small_training import loader, net, trainer


class Pretend:
    """A metric with the values that it is told."""

    def __init__(self, *values):
        self.values = iter(values)

    def update(self, output, target):
        pass

    def compute(self):
        return next(self.values)

    def reset(self):
        pass


@pytest.mark.parametrize(
    ("mode", "values", "epochs"),
    [
        ("min", [5.0, 4.0, 4.0, 4.5, 3.0, 1.0], 4),
        ("max", [1.0, 2.0, 1.5, 2.5, 2.5, 0.0, 9.0], 6),
        ("min", [3.0, math.nan, math.nan, 1.0], 3),
    ],
)
def test_early_stopping_waits_its_patience(mode, values, epochs):
    model, stopping = net(), EarlyStopping("validation_pretended", mode=mode, patience=2)
    metrics = {"pretended": Pretend(*values)}
    history = trainer(model, stopping, metrics=metrics).fit(model, loader(), epochs=7, validation=loader())
    assert len(history) == epochs


def test_early_stopping_wants_min_delta():
    model, stopping = net(), EarlyStopping("validation_pretended", patience=1, min_delta=0.5)
    metrics = {"pretended": Pretend(3.0, 2.0, 1.6, 0.0)}
    assert len(trainer(model, stopping, metrics=metrics).fit(model, loader(), epochs=7, validation=loader())) == 3


def test_early_stopping_looks_at_the_training_loss_without_validation():
    model, stopping = net(), EarlyStopping(patience=1, min_delta=100.0)
    assert len(trainer(model, stopping).fit(model, loader(), epochs=7)) == 2
    assert stopping.best < 100


def test_early_stopping_puts_the_best_weights_back():
    class Keep(Callback):
        def on_epoch_end(self, fit):
            if fit.epoch == 2:
                self.weights = fit.model[0].weight.detach().clone()

    model, keep = net(), Keep()
    stopping = EarlyStopping("validation_pretended", patience=2, restore_best=True)
    metrics = {"pretended": Pretend(3.0, 2.0, 4.0, 5.0)}
    trainer(model, keep, stopping, metrics=metrics).fit(model, loader(), epochs=7, validation=loader())
    assert torch.equal(model[0].weight, keep.weights)


def test_early_stopping_begins_anew_with_each_training():
    model, stopping = net(), EarlyStopping(patience=1, min_delta=100.0)
    trained = trainer(model, stopping)
    assert [len(trained.fit(model, loader(), epochs=7)) for _ in range(2)] == [2, 2]


def test_early_stopping_says_what_it_could_monitor():
    model = net()
    with pytest.raises(TorchError, match="monitors 'validation accuracy', but what is measured is 'loss'"):
        trainer(model, EarlyStopping("validation accuracy")).fit(model, loader(), epochs=2)


def test_why_it_stopped_is_printed(capsys):
    model = net()
    Trainer(
        loss=F.cross_entropy,
        optimizer=SGD(model.parameters()),
        callbacks=[EarlyStopping(patience=1, min_delta=100.0)],
    ).fit(model, loader(), epochs=7)
    assert "stopped: loss has not got better than 0." in capsys.readouterr().out
