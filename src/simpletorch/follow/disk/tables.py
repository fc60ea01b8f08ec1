"""Tables in texts: CSV and its kin, as pandas and NumPy read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

from simpletorch.follow.disk.described import Array, Table, Unreadable

__all__ = ["csv_table", "numbers"]

_MOST_COLUMNS: Final = 10_000
_EMPTY: Final = frozenset(
    ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "n/a", "#N/A", "<NA>", "-nan", "-NaN")
)
_TRUTH: Final = frozenset(("True", "False", "TRUE", "FALSE", "true", "false"))


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if len(row) > _MOST_COLUMNS:
                raise Unreadable("a table of that many columns")
            if row:
                yield row
    except csv.Error as error:
        raise Unreadable("no table") from error


def csv_table(text: str, separator: str = ",", *, header: bool = True, names: Sequence[str] | None = None) -> Table:
    """A table as ``pandas.read_csv`` reads it.

    Args:
        text: of the whole file.
        separator: of the fields.
        header: whether the first row has the names.
        names: of the columns, in place of those.

    Raises:
        Unreadable: rows have different lengths, or it isn't a table.
    """
    rows = _rows(text, separator)
    first = next(rows, None)
    if first is None:
        raise Unreadable("an empty table")
    body = rows if header else _chained(first, rows)
    kinds = [_Kind() for _ in first]
    count = 0
    for row in body:
        count += 1
        if len(row) > len(kinds):
            raise Unreadable("a row that is longer")
        for place, kind in enumerate(kinds):
            kind.add(row[place] if place < len(row) else "")
    if names is not None and len(names) != len(kinds):
        raise Unreadable("other names than columns")
    titles = list(names) if names is not None else _titles(first) if header else [str(n) for n in range(len(first))]
    return Table(tuple(titles), count, tuple(kind.dtype() for kind in kinds))


def _chained(first: list[str], rest: Iterator[list[str]]) -> Iterator[list[str]]:
    yield first
    yield from rest


def _titles(first: list[str]) -> list[str]:
    """The names of columns: empty ones and repeated ones get others, as pandas gives them."""
    made: list[str] = []
    for place, name in enumerate(first):
        title = name or f"Unnamed: {place}"
        number = 0
        while title in made:
            number += 1
            title = f"{name or f'Unnamed: {place}'}.{number}"
        made.append(title)
    return made


class _Kind:
    """The dtype of a column, from its fields."""

    __slots__ = ("empty", "floats", "ints", "others", "truths")

    def __init__(self) -> None:
        self.empty = self.floats = self.ints = self.others = self.truths = 0

    def add(self, field: str) -> None:
        text = field.strip()
        if field in _EMPTY:
            self.empty += 1
        elif text in _TRUTH:
            self.truths += 1
        elif text.isascii() and text.removeprefix("-").isdecimal():
            self.ints += len(text) < 19
            self.others += len(text) >= 19  # more than 64 bits, perhaps
        else:
            try:
                float(text)
            except ValueError:
                self.others += 1
            else:
                self.floats += "_" not in text
                self.others += "_" in text

    def dtype(self) -> str:
        if self.others or (self.truths and (self.ints or self.floats or self.empty)):
            return ""
        if self.truths:
            return "bool"
        if self.floats or self.empty:
            return "float64"
        return "int64" if self.ints else ""


def numbers(text: str, separator: str | None = None, *, skipped: int = 0) -> Array:
    """The array that ``numpy.loadtxt`` gives of a text: ``(rows, columns)`` without dims of 1.

    Raises:
        Unreadable: a field isn't a number, or rows have different lengths.
    """
    lines = [line.partition("#")[0].strip() for line in text.splitlines()[skipped:]]
    rows = [line.split(separator) for line in lines if line]
    widths = {len(row) for row in rows}
    if len(widths) != 1 or max(widths) > _MOST_COLUMNS:
        raise Unreadable("rows of different lengths")
    for row in rows:
        for field in row:
            try:
                float(field)
            except ValueError as error:
                raise Unreadable("a field that isn't a number") from error
    shape = tuple(n for n in (len(rows), *widths) if n != 1)
    return Array(shape, "float64")
