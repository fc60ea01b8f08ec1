"""``docs/safety.md``: what reads a program runs nothing of it, asks no network, and writes to the cache alone.

Every process that a command starts has an audit hook, which Python tells what is executed, opened and asked for. The
program writes a file, starts a process and asks an address when it is run, and so does a module that it imports.
``tests/follow/disk/test_hostile.py`` has the data files that a program names, ``tests/notebook/test_nothing_called.py``
the live values of a notebook.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import warm
from tests.language_server.client import Client

HOOK = """
import os, sys

log = os.open(os.environ["AUDIT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
project = os.environ["AUDIT_PROJECT"]

def tell(*words):
    os.write(log, ("\\t".join(map(str, words)) + "\\n").encode(errors="replace"))

def hear(event, given):
    if event == "exec":
        name = getattr(given[0], "co_filename", "<>")
        if not name.startswith("<") and os.path.abspath(name).startswith(project):
            tell("executed", name)
    elif event == "open" and isinstance(given[0], (str, bytes)) and (given[2] or 0) & (os.O_WRONLY | os.O_RDWR):
        tell("written", os.path.abspath(os.fsdecode(given[0])))
    elif event in ("socket.connect", "socket.sendto", "socket.getaddrinfo") and "/" not in str(given[1]):
        tell("network", event, given[1])
    elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"):
        tell("started", os.fsdecode(given[0]))

sys.addaudithook(hear)
"""
PROGRAM = """\
import os
import socket
from pathlib import Path

import torch
from torch import nn

import neighbour

Path("owned").write_text("by the program")
os.system("true")
with socket.socket() as asking:
    asking.settimeout(0.01)
    asking.connect_ex(("127.0.0.1", 9))
scores = nn.Linear(7, 3)(torch.zeros(5, 11))
"""
NEIGHBOUR = """\
from pathlib import Path

Path("owned").write_text("by a module")
"""
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
    {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": [], "source": PROGRAM},
]}  # fmt: skip
MISTAKE = "Linear(7, 3): the last dim of input is 11, but the layer takes 7 features"

CHECKS = {
    "follow": ("follow", "program.py"),
    "follow --shapes": ("follow", "--shapes", "program.py"),
    "follow --html": ("follow", "--html", "program.py"),
    "follow a notebook": ("follow", "program.ipynb"),
    "check": ("check", "program.py"),
}


class Watched:
    """A project with the program, and what the processes that look at it did."""

    def __init__(self, folder: Path) -> None:
        self.project, self.hook, self.temporary = (folder / name for name in ("project", "hook", "temporary"))
        for each in (self.project, self.hook, self.temporary):
            each.mkdir()
        self.log = folder / "log"
        self.cache = warm.home(folder)
        (self.hook / "sitecustomize.py").write_text(HOOK)
        (self.project / "program.py").write_text(PROGRAM)
        (self.project / "neighbour.py").write_text(NEIGHBOUR)
        (self.project / "program.ipynb").write_text(json.dumps(NOTEBOOK))

    @property
    def environment(self) -> Mapping[str, str]:
        """For the processes that are watched; Python's own files beside what it imports aren't written."""
        known = {name: value for name, value in os.environ.items() if not name.startswith("SIMPLETORCH_")}
        return {
            **known,
            "PYTHONPATH": os.pathsep.join((str(self.hook), os.environ.get("PYTHONPATH", ""))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_CACHE_HOME": str(self.cache),
            "TMPDIR": str(self.temporary),
            "AUDIT_LOG": str(self.log),
            "AUDIT_PROJECT": str(self.project),
        }

    def run(self, *command: str) -> str:
        """What a command of ours prints."""
        return self.start("-m", "simpletorch.cli", *command)

    def start(self, *arguments: str) -> str:
        """What Python prints with these arguments."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def did(self, *kinds: str) -> list[str]:
        """What the processes did of these kinds: executed, written, network, started."""
        found = (line.partition("\t") for line in self.log.read_text(errors="replace").splitlines())
        return [what for kind, _, what in found if kind in kinds]

    def wrote_elsewhere(self) -> list[str]:
        """The files written outside of the cache and the folder for temporary files."""
        kept = [f"{folder.resolve()}{os.sep}" for folder in (self.cache, self.temporary)]
        return [path for path in self.did("written") if path != os.devnull and not path.startswith(tuple(kept))]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """A project that is looked at."""
    return Watched(tmp_path.resolve())


def test_a_program_that_is_run_is_seen_by_the_hook(watched):
    watched.run("run", "program.py")
    assert (watched.project / "owned").exists()
    assert {Path(path).name for path in watched.did("executed")} == {"program.py", "neighbour.py"}
    assert watched.wrote_elsewhere() == [str(watched.project / "owned")] * 2
    assert watched.did("network") != []
    assert watched.did("started") == ["true"]


@pytest.mark.parametrize("command", CHECKS.values(), ids=CHECKS)
def test_what_checks_a_program_runs_nothing_of_it(watched, command):
    assert MISTAKE in watched.run(*command)
    assert not (watched.project / "owned").exists()
    assert watched.did("executed", "network") == []
    assert watched.wrote_elsewhere() == []
    if command[0] == "follow":
        assert watched.did("started") == []
    if command == CHECKS["follow"]:
        assert watched.did("written") != [], "the answer, in the cache"


@pytest.mark.slow
def test_the_plugin_in_mypy_runs_nothing_of_a_program(watched):
    configuration = warm.readme(watched.temporary) / "mypy.ini"
    kept = str(configuration.parent)
    command = ("-m", "mypy", "--config-file", str(configuration), "--cache-dir", kept, "program.py")
    assert MISTAKE in watched.start(*command)
    assert not (watched.project / "owned").exists()
    assert watched.did("executed", "network", "started") == []
    assert watched.wrote_elsewhere() == []


def test_the_language_server_runs_nothing_of_a_program(watched):
    with Client(watched.project, environment=watched.environment) as client:
        uri = client.open(watched.project / "program.py", PROGRAM)
        assert any(MISTAKE in each["message"] for each in client.said(uri))
        client.hints(uri)
        assert client.leave() == 0
    assert not (watched.project / "owned").exists()
    assert watched.did("executed", "network") == []
    assert set(watched.did("started")) <= {sys.executable}
    assert watched.wrote_elsewhere() == []
