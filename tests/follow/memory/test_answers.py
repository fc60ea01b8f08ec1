"""What is remembered of an operation: its result's marks, and never that a mistake needn't be told."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from simpletorch.follow.followed import Followed
from simpletorch.follow.memory import answers

HEAD = "import torch\nfrom torch import nn\n"
DEVICES = 'device = "cuda" if torch.cuda.is_available() else "cpu"\na, b = torch.randn(3).to(device), torch.randn(3)\n'
IN_TRY = """
def add():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.randn(3).to(device) + torch.randn(3)
try:
    add()
except RuntimeError:
    pass
"""


def followed(source: str, folder: Path) -> Followed:
    path = folder / "program.py"
    path.write_text(HEAD + source)
    found = follow(path)
    assert not found.faults
    return found


def told(source: str, folder: Path) -> list[int]:
    """The lines of a source with an error or a warning."""
    found = followed(source, folder)
    return [f.line - HEAD.count("\n") for f in (*found.errors, *found.warnings)]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (IN_TRY + DEVICES + "a + b\n", [11]),
        (DEVICES + "a + b\na + b\na[b > 0]\nb[a > 0]\nb[a > 0]\n", [3]),  # what is left behind is said once
        (DEVICES + "torch.stack([a, a])\ntorch.stack([a, b])\n", [4]),
        ("x, y = torch.randn(7, 1), torch.randn(7)\n(x.sum(1, keepdim=True) - y)\n", [2]),
        ("x = torch.randn(3, 5)\nx.T.view(15)\nx.T.view(15)\nx.view(15)\n", [2, 3]),
    ],
)
def test_mistakes_are_told_where_the_same_was_asked_before(source, lines, tmp_path):
    assert told(source, tmp_path) == lines
    assert told(source, tmp_path) == lines


def test_results_lie_as_their_operands_do(tmp_path):
    """Which the types of the operands don't say."""
    lines = "(x + 1).transpose(0, 1).view(9)\n(y + 1).transpose(0, 1).view(9)\n"
    assert told("x, y = torch.randn(3, 3), torch.randn(3, 3).T\n" + 2 * lines, tmp_path) == [2, 4]


def test_rows_are_compared_with_what_they_were_made_of(tmp_path):
    source = (
        "torch.arange(6).view(2, 3).t().view(6)\n"
        "torch.arange(6).view(2, 3).t().contiguous().view(6)\n"
        "torch.arange(6).view(3, 2).view(6)\n"
    )
    assert told(source, tmp_path) == [1]


def test_marks_are_forgotten_with_their_answers(monkeypatch, tmp_path):
    monkeypatch.setattr(answers, "_MOST", 3)
    source = "x = torch.randn(3, 5)\nfor _ in range(4):\n    y = (x + 1).relu().T.exp()\ny.view(15)\n"
    assert told(source, tmp_path) == [4]
