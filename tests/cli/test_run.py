"""`simpletorch run` and `install_excepthook`: what ends a script is explained."""

import subprocess
import sys

import pytest

from simpletorch.cli import main

MISTAKEN = """\
import sys
import torch
from torch import nn

print(sys.argv, __name__)


def run(x):
    return nn.Linear(5, 7)(x)


run(torch.zeros(2, 3))
"""
BY_FOLLOWING = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(5, 7)


Net()
"""


@pytest.fixture
def own_arguments(monkeypatch):
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.usefixtures("own_arguments")
def test_torch_s_error_is_explained(folder, capsys):
    (folder / "train.py").write_text(MISTAKEN)
    assert main(["run", "train.py", "--epochs", "3", "--", "-x"]) == 1
    said = capsys.readouterr()
    assert said.out == "['train.py', '--epochs', '3', '--', '-x'] __main__\n"
    lines = said.err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "ShapeMismatch: Linear(5, 7): the last dim of input is 3, but the layer takes 5 features" in lines
    assert "  hint: Linear(3, 7) would fit" in lines
    assert lines[-1].startswith("  raised as: RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    assert "torch/nn" not in said.err
    assert "simpletorch" not in said.err


@pytest.mark.usefixtures("own_arguments")
def test_what_only_the_program_tells_is_found_by_following(folder, capsys):
    (folder / "train.py").write_text(BY_FOLLOWING)
    assert main(["run", "train.py"]) == 1
    err = capsys.readouterr().err
    assert "super().__init__() has not been called" in err
    assert "raised as: AttributeError: cannot assign module before Module.__init__() call" in err


@pytest.mark.usefixtures("own_arguments")
def test_what_is_the_program_s_own_is_shown_as_python_does(folder, capsys):
    (folder / "train.py").write_text("raise KeyError('seven')\n")
    assert main(["run", "train.py"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "Traceback (most recent call last):",
        '  File "train.py", line 1, in <module>',
        "    raise KeyError('seven')",
        "KeyError: 'seven'",
    ]


@pytest.mark.usefixtures("own_arguments")
def test_the_exit_code_is_the_script_s(folder):
    (folder / "train.py").write_text("import sys\nsys.exit(7)\n")
    with pytest.raises(SystemExit) as caught:
        main(["run", "train.py"])
    assert caught.value.code == 7


def test_no_such_script(folder, capsys):
    assert main(["run", "nowhere.py"]) == 2
    assert main(["run", "."]) == 2
    assert capsys.readouterr().err == (
        "simpletorch run: no such file: nowhere.py\nsimpletorch run: . is a folder; name the file to run\n"
    )


@pytest.mark.slow
def test_a_script_can_install_it(folder):
    (folder / "train.py").write_text(f"import simpletorch\nsimpletorch.install_excepthook()\n{MISTAKEN}")
    done = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ShapeMismatch: Linear(5, 7): the last dim of input is 3" in done.stderr


def test_a_module_is_run_as_python_m_does(folder, capsys):
    (folder / "package").mkdir()
    (folder / "package/__init__.py").write_text("n = 7\n")
    (folder / "package/train.py").write_text("import sys\nfrom . import n\nprint(__name__, sys.argv[1:], n)\n")
    (folder / "package/__main__.py").write_text("from .train import n\nprint('main', n)\n")
    assert main(["run", "-m", "package.train", "--epochs", "3"]) == 0
    assert capsys.readouterr().out == "__main__ ['--epochs', '3'] 7\n"
    assert main(["run", "-m", "package"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "main 7"
    for name in ("nowhere", "package.nowhere", "nowhere.inner"):
        assert main(["run", "-m", name]) == 2
        assert f"there is no module {name} to run" in capsys.readouterr().err


def test_a_finding_behind_the_failure_doesn_t_explain_it(folder, capsys):
    (folder / "net.py").write_text(
        "import torch\nfrom torch import nn\n\nx = torch.zeros(3, 5)\nmisspelt(x)\nnn.Linear(7, 3)(x)\n"
    )
    assert main(["run", "net.py"]) == 1
    said = capsys.readouterr().err
    assert "NameError: name 'misspelt' is not defined" in said
    assert "Linear" not in said
