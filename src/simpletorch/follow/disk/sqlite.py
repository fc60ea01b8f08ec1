"""Tables of SQLite's databases, and what a query of one table gives; the queries asked here are ours, of a copy."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, TypeAlias, final

from simpletorch.follow.disk.described import Unreadable

if TYPE_CHECKING:
    import sqlite3

__all__ = ["ANY", "FLOATS", "INTEGERS", "NUMBERS", "Asked", "asked", "changes", "is_sqlite", "sqlite"]

Table: TypeAlias = tuple[tuple[str, ...], int, tuple[str, ...]]
Tables: TypeAlias = dict[str, Table]
"""By name: the columns, the number of rows, and the kind of each column."""
INTEGERS, FLOATS, NUMBERS, ANY = "integers", "floats", "numbers", ""
"""Kinds of columns: numbers may be of both kinds, and NULL."""

_MAGIC: Final = b"SQLite format 3\0"
_LARGEST: Final = 1 << 24
_MOST_TABLES: Final = 200
_MOST_COLUMNS: Final = 900
_STEPS: Final = 10_000  # between two looks at what is left
_MOST_LOOKS: Final = 400
_WAL_VERSION: Final = 2

_NAME: Final = r'(?:\w+|"[^"]+"|`[^`]+`|\[[^\]]+\])'
_SELECT: Final = re.compile(
    rf"\s*select\s+(?P<distinct>distinct\s+)?(?P<columns>.+?)\s+from\s+(?P<table>{_NAME})(?P<rest>.*?);?\s*",
    re.IGNORECASE | re.DOTALL,
)
_COLUMN: Final = re.compile(rf"(?:{_NAME}\.)?(?P<name>{_NAME})(?:\s+as\s+(?P<alias>{_NAME}))?", re.IGNORECASE)
_RENAMED: Final = re.compile(rf".+\s+as\s+(?P<alias>{_NAME})", re.IGNORECASE | re.DOTALL)
_OF_ONE_TABLE: Final = re.compile(r"\s*(?:$|(?:where|order|limit|group|having)\b)", re.IGNORECASE)
_OF_ALL_ROWS: Final = re.compile(
    r'(?:\s*order\s+by\s(?:(?!\blimit\b)[\w\s,."`\[\]])+)?(?:\s*limit\s+(?P<most>\d+))?\s*', re.IGNORECASE
)
_OF_SEVERAL: Final = re.compile(r"\b(?:union|intersect|except|limit|offset|collate)\b", re.IGNORECASE)
_COMMENTS: Final = ("--", "/*")
_READS: Final = re.compile(r"\s*(?:select|explain|pragma\s+(?:table_x?info|index_list|database_list))\b", re.IGNORECASE)


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """The result of a query: its columns (None for a name that isn't known), their kinds, and the number of rows."""

    columns: tuple[str | None, ...]
    kinds: tuple[str, ...]
    rows: int | None


def is_sqlite(start: bytes) -> bool:
    """Whether a file begins as a database does."""
    return start.startswith(_MAGIC)


def sqlite(file: IO[bytes], length: int) -> Tables:
    """The tables of a database.

    Raises:
        Unreadable: it is damaged, larger than 16 MiB, takes too long to count, or has changes in a second file.
    """
    if length > _LARGEST:
        raise Unreadable("a database of that size")
    data = file.read(_LARGEST)
    if len(data) < 100 or data[18] == _WAL_VERSION:
        raise Unreadable("a database whose changes may be in a second file")
    try:
        import sqlite3
    except ImportError as error:
        raise Unreadable("a Python without sqlite3") from error
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(data)
            return _tables(database)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise Unreadable("a damaged database") from error


def _tables(database: sqlite3.Connection) -> Tables:
    looks = iter(range(_MOST_LOOKS))
    database.set_progress_handler(lambda: next(looks, None) is None, _STEPS)
    database.execute("pragma trusted_schema = off")
    database.execute("pragma cell_size_check = on")
    asked = database.execute("select name from sqlite_schema where type = 'table' and rootpage > 0")
    found: Tables = {}
    for (name,) in asked.fetchmany(_MOST_TABLES):
        if not isinstance(name, str) or name.startswith("sqlite_"):
            continue
        columns = tuple(row[1] for row in database.execute(f"pragma table_info({_quoted(name)})"))
        if 0 < len(columns) <= _MOST_COLUMNS and all(isinstance(column, str) for column in columns):
            found[name] = _counted(database, name, columns)
    return found


def _counted(
    database: sqlite3.Connection, table: str, columns: tuple[str, ...]
) -> tuple[tuple[str, ...], int, tuple[str, ...]]:
    kinds = ", ".join(f"min(typeof({_quoted(c)})), max(typeof({_quoted(c)}))" for c in columns)
    rows, *ends = database.execute(f"select count(*), {kinds} from {_quoted(table)}").fetchone()
    return columns, rows, tuple(_kind(*pair) for pair in zip(ends[::2], ends[1::2], strict=True))


def _kind(least: str | None, greatest: str | None) -> str:
    """The kind of a column, from the first and the last in the alphabet of its values' classes."""
    if least == greatest:
        return {"integer": INTEGERS, "real": FLOATS}.get(least or "", ANY)
    return NUMBERS if least in ("integer", "null") and greatest in ("null", "real") else ANY


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def changes(query: str) -> bool:
    """Whether a statement may change the database."""
    return _READS.match(query) is None


def asked(tables: Tables, query: str) -> Asked | None:
    """The result of a query of one table, or of a table by its name; None where it isn't known."""
    if query in tables:
        columns, rows, kinds = tables[query]
        return Asked(columns, kinds, rows)
    found = _SELECT.fullmatch(query)
    if found is None or any(mark in query for mark in _COMMENTS):
        return None
    known = {name.lower(): table for name, table in tables.items()}.get(_plain(found["table"]).lower())
    if known is None or not _OF_ONE_TABLE.match(found["rest"]):
        return None
    columns, rows, kinds = known
    whole = None if found["distinct"] else _OF_ALL_ROWS.fullmatch(found["rest"])
    if whole is None and _OF_SEVERAL.search(found["rest"]):
        return None
    count = None if whole is None else min(rows, int(whole["most"] or rows))
    if found["columns"] == "*":
        return Asked(columns, kinds if whole else (ANY,) * len(kinds), count)
    own = {name.lower(): (name, kind) for name, kind in zip(columns, kinds, strict=True)}
    texts = [text.strip() for text in _split(found["columns"])]
    if any(text.endswith("*") for text in texts):
        return None
    made = [_column(text, own) for text in texts]
    is_plain = all(kind is not None for _, kind in made)
    return Asked(
        tuple(name for name, _ in made),
        tuple((whole and kind) or ANY for _, kind in made),
        count if is_plain else None,
    )


def _column(text: str, own: dict[str, tuple[str, str]]) -> tuple[str | None, str | None]:
    """The name of a result, None if it isn't known, and its kind, None if it isn't a column of the table."""
    found = _COLUMN.fullmatch(text)
    if found is not None and _plain(found["name"]).lower() in own:
        name, kind = own[_plain(found["name"]).lower()]
        return (_plain(found["alias"]) if found["alias"] else name), kind
    renamed = _RENAMED.fullmatch(text)
    return None if renamed is None else _plain(renamed["alias"]), None


def _plain(name: str) -> str:
    return name[1:-1] if name[:1] in ('"', "`", "[") else name


def _split(text: str) -> list[str]:
    """The parts between commas outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        else:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return parts
