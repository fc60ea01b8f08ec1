"""The texts that an editor has: edits in its units of columns, and where old lines are in the new text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias, final

from simpletorch.follow.sources.texts import LINE_END

__all__ = ["Document", "Encoding", "Lines", "moved_lines"]

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

_MOST_COMPARED: Final = 2_000  # lines that are compared one by one


@final
class Lines:
    """A text by lines, as editors and Python count them: ``\\n``, ``\\r\\n`` and ``\\r`` end one, and nothing else."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in LINE_END.finditer(text))]

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, index: int) -> str:
        """A line without its end, "" for one that isn't there."""
        if not 0 <= index < len(self._starts):
            return ""
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[index] : end].rstrip("\r\n")

    def rows(self) -> list[str]:
        """All lines."""
        return [self[i] for i in range(len(self))]

    def offset(self, line: int, units: int, encoding: Encoding) -> int:
        """Where in the text a position of an editor's is; one beyond a line's end is its end."""
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.text)
        return self._starts[line] + _characters(self[line], units, encoding)

    def units(self, line: int, column: int, encoding: Encoding) -> int:
        """The editor's column of one in bytes of UTF-8."""
        row = self[line]
        if encoding == "utf-8":
            return min(column, len(_encoded(row)))
        before = _encoded(row)[:column].decode(errors="replace")
        return _width(before, encoding)

    def bytes(self, line: int, units: int, encoding: Encoding) -> int:
        """The column in bytes of UTF-8 of one of the editor's."""
        row = self[line]
        return len(_encoded(row[: _characters(row, units, encoding)]))

    def end(self, line: int, encoding: Encoding) -> int:
        """The editor's column of a line's end."""
        return _width(self[line], encoding)


@final
class Document:
    """A text that is open, and the last one before it that was Python."""

    __slots__ = ("good", "lines", "path", "uri", "version")

    def __init__(self, uri: str, path: str, text: str, version: int) -> None:
        self.uri, self.path, self.version = uri, path, version
        self.lines = Lines(text)
        self.good: Lines | None = None

    @property
    def text(self) -> str:
        """All of it."""
        return self.lines.text

    def replace(self, text: str) -> None:
        """The text is another one."""
        self.lines = Lines(text)

    def edit(self, start: tuple[int, int], end: tuple[int, int], text: str, encoding: Encoding) -> None:
        """Replace the text between two positions."""
        first, last = (self.lines.offset(*position, encoding) for position in (start, end))
        self.lines = Lines(self.text[:first] + text + self.text[max(first, last) :])


def moved_lines(old: Lines, new: Lines) -> Mapping[int, int]:
    """Where each line of a text is in another one, from 0; lines that were changed are nowhere."""
    if old is new or old.text == new.text:
        return {i: i for i in range(len(old))}
    before, after = old.rows(), new.rows()
    first = _alike(before, after)
    last = min(_alike(before[::-1], after[::-1]), len(before) - first, len(after) - first)
    shift = len(after) - len(before)
    found = {i: i for i in range(first)} | {i: i + shift for i in range(len(before) - last, len(before))}
    inside, others = before[first : len(before) - last], after[first : len(after) - last]
    if inside and others and len(inside) + len(others) <= _MOST_COMPARED:
        for block in SequenceMatcher(None, inside, others, autojunk=False).get_matching_blocks():
            found |= {first + block.a + i: first + block.b + i for i in range(block.size)}
    return found


def _alike(a: Sequence[str], b: Sequence[str]) -> int:
    """How many items two rows have in common at their beginning."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _width(text: str, encoding: Encoding) -> int:
    if encoding == "utf-8":
        return len(_encoded(text))
    return len(text) + (sum(c > "\uffff" for c in text) if encoding == "utf-16" else 0)


def _characters(row: str, units: int, encoding: Encoding) -> int:
    """How many characters of a line these units are: those before the one that they end in."""
    if encoding == "utf-32" or row.isascii():
        return max(0, min(units, len(row)))
    passed = 0
    for count, character in enumerate(row):
        passed += _width(character, encoding)
        if passed > units:
            return count
    return len(row)
