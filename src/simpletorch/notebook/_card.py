"""Cards for people: of what was found in a cell before it runs, and of an error of torch that has ended one."""

from __future__ import annotations

import copy
import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, final

from simpletorch._drawing import AMBER, BLUE, RED
from simpletorch._excepthook import as_torch_error
from simpletorch.follow import Finding
from simpletorch.follow.sources.texts import lines

if TYPE_CHECKING:
    from simpletorch.errors import TorchError

__all__ = ["Card", "ErrorCard", "card_of", "error_card"]

Texts = Callable[[str], str]
"""From what a cell or file is called in reports to its text."""

_COLOURS: Final = {"error": RED, "warning": AMBER, "note": BLUE}


@final
@dataclass(frozen=True)
class _Line:
    """A line of source, and the columns that are marked in it: from 0, the second one behind the last."""

    name: str
    number: int
    source: str
    start: int = 0
    end: int = 0


@final
@dataclass(frozen=True)
class Card:
    """One finding, with what to say of the cell; shown by IPython as HTML or as text.

    Args:
        head: what becomes of the cell: ``"stops before it runs"``.
        finding: the finding.
        lines: the line in the cell first, then those that it leads to.
    """

    head: str
    finding: Finding
    lines: Sequence[_Line]

    def __repr__(self) -> str:
        return "\n".join(self._text())

    def _text(self) -> Iterator[str]:
        f = self.finding
        yield f"simpletorch: {f.severity}{self.head}  [{f.code}]"
        for line in self.lines:
            yield f"{line.name}, line {line.number}"
            yield f"----> {line.number} {line.source}"
            if line.end > line.start:
                yield " " * (7 + len(str(line.number)) + line.start) + "^" * (line.end - line.start)
        yield f.message
        if f.hint:
            yield f"hint: {f.hint}"

    def _repr_html_(self) -> str:
        f = self.finding
        colour = _COLOURS.get(f.severity, _COLOURS["note"])
        rows = "".join(_row(line, colour) for line in self.lines)
        hint = f'<div style="opacity:0.8">hint: {html.escape(f.hint)}</div>' if f.hint else ""
        return _framed(
            colour,
            f'<div><b style="color:{colour}">{f.severity}</b>{html.escape(self.head)} '
            f'<code style="opacity:0.7;background:none;color:inherit">{f.code}</code></div>'
            f"{rows}<div>{html.escape(f.message)}</div>{hint}",
        )


@final
@dataclass(frozen=True)
class ErrorCard:
    """An error that has ended a cell, as `TorchError` explains it; its line is named as IPython names it."""

    error: TorchError

    def __repr__(self) -> str:
        return f"{self.error.kind}: {self.error}"

    def _repr_html_(self) -> str:
        return _framed(RED, self.error._repr_html_())


def error_card(error: BaseException, call_it: Callable[[str], str]) -> ErrorCard | None:
    """The card of an exception, if torch or this library has raised it. ``call_it``: what a file is called."""
    known = as_torch_error(error)
    if known is None:
        return None
    if known.location is not None:
        known = copy.copy(known)
        assert known.location is not None
        known.location = replace(known.location, file=call_it(known.location.file))
    return ErrorCard(known)


def _framed(colour: str, inside: str) -> str:
    style = f"border-left:4px solid {colour};padding:0.3em 0.8em;color:inherit;font-size:0.95em"
    return f'<div style="{style}">{inside}</div>'


def _row(line: _Line, colour: str) -> str:
    before, marked, after = line.source[: line.start], line.source[line.start : line.end], line.source[line.end :]
    mark = f'<span style="text-decoration:underline wavy {colour}">{html.escape(marked)}</span>'
    source = f"{html.escape(before)}{mark if marked else ''}{html.escape(after)}"
    place = f"{html.escape(line.name)}, line {line.number}"
    return (
        f'<div style="opacity:0.8">{place}</div>'
        f'<pre style="margin:0.1em 0 0.3em 1em;background:none;color:inherit">{source}</pre>'
    )


def card_of(found: Finding, head: str, texts: Texts) -> Card:
    """The card of a finding: the outermost call first, the line of the mistake last."""
    calls = [_line(texts, call.path, call.line) for call in reversed(found.trace) if not call.is_entry]
    one_line = found.end_line in (None, found.line)
    end = found.end_column if one_line and found.end_column is not None else None
    last = _line(texts, found.path, found.line, max(found.column - 1, 0), end)
    return Card(head, found, [*(line for line in calls if line is not None), *([last] if last else [])])


def _line(texts: Texts, name: str, number: int, start: int = 0, end: int | None = 0) -> _Line | None:
    """A line, None where there is no such line: a file may be gone. Columns count bytes of UTF-8, as Python's do."""
    rows = lines(texts(name))
    if not 0 < number <= len(rows):
        return None
    raw = rows[number - 1].encode()
    first = len(raw[:start].decode(errors="ignore"))
    behind = len(raw.decode()) if end is None else len(raw[:end].decode(errors="ignore"))
    return _Line(name, number, rows[number - 1], first, behind)
