"""`simpletorch check --watch` and `--stop`."""

import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from simpletorch.cli import _watch, main
from simpletorch.cli._config import daemon_file
from simpletorch.cli._watch import state


def test_the_state_has_the_neighbours_and_the_configuration(folder):
    for name in ("train.py", "model.py", "mypy.ini", "notes.txt"):
        (folder / name).write_text("")
    assert sorted(map(os.path.basename, state(["train.py"]))) == ["model.py", "mypy.ini", "train.py"]
    assert state(["train.py"]) == state(["."])


def test_a_change_changes_the_state(folder):
    (folder / "train.py").write_text("")
    before = state(["."])
    (folder / "train.py").write_text("x = 3\n")
    assert state(["."]) != before


@pytest.mark.parametrize(
    ("words", "followed"),
    [
        (["a.py"], ["--shapes", "a.py"]),
        (["a.py", "b.py"], ["a.py", "b.py"]),
        (["a.py", "--", "b.py"], ["--shapes", "a.py", "--", "b.py"]),
        (["a.py", "b.py", "--epochs", "3"], ["a.py", "b.py", "--", "--epochs", "3"]),
        (["."], ["."]),
    ],
)
def test_files_are_watched_as_follow_takes_them(folder, monkeypatch, words, followed):
    for name in ("a.py", "b.py"):
        (folder / name).write_text("")
    asked = []
    monkeypatch.setattr(_watch, "watch", lambda paths, words: asked.append(words) or 0)
    assert main(["watch", *words]) == 0
    assert asked == [["follow", *followed]]


@pytest.mark.slow
def test_a_change_is_checked(folder):
    (folder / "plain.py").write_text("x: int = 'three'\n")
    command = [sys.executable, "-m", "simpletorch.cli", "check", "--watch", "--no-follow", "plain.py"]
    # who runs the tests in the background of a shell has Ctrl-C switched off, for what they start as well
    listens = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    pipes = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True, "preexec_fn": listens}
    with subprocess.Popen(command, **pipes) as running:
        try:
            assert until(running, "watching 1 files")[0].startswith("plain.py:1")
            (folder / "plain.py").write_text("x: int = 3\n")
            assert until(running, "watching 1 files")[0].startswith("Success")
        finally:
            os.killpg(running.pid, signal.SIGINT)
    assert running.returncode == 130


def until(running, text):
    lines = []
    while not lines or text not in lines[-1]:
        lines.append(running.stdout.readline())
        assert lines[-1], "it has ended"
    return lines


@pytest.mark.slow
def test_a_daemon_is_stopped(folder, capsys):
    (folder / "plain.py").write_text("x: int = 3\n")
    assert main(["check", "--daemon", "plain.py"]) == 0
    assert daemon_file().is_file()
    assert main(["check", "--stop"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "the daemon has stopped"
    assert not daemon_file().exists()


def test_no_daemon_to_stop(folder, capsys):
    assert main(["check", "--stop"]) == 0
    assert capsys.readouterr().out == "no daemon runs for this folder\n"


@pytest.mark.slow
def test_shapes_are_shown_again(folder):
    (folder / "net.py").write_text("import torch\nx = torch.zeros(2, 3)\n")
    command = [sys.executable, "-m", "simpletorch.cli", "watch", "net.py"]
    listens = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    pipes = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True, "preexec_fn": listens}
    with subprocess.Popen(command, **pipes) as running:
        try:
            assert "x = torch.zeros(2, 3)  # x: Float32[2, 3]\n" in until(running, "watching 1 files")
            (folder / "net.py").write_text("import torch\nx = torch.zeros(5, 7)\n")
            assert "x = torch.zeros(5, 7)  # x: Float32[5, 7]\n" in until(running, "watching 1 files")
        finally:
            os.killpg(running.pid, signal.SIGINT)
    assert running.returncode == 130


def test_nothing_to_watch(folder, capsys):
    assert main(["watch", "nowhere.py"]) == 2
    assert "no such file or folder: nowhere.py" in capsys.readouterr().err
