"""Programs by others, cut down to what once raised an alarm that was not true: the plugin is quiet about them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "false_alarms"
CACHE = Path(__file__).parents[2] / ".mypy_cache/false_alarms"
SETTINGS = """\
[mypy]
plugins = simpletorch.mypy
allow_redefinition = true
ignore_missing_imports = true
check_untyped_defs = true
"""
TRUE = {
    ("code_7.py", 22): "the annotation lies: a Loss has no dim or two, and three indices fit neither",
    ("method_names.py", 17): "B*T*D elements are no B*T, whatever else the line is about",
}
"""What is said all the same, and why it is true."""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], str]:
    """The errors of ours in all of them, by file and line."""
    settings = tmp_path_factory.mktemp("settings") / "mypy.ini"
    settings.write_text(SETTINGS)
    files = sorted(path.name for path in CASES.glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", CACHE, *files],
        cwd=CASES,
        env={**os.environ, "SIMPLETORCH_DEBUG": "1", "SIMPLETORCH_FOLLOW": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr
    found = re.findall(r"^([\w.]+):(\d+): error: (.*\[tensor-\w+\])$", done.stdout, re.MULTILINE)
    return {(file, int(line)): message for file, line, message in found}


@pytest.mark.parametrize("path", sorted(CASES.glob("*.py")), ids=lambda path: path.stem)
def test_no_alarm_that_is_not_true(said: dict[tuple[str, int], str], path: Path):
    assert {place: text for place, text in said.items() if place[0] == path.name and place not in TRUE} == {}


def test_what_is_true_is_still_said(said: dict[tuple[str, int], str]):
    assert TRUE.keys() - said.keys() == set()
