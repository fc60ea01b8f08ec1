"""What people see in a terminal: colours, lines of the source, progress; and what a pipe gets."""

import io
import os
import pty
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from simpletorch.cli import main
from simpletorch.cli._following import progress
from simpletorch.cli._following.progress import Progress

WRONG = "import torch\n\nx = torch.zeros(2, 3)\ny = torch.nn.Linear(5, 7)(x)\n"
ESCAPE = "\x1b["


@pytest.fixture
def program(folder, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    (folder / "net.py").write_text(WRONG)
    return folder


def in_a_terminal(*words, **environment):
    """The output of a command whose standard output is a terminal."""
    here, there = pty.openpty()
    command = [sys.executable, "-m", "simpletorch.cli", *words]
    subprocess.run(command, stdout=there, stderr=there, check=False, env={**os.environ, **environment})
    os.close(there)
    said = b""
    while True:
        try:
            part = os.read(here, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not part:
            break
        said += part
    os.close(here)
    return said.decode().replace("\r\n", "\n")


def test_a_terminal_has_colours_and_the_line(program):
    said = in_a_terminal("follow", "net.py")
    assert f"{ESCAPE}1;31mtensor-shape" in said
    assert "y = torch.nn.Linear(5, 7)(x)" in said
    assert "^" * len("torch.nn.Linear(5, 7)(x)") in said
    assert "hint: Linear(3, 7) would fit" in said


def test_no_color(program):
    said = in_a_terminal("follow", "net.py", NO_COLOR="1")
    assert "tensor-shape" in said
    assert not re.search(r"\x1b\[[\d;]*3\d", said)  # bold and underlined it may be


def test_a_pipe_is_plain_unless_colours_are_forced(program, monkeypatch, capsys):
    main(["follow", "net.py"])
    plain = capsys.readouterr().out
    assert plain.startswith("net.py:4: error: ")
    assert ESCAPE not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    main(["follow", "net.py"])
    assert f"{ESCAPE}1;31mtensor-shape" in capsys.readouterr().out


def test_quiet_prints_findings_only(program, capsys):
    assert main(["follow", "--quiet", "net.py"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2
    assert all(line.startswith("net.py:4: ") for line in said)
    (program / "net.py").write_text("import torch\n")
    assert main(["follow", "-q", "net.py"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_quiet_check(program, capsys):
    assert main(["check", "-q", "net.py"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 2
    (program / "net.py").write_text("import torch\n")
    assert main(["check", "-q", "net.py"]) == 0
    assert capsys.readouterr().out == ""


def test_a_cell_of_a_notebook_shows_its_line(program, monkeypatch, capsys):
    (program / "net.ipynb").write_text(
        '{"cells": [{"cell_type": "code", "source": "import torch\\nx = torch.zeros(3) @ torch.zeros(5)"}]}'
    )
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["follow", "net.ipynb"]) == 1
    assert "x = torch.zeros(3) @ torch.zeros(5)\n" in capsys.readouterr().out


# -- progress ----------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_BETWEEN", 0)
    terminal = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))  # pytest has its own for each phase
    return terminal


def test_what_is_quick_shows_nothing(terminal):
    with Progress(3) as shown:
        shown.at(1, "net.py")
    assert terminal.getvalue() == ""


def test_a_bar_that_is_taken_away(terminal, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", -1)
    monkeypatch.setattr(progress.threading.Timer, "start", lambda self: None)
    with Progress(4) as shown:
        shown.at(1, "net.py")
    assert terminal.getvalue() == "\r\x1b[K[█████░░░░░░░░░░░░░░░] 1/4 net.py\r\x1b[K"


def test_one_thing_that_takes_long_says_its_name(terminal, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    with Progress(name="following net.py") as shown:
        shown._timer.join()
    assert terminal.getvalue() == "\r\x1b[Kfollowing net.py\r\x1b[K"


def test_the_line_stays_on_the_terminal_while_mypy_takes_the_output(terminal):
    with Progress() as shown:
        progress.sys.stderr = taken = io.StringIO()  # as mypy.api does
        shown.at(0, "mypy is checking")
        shown._show()
    assert terminal.getvalue() == "\r\x1b[Kmypy is checking\r\x1b[K"
    assert taken.getvalue() == ""


@pytest.mark.parametrize(
    ("command", "waits"),
    [
        (["env"], ["loading torch"]),
        (["summary", "net.py:Net", "--input", "3,5"], ["loading torch", "running net.py:Net on shapes"]),
        (["plan", "net.py:Net", "--input", "3,5"], ["loading torch", "running a step of net.py:Net on shapes"]),
        (["follow", "net.py"], ["following net.py"]),
    ],
    ids=lambda value: value[0],
)
def test_a_command_that_may_take_long_names_its_work(terminal, command, waits, folder, monkeypatch):
    (folder / "net.py").write_text(
        "from torch import nn\n\n\nclass Net(nn.Linear):\n    def __init__(self): super().__init__(5, 7)\n"
    )
    monkeypatch.setattr(progress.threading.Timer, "start", lambda self: self.function())  # its time has come at once
    main(command)
    assert list(re.findall(r"\r\x1b\[K([^\r\x1b]+)", terminal.getvalue()))[: len(waits)] == waits


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_no_terminal_no_progress(kind, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", -1)
    shown = kind()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=shown))
    monkeypatch.setenv("TERM", "dumb")
    with Progress(4) as bar:
        bar.at(1, "net.py")
    assert shown.getvalue() == ""
