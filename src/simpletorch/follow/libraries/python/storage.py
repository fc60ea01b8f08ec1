"""``io``, ``pickle``, ``shutil`` and ``tempfile``: what a program puts into files of its own, see `follow.files`."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import files
from simpletorch.follow.files import AT, END, HOLDS, PATH, START, STREAM
from simpletorch.follow.libraries import by_name, library_class, model, native
from simpletorch.follow.model import often
from simpletorch.follow.texts import known_parts, rooted
from simpletorch.follow.values import MISSING, Class, Instance, List, Saved, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_BINARY: Final = "(binary)"


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


# -- streams -----------------------------------------------------------------------------------------------------------


def _make_stream(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``BytesIO()``, ``BytesIO(bytes)``."""
    made = Instance(cls)
    given = run.resolve(next(iter((*args, *kwargs.values())), None))
    made.cells.update({HOLDS: None if given in (None, b"", "") else files.as_entry(run, given), AT: START})
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


def _contents(run: Interpreter, self: Value, /) -> Value:
    """``getvalue()``: all that is held, wherever the stream stands."""
    held = run.resolve(self.cells.get(HOLDS))
    return run.each(held, lambda v: files.as_read(run, v, _kind(self)))


def _kind(stream: Instance) -> str:
    """What one reads from a stream."""
    return "bytes" if stream.cls.name == "BytesIO" or stream.cells.get(_BINARY) else "str"


def _read(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    held = files.holds(run, args[0])
    run.heap.write(args[0].cells, AT, END if len(args) == 1 else None)
    if len(args) > 1:
        return run.unknown("a part of a file")
    return run.each(held, lambda v: files.as_read(run, v, _kind(args[0])))


def _put(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``write(text)``."""
    entry = files.as_entry(run, args[1])
    if isinstance(entry, Saved):
        files.put_into(run, args[0], entry)
    else:
        files.spoiled(run, args[:1])
    return run.unknown("how much was written", "int", "data")


def _put_lines(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    files.spoiled(run, args[:1])
    return None


_MOST_LINES: Final = 200  # a loop over them is run round by round


def _all_lines(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The lines of a text from its start, as a loop or ``readlines()`` gives them."""
    held = files.holds(run, args[0])
    text = held.value if isinstance(held, Saved) and held.kind == files.TEXT else None
    if not isinstance(text, str) or args[1:] or "\r" in text or text.count("\n") > _MOST_LINES:
        return run.unknown("the lines of a file")
    return List(tuple(io.StringIO(text)))


def _lines(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    files.holds(run, args[0])
    return run.unknown("the lines of a file")


library_class(
    STREAM,
    methods={
        "__enter__": _itself,
        "__exit__": _nothing,
        "__iter__": _all_lines,
        "readlines": _all_lines,
        **dict.fromkeys(("close", "flush"), _nothing),
        **dict.fromkeys(("read", "readall"), _read),
        **dict.fromkeys(("readline", "read1", "readinto", "detach"), _lines),
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


# -- open --------------------------------------------------------------------------------------------------------------


@model("io.open")
def _open(run: Interpreter, file: Value, mode: Value = "r", *more: Value, **rest: Value) -> Value:
    path = files.path_of(run, file)
    unknown = run.unknown("what is in a file")
    unknown.without_tensors = True
    if not isinstance(mode, str) or "a" in mode or "+" in mode:
        files.written(run, path, unknown)
        return unknown
    if "w" in mode or "x" in mode:
        files.written(run, path, unknown)
        return opened(run, path, None, "b" in mode) if known_parts(path) else unknown
    entry = files.found(run, path)
    return unknown if entry is MISSING else opened(run, None, entry, "b" in mode)


def opened(run: Interpreter, path: Any, entry: Value, binary: bool) -> Instance:
    """A file that is open: at its start, with what it holds; ``path`` of one that is written to."""
    made = Instance(run.program.library_class("io.TextIOWrapper"))
    made.cells.update({HOLDS: entry, AT: START, PATH: path, _BINARY: binary})
    made.state["open"] = True
    return made


# -- pickle ------------------------------------------------------------------------------------------------------------


@model("pickle.dump")
def _dump(run: Interpreter, obj: Value, file: Value, *more: Value, **rest: Value) -> Value:
    _ask(run, obj)
    files.save(run, "pickle", obj, file)
    return None


def _ask(run: Interpreter, value: Value) -> bool:
    """Whether an object says itself what is written of it; its methods for that may do anything."""
    own = often.own_methods(run, value, _ASKED)
    run.escape((run.resolve(value), *own) if own else ())
    return bool(own)


_ASKED: Final = ("__getstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__")


@model("pickle.dumps")
def _dumps(run: Interpreter, obj: Value, *more: Value, **rest: Value) -> Value:
    made = run.unknown("what pickle.dumps gives")
    if _ask(run, obj):
        return made
    made.written = Saved("pickle", files.copied(run, obj))
    return made


@model("pickle.load")
def _load(run: Interpreter, file: Value, *more: Value, **rest: Value) -> Value:
    found = files.load(run, ("pickle",), file)
    return run.unknown("what is loaded from a file") if found is MISSING else found


@model("pickle.loads")
def _loads(run: Interpreter, data: Value, /, *more: Value, **rest: Value) -> Value:
    def one(value: Value) -> Value:
        entry = value.written if isinstance(value, Unknown) else None
        if entry is not None and entry.kind == "pickle":
            return files.copied(run, entry.value)
        return run.unknown("what is loaded from bytes")

    return run.each(data, one)


# -- safetensors -------------------------------------------------------------------------------------------------------


@model("safetensors.torch.save_file")
def _save_tensors(run: Interpreter, tensors: Value, filename: Value, metadata: Value = None) -> Value:
    files.save(run, "safetensors", tensors, filename)
    return None


@model("safetensors.torch.load_file")
def _load_tensors(run: Interpreter, filename: Value, device: Value = "cpu", *, backend: Value = "mmap") -> Value:
    tensor = partial(files.mapped, run, device)
    found = files.load(run, ("safetensors",), filename, tensor)
    return run.unknown("what is loaded from a file") if found is MISSING else found


# -- shutil ------------------------------------------------------------------------------------------------------------


def _copy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value], copies: bool = True) -> Value:
    given = by_name("src dst", args, kwargs)
    source, target = (files.path_of(run, given.get(k)) for k in ("src", "dst"))
    last = target[-1]
    if isinstance(last, str) and "." in last.rpartition("/")[2]:
        files.moved(run, source, target, copies=copies)
    else:  # it may be a directory
        files.written(run, (*target, None), run.unknown("a file that was copied"))
    return run.unknown("where a file was copied to")


native("shutil.copyfile", "shutil.copy", "shutil.copy2")(_copy)
native("shutil.move")(partial(_copy, copies=False))


@model("shutil.rmtree")
def _rmtree(run: Interpreter, path: Value, *more: Value, **rest: Value) -> Value:
    files.removed(run, files.path_of(run, path), below=True)
    return None


@model("shutil.copytree")
def _copytree(run: Interpreter, src: Value, dst: Value, *more: Value, **rest: Value) -> Value:
    files.written(run, (*files.path_of(run, dst), None), run.unknown("a file that was copied"))
    return run.unknown("where files were copied to")


# -- other programs ----------------------------------------------------------------------------------------------------


@model("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen")
def _other_program(run: Interpreter, *popenargs: Value, **rest: Value) -> Value:
    files.left_alone(run)
    made = run.unknown("what another program gives")
    made.harmless = True
    return made


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


@model("tempfile.mkdtemp")
def _mkdtemp(run: Interpreter, suffix: Value = None, prefix: Value = None, dir: Value = None) -> Value:
    return rooted(run, "the name of a new directory")


@model("tempfile.mkstemp")
def _mkstemp(run: Interpreter, *more: Value, **rest: Value) -> Value:
    return run.unknown("a number of a file", "int"), rooted(run, "the name of a new file")


@model("tempfile.NamedTemporaryFile", "tempfile.TemporaryFile")
def _new_file(run: Interpreter, *more: Value, **rest: Value) -> Value:
    name = rooted(run, "the name of a new file")
    made = opened(run, files.path_of(run, name), None, True)
    made.cells["name"] = name
    return made
