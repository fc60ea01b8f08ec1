"""Mistakes that a comment silences by a code of mypy's: ``x[i]  # type: ignore[index]`` of a float ``i``.

mypy says such a thing itself beside us. Where the comment takes what mypy says of an expression, or of what it consists
of, it takes ours of that expression as well. Of another one in its line ours stays: mypy alone knows nothing of shapes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from mypy.errors import ErrorInfo, Errors

__all__ = ["Span", "forget", "hear", "is_silenced", "takes"]

Span: TypeAlias = tuple[int, int, int, int]
"""A line from 1, a column from 0, and where the expression ends, as `ast` counts."""

_heard: Final[dict[str, set[Span]]] = {}
"""By file, the expressions of which a comment takes what mypy says."""
_ours: Final[dict[str, list[ErrorInfo]]] = {}
"""By file, what we have said beside such comments."""


def forget(file: str) -> None:
    """The file is checked again."""
    _heard.pop(file, None)
    _ours.pop(file, None)
    _parts.cache_clear()
    _expressions.cache_clear()


def hear(errors: Errors, file: str, info: ErrorInfo) -> None:
    """mypy says something itself; if a comment takes that by its code, what we said of the same goes as well."""
    ignored = errors.ignored_lines.get(file, {})
    if info.severity != "error" or not any(
        ignored.get(line) and errors.is_ignored_error(line, info, ignored) for line in info.origin_span
    ):
        return
    place = _place(info)
    _heard.setdefault(file, set()).add(place)
    taken = [ours for ours in _ours.get(file, ()) if place in _parts(file, _place(ours))]
    recorded = errors.error_info_map.get(file, [])
    recorded[:] = [i for i in recorded if not any(i is ours or _is_about(i, ours) for ours in taken)]
    if not recorded:
        errors.error_info_map.pop(file, None)


def takes(errors: Errors, file: str, ours: ErrorInfo) -> bool:
    """Whether a comment takes what we say, or a note on it; if not, it may do so when mypy speaks."""
    ignored = errors.ignored_lines.get(file, {})
    if not any(ignored.get(line) for line in range(ours.line, ours.end_line + 1)):
        return False
    if is_silenced(file, _place(ours)):
        return True
    _ours.setdefault(file, []).append(ours)
    return False


def _is_about(note: ErrorInfo, ours: ErrorInfo) -> bool:
    """Whether a note belongs to what we say: a hint, or mypy's that the comment is for other codes."""
    is_there = (note.line, note.column, note.severity) == (ours.line, ours.column, "note")
    code = "" if ours.code is None else ours.code.code
    return is_there and (note.code is ours.code or note.message.startswith(f'Error code "{code}" not covered by'))


def is_silenced(file: str, span: Span) -> bool:
    """Whether a comment takes what mypy itself says there."""
    return file in _heard and bool(_parts(file, span) & _heard[file])


def _place(info: ErrorInfo) -> Span:
    return info.line, info.column, info.end_line, info.end_column


@lru_cache(maxsize=1024)
def _parts(file: str, span: Span) -> frozenset[Span]:
    """An expression and what it consists of directly; what mypy says of an operand or an index stands there."""
    found = _expressions(file).get(span, ())
    return frozenset({span, *(_span(part) for node in found for part in _direct(node))})


@lru_cache(maxsize=1)
def _expressions(file: str) -> dict[Span, list[ast.expr]]:
    """The expressions of a file by their places; none where it can't be read."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[Span, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            found.setdefault(_span(node), []).append(node)
    return found


def _direct(node: ast.AST) -> Iterator[ast.expr]:
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            yield part
        if isinstance(part, ast.Tuple | ast.List | ast.Slice | ast.keyword):
            yield from _direct(part)


def _span(node: ast.expr) -> Span:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
