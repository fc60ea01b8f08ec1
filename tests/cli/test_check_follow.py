"""`simpletorch check` follows programs: their mistakes first, each once."""

import json

import pytest

from simpletorch._settings import FOLLOW_VARIABLE, settings
from simpletorch.cli import main
from simpletorch.cli._checking.files import listed
from simpletorch.cli._followed import find, merged
from simpletorch.cli._run import Diagnostic, Report

PROGRAM = """\
import torch
from model import Net


def main():
    x = torch.zeros(3, 5)
    y = x @ torch.zeros(7, 11)
    z = x @ torch.zeros(7, 13)  # type: ignore[tensor-shape]
    return Net(17)(x)


if __name__ == "__main__":
    main()
    number: int = "five"
"""
MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.first, self.second = nn.Linear(5, n), nn.Linear(19, 23)

    def forward(self, x):
        return self.second(self.first(x))
"""


@pytest.fixture
def project(folder, monkeypatch):
    monkeypatch.delenv(FOLLOW_VARIABLE, raising=False)
    (folder / "train.py").write_text(PROGRAM)
    (folder / "model.py").write_text(MODEL)
    return folder


@pytest.mark.slow
def found_in(paths):
    """The errors and warnings in all that paths stand for."""
    return [finding for told in find(listed(paths)) for finding in (*told.errors, *told.warnings)]


def test_each_mistake_is_said_once_and_those_of_programs_first(project, capsys):
    assert main(["check", "--json", "."]) == 1
    document = json.loads(capsys.readouterr().out)
    errors = [(d["file"], d["line"], d["code"]) for d in document["diagnostics"] if d["severity"] == "error"]
    assert errors == [
        ("train.py", 7, "tensor-shape"),
        ("model.py", 10, "tensor-shape"),
        ("train.py", 14, "assignment"),
    ]
    assert document["summary"] == "Found 3 errors in 2 files (checked 2 source files)"


def test_folders_are_walked_without_what_is_not_the_users(project):
    for name in (".venv/lib", "build", "inner/.hidden", "inner/site-packages", "inner/deep"):
        (project / name).mkdir(parents=True)
        (project / name / "file.py").write_text("")
    assert list(listed(["."]).followed) == ["model.py", "train.py", "inner/deep/file.py"]
    assert list(listed(["train.py", "README.md"]).followed) == ["train.py"]


def test_of_a_folder_programs_are_followed_and_what_a_library_annotates(project):
    package = project / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    wrong = "import torch\nfrom torch import Tensor\n\n\ndef f():\n    return torch.zeros(2, 5) @ torch.zeros(7, 3)\n"
    (package / "plain.py").write_text(wrong)
    (package / "run.py").write_text(f"{wrong}\n\nif __name__ == '__main__':\n    f()\n")
    annotated = wrong.replace("def f()", "def f(x: Float32[Tensor, '2 5'])").replace("torch.zeros(2, 5)", "x")
    (package / "typed.py").write_text(f"from jaxtyping import Float32\n{annotated}")
    assert [f.path for f in found_in(["package"])] == ["package/run.py", "package/typed.py"]
    assert [f.path for f in found_in(["package/plain.py"])] == ["package/plain.py"], "a file that is named"


def test_a_mistake_in_a_module_that_two_programs_use_is_found_once(project):
    (project / "second.py").write_text(PROGRAM.replace("@ torch", "@ 0 * torch"))
    found = [(f.path, f.line) for f in found_in(["."])]
    assert found.count(("model.py", 10)) == 1


def _said(file, line, severity="error", code="tensor-shape", message="wrong"):
    return Diagnostic(file, line, 1, line, 2, severity, message, code if severity == "error" else None)


def test_of_mypys_report_only_what_is_new_is_left(project):
    found = found_in(["train.py"])
    assert sorted((f.path, f.line) for f in found) == [("model.py", 10), ("train.py", 7)]
    at_call = next(f for f in found if f.path == "model.py").message
    said = (
        _said("train.py", 7),
        _said("train.py", 7, "note"),
        _said("train.py", 9, message=at_call),  # the plugin, at the call
        _said("train.py", 9, "note"),
        _said("train.py", 7, code="arg-type"),
        _said("train.py", 7, "note"),
    )
    report = Report(1, said, (), "Found 3 errors in 1 file (checked 2 source files)", 0.1)
    left = merged(report, found)
    assert left.diagnostics == said[-2:]
    assert left.summary == "Found 3 errors in 2 files (checked 2 source files)"


def test_what_mypy_says_of_an_earlier_call_stays(project, capsys):
    (project / "train.py").write_text(
        "import torch\nfrom jaxtyping import Float32\nfrom torch import Tensor, nn\n\n\n"
        'def first(x: Float32[Tensor, "8 5"]) -> Float32[Tensor, "8 5"]:\n    return x\n\n\n'
        "first(torch.randn(8, 4))\nnn.Linear(5, 3)(torch.randn(2, 4))\n"
    )
    assert main(["check", "train.py", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)["diagnostics"]
    assert [(d["line"], d["code"]) for d in said if d["severity"] == "error"] == [
        (11, "tensor-shape"),
        (10, "tensor-shape"),
    ]


def test_what_an_annotation_refuses_before_torch_does_is_said_once(project):
    (project / "train.py").write_text(
        "import torch\n\n\ndef pooled(x):\n    return x.mean(dim=2)\n\n\n"
        "x = pooled(torch.ones(2, 19, 5))\ny = x @ torch.ones(5, 7)\nz = 0\n"
    )
    found = found_in(["train.py"])
    assert [f.line for f in found] == [9]
    wrong = 'Incompatible return value type (got "Tensor[Float32, 2, 19]", expected "Tensor[Float32, 2, 5]")'
    said = (_said("train.py", 5, message=wrong), _said("train.py", 8), _said("train.py", 10, message=wrong))
    assert merged(Report(1, said, (), "", 0.1), found).diagnostics == said[1:]


def test_layers_that_cannot_follow_each_other_are_said_once(project):
    (project / "train.py").write_text(
        "import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(5, 7), nn.Linear(11, 3))\n"
        "net(torch.ones(2, 5))\nother = nn.Sequential(nn.Linear(5, 7), nn.Linear(11, 3))\n"
    )
    found = found_in(["train.py"])
    assert [f.line for f in found] == [5]
    wrong = f"Sequential: layer 1 doesn't fit layer 0, Linear(5, 7): {found[0].message.replace('2, 7', '?, 7')}"
    said = (_said("train.py", 4, message=wrong), _said("train.py", 4, "note"), _said("train.py", 6, message=wrong))
    assert merged(Report(1, said, (), "", 0.1), found).diagnostics == said[2:]


def test_what_following_finds_decides_the_exit_code(project):
    report = Report(0, (), (), "Success: no issues found in 2 source files", 0.1)
    left = merged(report, found_in(["train.py"]))
    assert (left.exit_code, left.summary) == (1, "Found 2 errors in 2 files (checked 2 source files)")
    assert merged(report, []) == report


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("mypy.ini", "[mypy]\n", True),
        ("mypy.ini", "[mypy]\n[simpletorch]\nfollow = false\n", False),
        ("mypy.ini", "[simpletorch]\nfollow = yes\n", True),
        ("pyproject.toml", "[tool.simpletorch]\nfollow = false\n", False),
        ("pyproject.toml", "[tool.mypy]\n", True),
    ],
)
def test_a_project_turns_it_off(name, text, expected, project, monkeypatch):
    (project / name).write_text(text)
    assert settings(project / name).follow is expected
    monkeypatch.setenv(FOLLOW_VARIABLE, "off")
    assert not settings(project / name).follow


@pytest.fixture(autouse=True)
def _follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMPLETORCH_FOLLOW", raising=False)
