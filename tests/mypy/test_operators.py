"""Operators in the user's own package, under --strict: seen from another file, fresh and from mypy's cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm

KERNELS = '''
import torch

from simpletorch import Float, Float32, Tensor, kernels
from simpletorch.dims import B, N


@kernels.operator
def relu_add(x: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """relu(x + y)"""
    return torch.relu(x + y)


@relu_add.cpu
def _(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x.add(y))


@kernels.operator("mylib::halve", autocast=torch.float32)
def halve(x: Tensor[Float32, B, "2*N"], scale: float = 3.0) -> Tensor[Float32, B, N]:
    return x[:, ::2] * scale
'''
PROGRAM = """
import torch
import mylib.kernels
from mylib.kernels import halve

x = torch.ones(3, 10)
reveal_type(mylib.kernels.relu_add(x.double(), x))
reveal_type(halve(x, scale=5.0))
mylib.kernels.relu_add(x, torch.ones(3, 7))
halve(torch.ones(3, 7))
halve.gpu
"""
SAID = [
    'note: Revealed type is "Tensor[Float64, 3, 10]"',
    'note: Revealed type is "Tensor[Float32, 3, 5]"',
    "error: relu_add: *n is (3, 7) in y, but (3, 10) before "
    "[x: Float32[3, 10], y: Float32[3, 7] (should be Float[*n])]  [tensor-shape]",
    "error: halve: dim 1 of x is 7, which 2*N can't be [x: Float32[3, 7] (should be Float32[B, 2*N])]  [tensor-shape]",
]


@pytest.mark.slow
def test_operators_of_another_package_are_known(tmp_path: Path):
    (tmp_path / "mylib").mkdir()
    (tmp_path / "mylib/__init__.py").touch()
    (tmp_path / "mylib/kernels.py").write_text(KERNELS)
    (tmp_path / "program.py").write_text(PROGRAM)
    cache = warm.cache(tmp_path)

    def check(*files: str) -> list[str]:
        command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", cache, *files]
        environment = {**os.environ, "SIMPLETORCH_DEBUG": "1", "SIMPLETORCH_FOLLOW": "off"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert not done.stderr, done.stderr
        return [line.partition(": ")[2] for line in done.stdout.splitlines() if line.startswith("program.py:")]

    fresh = check("mylib", "program.py")
    assert fresh[:4] == SAID
    assert 'has no attribute "gpu"' in fresh[4]
    (tmp_path / "program.py").write_text(PROGRAM + "\n")  # the package comes from the cache now
    assert check("program.py") == fresh
