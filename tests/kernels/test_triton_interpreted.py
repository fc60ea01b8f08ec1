"""Every shipped kernel, forward and backward, in Triton's interpreter: one process, because it is chosen at import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="Triton is for Linux")


def test_kernels_agree_with_float64_in_the_interpreter():
    file = Path(__file__).with_name("interpreted_kernels.py")
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", str(file)]
    done = subprocess.run(command, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
    assert " skipped" not in done.stdout
