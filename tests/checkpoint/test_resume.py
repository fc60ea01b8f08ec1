"""A training that is stopped and resumed is the training that was never stopped, bit for bit."""

import errno
import os
import random
import shutil
import signal
import time

import pytest
import torch
from torch.nn import functional as F

from simpletorch import _atomic, checkpoint
from simpletorch._atomic import duplicate
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import CheckpointError, TorchError
from simpletorch.reproducibility import Manifest
from simpletorch.train import INTERRUPTED, Callback, Checkpoint, EarlyStopping, Fit, Trainer
from tests.checkpoint.training import At, Variant, nothing, same
from tests.marks import thorough


@pytest.mark.parametrize("seed", [*range(10), *thorough(range(10, 40))])
def test_stopped_anywhere_and_resumed_is_never_stopped(tmp_path, seed):
    variant = Variant.drawn(seed)
    stop = random.Random(seed).randint(1, variant.updates)
    straight = variant.run(tmp_path / "straight", At(stop, nothing))

    terminated = At(stop, lambda: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(SystemExit) as caught:
        variant.run(tmp_path / "stopped", terminated)
    assert caught.value.code == INTERRUPTED == 75
    assert checkpoint.latest(tmp_path / "stopped").name == f"step-{stop:09d}.safetensors"
    resumed = variant.run(tmp_path / "stopped", At(0, nothing), seed=1, resume="auto")
    for part in straight:
        assert same(straight[part], resumed[part]), part


@pytest.mark.parametrize("evaluate_every", [None, 3])
@pytest.mark.parametrize("restore_best", [False, True])
def test_what_was_stopped_early_stays_so_when_it_is_resumed(tmp_path, evaluate_every, restore_best):
    def run(folder, patience=4, **options):
        stopping = EarlyStopping(patience=patience, min_delta=100.0, restore_best=restore_best)
        return variant.run(tmp_path / folder, stopping, every_steps=1, keep=9, **options)

    variant = Variant(epochs=7, validation=True, evaluate_every=evaluate_every)
    stopped = run("run")
    assert len(stopped["history"]) == (5 if evaluate_every is None else 2)
    for path in checkpoint.latest(tmp_path / "run").parent.glob("step-*"):  # of the last update, and some before it
        (tmp_path / path.stem).mkdir()
        shutil.copy(path, tmp_path / path.stem)
        resumed = run(path.stem, seed=1, resume="auto")
        for part in stopped:
            assert same(stopped[part], resumed[part]), (path, part)
    assert len(run("run", patience=6, resume="auto")["history"]) > len(stopped["history"])


def test_stopped_at_the_last_of_so_many_updates(tmp_path):
    variant = Variant(epochs=None, steps=11)
    straight = variant.run(tmp_path / "straight", At(11, nothing))
    with pytest.raises(SystemExit):
        variant.run(tmp_path / "stopped", At(11, lambda: signal.raise_signal(signal.SIGTERM)))
    resumed = variant.run(tmp_path / "stopped", At(0, nothing), seed=1, resume="auto")
    for part in straight:
        assert same(straight[part], resumed[part]), part


@pytest.mark.parametrize("options", [{}, {"asynchronous": True}, {"every_epochs": None, "every_steps": 3}])
def test_saving_does_not_change_the_training(tmp_path, options):
    variant = Variant(ema=True, validation=True)
    plain = variant.run(tmp_path / "a", every_epochs=None, best=False)
    assert same(plain, variant.run(tmp_path / "b", **options))


def test_a_run_that_is_interrupted_again_and_again_is_the_same(tmp_path):
    variant = Variant(accumulate=2, workers=2)
    straight = variant.run(tmp_path / "straight", At(0, nothing))
    for stop in range(1, variant.updates + 1, 2):
        with pytest.raises(SystemExit):
            variant.run(
                tmp_path / "stopped", At(stop, lambda: signal.raise_signal(signal.SIGINT)), seed=stop - 1, resume="auto"
            )
    assert same(straight, variant.run(tmp_path / "stopped", At(0, nothing), seed=99, resume="auto"))


def test_auto_without_a_checkpoint_starts_anew(tmp_path):
    variant = Variant()
    assert same(variant.run(tmp_path / "a", resume="auto"), variant.run(tmp_path / "b"))


def test_a_finished_training_is_not_trained_further(tmp_path):
    variant = Variant()
    first = variant.run(tmp_path)
    again = variant.run(tmp_path, seed=1, resume="auto")
    assert same(first, again)


def test_more_epochs_go_on_from_a_finished_training(tmp_path):
    longer = Variant(epochs=5).run(tmp_path / "straight")
    Variant(epochs=2).run(tmp_path / "a")
    assert same(longer, Variant(epochs=5).run(tmp_path / "a", seed=1, resume="auto"))


def test_a_damaged_newest_checkpoint_is_passed_over(tmp_path):
    variant = Variant(epochs=3)
    straight = variant.run(tmp_path / "straight")
    variant.run(tmp_path / "a")
    newest = checkpoint.checkpoints_in(tmp_path / "a")[-1]
    os.truncate(newest, 5000)
    with pytest.warns(UserWarning, match="is damaged.*: passed over"):
        assert same(straight, variant.run(tmp_path / "a", seed=1, resume="auto"))
    assert checkpoint.latest(tmp_path / "a") == newest


def test_a_path_is_resumed_from_and_later_files_are_not_overlooked(tmp_path):
    variant = Variant(epochs=3)
    straight = variant.run(tmp_path / "a")
    first = checkpoint.checkpoints_in(tmp_path / "a")[0]
    with pytest.raises(CheckpointError, match=r"of an earlier training, up to step-000000024.*starts after 8 updates"):
        variant.run(tmp_path / "a", seed=1, resume=first)
    assert same(straight, variant.run(tmp_path / "b", seed=1, resume=first))
    assert same(straight, variant.run(tmp_path / "a", seed=1, resume=str(first), overwrite=True))


def test_a_damaged_path_is_an_error_that_offers_another(tmp_path):
    Variant().run(tmp_path)
    *_, before, newest = checkpoint.checkpoints_in(tmp_path)
    os.truncate(newest, 5000)
    with pytest.raises(CheckpointError) as caught:
        Variant().run(tmp_path, resume=newest)
    assert f"{before} is undamaged" in str(caught.value)


def test_the_checkpoint_of_another_model_is_refused_with_all_differences(tmp_path):
    Variant().run(tmp_path)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(7), torch.nn.Linear(7, 2))
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=torch.optim.AdamW(model.parameters()),
        callbacks=[Checkpoint(tmp_path)],
        progress=False,
        dry_run=False,
    )
    before = [parameter.detach().clone() for parameter in model.parameters()]
    with pytest.raises(CheckpointError) as caught:
        trainer.fit(model, [], resume="auto")
    assert "is of another training" in caught.value.reason
    for line in (
        "model.0.weight: float32[7, 3] in the checkpoint, float32[5, 3] in the model",
        "model.2.weight: float32[2, 7] in the model, missing in the checkpoint",
        "model.4.bias: float32[2] in the checkpoint, missing in the model",
    ):
        assert line in caught.value.reason
    assert all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"schedule": "epoch"}, "the saved training has no scheduler, this one has one"),
        ({"ema": True}, "the saved training has no ema"),
        ({"plain_loader": True}, "the loader can be resumed in only one of"),
    ],
)
def test_another_kind_of_training_is_refused(tmp_path, changed, sentence):
    Variant().run(tmp_path)
    with pytest.raises(CheckpointError, match=f"can't resume from .*: {sentence}"):
        Variant(**changed).run(tmp_path, resume="auto")


def test_a_checkpoint_made_by_hand_is_no_trainer_s(tmp_path):
    path = checkpoint.save(tmp_path / "a", model=torch.nn.Linear(2, 3))
    with pytest.raises(CheckpointError, match="is no checkpoint of a Trainer: it has no callbacks, optimizer, step"):
        Variant().run(tmp_path / "b", resume=path)


def test_auto_needs_a_checkpoint_callback():
    model = torch.nn.Linear(3, 2)
    trainer = Trainer(loss=F.cross_entropy, optimizer=torch.optim.SGD(model.parameters()), progress=False)
    with pytest.raises(ValueError, match="resume='auto' goes on from the folder of a Checkpoint callback"):
        trainer.fit(model, [], resume="auto")


# -- the callback -----------------------------------------------------------------------------------------------------


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_newest_and_the_best_are_kept(tmp_path, asynchronous):
    Variant(epochs=5).run(tmp_path, keep=2, asynchronous=asynchronous)
    assert files(tmp_path) == ["best.safetensors", "step-000000032.safetensors", "step-000000040.safetensors"]


def test_everything_can_be_kept(tmp_path):
    Variant(epochs=3).run(tmp_path, keep=None, best=False, every_steps=5)
    steps = [5, 8, 10, 15, 16, 20, 24]
    assert files(tmp_path) == [f"step-{step:09d}.safetensors" for step in steps]


def test_only_the_end_can_be_saved(tmp_path):
    Variant(epochs=3).run(tmp_path, every_epochs=None, best=False)
    assert files(tmp_path) == ["step-000000024.safetensors"]


class Measure(Callback):
    """Pretends that the validation found these values."""

    def __init__(self, values):
        self.values = list(values)

    def on_evaluated(self, fit: Fit) -> None:
        fit.metrics["validation accuracy"] = self.values.pop(0)

    def state_dict(self):
        return {"values": self.values}

    def load_state_dict(self, state):
        self.values = state["values"]


@pytest.mark.parametrize(("mode", "best"), [("max", 16), ("min", 24)])
def test_the_best_is_the_one_with_the_best_measure(tmp_path, mode, best):
    nan = float("nan")
    measures = Measure([nan, 0.7, 0.5, 0.7, nan])
    Variant(epochs=5, validation=True).run(tmp_path, measures, monitor="validation accuracy", mode=mode, keep=1)
    saved = checkpoint.read(tmp_path / "best.safetensors")
    assert saved.parts["step"] == best
    assert saved.parts["callbacks"][-1][1]["best_step"] == best


def test_the_best_value_is_remembered_over_a_stop(tmp_path):
    variant = Variant(epochs=4, validation=True)
    values, options = [0.5, 0.9, 0.7, 0.8], {"monitor": "validation accuracy", "mode": "max"}
    with pytest.raises(SystemExit):
        variant.run(tmp_path, Measure(values), At(20, lambda: signal.raise_signal(signal.SIGTERM)), **options)
    variant.run(tmp_path, Measure(values), At(0, nothing), seed=1, resume="auto", **options)
    assert checkpoint.read(tmp_path / "best.safetensors").parts["step"] == 16


def test_a_measure_in_the_middle_of_an_epoch_can_be_the_best(tmp_path):
    variant = Variant(epochs=1, validation=True, evaluate_every=3)
    variant.run(tmp_path, Measure([0.2, 0.9, 0.3]), monitor="validation accuracy", mode="max")
    assert checkpoint.read(tmp_path / "best.safetensors").parts["step"] == 6


def test_a_measure_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(TorchError, match=r"Checkpoint monitors 'validation f1', but what is measured is 'loss'"):
        Variant().run(tmp_path, monitor="validation_f1")


def test_a_folder_of_another_training_is_not_mixed_up(tmp_path):
    Variant().run(tmp_path)
    with pytest.raises(CheckpointError, match=r"of an earlier training, up to step-000000024(.|\n)*overwrite=True"):
        Variant().run(tmp_path)
    Variant(epochs=1).run(tmp_path, overwrite=True)
    assert files(tmp_path) == ["best.safetensors", "step-000000008.safetensors"]


def untrained(monkeypatch):
    """Batches of a training that must not begin."""
    monkeypatch.setattr("simpletorch.train._step.Step.__call__", lambda *_: pytest.fail("a batch was trained on"))


def test_a_file_in_the_folder_s_place_is_said_before_training(tmp_path, monkeypatch):
    untrained(monkeypatch)
    (tmp_path / "run").write_text("mine")
    for folder in (tmp_path / "run", tmp_path / "run" / "seed-0"):
        with pytest.raises(CheckpointError) as caught:
            Variant().run(folder)
        assert caught.value.reason == f"can't make the folder {folder}: {tmp_path / 'run'} is a file"
        assert caught.value.hint == "choose another folder, or move the file out of the way"
        assert isinstance(caught.value, OSError)
    assert (tmp_path / "run").read_text() == "mine"


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_folder_that_can_not_be_written_to_is_said_before_training(tmp_path, monkeypatch, code):
    Variant(epochs=1).run(tmp_path)
    before = files(tmp_path)
    untrained(monkeypatch)

    def fail(descriptor):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(_atomic.os, "fsync", fail)
    with pytest.raises(CheckpointError) as caught:
        Variant().run(tmp_path, overwrite=True)
    assert caught.value.reason.startswith(f"can't write {tmp_path}: {os.strerror(code)}")
    assert "choose " in caught.value.hint
    assert files(tmp_path) == before, "nothing is left of the try, and no checkpoint is removed"


def test_trying_a_folder_leaves_nothing_in_it(tmp_path):
    folder, seen = tmp_path / "new" / "run", []
    Variant(steps=1).run(folder, At(1, lambda: seen.append(files(folder))))
    assert seen == [[]]


def test_it_is_the_last_callback(tmp_path):
    model = torch.nn.Linear(3, 2)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=torch.optim.SGD(model.parameters()),
        callbacks=[Checkpoint(tmp_path), At(0, nothing)],
        progress=False,
    )
    with pytest.raises(TorchError, match="must be the last of the callbacks"):
        trainer.fit(model, DataLoader(TensorDataset(torch.randn(5, 3), torch.zeros(5, dtype=torch.int64)), 5))


@pytest.mark.parametrize("wrong", [{"keep": 0}, {"every_steps": 0}, {"every_epochs": -1}, {"mode": "best"}])
def test_settings_that_make_no_sense_are_refused(tmp_path, wrong):
    with pytest.raises(ValueError, match="Checkpoint got"):
        Checkpoint(tmp_path, **wrong)


def test_signals_are_given_back(tmp_path):
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]

    def fail():
        raise RuntimeError("broken")

    Variant().run(tmp_path / "a")
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    with pytest.raises(RuntimeError, match="broken"):
        Variant().run(tmp_path / "b", At(2, fail))
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


@pytest.fixture
def _interruptible():
    """Python's own handler of Ctrl-C; a program that a shell starts in the background has none."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_a_second_signal_does_what_it_always_did(tmp_path):
    def twice():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Variant().run(tmp_path, At(5, twice))
    assert files(tmp_path) == []


@pytest.mark.usefixtures("_interruptible")
def test_signals_can_be_left_alone(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Variant().run(tmp_path, At(5, lambda: signal.raise_signal(signal.SIGINT)), interruptible=False)


def test_what_can_not_be_written_in_the_background_stops_the_training(tmp_path):
    folder = tmp_path / "run"

    def lose():
        for _ in range(3000):  # the first epoch's is written by now, or soon
            if (folder / "best.safetensors").exists():
                break
            time.sleep(0.01)
        folder.rename(tmp_path / "gone")
        folder.touch()

    with pytest.raises(CheckpointError, match="can't write"):
        Variant().run(folder, At(13, lose), asynchronous=True)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_folder_lost_between_the_file_and_its_copy_is_explained_too(tmp_path, monkeypatch, asynchronous):
    folder = tmp_path / "run"

    def lose(path, other):
        folder.rename(tmp_path / "gone")
        folder.touch()
        duplicate(path, other)

    monkeypatch.setattr("simpletorch.checkpoint._checkpoint.duplicate", lose)
    with pytest.raises(CheckpointError, match=r"can't write .*best\.safetensors"):
        Variant().run(folder, asynchronous=asynchronous)
    assert folder.read_bytes() == b"", "what was put in its place is nobody's to write to"


def test_the_parts_of_a_training_can_be_taken_out(tmp_path):
    variant = Variant(ema=True)
    result = variant.run(tmp_path)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 7), torch.nn.BatchNorm1d(7), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(7, 2)
    )
    checkpoint.load(checkpoint.latest(tmp_path), model=model)
    assert same(dict(model.state_dict()), dict(result["model"]))
    assert checkpoint.load_weights(checkpoint.latest(tmp_path), model, part="ema").is_complete
    assert torch.equal(model[0].weight, result["ema"]["module.0.weight"])


def test_a_resumed_run_tells_what_is_different_about_it(tmp_path):
    then = Manifest.collect(config={"rate": 0.1}, seed=3)
    now = Manifest.collect(config={"rate": 0.2}, seed=3)
    Variant(epochs=1).run(tmp_path, manifest=then)
    assert Manifest.load(tmp_path / "manifest.json") == then
    with pytest.warns(
        UserWarning, match=r"differs from the one it goes on with:\n    config\.rate: 0\.1 then, 0\.2 now"
    ):
        Variant(epochs=2).run(tmp_path, manifest=now, resume="auto")
    assert Manifest.load(tmp_path / "manifest.json") == now
