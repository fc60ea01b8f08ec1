"""The stories of CONTRIBUTING.md, followed in a copy of the repository."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "pyproject.toml")


@dataclass(frozen=True)
class Story:
    """A section of the page: what it changes, the programs it shows, and commands with what they print."""

    title: str
    diff: str
    programs: dict[str, str]
    session: tuple[tuple[str, str], ...]


def stories() -> list[Story]:
    sections = re.split(r"^## (.+)\n", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE)[1:]
    found = []
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        blocks: dict[str, str] = dict(re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        if "diff" in blocks:
            programs = {name: program for program, name in re.findall(r"^```python\n(# (\S+)\n[^`]*)^```$", text, re.M)}
            session = re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", blocks["console"], re.MULTILINE)
            found.append(Story(title, blocks["diff"], programs, tuple(session)))
    return found


STORIES = stories()
TESTS = [command for story in STORIES for command, _ in story.session if "pytest" in command]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which all stories have happened."""
    folder = tmp_path_factory.mktemp("repository")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)
    for story in STORIES:
        subprocess.run(["git", "apply", "-"], cwd=folder, input=story.diff, text=True, check=True)
        for name, program in story.programs.items():
            (folder / name).write_text(program)
    return folder


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder)]),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    return subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def without_time(printed: str) -> str:
    """What a command prints, but for how long it took."""
    return re.sub(r"\bin [\d.]+ m?s\b", "in no time", printed)


def test_there_are_nine_stories():
    assert len(STORIES) == 9
    assert all(story.session for story in STORIES)


def test_the_change_of_each_story_applies(copy):
    """The fixture applies them; run as they are shown, they take mypy a cold start: in `make test-all`."""
    assert "fuse_linear_bn_weights" in (copy / "src/simpletorch/rules/functions/networks/linear.py").read_text()


@pytest.mark.thorough
@pytest.mark.slow
def test_what_a_story_adds_passes_its_tests(copy):
    """In one process for all of them, because it has to import torch."""
    targets = [command.removeprefix("python -m pytest ") for command in TESTS]
    assert len(targets) == 8
    done = run([sys.executable, "-m", "pytest", *targets], copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "printed"),
    [
        pytest.param(command, printed, id=f"{story.title}: {command}")
        for story in STORIES
        for command, printed in story.session
        if command not in TESTS
    ],
)
def test_a_command_prints_what_the_story_says(copy, command, printed):
    assert without_time(run(shlex.split(command), copy).stdout) == without_time(printed)
