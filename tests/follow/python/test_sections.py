"""Python's corners by the sections of its reference: no claim of any variation is wrong.

`make test` takes every so manyth case of a section; all of them are a thorough test.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from executed import compared
from sections import FOLDER, cases, program

SECTIONS = sorted(file.stem for file in FOLDER.glob("*.txt"))
AT_A_TIME = 25
STEP = 4
MOST = 600  # cases of a test


def _check(section: str, first: int, step: int, path: Path) -> int:
    """The number of values that were compared."""
    chosen = cases(section)[first::step][:MOST]
    values = 0
    for begin in range(0, len(chosen), AT_A_TIME):
        part = chosen[begin : begin + AT_A_TIME]
        found = compared(program(part), path, known_names=False)
        assert not found.wrong, [case.title for case in part]
        assert not found.raises
        values += found.claims
    return values


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("section", SECTIONS)
def test_no_claim_of_some_is_wrong(section: str, tmp_path: Path) -> None:
    assert _check(section, 0, STEP, tmp_path / "program.py") > 100


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(1, STEP))
@pytest.mark.parametrize("section", SECTIONS)
def test_no_claim_of_the_others_is_wrong(section: str, first: int, tmp_path: Path) -> None:
    assert _check(section, first, STEP, tmp_path / "program.py") > 100


def test_there_are_thousands_of_cases() -> None:
    assert sum(len(cases(section)) for section in SECTIONS) > 4_000
