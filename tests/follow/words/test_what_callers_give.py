"""Entries: a default is one of the things that a caller may give, and what a call names itself is no default."""

from pathlib import Path

from simpletorch.follow import Followed, follow

PROGRAM = """import torch
from torch import nn
class Wide(nn.Conv2d):
    def __init__(self, a, b, kernel_size, padding=0):
        super().__init__(a, b, kernel_size, padding=padding)
class Block(nn.Module):
    def __init__(self, ARGUMENTS, conv=Wide):
        super().__init__()
        self.conv = CALL
        self.lin = nn.Linear(3, 5)
    def forward(self, x):
        return self.lin(torch.zeros(2, 7))
"""


def followed(folder: Path, arguments: str, call: str) -> Followed:
    path = folder / "program.py"
    path.write_text(PROGRAM.replace("ARGUMENTS", arguments).replace("CALL", call))
    return follow(path)


def test_a_default_that_does_not_fit_is_what_callers_replace(tmp_path: Path):
    assert [f.line for f in followed(tmp_path, "a, b", "conv(a, b)").errors] == [12]


def test_where_no_argument_is_due_the_default_is_used(tmp_path: Path):
    assert [f.line for f in followed(tmp_path, "a=3, b=5", "conv(a, b)").errors] == [9, 12]


def test_a_class_that_is_called_by_its_name_is_no_default(tmp_path: Path):
    assert [f.line for f in followed(tmp_path, "a, b", "Wide(a, b)").errors] == [9, 12]
