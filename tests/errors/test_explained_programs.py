"""Broken programs, and the whole text of what each one raises, as recorded beside it.

`broken/*.py` are ordinary programs, each function with one mistake; `broken/*.txt` are the texts. After a change
that is meant to change them: ``UPDATE_SNAPSHOTS=1 pytest tests/errors/test_explained_programs.py``, and read the
difference.

Where the plugin sees the mistake too, its sentence is the same: one run of mypy checks all programs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest

from simpletorch.errors import TorchError, explain
from tests import meeting, warm

from .broken import distributed
from .broken_programs import FOLDER, programs, record, recorded

FILES = ["operations", "indices", "dtypes", "layers", "gradients", "borders", "loading", "compiled"]
SEEN_BY_MYPY = ["operations", "indices", "dtypes", "layers", "borders"]
LINE = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+): error: (?P<message>.*?)  \[tensor-\w+\]$")
ALL = [pytest.param(name, f, id=f"{name}-{f.__name__}") for name in FILES for f in programs(name)]


def failing(program: Callable[[], object]) -> TorchError:
    with pytest.raises(TorchError) as caught, explain():
        program()
    return caught.value


def plain(text: str) -> str:
    """Without what differs from machine to machine: folders, process ids, and why there is no CUDA."""
    text = re.sub(r"[^\s:'\"]*/broken/", "", text)
    text = re.sub(
        "there is no NVIDIA driver|no GPU is visible to this process", "this build of torch has no CUDA", text
    )
    return re.sub(r"worker process \d+", "worker process …", text)


def compare(name: str, program: str, text: str) -> None:
    if os.environ.get("UPDATE_SNAPSHOTS"):
        record(name, program, text)
    assert text == recorded(name).get(program)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "program"), ALL)
def test_the_whole_text(name: str, program: FunctionType):
    error = failing(program)
    assert error.__cause__ is None or isinstance(error, type(error.__cause__))
    compare(name, program.__name__, f"{error.kind}: {plain(str(error))}")


def test_every_recorded_text_has_its_program():
    for name in FILES:
        assert set(recorded(name)) == {f.__name__ for f in programs(name)}


@pytest.mark.slow
def test_two_processes(tmp_path: Path):
    meeting.start(distributed.main, (str(tmp_path),), 2)
    found = {file.name: plain(file.read_text()) for file in tmp_path.glob("*.[01]")}
    if os.environ.get("UPDATE_SNAPSHOTS"):
        for name in sorted(found):
            record("distributed", name.replace(".", "_on_rank_"), found[name])
    assert {name.replace(".", "_on_rank_"): text for name, text in found.items()} == recorded("distributed")


def mypy_messages(folder: Path) -> dict[tuple[str, int], list[str]]:
    """What mypy says of the programs, by file and line."""
    command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", warm.cache(folder)]
    done = subprocess.run(
        [*command, *(f"{name}.py" for name in SEEN_BY_MYPY)],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SIMPLETORCH_FOLLOW": "off"},  # this is about mypy's own sentence
    )
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr
    found: dict[tuple[str, int], list[str]] = {}
    for line in done.stdout.splitlines():
        match = LINE.match(line)
        if match is not None:
            found.setdefault((match["file"], int(match["line"])), []).append(match["message"])
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mypy_says_the_same_where_it_sees_the_mistake(tmp_path: Path):
    said = mypy_messages(tmp_path)
    seen = {}
    for name in SEEN_BY_MYPY:
        for program in programs(name):
            error = failing(program)
            assert error.location is not None
            messages = said.get((f"{name}.py", error.location.line), [])
            if messages:
                headline = f"{error.operation}: {error.reason}"
                seen[program.__name__] = [m for m in messages if m != headline and not m.startswith(f"{headline} [")]
    assert {program: messages for program, messages in seen.items() if messages} == {}
    assert len(seen) >= 60, sorted(seen)
