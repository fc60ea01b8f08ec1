"""Python's standard library, NumPy and their like: small programs are followed to what Python itself gives.

They stand in ``small/``, a file for each library, a program under each line that begins with ``# ==``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import compare

FOLDER = Path(__file__).parent / "small"
MARK = "# == "


def programs() -> Iterator[tuple[str, str]]:
    """Each program with its name."""
    for file in sorted(FOLDER.glob("*.py")):
        for part in file.read_text().split(MARK)[1:]:
            title, _, source = part.partition("\n")
            yield f"{file.stem}: {title.strip()}", source


SOURCES = dict(programs())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the programs are as people write them
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_what_is_known_is_what_python_gives(source: str, tmp_path: Path) -> None:
    compare(source, tmp_path / "program.py")
