"""What callbacks are told, when, and in which order; and settings that they refuse."""

import pytest

from simpletorch.errors import DataError, TorchError
from simpletorch.train import (
    AimLogger,
    BatchSizeFinder,
    Callback,
    CSVLogger,
    DetectNaN,
    EarlyStopping,
    GradientMonitor,
    LearningRateFinder,
    MLflowLogger,
    Profiler,
    TensorBoardLogger,
    WandbLogger,
)
from tests.train.callbacks.small_training import loader, many, net, trainer


class Script(Callback):
    """Says what happens, in order."""

    def __init__(self):
        self.said = []

    def on_fit_start(self, fit):
        self.said.append("fit")

    def on_epoch_start(self, fit):
        self.said.append(f"epoch {fit.epoch}")

    def on_loss(self, fit):
        self.said.append("loss")

    def on_gradients(self, fit):
        self.said.append("gradients")

    def on_step_end(self, fit):
        self.said.append(f"step {fit.step}")

    def on_evaluated(self, fit):
        self.said.append("evaluated")

    def on_epoch_end(self, fit):
        self.said.append(f"end {fit.epoch}")

    def on_fit_end(self, fit):
        self.said.append("done")

    def on_exception(self, fit, error):
        self.said.append(type(error).__name__)


def test_callbacks_are_told_in_order():
    model, script = net(), Script()
    trainer(model, script, accumulate=2).fit(model, loader(9), epochs=1, validation=loader())
    once = ["loss", "loss", "gradients", "step 1", "loss", "gradients", "step 2"]
    assert script.said == ["fit", "epoch 1", *once, "evaluated", "end 1", "done"]


def test_callbacks_are_told_of_an_exception():
    model, script = net(), Script()
    with pytest.raises(DataError):
        trainer(model, script).fit(model, [], epochs=1)
    assert script.said == ["fit", "epoch 1", "DataError"]


def test_the_last_come_last():
    order = []

    class First(Callback):
        def on_step_end(self, fit):
            order.append("first")

    class Last(Callback):
        last = True

        def on_step_end(self, fit):
            order.append("last")

    model = net()
    trainer(model, Last(), First()).fit(model, loader(), steps=1)
    assert order == ["first", "last"]


def test_a_callback_stops_the_training():
    class Stop(Callback):
        def on_step_end(self, fit):
            if fit.step == 5:
                fit.stop("enough")

    model = net()
    history = trainer(model, Stop()).fit(model, loader(), epochs=7)
    assert [(epoch.number, epoch.steps) for epoch in history] == [(1, 4), (2, 1)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: EarlyStopping(mode="less"),
        lambda: EarlyStopping(patience=0),
        lambda: CSVLogger("x.csv", every=0),
        lambda: TensorBoardLogger("x", every=0),
        lambda: WandbLogger(every=0),
        lambda: MLflowLogger(every=0),
        lambda: AimLogger(every=0),
        lambda: GradientMonitor(every=0),
        lambda: DetectNaN(every=0),
        lambda: Profiler("x", active=0),
        lambda: LearningRateFinder(1.0, 0.1),
        lambda: BatchSizeFinder(many, start=0),
    ],
)
def test_settings_that_make_no_sense_are_refused(make):
    with pytest.raises(ValueError, match="got ") as caught:
        make()
    assert isinstance(caught.value, TorchError)
