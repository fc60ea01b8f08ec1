"""The script for Slurm, with stand-ins for its commands: one node, two processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "distributed" / "slurm.sh"
COMMANDS = {
    "srun": 'exec "$@"',
    "scontrol": "echo localhost",
    "torchrun": f'exec "{sys.executable}" -m torch.distributed.run "$@"',
}
PROGRAM = """
import torch
from simpletorch import distributed
distributed.init()
total = distributed.all_reduce(torch.tensor([float(distributed.rank() + 1)]))
print(f"{distributed.world_size()} processes, sum {total.item():.0f}")
"""


@pytest.mark.slow
def test_the_script_starts_a_group_of_two(tmp_path):
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, line in COMMANDS.items():
        (commands / name).write_text(f"#!/bin/bash\n{line}\n")
        (commands / name).chmod(0o755)
    (tmp_path / "train.py").write_text(PROGRAM)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    slurm = {"SLURM_JOB_NODELIST": "node[0]", "SLURM_NNODES": "1", "SLURM_JOB_ID": "7", "PORT": str(port)}
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", SCRIPT, "train.py"],
        cwd=tmp_path,
        env={**os.environ, **slurm, "PATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2 processes, sum 3\n"  # of rank 0 alone
