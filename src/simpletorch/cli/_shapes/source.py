"""The source as HTML: coloured by Pygments, with what is known of each expression behind it."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, final

from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES

from simpletorch.follow.marks.seen import Look, Place, Seen

__all__ = ["Source", "styles"]

_LIGHT, _DARK = "default", "github-dark"


def styles() -> str:
    """The colours of the source, for light and for dark windows."""
    light, dark = (HtmlFormatter(style=name).get_style_defs("code") for name in (_LIGHT, _DARK))
    own = "code { background: none !important; }"
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{own}"


@final
class Source:
    """The lines of a file.

    Args:
        lines: its lines.
        path: the file, as ``seen`` has it.
        seen: what was seen of its expressions.
    """

    def __init__(self, lines: Sequence[str], path: str, seen: Seen | None) -> None:
        self._lines = lines
        self._tables: dict[str, int] = {}
        self._tokens = list(_tokens(lines))
        self._spans: list[list[tuple[int, int, int]]] = [[] for _ in lines]
        for (file, place), looks in (seen.looks if seen else {}).items():
            if file == path:
                self._add(place, looks)

    def _add(self, place: Place, looks: Mapping[Look, None]) -> None:
        """Put an expression's table behind each of the lines that it stands on."""
        number = self._tables.setdefault(json.dumps(_rows(looks)), len(self._tables))
        for line in range(place.line, min(place.end_line, len(self._lines)) + 1):
            text = self._lines[line - 1]
            start = _characters(text, place.column) if line == place.line else len(text) - len(text.lstrip())
            end = _characters(text, place.end_column) if line == place.end_line else len(text.rstrip())
            if start < end:
                self._spans[line - 1].append((start, end, number))

    @property
    def tables(self) -> str:
        """The tables as JSON, by the numbers that `line` has; it may stand within a script."""
        return f"[{','.join(self._tables)}]".replace("<", "\\u003c")

    def line(self, number: int) -> str:
        """A line as HTML."""
        spans = sorted(self._spans[number - 1], key=lambda span: (span[0], -span[1]))
        tokens, out = self._tokens[number - 1], ""
        edges = sorted({0, *(e for start, end, _ in spans for e in (start, end))} | {start for start, _ in tokens})
        text, open_ends = self._lines[number - 1], list[int]()
        for position, column in enumerate(edges):
            while open_ends and open_ends[-1] <= column:
                open_ends.pop()
                out += "</span>"
            for start, end, table in spans:
                if start == column:
                    out += f'<span data-t="{table}">'
                    open_ends.append(end)
            following = edges[position + 1] if position + 1 < len(edges) else len(text)
            kind = next((kind for start, kind in reversed(tokens) if start <= column), "")
            part = html.escape(text[column:following])
            out += f'<span class="{kind}">{part}</span>' if kind and part.strip() else part
        return out + "</span>" * len(open_ends)


def _tokens(lines: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """For each line the columns in which tokens begin, with their classes."""
    rows: list[list[tuple[int, str]]] = [[] for _ in lines]
    line = column = 0
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    for _, kind, value in lexer.get_tokens_unprocessed("\n".join(lines)):
        for number, part in enumerate(value.split("\n")):
            if number:
                line, column = line + 1, 0
            if part:
                rows[line].append((column, STANDARD_TYPES.get(kind, "")))
                column += len(part)
    yield from rows


def _characters(text: str, column: int) -> int:
    """A column in characters; Python's syntax trees count bytes of UTF-8."""
    return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))


_MOST_ROWS: Final = 8


def _rows(looks: Mapping[Look, None]) -> list[dict[str, Any]]:
    """The table of an expression: a row for each type that it has in different calls or iterations."""
    rows = []
    for look in looks:
        row: dict[str, Any] = {"type": str(look.type)}
        if look.place:
            row["device"] = look.place
        if look.layout_said:
            row["layout"] = look.layout_said
        if look.gradient_said:
            row["gradient"] = look.gradient_said
        if any(look.origins_said):
            row["sizes"] = ", ".join(said or "…" for said in look.origins_said)
        if row not in rows:
            rows.append(row)
    return rows[:_MOST_ROWS]
