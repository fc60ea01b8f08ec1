"""The example does what it says."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "resume.py"


def start(folder):
    command = [sys.executable, "-u", str(EXAMPLE), str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_stopped_and_resumed_run_ends_with_the_weights_of_one_that_was_not_stopped(tmp_path):
    straight, stopped = start(tmp_path / "straight"), start(tmp_path / "stopped")
    assert stopped.stdout.readline().startswith("epoch 1:")
    stopped.send_signal(signal.SIGINT)
    _, errors = stopped.communicate(timeout=400)
    assert stopped.returncode == 75, errors
    weights = straight.communicate(timeout=400)[0].splitlines()[-1]
    assert weights.startswith("weights ")
    resumed = start(tmp_path / "stopped").communicate(timeout=400)[0]
    assert "epoch 1:" not in resumed
    assert resumed.splitlines()[-1] == weights
