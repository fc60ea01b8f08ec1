"""Files that an editor has and hasn't saved: their texts count instead of what the disk has."""

from __future__ import annotations

from pathlib import Path

import pytest

from simpletorch.follow import follow

MODEL = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(7, 11)
        self.last = nn.Linear({}, 3)

    def forward(self, x):
        return self.last(self.first(x))
"""
PROGRAM = "import torch\nfrom model import Net\n\ny = Net()(torch.zeros(5, 7))\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL.format(11))
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return file


def test_the_text_of_an_editor_counts(program: Path):
    assert not follow(program).errors
    wrong = PROGRAM.replace("5, 7", "5, 13")
    (error,) = follow(program, opened={str(program): wrong}).errors
    assert error.line == 10
    assert [call.line for call in error.trace] == [4]
    assert not follow(program).errors


def test_so_does_that_of_a_module_beside_the_program(program: Path):
    model = program.with_name("model.py")
    (error,) = follow(program, opened={str(model): MODEL.format(13)}).errors
    assert (error.path, error.line) == (str(model), 10)


def test_an_open_file_needs_no_file(tmp_path: Path):
    program, model = tmp_path / "program.py", tmp_path / "model.py"
    found = follow(program, opened={str(program): PROGRAM, str(model): MODEL.format(13)})
    assert [e.line for e in found.errors] == [10]
    assert found.files == (str(program), str(model))
    assert not list(tmp_path.iterdir())


def test_a_link_is_the_file_that_it_leads_to(program: Path, tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path, target_is_directory=True)
    opened = {str(link / "model.py"): MODEL.format(13)}
    assert [e.line for e in follow(program, opened=opened).errors] == [10]


def test_a_comment_that_is_not_saved_silences(program: Path):
    wrong = MODEL.format(13).rstrip() + "  # type: ignore\n"
    found = follow(program, opened={str(program.with_name("model.py")): wrong})
    assert not found.errors
    assert len(found.ignored) == 1


def test_a_mark_at_the_beginning_is_no_mistake(program: Path):
    assert follow(program, opened={str(program): "\ufeff" + PROGRAM}).shapes_at(str(program), 4)


def test_following_ends_when_it_is_cancelled(program: Path):
    asked = []

    def is_cancelled() -> bool:
        asked.append(True)
        return len(asked) == 3

    endless = "import torch\nfor i in range(10**6):\n    x = torch.zeros(3 + i % 2)\n" * 50
    found = follow(program, opened={str(program): endless}, is_cancelled=is_cancelled)
    assert not found.complete
    assert len(asked) == 3
