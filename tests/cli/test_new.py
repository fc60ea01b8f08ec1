"""`simpletorch new`."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from simpletorch.cli import main
from simpletorch.cli._config import PLUGIN
from simpletorch.cli._new import TEMPLATES
from tests import warm
from tests.marks import thorough


@pytest.fixture(scope="module")
def read(tmp_path_factory) -> Path:
    """A folder with README's settings of mypy, and a cache in which it finds torch."""
    return warm.readme(tmp_path_factory.mktemp("mypy"))


def done(*command: object, folder: Path, code: int = 0) -> str:
    variables = {**os.environ, "PYTHONPATH": "src", "COLUMNS": "200"}
    result = subprocess.run([*map(str, command)], cwd=folder, env=variables, capture_output=True, text=True)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("template", ["vision", *thorough(t for t in TEMPLATES if t != "vision")])
def test_a_new_project_is_clean_learns_and_is_checked(template, read, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my-net", "--template", template]) == 0
    assert "python -m my_net.train --quick" in capsys.readouterr().out
    folder = tmp_path / "my-net"
    settings = tomllib.loads((folder / "pyproject.toml").read_text())
    assert settings["project"]["name"] == "my-net"
    assert settings["tool"]["mypy"]["plugins"] == [PLUGIN]
    left = [path for path in folder.rglob("*") if path.is_file() and "my_project" in path.read_text() + path.name]
    assert left == []

    run = sys.executable, "-m"
    done(*run, "ruff", "check", "--no-cache", ".", folder=folder)
    done(*run, "ruff", "format", "--no-cache", "--check", ".", folder=folder)
    done(*run, "pytest", "-q", "-p", "no:cacheprovider", folder=folder)
    text = (folder / "tests/test_model.py").read_text()  # its one mistake is meant, and ignored
    (folder / "tests/test_mistake.py").write_text(text.replace("  # type: ignore[tensor-", "  # ["))
    options = "--config-file", read / "mypy.ini", "--cache-dir", read / ".mypy_cache"
    said = done(*run, "mypy", *options, "src", "tests", folder=folder, code=1).splitlines()
    assert [line.split(":")[0] for line in said if ": error: " in line] == ["tests/test_mistake.py"]
    done(*run, "my_net.train", "--quick", folder=folder)


def test_an_empty_folder_may_be_there(tmp_path):
    (tmp_path / "net").mkdir()
    assert main(["new", str(tmp_path / "net")]) == 0
    assert (tmp_path / "net/src/net/model.py").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["net"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("3d", "3d can't be a package's name"),
        ("my net", "my net can't be a package's name"),
        ("class", "class can't be a package's name"),
        ("torch", "a package called torch would hide"),
        ("json", "a package called json would hide"),
        ("full", "is there already, and isn't empty; nothing was written"),
        ("file", "is there already, and isn't empty; nothing was written"),
        ("file/net", "can't write"),
    ],
)
def test_what_can_t_be_made_leaves_nothing(name, said, tmp_path, capsys):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    assert main(["new", str(tmp_path / name)]) == 2
    assert said in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before
