"""``numpy``: arrays in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import files, items, operators
from simpletorch.follow.disk import entries
from simpletorch.follow.disk.described import Unreadable
from simpletorch.follow.disk.tables import numbers
from simpletorch.follow.libraries import Work, arrays, by_name, library_class, native
from simpletorch.follow.values import MISSING, Dict, Instance, List, Native, Property, Saved, Tensor, Value
from simpletorch.rules.core.dtype import FLOAT64
from simpletorch.shapes import Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_ARCHIVE: Final = "numpy.lib.npyio.NpzFile"


def _array(run: Interpreter, value: Value) -> Value:
    made = run.call(run.program.library(run, "numpy.asarray"), (value,))
    return made if isinstance(made, Tensor) else run.unknown("what is saved as an array")


def _put(run: Interpreter, target: Value, ending: str, entry: Saved) -> None:
    """Write to a stream, or to a path, which gets an ending if it has none."""
    target = run.resolve(target)
    if isinstance(target, Instance) and target.cls.is_a(files.STREAM):
        files.put_into(run, target, entry)
        return
    *before, last = files.path_of(run, target)
    if isinstance(last, str) and not last.endswith(ending):
        last += ending
    files.written(run, (*before, last), entry)


@native("numpy.save")
def _save(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("file arr", args, kwargs)
    _put(run, given.get("file"), ".npy", Saved("npy", files.copied(run, _array(run, given.get("arr")))))
    return None


@native("numpy.savez", "numpy.savez_compressed")
def _save_all(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    arrays = {f"arr_{i}": v for i, v in enumerate(args[1:])} | {k: v for k, v in kwargs.items() if k != "file"}
    held = Dict({k: _array(run, v) for k, v in arrays.items()})
    _put(run, args[0] if args else kwargs.get("file"), ".npz", Saved("npz", files.copied(run, held)))
    return None


@native("numpy.savetxt")
def _save_text(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    target = args[0] if args else kwargs.get("fname")
    files.spoiled(run, (target,))
    if not isinstance(run.resolve(target), Instance) or files.path_of(run, target) != (None,):
        files.written(run, files.path_of(run, target), run.unknown("numbers as a text"))
    return None


@native("numpy.load")
def _load(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("file", args, kwargs)
    found = files.load(run, ("npy", "npz"), given.get("file"))
    if found is MISSING:
        return run.unknown("what is loaded from a file")
    return run.each(found, lambda v: Instance(run.program.library_class(_ARCHIVE), v) if isinstance(v, Dict) else v)


@native("numpy.loadtxt", "numpy.genfromtxt")
def _load_text(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = {k: run.resolve(v) for k, v in by_name("fname dtype comments delimiter", args, kwargs).items()}
    separator, skipped = given.pop("delimiter", None), given.pop("skiprows", given.pop("skip_header", 0))
    dtype = arrays.as_dtype(given.pop("dtype", None), FLOAT64)
    found = files.text_of(run, given.pop("fname", None))
    if found is None or given or dtype is None or type(skipped) is not int or not isinstance(separator, str | None):
        return run.unknown("an array of a shape that isn't known")
    try:
        made = arrays.array(Shape(numbers(found, separator, skipped=skipped).shape), dtype)
    except Unreadable:
        return run.unknown("an array of a shape that isn't known")
    entries.describe(run, found, str(made.type))
    return made


def _of_arrays(name: str) -> Work:
    return lambda run, args, kwargs: run.call(run.attribute(args[0].native, name), args[1:], kwargs)


library_class(
    _ARCHIVE,
    methods={
        **{n: _of_arrays(n) for n in ("keys", "values", "items", "get")},
        "files": Property(Native("files", lambda run, args, kwargs: List(tuple(args[0].native.cells)))),
        "__getitem__": lambda run, args, kwargs: items.get(run, args[0].native, args[1]),
        "__contains__": lambda run, args, kwargs: operators.contains(run, args[0].native, run.resolve(args[1])),
        "__len__": lambda run, args, kwargs: len(args[0].native.cells),
        "__iter__": lambda run, args, kwargs: List(tuple(args[0].native.cells)),
        "__enter__": lambda run, args, kwargs: args[0],
        "__exit__": lambda run, args, kwargs: None,
        "close": lambda run, args, kwargs: None,
    },
)
