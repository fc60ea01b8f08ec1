"""pytest's options ``--simpletorch-check``, ``-packages`` and ``-follow``."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = "simpletorch._pytest_plugin"
INSTALLED = any(e.value == PLUGIN for e in importlib.metadata.entry_points(group="pytest11"))


def run(directory: Path, *options: str, **files: str) -> str:
    for name, text in files.items():
        (directory / f"{name}.py").write_text(text)
    env = {k: v for k, v in os.environ.items() if k not in ("SIMPLETORCH_CHECK", "PYTEST_ADDOPTS")}
    plugin = [] if INSTALLED else ["-p", PLUGIN]  # a checkout that isn't installed has no entry point
    command = [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", "-p", "no:xdist", *options]
    done = subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_mode_holds_in_the_tests_and_in_what_they_start(tmp_path: Path):
    out = run(
        tmp_path,
        "--simpletorch-check=full",
        test_mode="""
import os
from simpletorch import config
def test_mode():
    assert config.check == "full"
    assert os.environ["SIMPLETORCH_CHECK"] == "full"
""",
    )
    assert "1 passed" in out
    assert "simpletorch: check=full" in out


@pytest.mark.slow
def test_packages_are_checked_though_a_conftest_imports_them(tmp_path: Path):
    out = run(
        tmp_path,
        "--simpletorch-packages=mine, theirs",
        mine="import torch\nfrom jaxtyping import Float32\ndef f(x: Float32[torch.Tensor, '3']): return x\n",
        conftest="import mine\n",
        test_mine="import mine, torch\ndef test_mine():\n    mine.f(torch.zeros(4))\n",
    )
    assert "ShapeMismatch: f: dim 0 of x is 4, not 3" in out
    assert "1 failed" in out


def test_without_options_nothing_is_said_and_no_torch_is_loaded(tmp_path: Path):
    out = run(tmp_path, test_none="import sys\ndef test_none():\n    assert 'torch' not in sys.modules\n")
    assert "1 passed" in out
    assert "simpletorch:" not in out


def test_an_unknown_mode_and_a_package_that_is_imported_already_are_told(tmp_path: Path):
    assert "invalid choice: 'sometimes'" in run(tmp_path, "--simpletorch-check=sometimes")
    out = run(tmp_path, "--simpletorch-packages=json.decoder,argparse")
    assert "argparse is imported before any test, so it can't be checked" in out


def test_a_test_file_is_followed_before_its_tests_run(tmp_path: Path):
    out = run(
        tmp_path,
        "--simpletorch-follow",
        "-v",
        layers="from torch import nn\nlayer = nn.Linear(7, 11)\n",
        test_layers="""
import pytest, torch
from layers import layer

def test_right():
    assert layer(torch.zeros(3, 7)).shape == (3, 11)

def test_refused():
    with pytest.raises(RuntimeError):
        layer(torch.zeros(3, 5))

def test_wrong():
    layer(torch.zeros(3, 5))
""",
    )
    assert "2 passed" in out
    assert "2 failed" in out
    assert out.index("test_layers.py::followed FAILED") < out.index("test_right PASSED")
    assert "test_layers.py:13: error: Linear(7, 11): the last dim of input is 5" in out
    assert "test_layers.py:10:" not in out


def test_files_without_mistakes_add_nothing(tmp_path: Path):
    assert "1 passed" in run(tmp_path, "--simpletorch-follow", test_fine="def test_fine():\n    assert 3 < 5\n")


@pytest.fixture(autouse=True)
def _follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMPLETORCH_FOLLOW", raising=False)
