"""``sqlite3``: what queries of one table give (`sqlite3.txt`). The database itself runs none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import files
from simpletorch.follow.disk.sqlite import FLOATS, INTEGERS, Asked, asked, changes
from simpletorch.follow.libraries import native
from simpletorch.follow.libraries.installed import spoils, stand
from simpletorch.follow.values import Dict, Instance, List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["query"]

_MOST_ITEMS: Final = 20_000
_URL: Final = "sqlite:///"
_WHAT: Final = "what a database gives"

stand("sqlite3", "sqlite3.txt", {name: f"{name} dbapi2.{name}" for name in ("Connection", "Cursor", "connect")})
spoils("simpletorch_sqlite3.written", _WHAT, "data")


def query(run: Interpreter, connection: Value, text: Value) -> Asked | None:
    """The result of a query through a connection, or the URL of a file; None where it isn't known."""
    connection, text = run.resolve(connection), run.resolve(text)
    if isinstance(connection, str) and connection.startswith(_URL):
        path: Value = connection.removeprefix(_URL)
    elif isinstance(connection, Instance) and connection.cls.name == "Connection":
        path = connection.cells.get("database")
    else:
        return None
    return _of_file(run, path, text) if isinstance(text, str) else None


def _of_file(run: Interpreter, path: Value, text: str) -> Asked | None:
    found = files.load(run, ("sqlite",), path)
    return asked(dict(found.cells), text) if isinstance(found, Dict) else None


@native("simpletorch_sqlite3.asked")
def _asked(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The rows that a statement gives, and their ``description``; a connection may make other objects of the rows."""
    path, text, row, letters = map(run.resolve, args)
    reads = isinstance(text, str) and not changes(text)
    if not reads:
        files.handed_over(run, (path,))
    found = _of_file(run, path, text) if reads else None
    if found is None:
        return run.unknown(_WHAT, None, "data"), run.unknown("the columns of a result", None, "data")
    names = (run.unknown("a column's name", "str", "data") if name is None else name for name in found.columns)
    described = tuple((name, None, None, None, None, None, None) for name in names)
    if row is not None or getattr(letters, "name", "") != "str":
        return run.unknown(_WHAT, None, "data"), described
    kinds = {INTEGERS: "int", FLOATS: "float"}
    each = tuple(run.unknown("what is in a database", kinds.get(kind), "data") for kind in found.kinds)
    if found.rows is None or found.rows * len(each) > _MOST_ITEMS:
        return List(None, each), described
    return List((each,) * found.rows), described


@native("simpletorch_sqlite3.has_rows")
def _has_rows(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether rows are known one by one, and one is left."""
    found = run.resolve(args[0])
    return isinstance(found, List) and bool(found.items)
