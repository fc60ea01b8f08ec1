"""Of files whose errors nobody sees, only what others may use of them is worked out."""

import os
import subprocess
import sys

import pytest

from tests import warm

LIBRARY = """\
import torch
from torch import Tensor, nn

TABLE = torch.zeros(17, 19)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 5)
        self.register_buffer("kept", torch.zeros(7))

    def prepare(self) -> None:
        self.late = torch.ones(11, 13).T

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(torch.zeros(2, 4))
"""
USE = """\
import torch

from library import TABLE, Net

net = Net()
reveal_type(TABLE)
reveal_type(net.fc(torch.zeros(2, 3)))
reveal_type(net.late)
net.fc(torch.zeros(2, 4))
"""


@pytest.mark.slow
def test_what_a_silent_file_defines_is_known_and_its_mistakes_are_not_said(tmp_path):
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "use.py").write_text(USE)
    settings = tmp_path / "mypy.ini"
    settings.write_text(f"{warm.STRICT.read_text()}\n[mypy-library]\nfollow_imports = silent\n")
    command = [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", warm.cache(tmp_path), "use.py"]
    environment = {**os.environ, "SIMPLETORCH_FOLLOW": "off"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    *said, mistake, hint, _ = done.stdout.splitlines()
    revealed = ("Tensor[Float32, 17, 19]", "Tensor[Float32, 2, 5]", "Tensor[Float32, 13, 11]")
    assert said == [f'use.py:{6 + i}: note: Revealed type is "{t}"' for i, t in enumerate(revealed)], done.stdout
    assert mistake.startswith("use.py:9: error: ")
    assert mistake.endswith("[tensor-shape]")
    assert hint.startswith("use.py:9: note: ")
