"""Elements of comprehensions that are like each other: two are followed, and all are known."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from simpletorch.follow.memory import elements

HEAD = "import torch\ndata, starts = torch.arange(1009), torch.randint(900, (13,))\n"


def shown(source: str, folder: Path) -> list[str]:
    """What ``reveal_type`` shows."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    found = follow(path)
    assert not found.faults
    return [n.message.removeprefix('Revealed type is "').removesuffix('"') for n in found.notes]


@pytest.fixture
def copied(monkeypatch):
    """The elements that were not followed."""
    made = []
    again = elements._again
    monkeypatch.setattr(elements, "_again", lambda run, value: made.append(value) or again(run, value))
    return made


def test_windows_that_begin_anywhere_are_all_known(copied, tmp_path):
    source = "rows = [data[i : i + 17] for i in starts]\nreveal_type(torch.stack(rows))\nrows[5].unsqueeze_(0)\n"
    source += "reveal_type(rows[5])\nreveal_type(rows[6])\n"
    assert shown(source, tmp_path) == ["Int64[13, 17]", "Int64[1, 17]", "Int64[17]"]
    assert len(copied) == 11


@pytest.mark.parametrize(
    ("rows", "last"),
    [
        ("[t[:5] for t in (torch.zeros(7), torch.zeros(7), torch.zeros(3))]", "Float32[3]"),
        ("[data[: int(i)] for i in starts]", "Int64[...]"),
        ("[box[i] for i in torch.arange(4)]", "Int64[3]"),
    ],
)
def test_what_differs_is_followed_each_time(copied, tmp_path, rows, last):
    box = (
        "class Box:\n    n = 0\n    def __getitem__(self, i):\n        self.n += 1\n        return data[: self.n - 1]\n"
    )
    found = shown(f"{box}box = Box()\nrows = {rows}\nreveal_type(rows[-1])\n", tmp_path)
    assert found == [last] or (last == "Int64[...]" and len(found) == 1)
    assert not copied


def test_a_mistake_in_each_row_is_told_once(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + "rows = [data[i, 3] for i in starts]\n")
    assert [(f.line, f.code) for f in follow(path).errors] == [(3, "tensor-shape")]
