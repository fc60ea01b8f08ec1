"""``pandas``: a table is the array of its values, ``(rows, columns)``, and the names of its columns if they are known.

What is read from a file has some number of rows and of columns, each the same wherever it is used. Dtypes aren't known:
they are a column's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard

from simpletorch.follow import files
from simpletorch.follow.disk import entries
from simpletorch.follow.disk.described import Table, Unreadable
from simpletorch.follow.disk.tables import csv_table
from simpletorch.follow.libraries import by_name, gives, library_class, native
from simpletorch.follow.libraries.arrays import NAMES, array, as_array
from simpletorch.follow.values import (
    MISSING,
    Choice,
    Class,
    Dict,
    Instance,
    List,
    Native,
    Property,
    Tensor,
    Unknown,
    Value,
    is_int,
)
from simpletorch.rules.core.dtype import BOOL, INT64, DType
from simpletorch.shapes import UNKNOWN, Dim, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

FRAME: Final = "pandas.DataFrame"
SERIES: Final = "pandas.Series"
_MOST_NAMED: Final = 8
_INDEXERS: Final = ("iloc", "loc")


# -- frames and series -----------------------------------------------------------------------------------------------


def _made(run: Interpreter, dims: tuple[Dim, ...], dtype: DType | None = None, names: Value = None) -> Value:
    """A frame of two dims, a series of one; a number of none isn't known."""
    if not dims:
        return run.unknown("a value of a table")
    made = Instance(run.program.library_class(FRAME if len(dims) == 2 else SERIES))
    _hold(run, made, dims, dtype, names)
    return made


def _hold(run: Interpreter, table: Instance, dims: tuple[Dim, ...], dtype: DType | None, names: Value) -> None:
    known = tuple(run.some_size() if d is UNKNOWN else d for d in dims)
    run.heap.write(table.cells, "_data", array(Shape(known), dtype))
    run.heap.write(table.cells, "_names", names)


def _is_table(value: Value) -> TypeGuard[Instance]:
    return isinstance(value, Instance) and (value.cls.is_a(FRAME) or value.cls.is_a(SERIES))


def _dims(run: Interpreter, table: Instance) -> tuple[Dim, ...]:
    """The sizes; what two ways have left behind isn't one size."""
    data = run.resolve(table.cells.get("_data"))
    if isinstance(data, Tensor) and data.type.shape.is_exact:
        return data.type.shape.dims
    return (UNKNOWN,) * (2 if table.cls.is_a(FRAME) else 1)


def _dtype(run: Interpreter, table: Instance) -> DType | None:
    data = run.resolve(table.cells.get("_data"))
    return data.type.dtype if isinstance(data, Tensor) else None


def _names(run: Interpreter, table: Instance) -> tuple[str, ...] | None:
    """The names of the columns, if all are known."""
    found = run.resolve(table.cells.get("_names"))
    names = tuple(map(run.resolve, found)) if isinstance(found, tuple) else (None,)
    return names if all(isinstance(n, str) for n in names) else None


def _values(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``frame.values``: a new array, as far as anybody may rely on it."""
    return array(Shape(_dims(run, args[0])), _dtype(run, args[0]))


def _converted(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``frame.to_numpy(dtype)``."""
    dtype = by_name("dtype copy na_value", args[1:], kwargs).get("dtype")
    made = as_array(run, _values(run, args, {}))
    return made if dtype is None else run.call(run.attribute(made, "astype"), (dtype,))


def _cast(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    dtype = run.resolve(by_name("dtype copy", args[1:], kwargs).get("dtype"))
    made = Tensor(as_array(run, _values(run, args, {})).type, array=True)
    cast = None if isinstance(dtype, Dict) else run.resolve(run.call(run.attribute(made, "astype"), (dtype,)))
    kind = cast.type.dtype if isinstance(cast, Tensor) else None
    return _made(run, _dims(run, args[0]), kind, run.resolve(args[0].cells.get("_names")))


def _same(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """What keeps rows and columns."""
    if run.resolve(kwargs.get("inplace", False)) is not False:
        return None
    return _made(run, _dims(run, args[0]), None, run.resolve(args[0].cells.get("_names")))


def _some_rows(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """What keeps the columns, and nobody knows how many rows."""
    table = args[0]
    if run.resolve(kwargs.get("axis", 0)) not in (0, "index"):
        return _changed(run, args, kwargs)
    dims, names = (UNKNOWN, *_dims(run, table)[1:]), run.resolve(table.cells.get("_names"))
    if run.resolve(kwargs.get("inplace", False)) is not False:
        _hold(run, table, dims, _dtype(run, table), names)
        return None
    return _made(run, dims, _dtype(run, table), names)


def _changed(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """What changes rows and columns in a way that isn't followed."""
    table = args[0]
    if run.resolve(kwargs.get("inplace", False)) is not False:
        _hold(run, table, (UNKNOWN,) * len(_dims(run, table)), None, None)
        return None
    return _made(run, (UNKNOWN,) * len(_dims(run, table)))


def _dropped(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``frame.drop``: columns by name, which must be there unless errors are ignored; or rows."""
    given = by_name("labels", args[1:], kwargs)
    columns = given.get("columns")
    if columns is None and run.resolve(given.get("axis", 0)) in (1, "columns"):
        columns = given.get("labels")
    table, dims = args[0], _dims(run, args[0])
    if columns is None or len(dims) != 2:
        return _some_rows(run, args[:1], {k: v for k, v in kwargs.items() if k == "inplace"})
    gone = _labels(run, columns)
    names = _names(run, table)
    count: Dim = UNKNOWN
    if gone is not None and len(set(gone)) == len(gone) and "errors" not in given:
        left = run.operate("__sub__", dims[1], len(gone)) if is_int(dims[1]) else UNKNOWN
        count = left if is_int(left) else UNKNOWN
    kept = None if names is None or gone is None else tuple(n for n in names if n not in gone)
    count = len(kept) if kept is not None else count
    if run.resolve(kwargs.get("inplace", False)) is not False:
        _hold(run, table, (dims[0], count), _dtype(run, table), kept)
        return None
    return _made(run, (dims[0], count), _dtype(run, table), kept)


def _labels(run: Interpreter, value: Value) -> tuple[str, ...] | None:
    """Names of columns: one, or a list of known ones."""
    value = run.resolve(value)
    if isinstance(value, str):
        return (value,)
    items = run.items(value) if isinstance(value, List | tuple) else None
    found = None if items is None else tuple(map(run.resolve, items))
    return found if found is not None and all(isinstance(n, str) for n in found) else None


def _elementwise(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Arithmetic: rows and columns go together by their labels, so that another table may bring other ones."""
    other = run.resolve(args[1]) if len(args) > 1 else None
    own = _dims(run, args[0])
    fits = not _is_table(other) or _dims(run, other) == own
    return _made(run, own if fits else (UNKNOWN,) * len(own))


def _compared(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return _made(run, _dims(run, args[0]), BOOL)


# -- selection -------------------------------------------------------------------------------------------------------


def _is_mask(run: Interpreter, key: Value) -> bool:
    if _is_table(key):
        return _dtype(run, key) == BOOL
    if isinstance(key, Unknown):  # ``frame.age > 30``
        return key.type == "bool"
    return isinstance(key, Tensor) and key.type.dtype == BOOL


def _selected(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``frame["a"]``, ``frame[["a", "b"]]``, ``frame[mask]``, ``frame[2:5]``; a series by position, label or mask."""
    table, key = args[0], run.resolve(args[1])
    dims, dtype = _dims(run, table), _dtype(run, table)
    if _is_mask(run, key) or isinstance(key, slice):
        return _made(run, (UNKNOWN, *dims[1:]), dtype, run.resolve(table.cells.get("_names")))
    if len(dims) == 1:
        return run.unknown("an item of a series")
    if isinstance(key, str):
        return _made(run, dims[:1], dtype)
    names = _labels(run, key) if isinstance(key, List) else None
    if names is not None:
        return _made(run, (dims[0], len(names)), dtype, names)
    return _made(run, (dims[0], UNKNOWN), dtype) if isinstance(key, List) else run.unknown("a part of a table")


def _assigned(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``frame["a"] = …``: a column that may be new; whatever is put into it, its dtype isn't known."""
    table, key = args[0], run.resolve(args[1])
    dims, names = _dims(run, table), _names(run, table)
    if len(dims) == 2:
        known = names is not None and isinstance(key, str)
        after = None if not known else names if key in (names or ()) else (*(names or ()), key)
        _hold(run, table, (dims[0], UNKNOWN if after is None else len(after)), None, after)
    else:
        _hold(run, table, (UNKNOWN,), None, None)
    return None


def _indexer(name: str) -> Property:
    def get(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        made = Instance(run.program.library_class(f"pandas.core.indexing.{name}"))
        run.heap.write(made.cells, "_table", args[0])
        return made

    return Property(Native(name, get))


def _along(run: Interpreter, size: Dim, key: Value, by_label: bool) -> tuple[Dim, ...] | None:
    """What is left of an axis: nothing for one position, else its new size; None where that isn't known."""
    key = run.resolve(key)
    if isinstance(key, slice):
        if key.start is None and key.stop is None and key.step is None:
            return (size,)
        cut = None if by_label else run.resolve(run.ask("Tensor.__getitem__", (array(Shape((size,)), None), key)))
        return (cut.type.shape.dim(0),) if isinstance(cut, Tensor) and cut.type.shape.rank == 1 else (UNKNOWN,)
    if isinstance(key, List):
        items = run.items(key)
        chosen = None if items is None else [run.resolve(i) for i in items]
        counted = chosen is not None and not any(isinstance(i, bool | Unknown | Choice) for i in chosen)
        return (len(chosen),) if counted and chosen is not None else (UNKNOWN,)
    if _is_mask(run, key):
        return (UNKNOWN,)
    if isinstance(key, Tensor) and key.type.shape.rank == 1:
        return (key.type.shape.dim(0) if key.type.dtype == INT64 else UNKNOWN,)
    if isinstance(key, str) or is_int(key) or (isinstance(key, Unknown) and key.type in ("int", "str")):
        return ()
    return None


def _located(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``frame.iloc[rows, columns]`` and ``frame.loc``."""
    table, by_label = run.resolve(args[0].cells.get("_table")), args[0].cls.name == "loc"
    if not isinstance(table, Instance):
        return run.unknown("a part of a table")
    dims, key = _dims(run, table), run.resolve(args[1])
    keys = tuple(key) if isinstance(key, tuple) else (key,)
    if len(keys) > len(dims):
        return run.unknown("a part of a table")
    parts = [_along(run, d, k, by_label) for d, k in zip(dims, (*keys, *[slice(None)] * 2), strict=False)]
    if any(p is None for p in parts):
        return run.unknown("a part of a table")
    columns = _labels(run, keys[1]) if by_label and len(keys) == 2 and isinstance(run.resolve(keys[1]), List) else None
    whole = len(keys) == 1 and run.resolve(table.cells.get("_names"))
    return _made(run, tuple(d for p in parts if p for d in p), _dtype(run, table), columns or whole or None)


def _replaced(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``frame.loc[…] = …`` may add rows and columns."""
    table = run.resolve(args[0].cells.get("_table"))
    if isinstance(table, Instance):
        by_label = args[0].cls.name == "loc"
        dims, names = _dims(run, table), run.resolve(table.cells.get("_names"))
        _hold(run, table, (UNKNOWN,) * len(dims) if by_label else dims, None, None if by_label else names)
    return None


for _name in _INDEXERS:
    library_class(f"pandas.core.indexing.{_name}", methods={"__getitem__": _located, "__setitem__": _replaced})


# -- what else a table says ------------------------------------------------------------------------------------------


def _shape(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return tuple(run.unknown("the size of a table", "int", "data") if d is UNKNOWN else d for d in _dims(run, args[0]))


def _length(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return _shape(run, args, kwargs)[0]


def _columns(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    names = _names(run, args[0])
    made = Instance(run.program.library_class("pandas.Index"))
    shape = _shape(run, args, kwargs)
    listed = List(None, run.unknown("the name of a column", "str", "data")) if names is None else List(names)
    made.cells.update(_listed=listed, _count=shape[-1])
    return made


def _listed(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return args[0].cells["_listed"]


library_class(
    "pandas.Index",
    methods={
        "tolist": _listed,
        "to_list": _listed,
        "__iter__": lambda run, args, kwargs: run.call(run.attribute(_listed(run, args, kwargs), "__iter__"), ()),
        "__len__": lambda run, args, kwargs: args[0].cells["_count"],
        "__getitem__": lambda run, args, kwargs: run.unknown("the names of columns", None, "data"),
        "__contains__": lambda run, args, kwargs: run.unknown("whether there is a column", "bool", "data"),
    },
)


def _list(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return List(None, run.unknown("a value of a table", None, "data"))


def _attribute(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``frame.label`` is a column if there is one; whatever else pandas has isn't known."""
    name, names = run.resolve(args[1]), _names(run, args[0])
    dims = _dims(run, args[0])
    if len(dims) == 2 and names is not None and name in names:
        return _made(run, dims[:1])
    return run.unknown(f"attribute {name!r} of a table")


def _unique(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return array(Shape((run.some_size(),)), _dtype(run, args[0]))


def _reset(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``reset_index`` makes a column of the index unless it is dropped."""
    kept = run.resolve(by_name("level drop", args[1:], kwargs).get("drop", False)) is True
    return (_same if kept else _changed)(run, args, {k: v for k, v in kwargs.items() if k == "inplace"})


_KEPT: Final = (
    "copy fillna sort_values sort_index round abs clip interpolate ffill bfill shift diff rank cumsum where mask "
    "pct_change replace add_prefix add_suffix"
)
_FEWER: Final = "head tail sample dropna drop_duplicates query nlargest nsmallest filter truncate"
_OTHER: Final = (
    "merge join melt pivot pivot_table stack unstack explode transpose describe agg aggregate append select_dtypes "
    "assign rename insert set_index reindex"
)
_ARITHMETIC: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_COMMON: Final = {
    "values": Property(Native("values", _values)),
    "shape": Property(Native("shape", _shape)),
    "iloc": _indexer("iloc"),
    "loc": _indexer("loc"),
    "__array__": _values,
    "__len__": _length,
    "__getitem__": _selected,
    "__setitem__": _assigned,
    "__getattr__": _attribute,
    "to_numpy": _converted,
    "astype": _cast,
    "drop": _dropped,
    "reset_index": _reset,
    **{f"__{prefix}{name}__": _elementwise for prefix in ("", "r") for name in _ARITHMETIC},
    **{f"__{name}__": _compared for name in ("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "invert")},
    **dict.fromkeys(("isna", "isnull", "notna", "notnull", "isin", "duplicated", "between"), _compared),
    **dict.fromkeys(("__neg__", "__abs__"), _elementwise),
    **dict.fromkeys(_KEPT.split(), _same),
    **dict.fromkeys(_FEWER.split(), _some_rows),
    **dict.fromkeys(_OTHER.split(), _changed),
}


def _construct(run: Interpreter, cls: Class, args: Args, kwargs: Kwargs) -> Value:
    """``DataFrame({"a": rows, …})``, ``DataFrame(array, columns=names)``, ``Series(values)``."""
    given = by_name("data index columns dtype copy", args, kwargs)
    data, columns = run.resolve(given.get("data")), given.get("columns")
    made = Instance(cls)
    names = None if columns is None else _labels(run, columns)
    dims: tuple[Dim, ...] = (UNKNOWN,) if cls.name == "Series" else (UNKNOWN, UNKNOWN)
    if isinstance(data, Dict) and len(dims) == 2 and columns is None and data.rest is MISSING:
        names = _labels(run, List(tuple(data.cells)))
        rows = [as_array(run, v).type.shape for v in data.cells.values()]
        known = {s.dim(0) for s in rows if s.rank == 1}
        dims = known.pop() if len(known) == 1 else UNKNOWN, UNKNOWN if names is None else len(names)
    elif isinstance(data, Tensor | List):
        shape = as_array(run, data).type.shape
        dims = shape.dims if shape.is_exact and shape.rank == len(dims) else dims
    elif names is not None and len(dims) == 2:
        dims = UNKNOWN, len(names)
    _hold(run, made, dims, None, names)
    return made


library_class(FRAME, methods={**_COMMON, "columns": Property(Native("columns", _columns))}, make=_construct)
library_class(
    SERIES,
    make=_construct,
    methods={
        **_COMMON,
        **dict.fromkeys(("tolist", "to_list"), _list),
        **dict.fromkeys(("map", "apply"), _same),
        "unique": _unique,
    },
)

# -- functions -------------------------------------------------------------------------------------------------------


@native("pandas.read_csv")
def _read_csv(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A table of a text: its rows, columns and their one dtype, if the text is known."""
    known = _on_disk(run, args, kwargs)
    if known is None:
        return _read(run, args, kwargs)
    dtype = NAMES.get(known.dtypes[0]) if len(set(known.dtypes)) == 1 else None
    has_names = "names" in kwargs or kwargs.get("header", "infer") is not None
    return _made(run, (known.rows, len(known.columns)), dtype, known.columns if has_names else None)


@native("pandas.read_table")
def _read_table(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return _read_csv(run, args, kwargs if "delimiter" in kwargs else {"sep": "\t", **kwargs})


@native("pandas.read_excel", "pandas.read_parquet", "pandas.read_feather", "pandas.read_fwf")
def _read(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if {"chunksize", "iterator", "squeeze"} & kwargs.keys() or kwargs.get("sheet_name", 0) is None:
        return run.unknown("what is read from a file", None, "data")
    names = _labels(run, kwargs["usecols"]) if "usecols" in kwargs else None
    names = names or (_labels(run, kwargs["names"]) if "names" in kwargs and "usecols" not in kwargs else None)
    if "index_col" in kwargs or names is None:
        return _made(run, (UNKNOWN, UNKNOWN))
    return _made(run, (UNKNOWN, len(names)), None, None if "usecols" in kwargs else names)  # in the order of the file


def _on_disk(run: Interpreter, args: Args, kwargs: Kwargs) -> Table | None:
    """The table in a text that is known; None with an option that isn't followed."""
    given = {k: run.resolve(v) for k, v in by_name("filepath_or_buffer", args[:1], kwargs).items()}
    separator = given.pop("sep", given.pop("delimiter", ","))
    header, names = given.pop("header", "infer"), given.pop("names", None)
    titles = _labels(run, names) if names is not None else None
    text = files.text_of(run, given.pop("filepath_or_buffer", None))
    for harmless in ("encoding", "engine", "low_memory", "memory_map"):
        given.pop(harmless, None)
    plain = isinstance(separator, str) and len(separator) == 1 and header in ("infer", 0, None)
    if text is None or given or len(args) > 1 or not plain or (names is not None and titles is None):
        return None
    has_header = header == 0 or (header == "infer" and titles is None)
    try:
        found = csv_table(text, separator, header=has_header, names=titles)
    except Unreadable:
        return None
    shown = ", ".join(found.columns[:_MOST_NAMED]) + (", …" if len(found.columns) > _MOST_NAMED else "")
    entries.describe(run, text, f"{found.rows} rows, {len(found.columns)} columns: {shown}")
    return found


@native("pandas.get_dummies")
def _dummies(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A column for each value that occurs."""
    data = run.resolve(by_name("data", args, kwargs).get("data"))
    rows = _dims(run, data)[0] if _is_table(data) else UNKNOWN
    return _made(run, (rows, UNKNOWN))


gives(
    "pandas.to_datetime pandas.to_numeric pandas.concat pandas.merge pandas.cut pandas.qcut pandas.read_json "
    "pandas.read_sql pandas.read_pickle pandas.read_hdf pandas.crosstab pandas.factorize pandas.unique",
    None,
    "data",
)
for _name in ("isna", "isnull", "notna", "notnull"):
    gives(f"pandas.{_name}", None, "data")
