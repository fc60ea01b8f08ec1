"""A training that shows where it is, and that Ctrl-C ends without a loss."""

import signal

import pytest
import torch

from simpletorch.errors import TorchError
from simpletorch.train import Callback, Checkpoint, Live
from simpletorch.train.callbacks import _live
from tests.train.callbacks.small_training import loader, net, trainer


class Handle:
    """A place under a cell, and what was shown there."""

    def __init__(self, first):
        self.shown = [first]

    def update(self, view):
        self.shown.append(view)


@pytest.fixture
def handles(monkeypatch):
    """The places that were made, as in a notebook."""
    made = []

    def display(view):
        made.append(Handle(view))
        return made[-1]

    monkeypatch.setattr(_live, "_display", display)
    return made


def test_one_bar_moves_to_the_end(handles):
    model = net()
    trainer(model, Live(every=0)).fit(model, loader(), epochs=3)
    (handle,) = handles
    parts = [view.part for view in handle.shown]
    assert parts == sorted(parts)
    assert (parts[0], parts[-1]) == (0.0, 1.0)
    assert len(handle.shown[-1].losses) == 12
    assert repr(handle.shown[-1]).startswith(f"[{'#' * 30}] 100% 12 updates, loss ")
    assert "<progress" in handle.shown[-1]._repr_html_()
    assert "<polyline" in handle.shown[-1]._repr_html_()


def test_it_waits_between_two_looks(handles):
    model = net()
    trainer(model, Live(every=1000)).fit(model, loader(), epochs=3)
    assert len(handles[0].shown[-1].losses) == 1


def test_a_long_curve_stays_short(handles, monkeypatch):
    monkeypatch.setattr(_live, "_MOST_POINTS", 5)
    model = net()
    trainer(model, Live(every=0)).fit(model, loader(), epochs=11)
    assert 2 <= len(handles[0].shown[-1].losses) <= 5


class Press(Callback):
    """Ctrl-C in the middle of an update."""

    def on_loss(self, fit):
        if fit.step == 5:
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_ends_after_the_update_and_keeps_what_was_done(handles):
    before = signal.getsignal(signal.SIGINT)
    model, straight = net(), net()
    history = trainer(model, Live(), Press()).fit(model, loader(), epochs=3)
    assert [epoch.steps for epoch in history] == [4, 2]
    trainer(straight).fit(straight, loader(), epochs=None, steps=6)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), straight.parameters(), strict=True))
    assert "stopped: SIGINT came" in repr(handles[0].shown[-1])
    assert signal.getsignal(signal.SIGINT) is before


def test_a_checkpoint_that_listens_is_left_to_it(handles, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    model = net()
    with pytest.raises(SystemExit):
        trainer(model, Live(), Press(), Checkpoint(tmp_path)).fit(model, loader(), epochs=3)
    assert sorted(file.name for file in tmp_path.glob("step-*"))[-1:] == ["step-000000006.safetensors"]
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_of_a_notebook_nothing_is_shown(capsys):
    model = net()
    trainer(model, Live()).fit(model, loader())
    assert capsys.readouterr().out == ""


class Fails(Callback):
    """A mistake of the user's."""

    def on_loss(self, fit):
        raise ZeroDivisionError


def test_signals_are_put_back_after_an_error(handles):
    before = signal.getsignal(signal.SIGINT)
    model = net()
    with pytest.raises(ZeroDivisionError):
        trainer(model, Live(), Fails()).fit(model, loader())
    assert signal.getsignal(signal.SIGINT) is before


def test_wrong_times_are_refused():
    with pytest.raises(TorchError, match=r"every=-1"):
        Live(every=-1)
