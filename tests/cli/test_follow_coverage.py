"""``simpletorch follow --coverage``: what is known of a project, and what costs the rest."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from simpletorch.cli import main
from simpletorch.cli._following.coverage import Coverage
from simpletorch.follow.cache.told import Told

_TWO = "import torch\nx = torch.zeros(3, 5)\ny = x.T\n"
_STRANGE = "import no_such_library as n, torch\nx = torch.zeros(3)\na = n.load(3)\nb = a.first\nc = b + 1\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "known.py").write_text(_TWO)
    (tmp_path / "strange.py").write_text(_STRANGE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_causes_are_ranked_by_the_lines_that_they_cost(project: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["follow", "--coverage", "known.py", "strange.py"]) == 0
    first, _, cause, libraries = capsys.readouterr().out.splitlines()
    assert first.startswith("6 tensor lines: 3 known (50%)")
    assert cause == "     3  no_such_library isn't followed (strange.py:3, strange.py:4, strange.py:5)"
    assert libraries == "Libraries without a model: no_such_library (3)"


def test_a_program_without_tensors(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / "plain.py").write_text("a = 3\n")
    assert main(["follow", "--coverage", "plain.py"]) == 0
    assert capsys.readouterr().out == "No line gives a tensor.\n"


def test_figures_and_loggers_are_no_lines_of_tensors(project: Path, capsys: pytest.CaptureFixture[str]):
    lines = "import matplotlib.pyplot as plt\nfig, axes = plt.subplots(2)\nlogo = plt.imread('logo.png')\n"
    (project / "drawn.py").write_text(lines)
    assert main(["follow", "--coverage", "drawn.py"]) == 0
    assert capsys.readouterr().out.startswith("1 tensor lines: 0 known (0%), 0 known in part, 1 unknown\n")


def test_numbers_and_texts_are_no_lines_of_tensors(project: Path, capsys: pytest.CaptureFixture[str]):
    lines = (
        "import datetime, json, no_such_library as n, torch",
        "total = 0.0",
        "for x in n.rows():",
        "    total += x.item() * x.shape[0]",
        "mean = total / len(x)",
        "now = datetime.datetime.now()",
        "with open(n.path) as file:",
        "    words = [line.split() for line in file]",
        "low = min(mean, 3)",
        "y = x + low",
    )
    (project / "counted.py").write_text("\n".join(lines))
    assert main(["follow", "--coverage", "counted.py"]) == 0
    first, _, cause, _ = capsys.readouterr().out.splitlines()
    assert first == "2 tensor lines: 0 known (0%), 0 known in part, 2 unknown"
    assert cause == "     2  no_such_library isn't followed (counted.py:3, counted.py:10)"


def test_tools_get_all_of_it(project: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["follow", "--json", "strange.py"]) == 0
    found = json.loads(capsys.readouterr().out)["coverage"]
    assert (found["lines"], found["known"], found["libraries"]) == (4, 1, {"no_such_library": 3})
    assert found["causes"][0]["places"][0] == {"file": "strange.py", "line": 3}


def test_a_kept_answer_has_the_causes(project: Path, capsys: pytest.CaptureFixture[str]):
    for _ in range(2):
        assert main(["follow", "--coverage", "strange.py"]) == 0
    first, again = capsys.readouterr().out.split("Libraries")[:2]
    assert "no_such_library isn't followed (strange.py:3" in first
    assert "no_such_library isn't followed (strange.py:3" in again


def test_the_badge(project: Path):
    assert main(["follow", "--output", "badge=badge.svg", "known.py", "strange.py"]) == 0
    picture = ElementTree.parse(project / "badge.svg").getroot()
    assert picture.get("aria-label") == "shapes known: 50%"


def test_only_ten_causes_are_shown():
    causes = tuple(("a.py", n, f"cause {n}", False) for n in range(13))
    shown = list(Coverage.of(Told(coverage=(0, 13), causes=causes)).lines())
    assert len(shown) == 2 + 10
