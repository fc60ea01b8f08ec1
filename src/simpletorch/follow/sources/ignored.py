"""``# type: ignore``: what the program's author has silenced, by mypy's rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from simpletorch.follow.findings import Finding
from simpletorch.follow.sources import texts

__all__ = ["is_ignored", "is_ignored_by_others"]

_COMMENT: Final = re.compile(r"#\s*type:\s*ignore(?:\s*\[(?P<codes>[^\]#]*)\])?(?=\s|#|$)")
_ALL: Final = frozenset[str]()


def is_ignored(found: Finding) -> bool:
    """Whether a comment on one of the finding's lines, or on the first line of its file, silences it."""
    comments = _comments(texts.read(Path(found.path)))
    if 0 in comments:
        return True
    lines = range(found.line, (found.end_line or found.line) + 1)
    return any(n in comments and (not comments[n] or found.code in comments[n]) for n in lines)


def is_ignored_by_others(found: Finding) -> bool:
    """Whether a comment on one of its lines is for other codes, as mypy may have one of them there."""
    comments = _comments(texts.read(Path(found.path)))
    return not is_ignored(found) and any(n in comments for n in range(found.line, (found.end_line or found.line) + 1))


@lru_cache(maxsize=64)
def _comments(source: str) -> dict[int, frozenset[str]]:
    """By line the codes that are ignored there, none for all; line 0 stands for the whole file."""
    return dict(_read(source)) if "ignore" in source else {}


def _read(source: str) -> Iterator[tuple[int, frozenset[str]]]:
    only_comments = True
    for number, line in enumerate(texts.lines(source), 1):
        match = _COMMENT.search(line)
        if match:
            codes = frozenset(filter(None, (c.strip() for c in (match["codes"] or "").split(","))))
            alone = line.lstrip().startswith("#")
            if alone and only_comments and not codes:
                yield 0, _ALL
            yield number, codes
        only_comments &= not line.strip() or line.lstrip().startswith("#")
