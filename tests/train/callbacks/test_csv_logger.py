"""A training as a table."""

import copy
import csv

import pytest

from simpletorch.metrics import Accuracy
from simpletorch.train import Callback, CSVLogger, GradientMonitor
from tests.train.callbacks.small_training import loader, net, trainer


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_the_csv_file_has_every_update_evaluation_and_epoch(tmp_path):
    model, path = net(), tmp_path / "new" / "log.csv"
    logger = CSVLogger(path)
    losses = []

    class Note(Callback):
        def on_step_end(self, fit):
            losses.append(float(fit.loss))

    history = trainer(model, Note(), GradientMonitor(), logger, metrics={"accuracy": Accuracy()}, evaluate_every=3).fit(
        model, loader(), epochs=2, validation=loader()
    )
    table = rows(path)
    steps = [row for row in table if row["kind"] == "step"]
    assert [int(row["step"]) for row in steps] == list(range(1, 9))
    assert [float(row["loss"]) for row in steps] == losses
    assert all(float(row["gradient_norm"]) > 0 and float(row["learning_rate"]) == 0.1 for row in steps)
    epochs = [row for row in table if row["kind"] == "epoch"]
    assert [float(row["loss"]) for row in epochs] == [epoch.loss for epoch in history]
    assert [float(row["validation accuracy"]) for row in epochs] == [epoch.validation["accuracy"] for epoch in history]
    assert [int(row["step"]) for row in table if row["kind"] == "evaluation"] == [3, 6]


def test_the_csv_file_survives_an_error(tmp_path):
    class Fail(Callback):
        def on_step_end(self, fit):
            if fit.step == 3:
                raise KeyboardInterrupt

    model = net()
    with pytest.raises(KeyboardInterrupt):
        trainer(model, CSVLogger(tmp_path / "log.csv"), Fail()).fit(model, loader())
    assert len(rows(tmp_path / "log.csv")) == 3


def test_many_rows_are_written_in_groups(tmp_path):
    model, path = net(), tmp_path / "log.csv"
    trainer(model, CSVLogger(path, every=2)).fit(model, loader(), steps=1000)
    steps = [int(row["step"]) for row in rows(path) if row["kind"] == "step"]
    assert steps == list(range(2, 1001, 2))


class SaveAndFail(Callback):
    """Keeps the state after update 6, and ends the program after update 9 of those that are to fail."""

    last = True

    def __init__(self, fail):
        self.fail = fail

    def on_step_end(self, fit):
        if fit.step == 6:
            self.state = copy.deepcopy(fit.state_dict())
        if fit.step == 9 and self.fail:
            raise KeyboardInterrupt


def test_a_resumed_training_goes_on_in_its_csv_file(tmp_path):
    def run(path, saving, resume=None):
        model = net()
        callbacks = GradientMonitor(), CSVLogger(path), saving
        trainer(model, *callbacks).fit(model, loader(), epochs=3, resume=resume)

    run(tmp_path / "whole.csv", SaveAndFail(fail=False))
    failing = SaveAndFail(fail=True)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "log.csv", failing)
    assert len(rows(tmp_path / "log.csv")) > 7
    run(tmp_path / "log.csv", SaveAndFail(fail=False), failing.state)
    assert (tmp_path / "log.csv").read_text() == (tmp_path / "whole.csv").read_text()
