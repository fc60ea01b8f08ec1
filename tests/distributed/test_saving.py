"""SIGKILL while a divided checkpoint is written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from torch.multiprocessing import ProcessExitedException

from simpletorch import checkpoint
from simpletorch._atomic import _unfinished
from simpletorch.checkpoint._folder import remove_half_written
from tests import meeting
from tests.distributed import saving
from tests.marks import thorough


@pytest.mark.slow
def test_killed_while_parts_are_saved_nothing_is_lost_beyond_the_last_checkpoint(tmp_path: Path):
    for attempt, (rank, *_) in enumerate(saving.KILLS):
        with pytest.raises(ProcessExitedException) as caught:
            meeting.start(saving.go_on, (tmp_path, attempt), 2)
        assert (caught.value.error_index, caught.value.signal_name) == (rank, "SIGKILL")
    meeting.start(saving.go_on, (tmp_path, len(saving.KILLS)), 2)
    began = [(tmp_path / f"from-{attempt}").read_text() for attempt in range(3)]
    assert began == ["the beginning", "step-000000003", "step-000000006"]
    assert (tmp_path / "as-without").read_text() == "True"
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


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [40, *thorough([300])])
def test_two_programs_that_save_to_one_folder_read_whole_checkpoints(tmp_path: Path, rounds: int):
    meeting.start(saving.write_and_read, (tmp_path, rounds), 2)
    assert all(int((tmp_path / f"seen-{rank}").read_text()) > 1 for rank in range(2))
    folder = tmp_path / "best"
    (tmp_path / "shared").rename(folder)
    remove_half_written(tmp_path)  # when a training begins there: parts that no index names go
    assert len(list(folder.iterdir())) == 2
    checkpoint.read(folder)


def replace_process(path: Path, process: int) -> Path:
    """The unfinished file of another process."""
    return path.with_name(path.name.replace(f"-{os.getpid()}-", f"-{process}-"))
