"""The programs of ``tests/typing`` that are right, or only reveal what is known: following them finds nothing."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

TYPING = Path(__file__).parents[1] / "typing"
RIGHT = sorted([*(TYPING / "pass").rglob("*.py"), *(TYPING / "reveal").rglob("*.py")])


@pytest.mark.parametrize("path", RIGHT, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_right_programs_have_no_error(path):
    found = follow(path)
    assert [e.lines() for e in found.errors] == []
    assert found.faults == ()
