"""``simpletorch follow a.py b.py``: several programs, and where their own arguments begin."""

import json

import pytest

from simpletorch.cli import main

WRONG = "import torch\nimport sizes\ntorch.nn.Linear(sizes.n, 3)(torch.zeros(2, 5))\n"


@pytest.fixture
def files(folder):
    (folder / "sizes.py").write_text("import torch\nn = 7\nif __name__ != 'x':\n    torch.zeros(3) + torch.zeros(2)\n")
    (folder / "a.py").write_text(WRONG)
    (folder / "b.py").write_text(WRONG)
    (folder / "right.py").write_text("import sys\nimport torch\nx = torch.zeros(7, 5)\nreveal_type(sys.argv)\n")
    return folder


def test_each_is_followed_and_a_module_of_both_is_told_once(files, capsys):
    assert main(["follow", "a.py", "right.py", "b.py"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[0] for line in said if ": error: " in line] == ["sizes.py:4:", "a.py:3:", "b.py:3:"]
    assert said[-1].startswith("Found 3 errors in 3 files (followed in ")


def test_silence_counts_all_of_them(files, capsys):
    (files / "other.py").write_text("import torch\ny = torch.zeros(3, 5)\n")
    assert main(["follow", "right.py", "other.py"]) == 0
    assert "No error found in 2 files: 2 of 2 tensor lines known" in capsys.readouterr().out


def test_one_document_for_tools(files, capsys):
    assert main(["follow", "--json", "a.py", "b.py"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [d["file"] for d in found["diagnostics"]] == ["sizes.py", "a.py", "b.py"]
    assert main(["follow", "--json", "right.py", "right.py"]) == 0
    assert json.loads(capsys.readouterr().out)["coverage"]["known"] == 2


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["--", "a.py"], ["a.py"]),
        (["--epochs", "3"], ["--epochs", "3"]),
        (["--epochs", "a.py"], ["--epochs", "a.py"]),
        (["--epochs", "--", "x"], ["--epochs", "--", "x"]),
        (["--", "--epochs", "--", "x"], ["--epochs", "--", "x"]),
        (["gone.py"], ["gone.py"]),
        (["data.csv", "a.py"], ["data.csv", "a.py"]),
    ],
)
def test_a_program_s_own_arguments(words, arguments, files, capsys):
    assert main(["follow", "right.py", *words]) == 0
    assert f'Revealed type is "{["right.py", *arguments]}"' in capsys.readouterr().out


def test_what_takes_one_file_refuses_several(files, capsys):
    for option in (["--shapes"], ["--html"], ["--why", "3"]):
        assert main(["follow", *option, "a.py", "b.py"]) == 2
        assert "take one file" in capsys.readouterr().err
