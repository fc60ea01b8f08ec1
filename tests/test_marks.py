"""The marks of tests/conftest.py: no test is passed over without a reason that its author has written down."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import neighbours

ROOT = Path(__file__).parents[1]
FILES = {
    "test_whole": """
import pytest
import a_package_of_tomorrow

pytestmark = [pytest.mark.slow, pytest.mark.neighbour("GONE")]


def test_it(): ...
""",
    "test_one": """
import pytest


@pytest.mark.neighbour("GONE")
def test_marked():
    raise AssertionError("it runs")


def test_not_marked():
    pytest.importorskip("a_package_of_tomorrow")


def test_another_reason():
    pytest.skip("the moon is full")
""",
    "test_top": """
import pytest

pytest.importorskip("a_package_of_tomorrow")


def test_it(): ...
""",
}


@pytest.mark.slow
def test_a_missing_package_is_a_reason_only_where_it_is_marked(tmp_path: Path):
    gone = next(name for name in sorted(neighbours.NOT_INSTALLED) if neighbours.missing([name]))
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(text.replace("GONE", gone))
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    neighbour\n    thorough\n")
    command = [sys.executable, "-m", "pytest", "-rfEs", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    command += ["-o", f"pythonpath={ROOT}"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert said.count(f"needs {gone}, which nothing here installs") == 2, said
    assert "FAILED test_one.py::test_not_marked" in said
    assert "ERROR test_top.py" in said
    assert said.count("Add the package to the extra `dev`, or the mark pytest.mark.neighbour to the test.") >= 2
    assert "the moon is full" in said
    assert "1 failed, 3 skipped, 1 error" in said
