"""``tensor-size``: sizes that whoever calls must choose equal, which nothing in the program says."""

from pathlib import Path
from typing import Any

import pytest

from simpletorch.cli import main
from simpletorch.follow import follow

HEAD = "import torch\nfrom torch import nn\n"
BLOCK = """class Block(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        {check}
        self.up, self.down = nn.Linear(dim, hidden), nn.Linear({inner}, dim)
    def forward(self, x):
        return self.down(self.up(x))
"""


def warned(source: str, folder: Path, **options: Any) -> list[str]:
    path = folder / "program.py"
    path.write_text(HEAD + source)
    found = follow(path, **options)
    assert found.errors == ()
    assert {w.code for w in found.warnings} <= {"tensor-size"}
    return [f"{w.line}: {w.message.rpartition(': ')[2]}" for w in found.warnings]


def test_sizes_that_must_be_equal_are_told_where_asked(tmp_path):
    source = BLOCK.format(check="pass", inner="dim")
    assert warned(source, tmp_path, severities={"tensor-size": "warning"}) == ["9: works only if dim == hidden"]
    assert warned(source, tmp_path) == []


@pytest.mark.parametrize(
    ("check", "inner", "call"),
    [
        ("pass", "hidden", ""),
        ("assert dim == hidden", "dim", ""),
        ("hidden = dim", "dim", ""),
        ("pass", "dim", "Block(3, 3)(torch.zeros(7, 3))\n"),  # somebody calls it, so that it works
    ],
)
def test_what_works_or_is_stated_is_not_told(check, inner, call, tmp_path):
    assert warned(BLOCK.format(check=check, inner=inner) + call, tmp_path, severities={"tensor-size": "warning"}) == []


def test_the_command_has_an_option_and_a_warning_is_no_failure(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text(HEAD + BLOCK.format(check="pass", inner="dim"))
    assert main(["follow", "--sizes", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "works only if dim == hidden  [tensor-size]" in shown
    assert "note: assert dim == hidden states it; or take one size for both" in shown
    assert main(["follow", str(path)]) == 0
    assert "tensor-size" not in capsys.readouterr().out
