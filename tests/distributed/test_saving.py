"""SIGKILL while a divided checkpoint is written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simpletorch import checkpoint
from simpletorch._atomic import _unfinished
from simpletorch.checkpoint._folder import remove_half_written
from tests.distributed.launching import torchrun

SCRIPT = Path(__file__).parent / "saving.py"


@pytest.mark.slow
def test_killed_while_parts_are_saved_nothing_is_lost_beyond_the_last_checkpoint(tmp_path: Path):
    printed, errors, status = torchrun(SCRIPT, tmp_path, restarts=2, limit=300)
    assert status == 0, errors
    assert re.findall(r"attempt (\d) goes on from (\S+)", printed) == [
        ("0", "None"),
        ("1", "step-000000003"),
        ("2", "step-000000006"),
    ]
    assert "as without: True" in printed
    folder = tmp_path / "killed"
    assert [path.name for path in checkpoint.checkpoints_in(folder)] == ["step-000000009", "step-000000010"]
    assert sorted(path.name for path in folder.iterdir()) == ["best", "step-000000009", "step-000000010"]
    assert not [path for path in folder.rglob("*") if path.name.startswith(".")]  # of what was half written
    assert checkpoint.read(folder / "best").parts["step"] == 10


def test_what_a_killed_process_left_in_the_best_goes(tmp_path: Path):
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    left = replace_process(_unfinished(tmp_path / "best" / "part-00000-5.safetensors"), process.pid)
    own = _unfinished(tmp_path / "best" / "part-00000-7.safetensors")
    own.parent.mkdir()
    for path in (left, own):
        path.touch()
    remove_half_written(tmp_path)
    assert list(own.parent.iterdir()) == [own]  # this process lives, and may be writing it


def replace_process(path: Path, process: int) -> Path:
    """The unfinished file of another process."""
    return path.with_name(path.name.replace(f"-{os.getpid()}-", f"-{process}-"))
