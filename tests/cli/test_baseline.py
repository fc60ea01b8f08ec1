"""``--baseline``: known findings stay quiet, new ones don't; the same in every format, for `follow` and `check`."""

import json
import re

import pytest

from simpletorch.cli import main

WRONG = "import torch\n\nx = torch.zeros(2, 3)\ny = torch.nn.Linear(5, 7)(x)\n"
ANOTHER = "z = x @ torch.zeros(11, 13)\n"
BASELINE = ["--baseline", "known.json"]


@pytest.fixture
def program(folder, capsys):
    """A program with one mistake, which is known."""
    (folder / "net.py").write_text(WRONG)
    assert main(["follow", *BASELINE, "--write-baseline", "net.py"]) == 0
    assert "wrote 1 finding to known.json" in capsys.readouterr().out
    return folder / "net.py"


def said(capsys, *words, code):
    assert main([*words]) == code
    return capsys.readouterr().out


def test_a_known_finding_is_quiet(program, capsys):
    out = said(capsys, "follow", *BASELINE, "net.py", code=0)
    assert out.startswith("No new error found: ")
    assert "; 1 finding known in known.json (" in out
    assert "error:" in said(capsys, "follow", "net.py", code=1)


def test_a_line_that_moves_stays_known_and_a_new_finding_is_told(program, capsys):
    program.write_text("import os\n\n\n" + WRONG + ANOTHER)
    out = said(capsys, "follow", *BASELINE, "net.py", code=1)
    assert re.findall(r"^net.py:(\d+): error", out, re.MULTILINE) == ["8"]
    assert "Found 1 new error; 1 finding known" in out


def test_a_changed_line_is_a_new_finding(program, capsys):
    program.write_text(WRONG.replace("y =", "result ="))
    out = said(capsys, "follow", *BASELINE, "net.py", code=1)
    assert "1 entry of known.json without a finding" in out


def test_the_same_mistake_twice_needs_two_entries(program, capsys):
    again = WRONG.splitlines(keepends=True)[-1]
    program.write_text(WRONG + again)
    assert "Found 1 new error" in said(capsys, "follow", *BASELINE, "net.py", code=1)
    assert main(["follow", *BASELINE, "--write-baseline", "net.py"]) == 0
    assert json.loads((program.parent / "known.json").read_text())["findings"]["net.py"][0]["count"] == 2
    capsys.readouterr()
    assert "2 findings known" in said(capsys, "follow", *BASELINE, "net.py", code=0)


def test_entries_that_are_mended_are_counted(program, capsys):
    program.write_text(WRONG.replace("5, 7", "3, 7"))
    out = said(capsys, "follow", *BASELINE, "net.py", code=0)
    assert "1 entry of known.json without a finding: --write-baseline updates it" in out
    assert main(["follow", *BASELINE, "--write-baseline", "net.py"]) == 0
    assert json.loads((program.parent / "known.json").read_text())["findings"] == {}


def test_entries_of_other_files_stay_but_not_of_removed_ones(program, capsys):
    other, gone = program.parent / "other.py", program.parent / "gone.py"
    for file in (other, gone):
        file.write_text(WRONG)
        assert main(["follow", *BASELINE, "--write-baseline", file.name]) == 0
    gone.unlink()
    assert main(["follow", *BASELINE, "--write-baseline", "other.py"]) == 0
    assert list(json.loads((program.parent / "known.json").read_text())["findings"]) == ["net.py", "other.py"]
    capsys.readouterr()
    assert "without a finding" not in said(capsys, "follow", *BASELINE, "other.py", code=0)


def test_a_baseline_is_read_from_another_folder(program, monkeypatch, capsys):
    (program.parent / "sub").mkdir()
    monkeypatch.chdir(program.parent / "sub")
    assert main(["follow", "--baseline", "../known.json", "../net.py"]) == 0


def test_each_format_obeys(program, capsys):
    program.write_text(WRONG + ANOTHER)
    document = json.loads(said(capsys, "follow", *BASELINE, "--json", "net.py", code=1))
    assert [d["line"] for d in document["diagnostics"]] == [5]
    assert document["not_shown"] == {"known": 1, "unchanged": 0, "stale": 0}
    sarif = json.loads(said(capsys, "follow", *BASELINE, "--output", "sarif", "net.py", code=1))
    assert len(sarif["runs"][0]["results"]) == 1
    github = said(capsys, "follow", *BASELINE, "--output", "github", "net.py", code=1)
    assert re.findall(r"^::error file=net.py,line=(\d)", github, re.MULTILINE) == ["5"]
    markdown = said(capsys, "follow", *BASELINE, "--output", "markdown", "net.py", code=1)
    assert re.findall(r"`net.py:(\d)`", markdown) == ["5"]
    shapes = said(capsys, "follow", *BASELINE, "--shapes", "net.py", code=1)
    assert shapes.count("error:") == 1


def test_a_notebook_s_cell_may_move(folder, capsys):
    def written(*cells):
        sources = [{"cell_type": "code", "source": cell} for cell in cells]
        (folder / "net.ipynb").write_text(json.dumps({"cells": sources}))

    written(WRONG)
    assert main(["follow", *BASELINE, "--write-baseline", "net.ipynb"]) == 0
    written("import os", "", WRONG)
    assert main(["follow", *BASELINE, "net.ipynb"]) == 0
    written("import os", WRONG, ANOTHER)
    capsys.readouterr()
    assert "net.ipynb:cell 3:1: error" in said(capsys, "follow", *BASELINE, "net.ipynb", code=1)


@pytest.mark.slow
def test_mypy_s_errors_are_known_too(folder, capsys):
    (folder / "net.py").write_text(WRONG + "n: int = 'three'\n")
    assert main(["check", *BASELINE, "--write-baseline", "net.py"]) == 0
    assert "wrote 2 findings" in capsys.readouterr().out
    out = said(capsys, "check", *BASELINE, "net.py", code=0)
    assert out == "Success: no new issues found (checked 1 source file); 2 findings known in known.json\n"
    out = said(capsys, "follow", *BASELINE, "net.py", code=0)  # mypy's entry isn't stale: mypy wasn't asked
    assert "without a finding" not in out
    (folder / "net.py").write_text("\n" + WRONG + "n: int = 'three'\nm: int = 'four'\n")
    out = said(capsys, "check", *BASELINE, "net.py", code=1)
    assert re.findall(r"^net.py:(\d+):\d+: error", out, re.MULTILINE) == ["7"]
    assert "Found 1 error in 1 file (checked 1 source file); 2 findings known" in out


@pytest.mark.parametrize(
    ("text", "words", "problem"),
    [
        (None, [], "there is no baseline gone.json: --write-baseline writes one"),
        ("[]", [], "gone.json is no baseline of simpletorch's"),
        ("{", [], "gone.json is no baseline of simpletorch's"),
        ('{"version": 2}', [], "another version"),
        (None, ["--write-baseline", "--diff", "HEAD"], "leave one of them out"),
        (None, ["--write-baseline", "--html"], "they take no --baseline"),
    ],
)
def test_what_can_t_be_is_said(text, words, problem, folder, capsys):
    (folder / "net.py").write_text("")
    if text is not None:
        (folder / "gone.json").write_text(text)
    assert main(["follow", "--baseline", "gone.json", *words, "net.py"]) == 2
    assert problem in capsys.readouterr().err


def test_a_file_to_write_must_be_named(folder, capsys):
    (folder / "net.py").write_text("")
    assert main(["follow", "--write-baseline", "net.py"]) == 2
    assert "--write-baseline needs --baseline FILE" in capsys.readouterr().err
