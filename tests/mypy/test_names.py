"""mypy knows every name that is there at run time, and its type."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import torch

import simpletorch
from simpletorch import nn
from tests import warm

OPTIMIZERS = [name for name, value in vars(torch.optim).items() if isinstance(value, type) and name != "Optimizer"]


def test_every_name_has_a_type(tmp_path: Path):
    names = [
        *(f"simpletorch.{name}" for name in simpletorch.__all__),
        *(f"simpletorch.nn.{name}" for name in nn.__all__),
        *(f"simpletorch.optim.{name}" for name in OPTIMIZERS),
    ]
    file = tmp_path / "names.py"
    file.write_text("\n".join(["import simpletorch", *(f"reveal_type({name})" for name in names)]))
    cache = warm.cache(tmp_path)
    command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", cache, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    revealed = re.findall(r':(\d+): note: Revealed type is "(.*)"$', done.stdout, re.MULTILINE)
    assert [int(line) for line, _ in revealed] == list(range(2, len(names) + 2))
    assert [name for name, (_, type_) in zip(names, revealed, strict=True) if type_ == "Any"] == []
