"""``simpletorch follow --html``: the model as a diagram of shapes, above the source."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from simpletorch.cli import main

MODEL = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 7), nn.ReLU())
        self.last = nn.Linear(7, 3)

    def forward(self, x):
        return self.last(self.body(x))

model = Net()
for _ in range(4):
    y = model(torch.zeros(11, 5))
"""


class Tags(HTMLParser):
    """Whether each tag that opens is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.around: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            self.around.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.around.pop() == tag


def page_of(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    program = folder / "program.py"
    program.write_text(text)
    main(["follow", "--html", str(program)])
    return capsys.readouterr().out


def test_the_model_is_a_diagram_of_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of(MODEL, tmp_path, capsys)
    model = page[page.index("<section") : page.index("</section>")]
    assert re.sub(r"<[^>]+>", "", model).split("\n")[1:] == [
        "Net Float32[11, 5] → Float32[11, 3]× 4",
        "body Sequential Float32[11, 5] → Float32[11, 7]",
        "0 Linear Float32[11, 5] → Float32[11, 7]",
        "1 ReLU Float32[11, 7] → Float32[11, 7]",
        "",
        "last Linear Float32[11, 7] → Float32[11, 3]",
        "",
        "",
    ]
    assert model.count("<details open>") == 2


def test_all_tags_are_closed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    tags = Tags()
    tags.feed(page_of(MODEL.replace("7, 3", "13, 3"), tmp_path, capsys))
    assert tags.around == []


def test_an_error_stands_under_its_line_with_its_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of("import torch\nx = torch.nn.Linear(5, 3)(torch.zeros(2, 7))\n", tmp_path, capsys)
    (told,) = re.findall(r'class="error".*?<pre>(.*?)</pre>', page, re.DOTALL)
    assert told.splitlines()[1] == "hint: Linear(7, 3) would fit"


def test_a_program_without_a_model_has_no_diagram(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert "<section" not in page_of("import torch\nx = torch.zeros(3)\n", tmp_path, capsys)


@pytest.mark.parametrize("option", ["--shapes", "--html"])
def test_shapes_stand_beside_their_lines(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Also behind what ends no line of Python's."""
    program = tmp_path / "program.py"
    program.write_text("import torch\n\f\ns = '\u2028'\nx = torch.zeros(3, 5)\n", "utf-8")
    main(["follow", option, str(program)])
    line = next(row for row in capsys.readouterr().out.split("\n") if "Float32[3, 5]" in row)
    assert "zeros" in line


def test_a_long_line_pushes_no_shape_out_of_the_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    program = tmp_path / "program.py"
    program.write_text(f"import torch\nx = torch.zeros(3, 5)\n# {'long ' * 50}\n")
    main(["follow", "--html", str(program)])
    before = re.search("<code>(x = torch[^<]*)</code><i>x: Float32", capsys.readouterr().out)
    assert before is not None
    assert len(before[1]) < 80
