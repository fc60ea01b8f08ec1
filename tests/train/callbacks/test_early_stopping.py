"""Ending a training that no longer gets better."""

import math

import pytest
import torch
import torchmetrics
from torch.nn import functional as F

from simpletorch.errors import TorchError
from simpletorch.metrics import F1, Accuracy, MeanSquaredError, TorchMetric
from simpletorch.optim import SGD
from simpletorch.train import Callback, Checkpoint, EarlyStopping, Trainer
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
    model, stopping = net(), EarlyStopping("validation_pretended", mode="min", patience=1, min_delta=0.5)
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
    stopping = EarlyStopping("validation_pretended", mode="min", patience=2, restore_best=True)
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


class Better(Pretend):
    higher_is_better = True


def test_a_metric_says_which_values_are_better():
    model, stopping = net(), EarlyStopping("validation pretended", patience=2)
    metrics = {"pretended": Better(0.3, 0.6, 0.5, 0.4)}
    assert len(trainer(model, stopping, metrics=metrics).fit(model, loader(), epochs=7, validation=loader())) == 4
    assert stopping.best == 0.6
    own = {
        name: cls.higher_is_better for name, cls in (("accuracy", Accuracy), ("f1", F1), ("error", MeanSquaredError))
    }
    assert own == {"accuracy": True, "f1": True, "error": False}
    assert TorchMetric(torchmetrics.MeanAbsoluteError()).higher_is_better is False


def test_what_is_better_is_asked_for_before_the_first_step():
    model = net()
    before = model[0].weight.detach().clone()
    stopping = EarlyStopping("validation pretended")
    with pytest.raises(TorchError, match="nothing says whether smaller or larger values of it are better"):
        trainer(model, stopping, metrics={"pretended": Pretend(1.0)}).fit(
            model, loader(), epochs=1, validation=loader()
        )
    assert torch.equal(model[0].weight, before)


def test_the_best_checkpoint_is_the_one_with_the_best_accuracy(tmp_path):
    model, saving = net(), Checkpoint(tmp_path, monitor="validation pretended", interruptible=False)
    metrics = {"pretended": Better(0.3, 0.6, 0.5, 0.4)}
    trainer(model, saving, metrics=metrics).fit(model, loader(), epochs=4, validation=loader())
    assert saving.best_value == 0.6
