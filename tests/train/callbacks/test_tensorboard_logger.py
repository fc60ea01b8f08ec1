"""A training in TensorBoard."""

import pytest

from simpletorch.metrics import Accuracy
from simpletorch.train import GradientMonitor, TensorBoardLogger
from tests.train.callbacks.small_training import loader, net, trainer


def test_tensorboard_gets_the_scalars(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    model = net()
    logger = TensorBoardLogger(tmp_path, every=2)
    history = trainer(model, GradientMonitor(), logger, metrics={"accuracy": Accuracy()}).fit(
        model, loader(), epochs=2, validation=loader()
    )
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("train/loss")] == [2, 4, 6, 8]
    assert [event.value for event in events.Scalars("epoch/loss")] == pytest.approx([e.loss for e in history])
    assert [event.value for event in events.Scalars("validation/accuracy")] == pytest.approx(
        [epoch.validation["accuracy"] for epoch in history]
    )
    assert len(events.Scalars("train/gradient_norm")) == 4
