"""``io``, ``tempfile`` and ``shutil``: what a program puts into files of its own, see `follow.files`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simpletorch.follow import files
from simpletorch.follow.files import AT, BYTES, END, HOLDS, PATH, START, STREAM, TEXT
from simpletorch.follow.libraries import library_class, native
from simpletorch.follow.texts import rooted
from simpletorch.follow.values import Class, Instance, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


# -- streams -----------------------------------------------------------------------------------------------------------


def _as_entry(run: Interpreter, value: Value) -> Value:
    """A text or bytes as what a file holds; bytes that were made of a value are known by that."""
    value = run.resolve(value)
    if isinstance(value, Unknown) and value.written is not None:
        return value.written
    if isinstance(value, bytes):
        return BYTES, value
    if isinstance(value, str) or (isinstance(value, Unknown) and value.type == "str"):
        return TEXT, value
    return run.unknown("what is written to a file")


def _make_stream(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``BytesIO()``, ``BytesIO(bytes)``."""
    made = Instance(cls)
    given = run.resolve(next(iter((*args, *kwargs.values())), None))
    made.cells.update({HOLDS: None if given in (None, b"", "") else _as_entry(run, given), AT: START})
    made.state["open"] = True
    return made


def _seek(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    where, *whence = (run.resolve(a) for a in args[1:])
    ways = {(0,): START, (0, 0): START, (0, 2): END}
    at = ways.get((where, *whence)) if type(where) is int else None
    run.heap.write(args[0].cells, AT, at)
    return run.unknown("a place in a file", "int") if at != START else 0


def _truncate(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    at_start = run.resolve(args[0].cells.get(AT)) == START
    empty = at_start if len(args) == 1 else run.resolve(args[1]) == 0
    files.spoiled(run, args[:1])
    if empty:
        run.heap.write(args[0].cells, HOLDS, None)
        run.heap.write(args[0].cells, AT, START if at_start else None)
    return run.unknown("a place in a file", "int")


def _contents(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``getvalue()``: all that is held, wherever the stream stands."""
    held = run.resolve(args[0].cells.get(HOLDS))
    return run.each(held, lambda v: as_read(run, v, "str" if args[0].cls.name == "StringIO" else "bytes"))


def _read(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    held = files.holds(run, args[0])
    run.heap.write(args[0].cells, AT, END if len(args) == 1 else None)
    if len(args) > 1:
        return run.unknown("a part of a file")
    return run.each(held, lambda v: as_read(run, v, None))


def as_read(run: Interpreter, entry: Value, type: str | None) -> Value:
    """What a file holds as a text, or as bytes; ``type``: None where it isn't known which."""
    if isinstance(entry, tuple) and entry[0] == (BYTES if type == "bytes" else TEXT):
        return entry[1]
    made = run.unknown("what a file holds", "str" if type == "str" else None)
    if isinstance(entry, tuple) and isinstance(entry[0], str) and entry[0] not in (TEXT, BYTES):
        made.written = entry
    return made


def _put(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``write(text)``."""
    entry = _as_entry(run, args[1])
    if isinstance(entry, tuple):
        files.put_into(run, args[0], entry)
    else:
        files.spoiled(run, args[:1])
    return run.unknown("how much was written", "int", "data")


def _put_lines(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    files.spoiled(run, args[:1])
    return None


def _lines(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    files.holds(run, args[0])
    return run.unknown("the lines of a file")


library_class(
    STREAM,
    methods={
        "__enter__": _itself,
        "__exit__": _nothing,
        "__iter__": _lines,
        **dict.fromkeys(("close", "flush"), _nothing),
        **dict.fromkeys(("read", "readall"), _read),
        **dict.fromkeys(("readline", "readlines", "read1", "readinto", "detach"), _lines),
        **dict.fromkeys(("getvalue", "getbuffer"), _contents),
        "write": _put,
        "writelines": _put_lines,
        "seek": _seek,
        "truncate": _truncate,
    },
)
for _name in ("BytesIO", "StringIO"):
    library_class(f"io.{_name}", (STREAM,), make=_make_stream)
library_class("io.TextIOWrapper", (STREAM,))


# -- tempfile ----------------------------------------------------------------------------------------------------------


def _make_directory(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(cls)
    made.cells["name"] = rooted(run, "the name of a new directory")
    return made


def _remove_directory(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    files.removed(run, files.path_of(run, args[0].cells.get("name")), below=True)
    return None


library_class(
    "tempfile.TemporaryDirectory",
    make=_make_directory,
    methods={
        "__enter__": lambda run, args, kwargs: args[0].cells.get("name"),
        "__exit__": _remove_directory,
        "cleanup": _remove_directory,
    },
)


@native("tempfile.mkdtemp")
def _mkdtemp(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return rooted(run, "the name of a new directory")


@native("tempfile.mkstemp")
def _mkstemp(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("a number of a file", "int"), rooted(run, "the name of a new file")


@native("tempfile.NamedTemporaryFile", "tempfile.TemporaryFile")
def _new_file(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    name = rooted(run, "the name of a new file")
    made = opened(run, files.path_of(run, name), None)
    made.cells["name"] = name
    return made


def opened(run: Interpreter, path: Any, entry: Value) -> Instance:
    """A file that is open: at its start, with what it holds."""
    made = Instance(run.program.library_class("io.TextIOWrapper"))
    made.cells.update({HOLDS: entry, AT: START, PATH: path})
    made.state["open"] = True
    return made
