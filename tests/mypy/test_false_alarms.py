"""Programs by others, cut down to what once raised an alarm that was not true: the plugin is quiet about them.

What mypy says of them without the plugin too is in the table `OWN`; any other error of any code is ours.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm

CASES = Path(__file__).parent / "false_alarms"
TRUE = {
    ("code_7.py", 22): "the annotation lies: a Loss has no dim or two, and three indices fit neither",
    ("method_names.py", 17): "B*T*D elements are no B*T, whatever else the line is about",
    ("callbacks.py", 45): "what is called with 4 features takes 3",
}
"""What is said all the same, and why it is true."""
OWN = {
    ("callbacks.py", 46, "arg-type"),
    ("code_1.py", 14, "assignment"),
    ("code_13.py", 12, "assignment"),
    ("code_2.py", 11, "arg-type"),
    ("code_3.py", 8, "assignment"),
    ("code_5.py", 11, "union-attr"),
    ("code_8.py", 13, "has-type"),
    ("code_8.py", 20, "assignment"),
    ("code_8.py", 37, "arg-type"),
    ("code_8.py", 37, "return-value"),
    ("code_9.py", 14, "has-type"),
    ("code_9.py", 21, "assignment"),
    ("extended.py", 58, "assignment"),
    ("loops.py", 4, "attr-defined"),
    ("pooled.py", 1, "attr-defined"),
    ("unet_config.py", 12, "attr-defined"),
    ("unet_config.py", 116, "var-annotated"),
}
"""What mypy finds by itself."""


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, str, str]]:
    """The errors in all of them: file, line, text and code."""
    kept = warm.readme(tmp_path_factory.mktemp("cache"))
    files = sorted(path.name for path in CASES.glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", kept / "mypy.ini", "--cache-dir", kept, *files],
        cwd=CASES,
        env={**os.environ, "SIMPLETORCH_DEBUG": "1", "SIMPLETORCH_FOLLOW": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr
    found = re.findall(r"^([\w.]+):(\d+): error: (.*\[([\w-]+)\])$", done.stdout, re.MULTILINE)
    return [(file, int(line), text, code) for file, line, text, code in found if code != "import-not-found"]


@pytest.fixture(scope="module")
def said(errors: list[tuple[str, int, str, str]]) -> dict[tuple[str, int], str]:
    """Those that mypy alone doesn't have, by file and line."""
    return {(file, line): text for file, line, text, code in errors if (file, line, code) not in OWN}


@pytest.mark.parametrize("path", sorted(CASES.glob("*.py")), ids=lambda path: path.stem)
def test_no_alarm_that_is_not_true(said: dict[tuple[str, int], str], path: Path):
    assert {place: text for place, text in said.items() if place[0] == path.name and place not in TRUE} == {}


def test_what_is_true_is_still_said(said: dict[tuple[str, int], str]):
    assert TRUE.keys() - said.keys() == set()


def test_what_mypy_finds_is_said_once_whatever_sizes_it_has(errors: list[tuple[str, int, str, str]]):
    assert len([line for file, line, *_ in errors if (file, line) == ("extended.py", 58)]) == 1
