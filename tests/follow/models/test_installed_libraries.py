"""Libraries that `make test-all` installs, followed into their source and run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.follow.models.installed_programs import RIGHT, WRONG, library, right, wrong

pytestmark = pytest.mark.neighbour("transformers", "lightning")
_HERE = ("transformers", "lightning", "einops")


@pytest.mark.parametrize("name", [name for name, source in RIGHT.items() if library(source) in _HERE])
def test_what_a_library_gives_is_known_and_right(tmp_path: Path, name: str):
    assert right(RIGHT[name], tmp_path / "program.py") == []


@pytest.mark.parametrize("name", [name for name, source in WRONG.items() if library(source) in _HERE])
def test_a_mistake_is_found(tmp_path: Path, name: str):
    said, found = wrong(WRONG[name], tmp_path / "program.py")
    assert said
    assert len(found.errors) == 1
