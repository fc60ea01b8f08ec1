"""A plain run of mypy says what following a program finds, once, and ``# type: ignore`` counts."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from mypy.options import Options
from mypy.plugin import ReportConfigContext
from torch import nn

import simpletorch
from simpletorch.mypy.plugin import SimpletorchPlugin
from tests import warm

PROGRAM = """\
import torch
from model import Net
from torch.nn import functional as F


def loss():
    x = torch.zeros(3, 5)
    F.cross_entropy(x.softmax(dim=1), torch.tensor([1, 2, 3]))
    x.sum().backward()


def main():
    x = torch.zeros(3, 5)
    y = x @ torch.zeros(7, 11)
    z = x @ torch.zeros(7, 13)  # type: ignore[tensor-shape]
    w = x @ torch.zeros(5, 13)  # type: ignore[tensor-shape]
    return Net(17)(x)


if __name__ == "__main__":
    main()
"""
CODES = [(9, "tensor-grad"), (14, "tensor-shape"), (16, "unused-ignore"), (17, "tensor-shape")]
MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.first, self.second = nn.Linear(5, n), nn.Linear(19, 23)

    def forward(self, x):
        return self.second(self.first(x))
"""
SETTINGS = "[mypy-train]\nwarn_unused_ignores = true\n"


PROMISE = """\
import torch
from jaxtyping import Float32
from torch import Tensor, nn


def pooled(x: Float32[Tensor, "batch 19 5"]) -> Float32[Tensor, "batch 5"]:
    return x.mean(dim=2)


def total(x: Float32[Tensor, "batch 19 5"]) -> Tensor:
    return nn.Linear(5, 7)(pooled(x)).sum()


def scores(x: Float32[Tensor, "batch 19 5"]) -> Tensor:
    y = x.sum(dim=1)
    return y @ torch.zeros(11, 3)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty folder in whose cache mypy finds torch."""
    warm.readme(tmp_path).rename(tmp_path / ".mypy_cache")
    return tmp_path


def errors(folder: Path, more: str = "", of: Sequence[str] = ("train.py", "model.py")) -> list[tuple[str, int, str]]:
    """What mypy says with README's settings, and more of them."""
    (folder / "mypy.ini").write_text((folder / ".mypy_cache/mypy.ini").read_text() + SETTINGS + more)
    command = [sys.executable, "-m", "mypy", *of]
    env = {k: v for k, v in os.environ.items() if k != "SIMPLETORCH_FOLLOW"} | {"SIMPLETORCH_DEBUG": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    lines = (line for line in done.stdout.splitlines() if ": error: " in line)
    parts = ((line.split(":", 2), line.rpartition("  [")[2].rstrip("]")) for line in lines)
    return [(place[0], int(place[1]), code) for place, code in parts]


@pytest.mark.slow
def test_mypy_says_it_once_from_the_cache_and_after_an_edit_of_what_is_imported(project: Path):
    (project / "train.py").write_text(PROGRAM)
    (project / "model.py").write_text(MODEL)
    expected = [("train.py", line, code) for line, code in CODES]
    assert sorted(errors(project)) == expected
    assert sorted(errors(project)) == expected
    # mypy takes a file of the same size and second to be the same
    (project / "model.py").write_text(MODEL.replace("nn.Linear(19, 23)", "nn.Linear(17, 23)") + "\n")
    assert sorted(errors(project)) == expected[:3]
    (project / "model.py").write_text(MODEL)
    assert sorted(errors(project, "[simpletorch]\nfollow = false\n")) == expected[1:3]
    silenced = ("train.py", 15, "unused-ignore")
    loud = errors(project, "[simpletorch]\ntensor-shape = off\ntensor-loss = error\n")
    assert sorted(loud) == [("train.py", 8, "tensor-loss"), expected[0], silenced, expected[2]]


@pytest.mark.slow
def test_a_mistake_of_mypys_and_its_consequence_for_following_are_said_once(project: Path):
    """``total`` fails in its layer, because of what mypy says of ``pooled``; ``scores`` fails by itself."""
    (project / "train.py").write_text(PROMISE)
    (project / "model.py").write_text("")
    assert errors(project) == [("train.py", 7, "tensor-shape"), ("train.py", 16, "tensor-shape")]


@pytest.mark.slow
def test_of_a_package_programs_are_followed_and_what_its_annotations_lead_to(project: Path):
    """mypy by itself says nothing of ``f``: only followed it fails."""
    package = project / "package"
    package.mkdir()
    body = "def f(x):\n    return [y @ torch.zeros(7, 3) for y in (x,)]\n"
    files = {
        "__init__.py": "",
        "plain.py": f"import torch\n\n\n{body}\n\ndef g():\n    return f(torch.zeros(2, 5))\n",
        "run.py": f"import torch\n\n\n{body}\n\nif __name__ == '__main__':\n    f(torch.zeros(2, 5))\n",
        "typed.py": f"import torch\nfrom jaxtyping import Float32\n\n{body}\n\n"
        "def g(x: Float32[torch.Tensor, '2 5']):\n    return f(x)\n",
    }
    for name, text in files.items():
        (package / name).write_text(text)
    assert errors(project, of=["package"]) == [
        ("package/typed.py", 5, "tensor-shape"),
        ("package/run.py", 5, "tensor-shape"),
    ]
    (package / "plain.py").write_text(f"{files['plain.py']}\n\ng()\nprint(torch.ones(1))\n")
    assert sorted(errors(project, of=["package"]))[0] == ("package/plain.py", 5, "tensor-shape"), "a program by now"


def test_what_is_kept_of_torch_depends_on_no_setting_of_ours(tmp_path: Path):
    """Else mypy would read torch anew, which takes it 20 s."""
    kept, disabled = [], []
    for section in ("", "follow = false", "tensor-shape = off\ntensor-loss = error"):
        options = Options()
        options.config_file = str(tmp_path / "mypy.ini")
        (tmp_path / "mypy.ini").write_text(f"[mypy]\nplugins = simpletorch.mypy\n\n[simpletorch]\n{section}\n")
        made = SimpletorchPlugin(options)
        paths = (torch.__file__, nn.__file__, str(Path(simpletorch.__file__).parent / "_loss.py"), __file__)
        kept.append([made.report_config_data(ReportConfigContext("m", path, is_check=False)) for path in paths])
        disabled.append(options.disabled_error_codes)
    assert kept[0][:3] == kept[1][:3] == kept[2][:3]
    assert kept[0][3] != kept[1][3] != kept[2][3]
    assert disabled == [set()] * 3


@pytest.fixture(autouse=True)
def _follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMPLETORCH_FOLLOW", raising=False)
