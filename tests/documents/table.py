"""The table of the documents' items, and the programs that show them.

``items.txt`` has a line for each item: its number, the document and section, the item, our way to it, its programs,
the verdict, and why it isn't more. ``programs.txt`` has the programs, in the documents' own spelling where Python and
torch allow it.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["ITEMS", "PROGRAMS", "Item", "page"]

HERE: Final = Path(__file__).parent
_HEAD: Final = re.compile(r"^# == (?P<name>\w+)\n", re.MULTILINE)


class Item(NamedTuple):
    number: int
    place: str
    what: str
    way: str
    programs: tuple[str, ...]
    verdict: str
    reason: str


def _item(line: str) -> Item:
    number, place, what, way, programs, verdict, reason = (part.strip() for part in line.split(" | "))
    named = () if programs == "-" else tuple(programs.split())
    return Item(int(number), place, what, way, named, verdict, "" if reason == "-" else reason)


def _programs() -> dict[str, str]:
    _, *parts = _HEAD.split((HERE / "programs.txt").read_text(encoding="utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))


ITEMS: Final = [_item(line) for line in (HERE / "items.txt").read_text(encoding="utf-8").splitlines()]
PROGRAMS: Final = _programs()
"""By name, such as ``102_creation``; items name them by their number."""


def page() -> str:
    """``docs/documents.md``."""
    counts = Counter(item.verdict for item in ITEMS)
    lines = [
        "# The documents, item by item",
        "",
        f"Five texts describe the library that simpletorch is the Python form of. Of their {len(ITEMS)} items "
        f"{counts['works']} work, {counts['partly']} work partly, and {counts['absent']} are absent. "
        "None is worse than in torch.",
        "",
        "A number in the fourth column is a program of `tests/documents/programs.txt`. It runs in the tests, and is "
        "followed without a finding. `python -m tests.documents` writes this page.",
        "",
        "| # | item | our way | program | verdict |",
        "| --- | --- | --- | --- | --- |",
    ]
    for item in ITEMS:
        verdict = f"{item.verdict}: {item.reason}" if item.reason else item.verdict
        lines.append(
            f"| {item.number} | {_plain(item.what)} ({item.place}) | {_plain(item.way)} "
            f"| {', '.join(item.programs) or '–'} | {verdict} |"
        )
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Without what Markdown would take for its own; code stays as it is."""
    parts = text.split("`")
    return "`".join(re.sub(r"([*<>\[\]])", r"\\\1", part) if i % 2 == 0 else part for i, part in enumerate(parts))
