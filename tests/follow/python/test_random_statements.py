"""Random programs of Python's own statements: more than ten thousand values, and no claim of them is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from executed import compared

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "follow"))
from python_statements import program

ROUNDS = 10
PROGRAMS = 38  # of a round


@pytest.mark.slow
@pytest.mark.parametrize("number", range(ROUNDS))
def test_no_claim_is_wrong(number: int, tmp_path: Path) -> None:
    values = known = 0
    for seed in range(5000 + number * PROGRAMS, 5000 + (number + 1) * PROGRAMS):
        found = compared(program(seed), tmp_path / "program.py")
        assert not found.wrong, f"seed {seed}"
        values, known = values + found.claims, known + found.known
    assert values > 10_000 / ROUNDS
    assert known > 0.9 * values
