"""``numpy``: arrays in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import files, items, operators
from simpletorch.follow.disk import entries
from simpletorch.follow.disk.described import Unreadable
from simpletorch.follow.disk.tables import numbers
from simpletorch.follow.libraries import Work, library_class, model, native
from simpletorch.follow.libraries.arrays import array, as_dtype
from simpletorch.follow.values import MISSING, Dict, Instance, List, Native, Property, Saved, Tensor, Value
from simpletorch.rules.core.dtype import FLOAT64, DType
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


@model("numpy.save")
def _save(run: Interpreter, file: Value, arr: Value, allow_pickle: Value = True) -> Value:
    _put(run, file, ".npy", Saved("npy", files.copied(run, _array(run, arr))))
    return None


@native("numpy.savez", "numpy.savez_compressed")
def _save_all(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    arrays = {f"arr_{i}": v for i, v in enumerate(args[1:])} | {k: v for k, v in kwargs.items() if k != "file"}
    held = Dict({k: _array(run, v) for k, v in arrays.items()})
    _put(run, args[0] if args else kwargs.get("file"), ".npz", Saved("npz", files.copied(run, held)))
    return None


@model("numpy.savetxt")
def _save_text(run: Interpreter, fname: Value, X: Value, *more: Value, **rest: Value) -> Value:
    files.spoiled(run, (fname,))
    if not isinstance(run.resolve(fname), Instance) or files.path_of(run, fname) != (None,):
        files.written(run, files.path_of(run, fname), run.unknown("numbers as a text"))
    return None


@model("numpy.load")
def _load(run: Interpreter, file: Value, *more: Value, **rest: Value) -> Value:
    found = files.load(run, ("npy", "npz"), file)
    if found is MISSING:
        return run.unknown("what is loaded from a file")
    return run.each(found, lambda v: Instance(run.program.library_class(_ARCHIVE), v) if isinstance(v, Dict) else v)


@model("numpy.loadtxt")
def _load_text(
    run: Interpreter,
    fname: Value,
    dtype: Value = FLOAT64,
    comments: Value = "#",
    delimiter: Value = None,
    converters: Value = None,
    skiprows: Value = 0,
    *more: Value,
    **rest: Value,
) -> Value:
    plain = comments == "#" and converters is None and not more and not rest
    return _numbers(run, fname, as_dtype(dtype, FLOAT64), delimiter, skiprows) if plain else _unread(run)


@model("numpy.genfromtxt")
def _load_table(
    run: Interpreter,
    fname: Value,
    dtype: Value = FLOAT64,
    comments: Value = "#",
    delimiter: Value = None,
    skip_header: Value = 0,
    *more: Value,
    **rest: Value,
) -> Value:
    plain = comments == "#" and not more and not rest
    return _numbers(run, fname, as_dtype(dtype), delimiter, skip_header) if plain else _unread(run)


def _unread(run: Interpreter) -> Value:
    return run.unknown("an array of a shape that isn't known")


def _numbers(run: Interpreter, name: Value, kind: DType | None, separator: Value, skipped: Value) -> Value:
    """The array in a text of numbers."""
    found = files.text_of(run, name)
    if found is None or kind is None or type(skipped) is not int or not isinstance(separator, str | None):
        return _unread(run)
    try:
        made = array(Shape(numbers(found, separator, skipped=skipped).shape), kind)
    except Unreadable:
        return _unread(run)
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
