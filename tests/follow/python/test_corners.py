"""Python's corners, as the language reference lists them: small programs are executed and followed.

They stand in ``corners/``, a program under each line that begins with ``# ==``. A value that isn't known is never
wrong; a claim, a mistake told of a program that runs, and an end that isn't there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from executed import compared

FOLDER = Path(__file__).parent / "corners"
MARK = "# == "


def programs(folder: Path) -> Iterator[tuple[str, str]]:
    """Each program with its name."""
    for file in sorted(folder.glob("*.py")):
        for part in f"\n{file.read_text()}".split(f"\n{MARK}")[1:]:
            title, _, source = part.partition("\n")
            yield f"{file.stem}: {title.strip()}", source


SOURCES = dict(programs(FOLDER))
FAILING = dict(programs(FOLDER / "failing"))
ALSO = dict(programs(FOLDER / "executed"))  # in which much isn't known, or which are long


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("source", (SOURCES | ALSO).values(), ids=(SOURCES | ALSO).keys())
def test_no_claim_is_wrong(source: str, tmp_path: Path) -> None:
    found = compared(source, tmp_path / "program.py")
    assert not found.raises
    assert not found.wrong


@pytest.mark.parametrize("source", FAILING.values(), ids=FAILING.keys())
def test_what_fails_is_found(source: str, tmp_path: Path) -> None:
    found = compared(source, tmp_path / "program.py")
    assert found.raises.startswith("RuntimeError: mat1 and mat2")
    assert len(found.found) == 1
    assert not found.wrong


def test_nearly_all_values_are_known(tmp_path: Path) -> None:
    rows = [compared(source, tmp_path / "program.py") for source in SOURCES.values()]
    assert sum(r.known for r in rows) > 0.85 * sum(r.claims for r in rows)
