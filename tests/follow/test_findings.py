"""What is said of a mistake, and of what isn't one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from simpletorch.cli import main
from simpletorch.follow import follow

PROGRAM = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(17, width)
        self.second = nn.Linear(width + 1, 5)

    def forward(self, x):
        return self.second(self.first(x).relu())


def main():
    net = Net(width=11)
    print(net(torch.randn(3, 17)))


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(PROGRAM)
    return "train.py"


def test_the_error_the_hint_and_the_way_there(program, capsys):
    assert main(["follow", program]) == 1
    *shown, last = capsys.readouterr().out.splitlines()
    assert shown == [
        "train.py:12: error: Linear(12, 5): the last dim of input is 11, but the layer takes 12 features "
        "[input: Float32[3, 11]]  [tensor-shape]",
        "train.py:12: note: Linear(11, 5) would fit",
        "train.py:17: note: forward is called from train.py:17 with x: Float32[3, 17]",
        "train.py:21: note: main is called from train.py:21",
    ]
    assert last.startswith("Found 1 error (followed in ")


def test_shapes_stand_beside_the_source(program, capsys):
    Path(program).write_text(PROGRAM.replace("width + 1", "width").replace("print(net", "y = (net"))
    assert main(["follow", "--shapes", program]) == 0
    assert "    y = (net(torch.randn(3, 17)))" in capsys.readouterr().out.replace("  # y: Float32[3, 5]", "")


def test_json_has_the_objects_of_check(program, capsys):
    assert main(["follow", "--json", program]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["file"], found["line"], found["code"], found["severity"]) == ("train.py", 12, "tensor-shape", "error")
    assert [(c["line"], c["function"]) for c in found["trace"]] == [(17, "forward"), (21, "main")]


def test_the_page_escapes_what_it_shows(program, capsys):
    Path(program).write_text(PROGRAM + "tag = '<b id=5>'\n")
    assert main(["follow", "--html", program]) == 1
    page = capsys.readouterr().out
    assert "<b id=5>" not in page
    assert "&lt;b id=5&gt;" in page


def test_why_something_is_unknown(program, capsys):
    Path(program).write_text("import json\nimport torch\nn = json.load(open('a'))\nx = torch.zeros(n, 3)\n")
    assert main(["follow", "--why", "3", program]) == 0
    assert "not known" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["missing.py", "missing"])
def test_what_is_no_file_is_said_in_a_line(name, program, capsys):
    assert main(["follow", name]) == 2
    assert capsys.readouterr().err.startswith("simpletorch follow: ")


def test_following_loads_neither_torch_nor_mypy_and_runs_nothing(program):
    Path(program).write_text(PROGRAM + "open('ran', 'w')\n")
    code = f"import sys; from simpletorch.follow import follow; follow({program!r}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "mypy", "numpy", "jaxtyping"}.intersection(loaded)
    assert not Path("ran").exists()


def test_a_silent_broadcast_is_a_warning(tmp_path):
    path = tmp_path / "loss.py"
    path.write_text("import torch\ntorch.nn.functional.mse_loss(torch.zeros(7, 1), torch.zeros(7))\n")
    found = follow(path)
    assert not found.errors
    assert [(w.line, w.code) for w in found.warnings] == [(2, "tensor-broadcast")]
