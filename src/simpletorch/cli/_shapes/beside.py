"""The shapes that a program's lines give, beside its source."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from simpletorch.cli._notebook import sources
from simpletorch.follow.cache.told import Told
from simpletorch.follow.findings import CHANGES
from simpletorch.follow.sources import texts

__all__ = ["WIDEST", "beside", "of_line"]

WIDEST: Final = 76  # columns of source before the shapes beside it
_MOST_SHOWN: Final = 3  # shapes of one name on one line, when a loop changes it


def of_line(found: Told, file: str, line: int) -> str:
    """The shapes that a line gives to its names: ``x: Float32[64, 128]``, or how they change in a loop."""
    parts = []
    for name, texts_of_name in found.shown.get((file, line), {}).items():
        shown = [text for text, _ in groupby(texts_of_name)]  # sizes that aren't known differ, and look the same
        more = f"{CHANGES}…" if len(shown) > _MOST_SHOWN else ""
        parts.append(f"{name}: {CHANGES.join(shown[:_MOST_SHOWN])}{more}")
    return ", ".join(parts)


def beside(file: str, found: Told) -> Iterator[str]:
    """The source with the shapes that each line gives at its end."""
    for name, text in sources(file):
        if name != file:
            yield f"# {name.rpartition(':')[2]}"
        yield from _beside(name, text, found)


def _beside(file: str, text: str, found: Told) -> Iterator[str]:
    source = texts.lines(text)
    width = min(max(map(len, source), default=0), WIDEST)
    for number, line in enumerate(source, 1):
        shown = of_line(found, file, number)
        yield f"{line:<{width}}  # {shown}" if shown else line
