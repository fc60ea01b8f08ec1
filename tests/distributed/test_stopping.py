"""SIGTERM of a job saves once for all ranks, and every rank ends with status 75."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from simpletorch import checkpoint
from tests.distributed.launching import ENVIRONMENT


@pytest.mark.slow
def test_sigterm_of_the_launcher_saves_and_ends_with_75(tmp_path):
    script = Path(__file__).parent / "stopping.py"
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        while process.stdout.readline().strip() != "training":
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=120)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 75, errors
    assert "SIGTERM: stopped after a whole update, saved in" in errors
    parts = checkpoint.read(checkpoint.latest(tmp_path)).parts
    assert parts["step"] >= 3
    assert len(parts["ranks"]) == 1  # what rank 1 has for itself is saved with it
