"""Type checkers without the plugin find nothing wrong in our programs, and see a tensor where a layer is called.

basedpyright is asked for errors in the mode `standard`, which is pyright's own; ty and pyrefly for errors as they come.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import neighbours
from tests.pages import BLOCK, program

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {
    path.relative_to(ROOT / "docs").as_posix(): path.read_text()
    for path in (ROOT / "docs").rglob("*.md")
    if path.parent.name != "cookbook"  # plain torch as people write it, of which torch's own annotations refuse some
}
NEEDED = sorted({name for path in (ROOT / "examples").rglob("*.py") for name in neighbours.imported(path)})
"""The packages that an example imports and that may not be installed: nobody knows what comes of them then."""

COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "basedpyright": lambda path: ["--level", "error", "--pythonpath", sys.executable, path],
    "ty": lambda path: ["check", "--python", sys.prefix, "--output-format", "concise", path],
    "pyrefly": lambda path: [
        *("check", "--python-interpreter-path", sys.executable, "--output-format", "min-text"),
        *(path,),
    ],
}
FOUND = re.compile(r"^(?:ERROR .*|.*(?: - |: )error\b.*)$", re.MULTILINE)

each_checker = pytest.mark.parametrize(
    "checker", [pytest.param(name, marks=pytest.mark.neighbour(name)) for name in COMMANDS]
)


def errors(checker: str, folder: Path, path: str = ".") -> list[str]:
    """What it finds wrong in a folder, by the settings there."""
    program = Path(sysconfig.get_path("scripts")) / checker
    done = subprocess.run(
        [program, *COMMANDS[checker](path)],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = FOUND.findall(done.stdout)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert bool(found) == bool(done.returncode), done.stdout + done.stderr
    return found


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with no settings but where our package is."""
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT / "src")], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    (tmp_path / "ty.toml").write_text(f'[environment]\nextra-paths = ["{ROOT / "src"}"]\n')
    (tmp_path / "pyrefly.toml").write_text(f'search-path = ["{ROOT / "src"}"]\n')
    return tmp_path


@pytest.mark.slow
@each_checker
def test_what_they_see_of_our_types(checker: str, elsewhere: Path):
    shutil.copy(ROOT / "tests/typing/other/readme.py", elsewhere)
    assert errors(checker, elsewhere) == []


@pytest.mark.slow
@each_checker
def test_a_mistake_that_they_can_see_is_found(checker: str, elsewhere: Path):
    (elsewhere / "net.py").write_text("from simpletorch import nn\n\nnn.Linear(3, 4)('a text')\n")
    assert len(errors(checker, elsewhere)) == 1


@pytest.mark.slow
@each_checker
@pytest.mark.neighbour(*NEEDED)
def test_the_examples_are_quiet(checker: str):
    assert errors(checker, ROOT, "examples") == []


@pytest.mark.slow
@each_checker
def test_the_programs_of_all_pages_are_quiet(checker: str, elsewhere: Path):
    for name, text in programs_of_pages().items():
        (elsewhere / f"{name}.py").write_text(text)
    assert errors(checker, elsewhere) == []


def programs_of_pages() -> dict[str, str]:
    """The tutorial's programs, the other pages' and README's; its last block goes on where the one before ends."""
    found = {re.sub("[^a-z0-9]+", "_", name): text for name, page in PAGES.items() if (text := program(page)).strip()}
    *alone, training, step = BLOCK.findall(README)
    return found | {f"readme_{i}": text for i, text in enumerate([*alone, training + step])}


def test_the_tutorial_is_among_them():
    assert sum(name.startswith("tutorial_") for name in programs_of_pages()) == len(
        list((ROOT / "docs/tutorial").iterdir())
    )


def test_the_settings_of_the_project_switch_no_rule_off():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert tools["basedpyright"] == {"typeCheckingMode": "standard", "extraPaths": ["src"]}
    assert tools["ty"] == {"environment": {"extra-paths": ["src"]}}
    assert tools["pyrefly"] == {"preset": "default", "search-path": ["src"]}


def test_readme_names_the_versions_that_are_asked():
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines())
    assert [name for name in COMMANDS if f"{name} {pinned[name]}" not in README] == []


def test_no_example_silences_them():
    silenced = re.compile(r"#.*\b(pyright|ty|pyrefly): *ignore|# pyright: ")
    assert [path.name for path in (ROOT / "examples").rglob("*.py") if silenced.search(path.read_text())] == []
