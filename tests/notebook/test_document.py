"""``simpletorch check`` and ``follow`` of a notebook: its cells as one program, mistakes by cell and line."""

from __future__ import annotations

import json

import nbformat
import pytest

from simpletorch._settings import FOLLOW_VARIABLE
from simpletorch.cli import main
from simpletorch.follow.sources.notebooks import follow_document, read

BUILDS = """%matplotlib inline
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(7, 3)

    def forward(self, x):
        return self.fc(x)

net = Net()"""


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """What writes a notebook of these cells of code, with a heading before them, and gives its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(FOLLOW_VARIABLE, raising=False)

    def write(*cells: str) -> str:
        content = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_markdown_cell("# a heading"), *map(nbformat.v4.new_code_cell, cells)]
        )
        nbformat.write(content, "a.ipynb")
        return "a.ipynb"

    return write


def test_a_mistake_is_told_by_cell_and_line(notebook, capsys):
    file = notebook(BUILDS, "%%bash\nls", "%%time\n!ls\ndisplay(net)\nx = torch.zeros(5, 11)\nnet(x)")
    assert main(["follow", file]) == 1
    assert capsys.readouterr().out.startswith(
        "a.ipynb:cell 1:11: error: Linear(7, 3): the last dim of input is 11, but the layer takes 7 features"
        " [input: Float32[5, 11]]  [tensor-shape]\n"
        "a.ipynb:cell 1:11: note: Linear(11, 3) would fit\n"
        "a.ipynb:cell 3:5: note: forward is called from a.ipynb:cell 3:5 with x: Float32[5, 11]\n"
        "Found 1 error"
    )


@pytest.mark.parametrize("command", ["follow", "check"])
def test_other_programs_get_cell_and_line(notebook, capsys, command):
    file = notebook(BUILDS, "net(torch.zeros(5, 11))")
    assert main([command, "--json", file]) == 1
    first = json.loads(capsys.readouterr().out)["diagnostics"][0]
    assert (first["file"], first["cell"], first["line"], first["code"]) == ("a.ipynb", 1, 11, "tensor-shape")


def test_check_follows_a_notebook_and_asks_no_mypy(notebook, capsys):
    assert main(["check", notebook(BUILDS, "y: int = 'no int'\nnet(torch.zeros(5, 7))")]) == 0
    assert capsys.readouterr().out == "Success: no issues found (checked 1 notebook)\n"
    assert main(["check", notebook(BUILDS, "net(torch.zeros(5, 11))", "torch.zeros(3) + torch.zeros(5)")]) == 1
    assert capsys.readouterr().out.endswith("Found 2 errors in 1 file\n")


def test_magics_are_shown_as_they_were_written(notebook, capsys):
    cell = "%time y = net(torch.zeros(5, 7))\n!ls\nfiles = !ls\nnet?"
    assert main(["follow", "--shapes", notebook(BUILDS, cell)]) == 0
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown[-5:-1] == ["%time y = net(torch.zeros(5, 7))  # y: Float32[5, 3]", "!ls", "files = !ls", "net?"]


def test_shapes_beside_the_cells(notebook, capsys):
    assert main(["follow", "--shapes", notebook(BUILDS, "y = net(torch.zeros(5, 7))\nawait f()")]) == 0
    assert "# cell 2\ny = net(torch.zeros(5, 7))  # y: Float32[5, 3]\nawait f()" in capsys.readouterr().out


def test_a_comment_silences(notebook, capsys):
    assert main(["follow", notebook(BUILDS, "net(torch.zeros(5, 11))  # type: ignore")]) == 1  # the line of the mistake
    file = notebook("import torch", "torch.zeros(3) + torch.zeros(5)  # type: ignore[tensor-shape]")
    assert main(["follow", file]) == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "a.ipynb is no notebook: "),
        ("[3]", "a.ipynb is no notebook: "),
        ('{"cells": [{"cell_type": "code"}]}', "a.ipynb is no notebook: 'source'"),
        ('{"cells": [{"cell_type": "code", "source": ["x = 3\\n", "y = = 5"]}]}', "a.ipynb:cell 1:2: invalid syntax"),
        ('{"cells": [{"cell_type": "code", "source": "x <- 3 %>% f"}]}', "a.ipynb:cell 1:1: invalid syntax"),
    ],
)
@pytest.mark.parametrize("command", ["follow", "check"])
def test_what_is_no_notebook(tmp_path, monkeypatch, capsys, command, content, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.ipynb").write_text(content)
    assert main([command, "a.ipynb"]) == 2
    assert capsys.readouterr().err.startswith(f"simpletorch {command}: {reason}")


def test_one_cell_that_is_no_python_is_left_out(notebook, capsys):
    file = notebook(BUILDS, "import json\nnet = = Net()", "%%javascript\nlet a = 3;", "torch.zeros(3) + torch.zeros(5)")
    assert main(["follow", file]) == 1
    said = capsys.readouterr().out
    assert "a.ipynb:cell 4:1: error: +: " in said
    assert "a.ipynb:cell 2:2: note: the cell is left out: invalid syntax" in said
    assert main(["check", file]) == 1
    assert "a.ipynb:cell 2:2: note: left out: invalid syntax" in capsys.readouterr().out
    assert main(["check", "--json", file]) == 1
    assert json.loads(capsys.readouterr().out)["left_out"] == [{"file": "a.ipynb:cell 2:2", "reason": "invalid syntax"}]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("print 'x'", 1),
        ("net = = Net()", 0),
        ("for net in nets print", 0),
        ("net.fc = = nn.Linear(11, 3)", 0),
        ("x = = net.fc", 0),
        ("import json as net = 3", 0),
        ("pip install net", 1),
        ("import torch\nprint 'x'", 1),
    ],
)
def test_what_such_a_cell_names_is_not_known_behind_it(notebook, cell, found):
    followed = follow_document(notebook(BUILDS, cell, "net(torch.zeros(5, 11))\nnone_such(3)"))
    assert len(followed.errors) == found
    assert followed.ended == ""


def test_where_it_ends_and_what_is_not_followed_is_told_by_cells(notebook):
    cells = "import pickle\n\nd = pickle.load(open('a', 'rb'))", "n = 5\nif n == 5:\n    raise ValueError('no five')"
    followed = follow_document(notebook("import torch\nx = torch.zeros(2, 3)", *cells))
    assert followed.ended == 'a.ipynb:cell 3:3, where ValueError is raised ("no five")'
    assert followed.not_followed == (("a.ipynb:cell 2", 3, "pickle.load"),)


def test_a_notebook_that_is_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["follow", "a.ipynb"]) == 2
    assert capsys.readouterr().err == "simpletorch follow: no such file: a.ipynb\n"


def test_pages_are_of_programs(notebook, capsys):
    assert main(["follow", "--html", notebook(BUILDS)]) == 2
    assert "don't take a notebook" in capsys.readouterr().err


def test_the_places_of_lines(notebook):
    document = read(notebook("a = 3", "b = 5\nc = 7", "", "d = 11"))
    assert [document.text.splitlines()[line - 1] for line in document.starts] == ["a = 3", "b = 5", "", "d = 11"]
    assert [document.place(line) for line in (2, 3, 4, 6)] == [
        ("a.ipynb:cell 1", 1),
        ("a.ipynb:cell 2", 1),
        ("a.ipynb:cell 2", 2),
        ("a.ipynb:cell 4", 1),
    ]


def test_an_empty_notebook(notebook, capsys):
    assert main(["follow", notebook()]) == 0
    assert "No error found" in capsys.readouterr().out


@pytest.mark.parametrize("output", ["github", "sarif"])
def test_viewers_of_files_are_told_the_cell_in_words(notebook, capsys, output):
    path = notebook(BUILDS, "import torch\nnet(torch.zeros(2, 5))")

    assert main(["follow", "--output", output, path]) == 1

    said = capsys.readouterr().out
    assert "cell 1, line 11: " in said
    assert ("file=a.ipynb,line=1" in said) if output == "github" else ('"uri": "a.ipynb"' in said)
