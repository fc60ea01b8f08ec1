"""``# type: ignore``: what the program's author has silenced, by mypy's rules.

A comment for mypy's own code of an expression, ``x[i]  # type: ignore[index]`` of a float ``i``, takes ours of the same
one: mypy speaks there itself. It knows nothing of shapes, so of them ours stays.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from simpletorch.follow.findings import Finding
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.syntax import parse, walk

__all__ = ["is_ignored", "is_ignored_by_others"]

_COMMENT: Final = re.compile(r"#\s*type:\s*ignore(?:\s*\[(?P<codes>[^\]#]*)\])?(?=\s|#|$)")
_ALL: Final = frozenset[str]()


def is_ignored(found: Finding) -> bool:
    """Whether a comment on one of the finding's lines, or on the first line of its file, silences it."""
    comments = _comments(texts.read(Path(found.path)))
    if 0 in comments:
        return True
    lines = [n for n in range(found.line, (found.end_line or found.line) + 1) if n in comments]
    if any(not comments[n] or found.code in comments[n] for n in lines):
        return True
    return bool(lines) and not _codes_of_mypy(found).isdisjoint(frozenset().union(*(comments[n] for n in lines)))


def _codes_of_mypy(found: Finding) -> frozenset[str]:
    """The codes that mypy itself may have for the same expression; none if the mistake is one of shapes."""
    is_of_index = found.code == "tensor-dtype" and "index: " not in found.message  # no tensor, but a float or a text
    if not (is_of_index or found.code in _OF_TYPES or found.message.endswith(_NO_INT)):
        return _ALL
    tree = parse(Path(found.path))
    place = found.line, found.column - 1, found.end_line, found.end_column
    nodes = () if tree is None else (n for n in walk(tree) if isinstance(n, ast.expr) and place == _place(n))
    return frozenset(
        code for node in nodes for kind, codes in _CODES.items() if isinstance(node, kind) for code in codes
    )


def _place(node: ast.expr) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, None if node.end_col_offset is None else node.end_col_offset


_OF_TYPES: Final = ("tensor-class", "tensor-option")
_NO_INT: Final = "it must be an int"
_CODES: Final[Mapping[type[ast.expr], Sequence[str]]] = {
    ast.Subscript: ("index", "call-overload", "arg-type"),
    ast.BinOp: ("operator", "call-overload"),
    ast.UnaryOp: ("operator",),
    ast.Compare: ("operator", "call-overload"),
    ast.Attribute: ("attr-defined", "union-attr"),
    ast.Call: ("arg-type", "call-arg", "call-overload", "operator", "attr-defined", "union-attr"),
}


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
