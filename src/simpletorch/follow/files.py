"""Files that the program has written itself, and reads back; and data files that it finds on the disk (`disk`).

`Interpreter.files` holds by the parts of a path (`texts.parts_of`) what kind of file is there, and a copy of what was
saved. A path counts if its text is known, or but for the name of a new directory (`texts.Root`). A write to
an unknown path may have hit every path that fits it. Paths that unknown code was given aren't trusted any more.

Writes of libraries that only draw, log or download are ignored: they don't get the name of a checkpoint.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from simpletorch.follow import branches
from simpletorch.follow.disk import entries as disk
from simpletorch.follow.disk.described import Table
from simpletorch.follow.libraries.python.copy import deep, twin_of
from simpletorch.follow.marks import devices
from simpletorch.follow.memory import remembered
from simpletorch.follow.texts import Parts, Root, is_text, known_parts, parts_of
from simpletorch.follow.values import (
    HISTORY,
    MISSING,
    Choice,
    Function,
    History,
    Instance,
    Iterator,
    Saved,
    Tensor,
    Unknown,
    Value,
)
from simpletorch.rules import Device

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "AT",
    "BYTES",
    "END",
    "HOLDS",
    "PATH",
    "START",
    "STREAM",
    "STREAMS",
    "TEXT",
    "as_entry",
    "as_read",
    "copied",
    "exists",
    "folder",
    "found",
    "handed_over",
    "holds",
    "left_alone",
    "left_behind",
    "load",
    "loaded",
    "mapped",
    "members_of",
    "moved",
    "path_of",
    "put_into",
    "removed",
    "save",
    "spoiled",
    "table_of",
    "tensor_of",
    "text_of",
    "written",
]

STREAM: Final = "io.IOBase"
STREAMS: Final = frozenset({"BytesIO", "StringIO", "TextIOWrapper"})
HOLDS, AT, PATH = "(holds)", "(at)", "(path)"
"""In the cells of a stream: the entry that it holds, None where it is empty; where it stands; the parts of its path."""
START: Final = "start"
END: Final = "end"
TEXT: Final = "text"
BYTES: Final = "bytes"
_ELSEWHERE: Final = "elsewhere"


class _Handed(NamedTuple):
    """In the table: unknown code has this path, and may write to it, or below it, at any time."""

    parts: Parts


class _Vague(NamedTuple):
    """In the table: something was written to a path that begins and ends so."""

    parts: Parts


# -- paths -------------------------------------------------------------------------------------------------------------


def path_of(run: Interpreter, value: Value) -> Parts:
    """The path that a value is, as the parts of its text."""
    value = run.resolve(value)
    if isinstance(value, Instance) and value.cls.is_a("pathlib.PurePath"):
        value = value.native
    if not is_text(value):
        return (None,)
    parts = parts_of(value)
    if all(isinstance(p, str) for p in parts):
        return (posixpath.normpath("".join(parts)),)
    clean = tuple(_clean(p) if isinstance(p, str) and i else p for i, p in enumerate(parts))
    return (*parts[:1], None) if any(isinstance(p, str) and ".." in p for p in clean) else clean


def _clean(part: str) -> str:
    while "//" in part or "/./" in part:
        part = part.replace("//", "/").replace("/./", "/")
    return part


def _may_be(a: Parts, b: Parts) -> bool:
    """Whether two paths may be the same. A directory that is new is no other one."""
    if a == b:
        return True
    first, other = a[0], b[0]
    if isinstance(first, Root) or isinstance(other, Root):
        if first is None or other is None:
            return _may_end_alike(a, b)
        return first is other and _may_begin_alike(a[1:], b[1:]) and _may_end_alike(a, b)
    return _may_begin_alike(a, b) and _may_end_alike(a, b)


def _may_begin_alike(a: Parts, b: Parts) -> bool:
    one, other = (p[0] if p and isinstance(p[0], str) else "" for p in (a, b))
    if one.startswith("/") is not other.startswith("/"):
        return True  # one of them from here, the other from the root
    return one.startswith(other) or other.startswith(one)


def _may_end_alike(a: Parts, b: Parts) -> bool:
    one, other = (p[-1] if isinstance(p[-1], str) else "" for p in (a, b))
    return one.endswith(other) or other.endswith(one)


def _is_under(path: Parts, above: Parts) -> bool:
    """Whether the text of a path begins with another one."""
    last = len(above) - 1
    if len(path) <= last or path[:last] != above[:last]:
        return False
    one, other = path[last], above[last]
    return one == other or (isinstance(one, str) and isinstance(other, str) and one.startswith(other))


# -- what is in them ---------------------------------------------------------------------------------------------------


def written(run: Interpreter, path: Parts, entry: Value) -> None:
    """A file is written, whole."""
    _overwritten(run, path)
    if known_parts(path):
        run.heap.write(run.files, path, entry)
    else:
        run.heap.write(run.files, _Vague(path), True)


def _overwritten(run: Interpreter, path: Parts) -> None:
    """Forget the contents of every path that this one may be."""
    for key in [k for k in run.files if type(k) is tuple and k != path and _may_be(path, k)]:
        run.heap.write(run.files, key, run.unknown("a file that may have been written to since"))


def removed(run: Interpreter, path: Parts, *, below: bool = False) -> None:
    """A file is gone, or a directory with what is in it."""
    if not known_parts(path):
        _overwritten(run, path)
        return
    for key in [k for k in run.files if type(k) is tuple and (k == path or (below and _is_under(k, path)))]:
        run.heap.write(run.files, key, MISSING)


def left_alone(run: Interpreter) -> None:
    """Another program runs, which may write to any file."""
    run.program.reach.spoil()
    for key in [k for k in run.files if type(k) is tuple]:
        run.heap.write(run.files, key, run.unknown("a file that another program may have written"))


def left_behind(run: Interpreter) -> None:
    """Paths from here are others from now on: the program goes to another directory."""
    run.program.reach.spoil()
    for key in [k for k in run.files if type(k) is tuple and isinstance(k[0], str) and not k[0].startswith("/")]:
        run.heap.write(run.files, key, run.unknown("a file in another directory"))


def moved(run: Interpreter, source: Parts, target: Parts, *, copies: bool = False) -> None:
    """A file gets another name, or there is a copy of it."""
    entry = _own(run, source)
    if not copies:
        removed(run, source, below=True)
    written(run, target, run.unknown("a file that was moved") if entry is MISSING else entry)
    if entry is MISSING:  # it may be a directory
        written(run, (*target, None), MISSING)


def found(run: Interpreter, path: Parts) -> Value:
    """The entry to read at a path, MISSING if it isn't known."""
    entry = _own(run, path)
    return _on_disk(run, path) if entry is MISSING else entry


def _on_disk(run: Interpreter, path: Parts) -> Value:
    """The entry of a data file; MISSING if the program, or unknown code, may have written to it."""
    text = _unspoiled(run, path)
    if text is None:
        return MISSING
    vague = any(type(k) is tuple and _may_be(path, k) for k in run.files if k != path)
    vague = vague or any(isinstance(k, _Vague) and _may_be(path, k.parts) for k in run.files)
    return MISSING if vague or path in run.files else disk.entry(run, text)


def _unspoiled(run: Interpreter, path: Parts) -> str | None:
    """The text of a path that is known, and that unknown code can't have written to."""
    text = path[0] if len(path) == 1 else None
    return text if isinstance(text, str) and not run.program.reach.is_spoiled(text) else None


def _own(run: Interpreter, path: Parts) -> Value:
    """The entry that the program has written to a path, MISSING if none."""
    if run.heap.recorders:
        remembered.note_cells(run.heap, run.files)
    entry = run.files.get(path, MISSING) if known_parts(path) else MISSING
    if entry is MISSING:
        return MISSING
    if any(isinstance(k, _Handed) and _is_under(path, k.parts) for k in run.files):
        return run.unknown("a file that unknown code may have written")
    if branches.may_be_missing(run, entry):
        vague = any(isinstance(k, _Vague) and _may_be(path, k.parts) for k in run.files)
        if vague or not isinstance(path[0], Root):
            return run.unknown("a file that the program may not have written")
    return run.resolve(entry)


def exists(run: Interpreter, path: Parts) -> bool:
    """Whether the program has surely written a file."""
    entry = _own(run, path)
    return isinstance(entry, Saved) and not branches.may_be_missing(run, run.files[path])


def handed_over(run: Interpreter, values: Iterable[Value]) -> None:
    """Unknown code has these values: paths among them are its own from here on."""
    for value in values:
        value = run.resolve(value)
        path = value.native if isinstance(value, Instance) and value.cls.is_a("pathlib.PurePath") else value
        if not is_text(path):
            continue
        if isinstance(path, str):
            run.program.reach.spoil(path)
        parts = path_of(run, path)
        parts = parts[: parts.index(None)] if None in parts else parts
        known = parts and any(type(k) is tuple and _is_under(k, parts) for k in run.files)
        if (known or (parts and isinstance(parts[0], Root))) and _Handed(parts) not in run.files:
            run.heap.write(run.files, _Handed(parts), True)


def spoiled(run: Interpreter, values: Iterable[Value]) -> None:
    """Streams among these values may be written to, by what is no other harm."""
    for value in values:
        stream = run.resolve(value) if isinstance(value, Instance | Choice) else None
        if isinstance(stream, Instance) and stream.cls.is_a(STREAM):
            path = stream.cells.get(PATH)
            for name in list(stream.cells) if stream.cls.module != "io" else ():  # its own methods are called
                run.heap.write(stream.cells, name, run.unknown("what others have changed of a file"))
            run.heap.write(stream.cells, AT, _ELSEWHERE)
            run.heap.write(stream.cells, HOLDS, run.unknown("what others have written to a file"))
            if isinstance(path, tuple):
                written(run, path, run.unknown("what others have written to a file"))


# -- what is saved and loaded ------------------------------------------------------------------------------------------


def tensor_of(run: Interpreter, value: Tensor) -> Tensor:
    """A tensor as it is saved: in memory of its own, a leaf."""
    made = Tensor(value.type, array=value.array)
    history: History | None = value.cells.get(HISTORY)
    if history is not None and history.grad is not None:
        made.cells[HISTORY] = History(grad=history.grad, leaf=True, form=history.form)
    devices.DEVICE.put(made, devices.of(run, value))
    return made


_OWN: Final = ("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__")


def _twin(run: Interpreter, tensor: Callable[[Tensor], Tensor], value: Value) -> Value:
    """Another object of the same contents, as pickle makes it."""
    if isinstance(value, Tensor):
        return tensor(value)
    if isinstance(value, Iterator):
        return run.unknown("what can't be saved")
    if isinstance(value, Instance) and any(isinstance(_in_class(value, n), Function) for n in _OWN):
        return run.unknown("an object that saves itself in its own way")
    return twin_of(value)


def _in_class(value: Instance, name: str) -> Value:
    inner = value.cls.find(name)
    return None if inner is None else inner[0]


def copied(run: Interpreter, value: Value, tensor: Callable[[Tensor], Tensor] | None = None) -> Value:
    """A copy of all that is saved, or loaded; ``tensor`` gives the copy of one."""
    return deep(run, value, {}, partial(_twin, run, tensor or partial(tensor_of, run)))


def save(run: Interpreter, kind: str, value: Value, target: Value) -> None:
    """Write a value to a path or into a stream."""
    _write(run, Saved(kind, copied(run, value)), run.resolve(target))


def _write(run: Interpreter, entry: Saved, target: Value) -> Value:
    if isinstance(target, Instance) and target.cls.is_a(STREAM):
        put_into(run, target, entry)
        return None
    if isinstance(target, str | Instance | Unknown):
        written(run, path_of(run, target), entry)
        return None
    return run.each(target, lambda one: _write(run, entry, one)) if isinstance(target, Choice) else None


def put_into(run: Interpreter, stream: Instance, entry: Saved) -> None:
    """Append to a stream."""
    held, at = run.resolve(stream.cells.get(HOLDS, MISSING)), run.resolve(stream.cells.get(AT))
    now: Value
    if held is None and at == START:
        now = entry
    elif isinstance(held, Saved) and held.kind == entry.kind == TEXT and at == END:
        now = Saved(TEXT, run.operate("__add__", held.value, entry.value))
    else:
        now = run.unknown("what several have written to one file")
    run.heap.write(stream.cells, HOLDS, now)
    run.heap.write(stream.cells, AT, END)
    path = stream.cells.get(PATH)
    if path is not None:
        written(run, path if isinstance(path, tuple) else (None,), now)


def holds(run: Interpreter, source: Value) -> Value:
    """The entry to read in a path or a stream, MISSING if it isn't known."""
    if not isinstance(source, Instance) or not source.cls.is_a(STREAM):
        return found(run, path_of(run, source))
    held, at = run.resolve(source.cells.get(HOLDS, MISSING)), run.resolve(source.cells.get(AT))
    run.heap.write(source.cells, AT, _ELSEWHERE)
    return held if at == START and held is not None else run.unknown("a part of a file")


def load(
    run: Interpreter, kinds: tuple[str, ...], source: Value, tensor: Callable[[Tensor], Tensor] | None = None
) -> Value:
    """The value that a path or a stream holds, saved as one of these kinds; MISSING if it isn't known."""

    def one(entry: Value) -> Value:
        if isinstance(entry, Saved) and entry.kind in kinds:
            return copied(run, entry.value, tensor)
        return run.unknown("what is loaded from a file")

    entry = _in(run, source)
    return MISSING if entry is MISSING else run.each(entry, one)


def _in(run: Interpreter, source: Value) -> Value:
    """The entry to read in a value that may be a path or a stream, MISSING if it is neither."""
    source = run.resolve(source)
    return holds(run, source) if isinstance(source, Instance) or is_text(source) else MISSING


def loaded(run: Interpreter, kind: str, source: Value, parts: int) -> tuple[Value, ...]:
    """The parts of an image or a sound in a path or a stream; None for each where it isn't known."""
    entry = _in(run, source)
    if isinstance(entry, Saved) and entry.kind == kind and isinstance(entry.value, tuple):
        return entry.value
    return (None,) * parts


def text_of(run: Interpreter, source: Value) -> str | None:
    """The whole text in a path or a stream, None if it isn't known."""
    return disk.text_of(run, _in(run, source))


def table_of(run: Interpreter, source: Value) -> Table | None:
    """The table in a file of Parquet's or Arrow's at a path, None if it isn't known."""
    return disk.table_of(run, _in(run, source))


def members_of(run: Interpreter, source: Value) -> list[str] | None:
    """The names in the archive at a path, None if they aren't known."""
    return disk.members_of(run, _in(run, source))


def folder(run: Interpreter, value: Value) -> str | None:
    """The path of a folder on the disk that the program hasn't written to, as a text."""
    text = _unspoiled(run, path_of(run, value))
    if text is None:
        return None
    start = "" if text == "." else text
    touched = any(
        _may_begin_alike((start,), key.parts if isinstance(key, _Vague) else key)
        for key in run.files
        if isinstance(key, _Vague) or type(key) is tuple
    )
    return None if touched else text


def as_entry(run: Interpreter, value: Value) -> Value:
    """A text or bytes as what a file holds; those that were made of a value are known by that."""
    value = run.resolve(value)
    if isinstance(value, Unknown) and value.written is not None:
        return value.written
    if isinstance(value, bytes):
        return Saved(BYTES, value)
    return Saved(TEXT, value) if is_text(value) else run.unknown("what is written to a file")


def as_read(run: Interpreter, entry: Value, type: str) -> Value:
    """The contents of a file, read as a text ("str") or as bytes ("bytes")."""
    kind, value = entry if isinstance(entry, Saved) else (None, None)
    if kind == (BYTES if type == "bytes" else TEXT) and not (isinstance(value, str) and "\r" in value):
        return value
    made = run.unknown("what a file holds", "str" if type == "str" else None)
    if isinstance(kind, str) and kind not in (TEXT, BYTES):
        made.written = Saved(kind, value)
    return made


def mapped(run: Interpreter, target: Value, saved: Tensor) -> Tensor:
    """A tensor as it is loaded to a device."""
    made = tensor_of(run, saved)
    if not made.array:
        there = run.ask("Tensor.to", (saved, target)) if isinstance(target, str | Device) else None
        device = there.type.device if isinstance(there, Tensor) else None
        made.cells["type"] = replace(made.type, device=device)
        devices.DEVICE.put(made, devices.of(run, there))
    return made
