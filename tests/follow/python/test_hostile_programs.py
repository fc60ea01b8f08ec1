"""A sample of `benchmarks/hostile`: its programs are followed without faults, effects, and more than their budget."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "benchmarks" / "hostile" / "follow.py"


def followed(*options: str) -> subprocess.CompletedProcess[str]:
    """Run the benchmark, which has an audit hook that can't be taken out of a process again."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "ignore", str(SCRIPT), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_sample_of_every_kind() -> None:
    done = followed("--count", "60", "--seed", "4", "--seconds", "2")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("60 programs: 0 over time, 0 over memory, 0 with faults, 0 with effects")


def test_a_program_that_takes_long_is_seen() -> None:
    done = followed("--count", "10", "--kind", "nested", "--seconds", "-9")
    assert done.returncode == 1
    assert "1 over time" in done.stdout
