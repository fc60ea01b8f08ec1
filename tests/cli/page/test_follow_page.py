"""``simpletorch follow --html``: the model as a diagram of shapes, above the source."""

from __future__ import annotations

import json
import re
from html import unescape
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
    before = re.search("<code>(.*)</code><i>x: Float32", capsys.readouterr().out)
    assert before is not None
    assert len(re.sub(r"<[^>]+>", "", before[1])) < 80


# -- what a pointer shows ----------------------------------------------------------------------------------------------


def known(page: str, line: int) -> dict[str, list[dict[str, str]]]:
    """For each expression of a line its text and its table."""
    (tables,) = re.findall(r"^const tables = (.*);$", page, re.MULTILINE)
    (row,) = re.findall(rf'id="L{line}"><td>\d+</td><td>(.*?)</td></tr>', page)

    class Spans(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[list[str] | None] = []
            self.found: dict[str, list[dict[str, str]]] = {}

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            number = dict(attrs).get("data-t")
            self.open.append(None if number is None else ["", number])

        def handle_data(self, data: str) -> None:
            for one in self.open:
                if one is not None:
                    one[0] += data

        def handle_endtag(self, tag: str) -> None:
            one = self.open.pop()
            if one is not None:
                self.found[one[0]] = json.loads(tables)[int(one[1])]

    spans = Spans()
    spans.feed(row)
    return spans.found


def test_each_expression_has_its_type_that_of_a_return_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of(MODEL, tmp_path, capsys)
    assert {text: [row["type"] for row in rows] for text, rows in known(page, 11).items()} == {
        "x": ["Float32[11, 5]"],
        "self.body(x)": ["Float32[11, 7]"],
        "self.last(self.body(x))": ["Float32[11, 3]"],
    }


def test_calls_with_other_shapes_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of(f"{MODEL}z = model(torch.zeros(13, 5))\n", tmp_path, capsys)
    assert [row["type"] for row in known(page, 11)["self.last(self.body(x))"]] == ["Float32[11, 3]", "Float32[13, 3]"]


def test_layout_and_device_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of("import torch\nx = torch.zeros(3, 5).cuda().t()\n", tmp_path, capsys)
    (row,) = known(page, 2)["torch.zeros(3, 5).cuda().t()"]
    assert row["type"] == "Float32[5, 3]"
    assert row["device"] == "cuda"
    assert row["layout"] == "strides (1, 5)"


def test_gradients_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = "import torch\nw = torch.zeros(3, requires_grad=True)\ny = w * 2\nz = y.detach()\nn = y.argmax()\nz, n\n"
    page = page_of(text, tmp_path, capsys)
    assert known(page, 3)["w * 2"][0]["gradient"] == "requires_grad=True"
    assert known(page, 4)["y.detach()"][0]["gradient"] == "requires_grad=False"
    assert "gradient" not in known(page, 5)["y.argmax()"][0]


def test_columns_count_characters_and_lines_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = "import torch\nä = torch.zeros(3, 5); y = ä @ torch.zeros(\n    5, 7)  # <&>\n"
    page = page_of(text, tmp_path, capsys)
    assert known(page, 2).keys() == {"torch.zeros(3, 5)", "ä", "ä @ torch.zeros(", "torch.zeros("}
    assert known(page, 3).keys() == {"5, 7)"}
    assert "&lt;&amp;&gt;" in page


def test_the_source_is_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for text in (MODEL, "import torch\nx = 3\ns = ('a'\n  'b')\n# t\td\nf'{x:>5}' if x else [\n\n]\n"):
        page = page_of(text, tmp_path, capsys)
        rows = re.findall(r"<code>(.*?)</code>", page)
        assert [unescape(re.sub(r"<[^>]+>", "", row)).rstrip() for row in rows] == text.split("\n")[: len(rows)]
        assert len(rows) >= text.count("\n")


def test_words_have_colours_by_day_and_by_night(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of(MODEL, tmp_path, capsys)
    assert '<span class="k">return</span>' in page
    first, dark = re.findall(r"^code \.k \{ color: (#\w+)", page, re.MULTILINE)
    assert first != dark


def test_a_finding_leads_to_the_page_of_its_code_in_the_same_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of(MODEL.replace("(7, 3)", "(8, 3)"), tmp_path, capsys)
    assert '<a href="#tensor-shape">tensor-shape</a>' in page
    explained = re.search(r'<details class="code"><summary>tensor-shape</summary><pre id="tensor-shape">([^<]*)', page)
    assert explained is not None
    assert "An operation gets sizes that it can't take" in unescape(explained[1])
    assert 'class="code"' not in page_of(MODEL, tmp_path, capsys)


def test_nothing_is_fetched(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of(MODEL, tmp_path, capsys)
    assert not re.search(r"https?://|<link|<img|@import|\bsrc=|url\(|fetch\(", page)


# -- the model and the lines -------------------------------------------------------------------------------------------


def test_the_model_and_the_lines_lead_to_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of(MODEL, tmp_path, capsys)
    assert re.findall(r'<a class="path" href="#L(\d+)" data-line="\1">(\w+)</a>', page) == [
        ("15", "Net"),
        ("11", "body"),
        ("11", "0"),
        ("11", "1"),
        ("11", "last"),
    ]
    assert re.findall(r'id="L(\d+)".*class="up" href="#model" title="in the model: (.*?)"', page) == [
        ("11", "body, body.0, body.1, last"),
        ("15", "Net"),
    ]


FAILS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(11, 2), nn.ReLU())
        self.last = nn.Linear(7, 3)

    def forward(self, x):
        return self.last(self.body(x))

y = Net()(torch.zeros(11, 5))
"""


def test_nothing_follows_an_error_in_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = page_of(FAILS, tmp_path, capsys)
    model = page[page.index("<section") : page.index("</section>")]
    assert [line for line in re.sub(r"<[^>]+>", "", model).split("\n") if line] == [
        "Net Float32[11, 5] → ✘ fails",
        "body Sequential Float32[11, 5] → ✘ fails",
        "0 Linear Float32[11, 5] → Float32[11, 7]",
        "1 ReLU Float32[11, 7] → Float32[11, 7]",
        "2 Linear Float32[11, 7] → ✘ fails",
        "not reached: 3",
        "not reached: last",
    ]
    tags = Tags()
    tags.feed(page)
    assert tags.around == []


def test_a_mistake_on_one_way_leaves_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = FAILS.replace("return self.last(self.body(x))", "return self.last(self.body[:2](x))")
    text = text.replace(
        "x):\n        return", "x):\n        if torch.rand(()) > 0.5:\n            self.body(x)\n        return"
    )
    page = page_of(text, tmp_path, capsys)
    model = re.sub(r"<[^>]+>", "", page[page.index("<section") : page.index("</section>")])
    assert "2 Linear Float32[11, 7] → ✘ fails" in model
    assert "last Linear Float32[11, 7] → Float32[11, 3]" in model


def test_a_warning_stands_under_its_line_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = "import torch\nx = torch.zeros(3, 1)\ny = torch.nn.functional.mse_loss(torch.zeros(3, 1), torch.zeros(3))\n"
    page = page_of(text, tmp_path, capsys)
    (told,) = re.findall(r'class="error mild".*?<pre>(.*?)</pre>(.*?)</td>', page, re.DOTALL)
    assert "mse_loss" in told[0]
    assert "tensor-broadcast" in told[1]
