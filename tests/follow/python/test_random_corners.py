"""Random programs over Python's corners: ten thousand values, and no claim of them is wrong.

``python benchmarks/follow/python_corners.py 1000`` compares ten times as many.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from executed import compared

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "follow"))
from python_corners import program

ROUNDS = 6
PROGRAMS = 12  # of a round


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::UserWarning")
@pytest.mark.parametrize("number", range(ROUNDS))
def test_no_claim_is_wrong(number: int, tmp_path: Path) -> None:
    values = known = 0
    for seed in range(9000 + number * PROGRAMS, 9000 + (number + 1) * PROGRAMS):
        found = compared(program(seed), tmp_path / "program.py")
        assert not found.raises, f"seed {seed}"
        assert not found.wrong, f"seed {seed}"
        values, known = values + found.claims, known + found.known
    assert values > 10_000 / ROUNDS
    assert known > 0.75 * values
