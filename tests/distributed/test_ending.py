"""A process that doesn't come is named by those that waited for it."""

import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from simpletorch import distributed
from simpletorch.distributed._launch import _failed, _told_by_ranks
from simpletorch.errors import BackendError
from tests.distributed.launching import ROOT, torchrun

SCRIPT = Path(__file__).parent / "ending.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            "hangs",
            r"rank 0 of 2 waited 3 s in all_reduce of Float32\[3, 5\] for others: rank 1 \(process \d+ on \S+\) "
            r"hangs, or works on something else",
        ),
        ("raises", r"rank 0 of 2 lost the connection to another rank in backward: rank 1 ended by KeyError: 'its own'"),
    ],
)
def test_who_doesn_t_come_is_named(case, words):
    _, errors, status = torchrun(SCRIPT, case)
    assert status != 0
    assert re.search(f"BackendError: .*{words}", errors), errors


def ended(how):
    if distributed.rank() == 1:
        if how == "exit":
            raise SystemExit(75)
        if how == "leaves":
            sys.exit(3)
        raise KeyError(how)
    if how == "exit":
        raise SystemExit(75)
    distributed.barrier()
    return how


@pytest.mark.slow
def test_launch_names_the_rank_that_failed_first_and_passes_on_that_all_have_saved():
    with pytest.raises(BackendError, match=r"launch: rank 1 of 2 \(process \d+\) failed: KeyError: 'five'"):
        distributed.launch(ended, "five", timeout=60)
    with pytest.raises(BackendError, match=r"launch: rank 1 of 2 \(process \d+\) failed: it called sys.exit\(3\)"):
        distributed.launch(ended, "leaves", timeout=60)
    with pytest.raises(SystemExit) as caught:
        distributed.launch(ended, "exit", timeout=60)
    assert caught.value.code == 75


def doubled(x):
    return distributed.rank(), 2 * x


@pytest.mark.slow
def test_launch_gives_what_each_process_returned():
    assert distributed.launch(doubled, 7, timeout=60) == [(0, 14), (1, 14)]
    assert distributed.launch(lambda: os.getpid() != parent, timeout=60) == [True, True]  # forked: of no module


parent = os.getpid()


@pytest.mark.slow
def test_an_example_that_loses_a_process_agrees_with_one_process():
    printed, errors, status = torchrun(ROOT / "examples" / "distributed" / "elastic.py", restarts=1)
    assert status == 0, errors
    assert printed.rstrip().endswith("ranks agree: True")
    assert float(re.search(r"difference to one process .*: (\S+)", printed)[1]) <= 1e-6
    assert re.search(r"BackendError: .*rank 1 \(process \d+ on \S+\) has ended without an error of its own", errors)
    assert "attempt 2, 2 processes" in printed


def test_of_ranks_that_ended_at_once_the_one_that_didn_t_follow_is_named(tmp_path):
    follower = SimpleNamespace(pid=11, exitcode=1, timestamp=1, message="", error_file_data={})
    follower.error_file_data["message"] = "BackendError: barrier: rank 0 of 2 lost the connection to another rank"
    for name, message in {"0-1": "OSError: of an attempt before", "1-0": "BackendError: lost the connection"}.items():
        (tmp_path / f"{name}.failed").write_text(json.dumps({"process": 11, "message": message}))
    assert "rank 0 of 2 (process 11) failed: BackendError" in str(_failed({0: follower}, 2, _told_by_ranks(tmp_path)))
    (tmp_path / "1-1.failed").write_text(json.dumps({"process": 13, "message": "KeyError: 'five'"}))
    error = _failed({0: follower}, 2, _told_by_ranks(tmp_path))
    assert "launch: rank 1 of 2 (process 13) failed: KeyError: 'five'" in str(error)
