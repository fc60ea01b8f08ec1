"""``os``, ``sys``, ``pathlib`` and ``time``: paths are computed; what is on the disk, `follow.files` knows in part."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import files, items, operators, texts
from simpletorch.follow.disk.folders import matching
from simpletorch.follow.libraries import ALIASES, MADE, NATIVES, VALUES, gives, library_class, model, native
from simpletorch.follow.libraries.python.builtins import computed, pure
from simpletorch.follow.model import kinds
from simpletorch.follow.numbers import processes
from simpletorch.follow.values import (
    ASKED_FOR,
    MISSING,
    Choice,
    Class,
    Dict,
    Instance,
    Iterator,
    List,
    Native,
    Property,
    StaticMethod,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


# -- os --------------------------------------------------------------------------------------------------------------

VALUES.update({"os.sep": "/", "os.linesep": "\n", "os.pathsep": ":", "os.path.sep": "/"})
MADE["os.environ"] = processes.environment
gives("os.path.isdir os.path.islink os.path.isabs os.access", "bool", "data")
gives("os.path.getsize os.getpid os.getppid os.get_terminal_size", "int", "data")
gives("os.path.getmtime os.path.getctime", "float", "data")
gives("os.path.expanduser os.path.expandvars os.getlogin", "str")
gives("os.cpu_count os.scandir os.walk os.popen os.stat os.uname os.sched_getaffinity", None, "data")
native("os.makedirs", "os.mkdir", "os.rmdir", "os.kill", "os.umask", "os.chmod", "os.nice", "os.putenv")(_nothing)


_MOST_NAMES: Final = 200  # a loop over them is run round by round


def _known(run: Interpreter, found: list[Value] | None, item: Value) -> List:
    """A list of names, in the order that ``sorted`` gives; a long one isn't known."""
    return List(None, item) if found is None or len(found) > _MOST_NAMES else List(tuple(found))


@model("os.listdir")
def _listdir(run: Interpreter, path: Value = None) -> Value:
    path = files.folder(run, "." if path is None else path)
    real = None if path is None else run.program.reach.find(path)
    found = None if real is None else run.program.reach.names(real)
    item = run.unknown("the name of a file", "str", "data")
    return _known(run, None if found is None else [name for name, _ in found], item)


@model("glob.glob")
def _glob(
    run: Interpreter,
    pathname: Value,
    *,
    root_dir: Value = None,
    dir_fd: Value = None,
    recursive: Value = False,
    include_hidden: Value = False,
) -> Value:
    plain = root_dir is None and dir_fd is None and include_hidden is False
    found = _matching(run, _text(run, pathname), recursive is True) if plain else None
    return _known(run, found, run.unknown("the name of a file", "str", "data"))


@native("glob.iglob")
def _iglob(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _one_by_one(run.call(run.program.library(run, "glob.glob"), args, kwargs))


def _one_by_one(found: Value) -> Value:
    """The items of a list from a generator, which gives them once."""
    return Iterator(found.items, found.item) if isinstance(found, List) else found


def _matching(run: Interpreter, pattern: Value, recursive: bool, hidden: bool = False) -> list[Value] | None:
    """The paths that fit a pattern; None if that isn't known, or the program may have written there."""
    if not isinstance(pattern, str) or not pattern:
        return None
    start = posixpath.dirname(pattern.partition("*")[0].partition("?")[0].partition("[")[0])
    if files.folder(run, start or ".") is None or run.program.reach.find(start or ".") is None:
        return None
    found = matching(run.program.reach, pattern, recursive=recursive, hidden=hidden)
    return found and list(found)


@model("os.system")
def _system(run: Interpreter, command: Value) -> Value:
    files.left_alone(run)
    return run.unknown("what os.system gives", "int", "data")


@model("os.path.exists", "os.path.isfile")
def _exists(run: Interpreter, path: Value) -> Value:
    there = files.exists(run, files.path_of(run, path))
    return there or run.unknown("what is on the disk", "bool", "data")


@model("os.remove", "os.unlink")
def _remove(run: Interpreter, path: Value, *, dir_fd: Value = None) -> Value:
    files.removed(run, files.path_of(run, path))
    return None


@model("os.symlink", "os.link")
def _link(run: Interpreter, src: Value, dst: Value, *more: Value, **rest: Value) -> Value:
    target = files.path_of(run, dst)
    files.written(run, (*target, None), run.unknown("a file of two names"))
    return None


@model("os.rename", "os.replace")
def _rename(run: Interpreter, src: Value, dst: Value, *, src_dir_fd: Value = None, dst_dir_fd: Value = None) -> Value:
    files.moved(run, files.path_of(run, src), files.path_of(run, dst))
    return None


@model("os.chdir")
def _chdir(run: Interpreter, path: Value) -> Value:
    files.left_behind(run)
    run.program.has_moved = True
    return None


def _text(run: Interpreter, value: Value) -> Value:
    """A path as a string."""
    value = run.resolve(value)
    return value.native if isinstance(value, Instance) and value.cls.is_a("pathlib.PurePath") else value


def _from_here(name: str, function: Callable[..., str]) -> None:
    """A path by where the program runs: in the current folder, until it goes to another one."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        def compute(given: tuple[Value, ...]) -> Value:
            if not all(isinstance(a, str) and "\0" not in a for a in given) or run.program.has_moved or kwargs:
                return run.unknown(f"what {name} gives", "str")
            return function(*given)

        return _on_each(run, args, compute)

    native(name)(work)


for _name in ("abspath", "realpath", "relpath"):
    _from_here(f"os.path.{_name}", getattr(posixpath, _name))
_from_here("os.getcwd", os.getcwd)


def _on_paths(name: str, function: Callable[..., Any], type: str | None) -> None:
    inner = pure(name, function, type)
    NATIVES[name] = Native(name, lambda run, args, kwargs: inner.work(run, tuple(_text(run, a) for a in args), kwargs))


for _name in ("normpath", "commonprefix"):
    _on_paths(f"os.path.{_name}", getattr(posixpath, _name), "str")
for _name in ("split", "splitext"):
    _on_paths(f"os.path.{_name}", getattr(posixpath, _name), None)


def _on_each(run: Interpreter, args: tuple[Value, ...], compute: Callable[[tuple[Value, ...]], Value]) -> Value:
    """``compute`` of paths as strings, for each that they may be."""
    given = tuple(_text(run, a) for a in args)
    place = next((i for i, a in enumerate(given) if isinstance(a, Choice)), None)
    if place is None:
        return compute(given)
    return run.each(given[place], lambda v: _on_each(run, (*given[:place], v, *given[place + 1 :]), compute))


@model("os.path.join")
def _join(run: Interpreter, a: Value, /, *p: Value) -> Value:
    def compute(given: tuple[Value, ...]) -> Value:
        if all(isinstance(a, str) for a in given):
            return computed(run, posixpath.join, given, {})
        return texts.of_path(run, given, "what os.path.join gives")

    return _on_each(run, (a, *p), compute)


def _name_or_folder(name: str, function: Callable[[str], str], which: int) -> Native:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        def compute(given: tuple[Value, ...]) -> Value:
            if isinstance(given[0], str):
                return computed(run, function, given, kwargs)
            found = texts.name_in(given[0])
            if found is None:
                return run.unknown(f"what {name} gives", "str")
            return texts.of_parts(run, found[0], "a folder") if which == 0 else found[1]

        return _on_each(run, args, compute)

    return Native(name, work)


NATIVES["os.path.dirname"] = _name_or_folder("os.path.dirname", posixpath.dirname, 0)
NATIVES["os.path.basename"] = _name_or_folder("os.path.basename", posixpath.basename, 1)


@model("os.fspath")
def _fspath(run: Interpreter, path: Value) -> Value:
    return run.each(path, lambda v: _text(run, v))


@native("os.getenv")
def _getenv(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    environment = run.program.library(run, "os.environ")
    return run.call(run.attribute(environment, "get"), args, kwargs)


# -- sys -------------------------------------------------------------------------------------------------------------

VALUES.update({
    "sys.maxsize": 2**63 - 1,
    "sys.platform": Unknown("the platform", "str"),
    "sys.byteorder": Unknown("the platform", "str"),
    "sys.executable": Unknown("where Python is", "str"),
    "sys.version": Unknown("Python's version", "str"),
})  # fmt: skip
gives("sys.getsizeof sys.getrecursionlimit sys.getrefcount", "int", "data")
native("sys.setrecursionlimit")(_nothing)


@native("sys.settrace", "sys.setprofile", "sys.addaudithook", "threading.settrace", "threading.setprofile")
def _listen(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Python calls the function from now on, at each line, call or event."""
    run.escape((*args, *kwargs.values()))
    return None


def _arguments(run: Interpreter) -> List:
    """The command line; without arguments what it is asked for is there, whatever it is."""
    made = List((run.program.shown, *run.program.arguments))
    if not run.program.arguments:
        made.cells[ASKED_FOR] = run.unknown("an argument of the command line", "str")
    return made


MADE["sys.argv"] = _arguments
MADE["sys.path"] = lambda run: Instance(run.program.library_class("sys._SearchPath"))


def _search_here(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``sys.path.append(folder)``: the program's own modules may lie there."""
    folder = _text(run, args[-1])
    if isinstance(folder, str):
        run.program.search(folder, first=len(args) == 3 and run.resolve(args[1]) == 0)
    return None


def _search_all(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    for folder in run.items(args[1]) or ():
        _search_here(run, (args[0], folder), {})
    return args[0]


def _first_folder(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``sys.path[0]``: the program's own folder."""
    here = run.resolve(args[1]) == 0 and not run.program.has_moved
    return str(run.program.path.parent) if here else run.unknown("a folder of modules", "str")


library_class(
    "sys._SearchPath",
    methods={
        "append": _search_here,
        "insert": _search_here,
        "extend": lambda run, args, kwargs: _search_all(run, args, kwargs) and None,
        "__iadd__": _search_all,
        "__getitem__": _first_folder,
        **dict.fromkeys(("remove", "pop"), _nothing),
    },
    unknown="where Python looks for modules",
)


def _modules(run: Interpreter) -> Instance:
    """``sys.modules``: the program's own by their names; what a program puts there counts, others aren't known."""
    rest = Unknown("a module that was imported, or not")
    return Instance(run.program.library_class("sys._Modules"), Dict({}, rest))


def _module(run: Interpreter, self: Value, name: Value, /, *default: Value) -> Value:
    """``sys.modules[name]``."""
    modules = self.native
    if isinstance(name, str) and name in run.program.modules and name not in modules.cells:
        return run.program.modules[name]
    return items.get(run, modules, name)


def _is_imported(run: Interpreter, self: Value, name: Value, /) -> Value:
    """``name in sys.modules``."""
    modules = self.native
    known = isinstance(name, str) and name in run.program.modules and name not in modules.cells
    return True if known else operators.contains(run, modules, name)


library_class("sys._Modules", methods={"__getitem__": _module, "get": _module, "__contains__": _is_imported})
MADE["sys.modules"] = _modules


# -- pathlib ---------------------------------------------------------------------------------------------------------


def _path(run: Interpreter, text: Value) -> Instance:
    return Instance(run.program.library_class("pathlib.Path"), text)


_LONGEST: Final = 10_000  # characters of a path


def _make_path(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def compute(parts: tuple[Value, ...]) -> Value:
        if all(isinstance(p, str) for p in parts):
            long = sum(map(len, parts)) > _LONGEST
            return Instance(cls, run.unknown("a long path", "str") if long else str(PurePosixPath(*parts)))
        return Instance(cls, texts.of_path(run, parts, "a path"))

    return _on_each(run, args, compute)


def _joined(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _make_path(run, args[0].cls, args, {})


def _of_unknown(run: Interpreter, name: str, text: Value) -> Value:
    """A part of a path of which only a part is known."""
    known = texts.name_in(text)
    if name == "parent":
        return _path(run, run.unknown("a path", "str") if known is None else texts.of_parts(run, known[0], "a path"))
    if known is None or name == "parts":
        return run.unknown("a path's name", "str" if name != "parts" else None)
    return getattr(PurePosixPath(known[1]), name)


def _part(name: str) -> Property:
    """A part of the path's text: a path, or a string."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        text = args[0].native
        if not isinstance(text, str):
            return _of_unknown(run, name, text)
        found = getattr(PurePosixPath(text), name)
        return _path(run, str(found)) if name == "parent" else found

    return Property(Native(name, work))


def _changed(name: str) -> Any:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        text, to = args[0].native, run.resolve(args[1])
        if isinstance(text, str) and isinstance(to, str):
            return _path(run, str(getattr(PurePosixPath(text), name)(to)))
        known = texts.name_in(text)
        if known is None or not isinstance(to, str):
            return _path(run, run.unknown("a path", "str"))
        other = str(getattr(PurePosixPath(known[1]), name)(to))
        return _path(run, texts.of_parts(run, (*known[0], f"/{other}"), "a path"))

    return work


def _elsewhere(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A path that depends on where the program runs."""
    if args and texts.begins_anew(args[0].native):
        return args[0]
    return _path(run, run.unknown("a path", "str"))


def _absolute(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``resolve()``, ``absolute()``."""
    if not isinstance(args[0].native, str):
        return _elsewhere(run, args, kwargs)
    return _path(run, run.call(run.program.library(run, "os.path.realpath"), (args[0].native,)))


def _here(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _path(run, run.call(run.program.library(run, "os.getcwd"), ()))


def _parents(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    text = args[0].native
    if not isinstance(text, str):
        return List(None, _path(run, run.unknown("a path", "str")))
    return tuple(_path(run, str(p)) for p in PurePosixPath(text).parents)


def _relative(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    text, start = args[0].native, _text(run, args[1]) if len(args) == 2 else None
    if isinstance(text, str) and isinstance(start, str) and PurePosixPath(text).is_relative_to(start):
        return _path(run, str(PurePosixPath(text).relative_to(start)))
    return _path(run, run.unknown("a path", "str"))


def _same(run: Interpreter, self: Value, other: Value, /) -> Value:
    if not isinstance(other, Instance) or not other.cls.is_a("pathlib.PurePath"):
        return run.derived("==", self, other) if isinstance(other, Unknown) else False
    return run.operate("__eq__", self.native, other.native)


def _is_there(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _exists(run, args[0])


def _read(type: str) -> Any:
    """``read_text()``, ``read_bytes()``."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        entry = files.found(run, files.path_of(run, args[0]))
        if entry is MISSING:
            return run.unknown("what is on the disk", "str" if type == "str" else None, "data")
        return run.each(entry, lambda v: files.as_read(run, v, type))

    return work


def _write(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``write_text(text)``, ``write_bytes(bytes)``."""
    given = args[1] if len(args) > 1 else kwargs.get("data")
    files.written(run, files.path_of(run, args[0]), files.as_entry(run, given))
    return run.unknown("how much was written", "int", "data")


def _move(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``rename(target)``, ``replace(target)``."""
    files.moved(run, files.path_of(run, args[0]), files.path_of(run, args[1]))
    return _make_path(run, args[0].cls, args[1:], {})


def _open(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.library(run, "io.open"), args, kwargs)


def _unknown(type: str | None) -> Any:
    return lambda run, args, kwargs: run.unknown("what is on the disk", type, "data")


def _paths(name: str) -> Any:
    """``glob(pattern)``, ``rglob(pattern)``, ``iterdir()``."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        folder = args[0].native
        pattern = "*" if name == "iterdir" else run.resolve(args[1]) if len(args) == 2 else None
        found = None
        if isinstance(folder, str) and isinstance(pattern, str) and not kwargs:
            whole = posixpath.join(folder, "**" if name == "rglob" else "", pattern)
            found = _matching(run, whole.removeprefix("./"), True, hidden=True)
        paths = None if found is None else [_path(run, one) for one in found]
        return _one_by_one(_known(run, paths, _path(run, run.unknown("a path", "str"))))

    return work


_PATH_METHODS: Final[dict[str, Any]] = {
    "__truediv__": _joined,
    "__rtruediv__": lambda run, args, kwargs: _make_path(run, args[0].cls, (args[1], args[0]), {}),
    "__str__": lambda run, args, kwargs: args[0].native,
    "__fspath__": lambda run, args, kwargs: args[0].native,
    "__eq__": _same,
    "joinpath": _joined,
    "as_posix": lambda run, args, kwargs: args[0].native,
    "with_suffix": _changed("with_suffix"),
    "with_name": _changed("with_name"),
    "with_stem": _changed("with_stem"),
    **{n: _part(n) for n in ("parent", "name", "stem", "suffix", "parts")},
    **dict.fromkeys(("resolve", "absolute"), _absolute),
    "expanduser": _elsewhere,
    "parents": Property(Native("parents", _parents)),
    "relative_to": _relative,
    **dict.fromkeys(("is_dir", "is_symlink", "is_absolute"), _unknown("bool")),
    **dict.fromkeys(("stat", "samefile"), _unknown(None)),
    **dict.fromkeys(("exists", "is_file"), _is_there),
    **dict.fromkeys(("write_text", "write_bytes"), _write),
    **dict.fromkeys(("rename", "replace"), _move),
    "read_text": _read("str"),
    "read_bytes": _read("bytes"),
    "open": _open,
    "unlink": lambda run, args, kwargs: _remove(run, args[0]),
    **{n: _paths(n) for n in ("glob", "rglob", "iterdir")},
    **dict.fromkeys(("mkdir", "rmdir", "touch", "chmod"), _nothing),
    "cwd": StaticMethod(Native("cwd", _here)),
    "home": StaticMethod(Native("home", _elsewhere)),
}
library_class("pathlib.PurePath", make=_make_path, methods=_PATH_METHODS)
library_class("pathlib.Path", ("pathlib.PurePath",))
ALIASES.update({"pathlib.PosixPath": "pathlib.Path", "pathlib.PurePosixPath": "pathlib.PurePath"})


# -- time ------------------------------------------------------------------------------------------------------------

gives("time.time time.perf_counter time.monotonic time.process_time time.thread_time", "float", "data")
gives("time.time_ns time.perf_counter_ns time.monotonic_ns", "int", "data")
gives("time.strftime time.ctime time.asctime", "str", "data")
gives("datetime.date datetime.date.today datetime.date.fromisoformat datetime.date.fromordinal", "date", "data")
gives("time.localtime time.gmtime", None, "data")


@model("time.sleep")
def _sleep(run: Interpreter, seconds: Value, /) -> None:
    if isinstance(seconds, int | float) and seconds < 0:
        raise kinds.error("ValueError")
