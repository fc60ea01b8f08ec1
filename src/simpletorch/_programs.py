"""How a file is followed that wasn't named: in mypy, and in a checked folder.

A program is followed as a whole. A file of a package that only defines functions and classes is a library's: what a
caller would give isn't known, and a package has hundreds of them. It is followed from what annotates its tensors.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal, TypeAlias

__all__ = ["Kind", "followed_as", "kind_of", "text_of"]

Kind: TypeAlias = Literal["program", "library"]

_DEFINES: Final = ("def ", "class ", "async def ", "import ", "from ", "try:")
_GOES_ON: Final = frozenset(" \t#@)]}'\"")  # what the lines begin with that are no statement's first at the margin
_QUOTES: Final = ('"""', "'''")
_WORKS: Final = re.compile(r"\b(?:torch|nn|F|optim)(?:\.\w+)+\(|\.(?:backward|step|train|eval|fit)\(")
_TEST: Final = re.compile(r"^[ \t]*(?:async )?def test", re.MULTILINE)
_ANNOTATES: Final = re.compile(r"^[ \t]*(?:from|import) (?:jaxtyping|simpletorch)\b", re.MULTILINE)


def followed_as(path: str) -> Kind | None:
    """How an unnamed file is followed; None if it isn't."""
    text = text_of(path) if path.endswith(".py") else None
    return None if text is None else kind_of(Path(path), text)


def text_of(path: str) -> str | None:
    """The text of a file, None if it can't be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def kind_of(path: Path, text: str) -> Kind | None:
    """The kind of a file; None for a library's that annotates no tensors. Parsing it would take twenty times as long.

    Args:
        path: the file. One that is in no package is a program.
        text: of the file.
    """
    if not (path.parent / "__init__.py").exists() or _is_run(path, text):
        return "program"
    may_annotate = "jaxtyping" in text or "simpletorch" in text
    return "library" if may_annotate and _ANNOTATES.search(text) else None


def _is_run(path: Path, text: str) -> bool:
    """Whether the file has a main program, tests, or statements that work with tensors as it is imported."""
    if path.name.startswith("test_") or path.stem.endswith("_test"):
        return _TEST.search(text) is not None
    works = within = False
    for line in text.split("\n"):
        quotes = sum(map(line.count, _QUOTES)) if _QUOTES[0] in line or _QUOTES[1] in line else 0
        if not within and line and line[0] not in _GOES_ON:
            if line.startswith("if __name__ =="):
                return True
            works = not line.startswith(_DEFINES)
        if works and not within and _WORKS.search(line):
            return True
        within ^= quotes % 2 == 1
    return False
