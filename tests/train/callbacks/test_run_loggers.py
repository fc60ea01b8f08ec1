"""A training in Weights & Biases (offline), MLflow and Aim: what is there is what was measured, by the same names."""

from __future__ import annotations

import enum
import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from simpletorch.errors import BackendError
from simpletorch.metrics import Accuracy
from simpletorch.train import AimLogger, Callback, Checkpoint, GradientMonitor, MLflowLogger, WandbLogger
from tests.train.callbacks.small_training import loader, net, trainer

CONFIG = {"width": 5, "name": "small"}
GIVEN = {"width": np.int64(5), "name": Path("small")}  # as settings are, and not every service takes


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def records_of(log):
    """The records of a log in LevelDB's format: blocks of 32 KiB, pieces of ``crc, length, kind``, after 7 bytes."""
    at, record = 7, b""
    while at + 7 <= len(log):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        size, kind = int.from_bytes(log[at + 4 : at + 6], "little"), log[at + 6]
        record += log[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):  # whole, or the last piece
            yield record
            record = b""


class WandbFiles:
    """What W&B writes offline."""

    def __init__(self, folder, monkeypatch):
        monkeypatch.setenv("WANDB_MODE", "offline")
        monkeypatch.setenv("WANDB_SILENT", "true")
        self.folder = folder
        self.made = 0

    def logger(self):
        self.made += 1
        folder = self.folder / str(self.made)  # W&B names its own by the second
        folder.mkdir()
        return WandbLogger("small", config=GIVEN, every=2, dir=str(folder))

    def whole(self, path):
        """The records of a run, once the process that writes them has written the last."""
        from wandb.proto.wandb_internal_pb2 import Record

        for _ in range(600):
            records = [*records_of(path.read_bytes())]
            if any(Record.FromString(data).HasField("exit") for data in records):
                return records
            time.sleep(0.05)
        raise AssertionError(f"{path} has no end")

    def runs(self):
        """Of each run its id, settings, exit code and numbers: name -> [(step, value)]."""
        from wandb.proto.wandb_internal_pb2 import Record

        for path in sorted(self.folder.glob("*/wandb/offline-run-*/*.wandb")):
            name, config, code, numbers = "", {}, None, {}
            for data in self.whole(path):
                record = Record.FromString(data)
                if record.HasField("run"):
                    name = record.run.run_id
                    config = {item.key: json.loads(item.value_json) for item in record.run.config.update}
                if record.HasField("exit"):
                    code = record.exit.exit_code
                if record.HasField("history"):
                    row = {i.key or i.nested_key[0]: json.loads(i.value_json) for i in record.history.item}
                    for key, value in row.items():
                        numbers.setdefault(key, []).append((row["step"], value))
            yield name, {key: config.get(key) for key in CONFIG}, code == 0, numbers


class MLflowFiles:
    """What MLflow writes to a file of SQLite."""

    def __init__(self, folder, monkeypatch):
        self.uri = f"sqlite:///{folder / 'mlflow.db'}"

    def logger(self):
        return MLflowLogger("small", uri=self.uri, config=GIVEN, every=2)

    def runs(self):
        from mlflow import MlflowClient

        client = MlflowClient(tracking_uri=self.uri)
        found = client.get_experiment_by_name("small")
        for run in client.search_runs([found.experiment_id], order_by=["attributes.start_time ASC"]):
            name = run.info.run_id
            numbers = {
                key: [(m.step, m.value) for m in client.get_metric_history(name, key)] for key in run.data.metrics
            }
            config = {"width": int(run.data.params["width"]), "name": run.data.params["name"]}
            yield name, config, run.info.status == "FINISHED", numbers


class AimFiles:
    """What Aim writes to its folder."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder

    def logger(self):
        return AimLogger(self.folder, config=GIVEN, every=2)

    def runs(self):
        from aim import Repo, Run

        # opened to be written to: for reading alone it takes the index that `aim up` makes
        found = [Run(name, repo=str(self.folder)) for name in Repo(str(self.folder)).list_all_runs()]
        for run in sorted(found, key=lambda run: run.creation_time):
            numbers = {}
            for metric in run.metrics():
                frame = metric.dataframe().sort_values("step")
                numbers[metric.name] = [*zip(frame["step"].tolist(), frame["value"].tolist(), strict=True)]
            yield run.hash, run["config"], run.get("error") is None, numbers


LOGGERS = {"wandb": WandbFiles, "mlflow": MLflowFiles, "aim": AimFiles}


@pytest.fixture(params=[pytest.param(f, marks=pytest.mark.neighbour(n), id=n) for n, f in LOGGERS.items()])
def files(request, tmp_path, monkeypatch):
    return request.param(tmp_path, monkeypatch)


def test_a_metric_may_have_any_name(files):
    model, metrics = net(), {"top-5 (%)": Accuracy()}
    trainer(model, files.logger(), metrics=metrics).fit(model, loader(), epochs=1, validation=loader())
    ((_, _, is_finished, numbers),) = files.runs()
    assert is_finished
    assert ("validation top-5 ___" if isinstance(files, MLflowFiles) else "validation top-5 (%)") in numbers


def test_settings_become_plain_data():
    class Mode(enum.Enum):
        FAST = "fast"

    settings = {"dtype": torch.float32, "net": {"sizes": (3, np.float32(0.5))}, "mode": Mode.FAST, 4: None, "on": True}
    expected = {"dtype": "torch.float32", "net": {"sizes": [3, 0.5]}, "mode": "fast", "4": None, "on": True}
    assert WandbLogger(config=settings).config == expected


class Losses(Callback):
    def __init__(self):
        self.seen = []

    def on_step_end(self, fit):
        self.seen.append((fit.step, float(fit.loss)))


def test_what_was_measured_is_there_by_the_names_that_callbacks_take(files):
    model, losses = net(), Losses()
    history = trainer(model, losses, GradientMonitor(), files.logger(), metrics={"accuracy": Accuracy()}).fit(
        model, loader(), epochs=2, validation=loader()
    )
    ((_, config, is_finished, numbers),) = files.runs()
    assert (config, is_finished) == (CONFIG, True)
    assert numbers["batch_loss"] == [(step, pytest.approx(loss)) for step, loss in losses.seen if step % 2 == 0]
    assert numbers["loss"] == [(4, pytest.approx(history[0].loss)), (8, pytest.approx(history[1].loss))]
    accuracy = [epoch.validation["accuracy"] for epoch in history]
    assert numbers["validation accuracy"] == [(4, pytest.approx(accuracy[0])), (8, pytest.approx(accuracy[1]))]
    assert [step for step, _ in numbers["gradient_norm"]] == [2, 4, 6, 8]
    assert [step for step, _ in numbers["learning_rate"]] == [2, 4, 6, 8]


class Stumbles(Callback):
    def __init__(self, at):
        self.at = at

    def on_step_end(self, fit):
        if fit.step == self.at:
            raise ArithmeticError("stumbled")


@pytest.mark.slow
def test_a_resumed_training_goes_on_in_its_run(files):
    model = net()
    with pytest.raises(ArithmeticError):
        trainer(model, files.logger(), Stumbles(at=6), Checkpoint("run")).fit(model, loader(), epochs=2)
    ((name, _, is_finished, _),) = files.runs()
    assert not is_finished
    model = net()
    trainer(model, files.logger(), Stumbles(at=None), Checkpoint("run")).fit(model, loader(), epochs=2, resume="auto")
    *_, (again, _, is_finished, numbers) = files.runs()
    assert (again, is_finished) == (name, True)
    assert [step for step, _ in numbers["batch_loss"]][-2:] == [6, 8]


@pytest.mark.parametrize(("make", "package"), [(WandbLogger, "wandb"), (MLflowLogger, "mlflow"), (AimLogger, "aim")])
def test_what_is_not_installed_is_said(make, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    model = net()
    with pytest.raises(BackendError, match=rf"{make.__name__} needs the package {package}, .*: pip install"):
        trainer(model, make()).fit(model, loader())
