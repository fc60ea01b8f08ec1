"""``pandas``: a table is the array of its values, ``(rows, columns)``, and the names of its columns if they are known.

What is read from a file has some number of rows and of columns, each the same wherever it is used. Dtypes aren't known:
they are a column's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard

from simpletorch.follow import files
from simpletorch.follow.disk import entries
from simpletorch.follow.disk.described import Table, Unreadable
from simpletorch.follow.disk.sqlite import FLOATS, INTEGERS, NUMBERS
from simpletorch.follow.disk.tables import csv_table
from simpletorch.follow.libraries import Work, attribute, by_name, gives, library_class, model
from simpletorch.follow.libraries.arrays import NAMES, array, as_array
from simpletorch.follow.libraries.installed.sqlite3 import query
from simpletorch.follow.numbers import sizes
from simpletorch.follow.values import (
    MISSING,
    Choice,
    Class,
    Dict,
    Instance,
    List,
    Tensor,
    Unknown,
    Value,
    is_int,
)
from simpletorch.rules.core.dtype import BOOL, FLOAT64, INT64, DType
from simpletorch.shapes import UNKNOWN, Dim, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

FRAME: Final = "pandas.DataFrame"
SERIES: Final = "pandas.Series"
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


@attribute(f"{FRAME}.values", f"{SERIES}.values")
def _values(run: Interpreter, self: Value) -> Value:
    """A new array, as far as anybody may rely on it."""
    return array(Shape(_dims(run, self)), _dtype(run, self))


def _as_array(run: Interpreter, self: Value, dtype: Value = None, copy: Value = None) -> Value:
    return _values(run, self)


def _converted(
    run: Interpreter, self: Value, dtype: Value = None, copy: Value = False, na_value: Value = None, **rest: Value
) -> Value:
    """``frame.to_numpy(dtype)``."""
    made = as_array(run, _values(run, self))
    return made if dtype is None else run.call(run.attribute(made, "astype"), (dtype,))


def _cast(run: Interpreter, self: Value, dtype: Value, copy: Value = None, errors: Value = "raise") -> Value:
    made = Tensor(as_array(run, _values(run, self)).type, array=True)
    cast = None if isinstance(dtype, Dict) else run.resolve(run.call(run.attribute(made, "astype"), (dtype,)))
    kind = cast.type.dtype if isinstance(cast, Tensor) else None
    return _made(run, _dims(run, self), kind, run.resolve(self.cells.get("_names")))


# Three answers of many methods, with the part of their signatures that counts for them.


def _same(run: Interpreter, self: Value, *more: Value, inplace: Value = False, **rest: Value) -> Value:
    """What keeps rows and columns."""
    if inplace is not False:
        return None
    return _made(run, _dims(run, self), None, run.resolve(self.cells.get("_names")))


def _some_rows(
    run: Interpreter, self: Value, *more: Value, axis: Value = None, inplace: Value = False, **rest: Value
) -> Value:
    """The same columns, and some number of rows."""
    if axis not in (0, "index", None):
        return _changed(run, self, inplace=inplace)
    dims, names = (UNKNOWN, *_dims(run, self)[1:]), run.resolve(self.cells.get("_names"))
    if inplace is not False:
        _hold(run, self, dims, _dtype(run, self), names)
        return None
    return _made(run, dims, _dtype(run, self), names)


def _changed(run: Interpreter, self: Value, *more: Value, inplace: Value = False, **rest: Value) -> Value:
    """What changes rows and columns in a way that isn't followed."""
    if inplace is not False:
        _hold(run, self, (UNKNOWN,) * len(_dims(run, self)), None, None)
        return None
    return _made(run, (UNKNOWN,) * len(_dims(run, self)))


def _dropped(
    run: Interpreter,
    self: Value,
    labels: Value = None,
    axis: Value = 0,
    index: Value = None,
    columns: Value = None,
    level: Value = None,
    inplace: Value = False,
    errors: Value = "raise",
) -> Value:
    """``frame.drop``: columns by name, which must be there unless errors are ignored; or rows."""
    if columns is None and axis in (1, "columns"):
        columns = labels
    dims = _dims(run, self)
    if columns is None or len(dims) != 2:
        return _some_rows(run, self, inplace=inplace)
    if index is not None:
        return _changed(run, self, inplace=inplace)
    gone = _labels(run, columns)
    names = _names(run, self)
    count: Dim = UNKNOWN
    if gone is not None and len(set(gone)) == len(gone) and errors == "raise":
        left = run.operate("__sub__", dims[1], len(gone)) if is_int(dims[1]) else UNKNOWN
        count = left if is_int(left) else UNKNOWN
    kept = None if names is None or gone is None else tuple(n for n in names if n not in gone)
    count = len(kept) if kept is not None else count
    if inplace is not False:
        _hold(run, self, (dims[0], count), _dtype(run, self), kept)
        return None
    return _made(run, (dims[0], count), _dtype(run, self), kept)


def _first_rows(run: Interpreter, self: Value, n: Value = 5) -> Value:
    return _some_rows(run, self)


def _sampled(
    run: Interpreter,
    self: Value,
    n: Value = None,
    frac: Value = None,
    replace: Value = False,
    weights: Value = None,
    random_state: Value = None,
    axis: Value = None,
    ignore_index: Value = False,
) -> Value:
    return _some_rows(run, self, axis=axis)


def _without_gaps(
    run: Interpreter,
    self: Value,
    axis: Value = 0,
    how: Value = None,
    thresh: Value = None,
    subset: Value = None,
    inplace: Value = False,
    ignore_index: Value = False,
) -> Value:
    return _some_rows(run, self, axis=axis, inplace=inplace)


def _filled(
    run: Interpreter,
    self: Value,
    value: Value = None,
    method: Value = None,
    axis: Value = None,
    inplace: Value = False,
    limit: Value = None,
    downcast: Value = None,
) -> Value:
    return _same(run, self, inplace=inplace)


def _copied(run: Interpreter, self: Value, deep: Value = True) -> Value:
    return _same(run, self)


def _magnitudes(run: Interpreter, self: Value) -> Value:
    return _same(run, self)


def _labels(run: Interpreter, value: Value) -> tuple[str, ...] | None:
    """Names of columns: one, or a list of known ones."""
    value = run.resolve(value)
    if isinstance(value, str):
        return (value,)
    items = run.items(value) if isinstance(value, List | tuple) else None
    found = None if items is None else tuple(map(run.resolve, items))
    return found if found is not None and all(isinstance(n, str) for n in found) else None


def _elementwise(run: Interpreter, self: Value, other: Value = None) -> Value:
    """Arithmetic: rows and columns go together by their labels, so that another table may bring other ones."""
    own = _dims(run, self)
    fits = not _is_table(other) or _dims(run, other) == own
    return _made(run, own if fits else (UNKNOWN,) * len(own))


def _compared(run: Interpreter, self: Value, *more: Value, **rest: Value) -> Value:
    return _made(run, _dims(run, self), BOOL)


def _missing(run: Interpreter, self: Value) -> Value:
    return _made(run, _dims(run, self), BOOL)


# -- selection -------------------------------------------------------------------------------------------------------


def _is_mask(run: Interpreter, key: Value) -> bool:
    if _is_table(key):
        return _dtype(run, key) == BOOL
    if isinstance(key, Unknown):  # ``frame.age > 30``
        return key.type == "bool"
    return isinstance(key, Tensor) and key.type.dtype == BOOL


def _selected(run: Interpreter, self: Value, key: Value) -> Value:
    """``frame["a"]``, ``frame[["a", "b"]]``, ``frame[mask]``, ``frame[2:5]``; a series by position, label or mask."""
    dims, dtype = _dims(run, self), _dtype(run, self)
    if _is_mask(run, key) or isinstance(key, slice):
        return _made(run, (UNKNOWN, *dims[1:]), dtype, run.resolve(self.cells.get("_names")))
    if len(dims) == 1:
        return run.unknown("an item of a series")
    if isinstance(key, str):
        return _made(run, dims[:1], dtype)
    names = _labels(run, key) if isinstance(key, List) else None
    if names is not None:
        return _made(run, (dims[0], len(names)), dtype, names)
    return _made(run, (dims[0], UNKNOWN), dtype) if isinstance(key, List) else run.unknown("a part of a table")


def _assigned(run: Interpreter, self: Value, key: Value, value: Value) -> Value:
    """``frame["a"] = …``: a column that may be new; whatever is put into it, its dtype isn't known."""
    dims, names = _dims(run, self), _names(run, self)
    if len(dims) == 2:
        known = names is not None and isinstance(key, str)
        after = None if not known else names if key in (names or ()) else (*(names or ()), key)
        _hold(run, self, (dims[0], UNKNOWN if after is None else len(after)), None, after)
    else:
        _hold(run, self, (UNKNOWN,), None, None)
    return None


def _indexer(run: Interpreter, table: Value, name: str) -> Value:
    made = Instance(run.program.library_class(f"pandas.core.indexing.{name}"))
    run.heap.write(made.cells, "_table", table)
    return made


@attribute(f"{FRAME}.iloc", f"{SERIES}.iloc")
def _by_place(run: Interpreter, self: Value) -> Value:
    return _indexer(run, self, "iloc")


@attribute(f"{FRAME}.loc", f"{SERIES}.loc")
def _by_label(run: Interpreter, self: Value) -> Value:
    return _indexer(run, self, "loc")


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


def _located(run: Interpreter, self: Value, key: Value) -> Value:
    """``frame.iloc[rows, columns]`` and ``frame.loc``."""
    table, by_label = run.resolve(self.cells.get("_table")), self.cls.name == "loc"
    if not isinstance(table, Instance):
        return run.unknown("a part of a table")
    dims = _dims(run, table)
    keys = tuple(key) if isinstance(key, tuple) else (key,)
    if len(keys) > len(dims):
        return run.unknown("a part of a table")
    parts = [_along(run, d, k, by_label) for d, k in zip(dims, (*keys, *[slice(None)] * 2), strict=False)]
    if any(p is None for p in parts):
        return run.unknown("a part of a table")
    columns = _labels(run, keys[1]) if by_label and len(keys) == 2 and isinstance(run.resolve(keys[1]), List) else None
    whole = len(keys) == 1 and run.resolve(table.cells.get("_names"))
    return _made(run, tuple(d for p in parts if p for d in p), _dtype(run, table), columns or whole or None)


def _replaced(run: Interpreter, self: Value, key: Value, value: Value) -> Value:
    """``frame.loc[…] = …`` may add rows and columns."""
    table = run.resolve(self.cells.get("_table"))
    if isinstance(table, Instance):
        by_label = self.cls.name == "loc"
        dims, names = _dims(run, table), run.resolve(table.cells.get("_names"))
        _hold(run, table, (UNKNOWN,) * len(dims) if by_label else dims, None, None if by_label else names)
    return None


for _name in _INDEXERS:
    library_class(f"pandas.core.indexing.{_name}", methods={"__getitem__": _located, "__setitem__": _replaced})


# -- what else a table says ------------------------------------------------------------------------------------------


@attribute(f"{FRAME}.shape", f"{SERIES}.shape")
def _shape(run: Interpreter, self: Value) -> Value:
    return tuple(run.unknown("the size of a table", "int", "data") if d is UNKNOWN else d for d in _dims(run, self))


def _length(run: Interpreter, self: Value) -> Value:
    return _shape(run, self)[0]


@attribute(f"{FRAME}.columns")
def _columns(run: Interpreter, self: Value) -> Value:
    names = _names(run, self)
    made = Instance(run.program.library_class("pandas.Index"))
    listed = List(None, run.unknown("the name of a column", "str", "data")) if names is None else List(names)
    made.cells.update(_listed=listed, _count=_shape(run, self)[-1])
    return made


@model("pandas.Index.tolist", "pandas.Index.to_list")
def _listed(run: Interpreter, self: Value) -> Value:
    return self.cells["_listed"]


@model("pandas.Index.__iter__")
def _over_names(run: Interpreter, self: Value) -> Value:
    return run.call(run.attribute(_listed(run, self), "__iter__"), ())


@model("pandas.Index.__len__")
def _number_of_names(run: Interpreter, self: Value) -> Value:
    return self.cells["_count"]


@model("pandas.Index.__getitem__")
def _name_at(run: Interpreter, self: Value, key: Value) -> Value:
    return run.unknown("the names of columns", None, "data")


@model("pandas.Index.__contains__")
def _is_name(run: Interpreter, self: Value, key: Value) -> Value:
    return run.unknown("whether there is a column", "bool", "data")


library_class("pandas.Index")


@model(f"{SERIES}.tolist", f"{SERIES}.to_list")
def _list(run: Interpreter, self: Value) -> Value:
    return List(None, run.unknown("a value of a table", None, "data"))


def _attribute(run: Interpreter, self: Value, name: Value) -> Value:
    """``frame.label`` is a column if there is one; whatever else pandas has isn't known."""
    names, dims = _names(run, self), _dims(run, self)
    if len(dims) == 2 and names is not None and name in names:
        return _made(run, dims[:1])
    return run.unknown(f"attribute {name!r} of a table")


@model(f"{SERIES}.unique")
def _unique(run: Interpreter, self: Value) -> Value:
    return array(Shape((sizes.by_content(run, run.some_size(0)),)), _dtype(run, self))


def _reset(
    run: Interpreter, self: Value, level: Value = None, drop: Value = False, inplace: Value = False, **rest: Value
) -> Value:
    """``reset_index`` makes a column of the index unless it is dropped."""
    return (_same if drop is True else _changed)(run, self, inplace=inplace)


_KEPT: Final = (
    "sort_values sort_index round clip interpolate ffill bfill shift diff rank cumsum where mask "
    "pct_change replace add_prefix add_suffix"
)
_FEWER: Final = "drop_duplicates query nlargest nsmallest truncate"
_OTHER: Final = (
    "merge join melt pivot pivot_table stack unstack explode transpose describe agg aggregate append select_dtypes "
    "assign rename insert set_index reindex filter"
)
_ARITHMETIC: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_COMMON: Final[dict[str, Work]] = {
    "__array__": _as_array,
    "__len__": _length,
    "__getitem__": _selected,
    "__setitem__": _assigned,
    "__getattr__": _attribute,
    "to_numpy": _converted,
    "astype": _cast,
    "drop": _dropped,
    "head": _first_rows,
    "tail": _first_rows,
    "sample": _sampled,
    "dropna": _without_gaps,
    "fillna": _filled,
    "copy": _copied,
    "abs": _magnitudes,
    "reset_index": _reset,
    **{f"__{prefix}{name}__": _elementwise for prefix in ("", "r") for name in _ARITHMETIC},
    **{f"__{name}__": _compared for name in ("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "invert")},
    **dict.fromkeys(("isna", "isnull", "notna", "notnull"), _missing),
    **dict.fromkeys(("isin", "duplicated", "between"), _compared),
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


library_class(FRAME, methods=_COMMON, make=_construct)
library_class(SERIES, methods={**_COMMON, **dict.fromkeys(("map", "apply"), _same)}, make=_construct)

# -- functions -------------------------------------------------------------------------------------------------------


@model("pandas.read_csv")
def _read_csv(run: Interpreter, filepath_or_buffer: Value, *more: Value, **rest: Value) -> Value:
    """A table of a text: its rows, columns and their one dtype, if the text is known."""
    known = None if more else _on_disk(run, filepath_or_buffer, rest)
    if known is None:
        return _read(run, filepath_or_buffer, *more, **rest)
    return _of_table(run, known, "names" in rest or rest.get("header", "infer") is not None)


def _of_table(run: Interpreter, known: Table, has_names: bool = True) -> Value:
    dtype = NAMES.get(known.dtypes[0]) if len(set(known.dtypes)) == 1 else None
    return _made(run, (known.rows, len(known.columns)), dtype, known.columns if has_names else None)


@model("pandas.read_parquet")
def _read_parquet(
    run: Interpreter, path: Value, engine: Value = "auto", columns: Value = None, *more: Value, **rest: Value
) -> Value:
    known = None if more or rest else files.table_of(run, path)
    asked = None if columns is None else _labels(run, columns)
    if known is None or (columns is not None and asked is None):
        return _read(run, path, **rest, **({} if asked is None else {"names": columns}))
    if asked is None:
        return _of_table(run, known)
    kinds = dict(zip(known.columns, known.dtypes, strict=True))
    if any(name not in kinds for name in asked):
        return _read(run, path)
    return _of_table(run, replace(known, columns=tuple(asked), dtypes=tuple(kinds[name] for name in asked)))


@model("pandas.read_feather")
def _read_feather(run: Interpreter, path: Value, columns: Value = None, *more: Value, **rest: Value) -> Value:
    rest.pop("use_threads", None)
    return _read_parquet(run, path, "auto", columns, *more, **rest)


@model("pandas.read_table")
def _read_table(run: Interpreter, filepath_or_buffer: Value, *more: Value, **rest: Value) -> Value:
    return _read_csv(run, filepath_or_buffer, *more, **(rest if "delimiter" in rest else {"sep": "\t", **rest}))


@model("pandas.read_excel", "pandas.read_fwf")
def _read(run: Interpreter, path: Value, *more: Value, **rest: Value) -> Value:
    if {"chunksize", "iterator", "squeeze"} & rest.keys() or rest.get("sheet_name", 0) is None:
        return run.unknown("what is read from a file", None, "data")
    names = _labels(run, rest["usecols"]) if "usecols" in rest else None
    names = names or (_labels(run, rest["names"]) if "names" in rest and "usecols" not in rest else None)
    if "index_col" in rest or names is None:
        return _made(run, (UNKNOWN, UNKNOWN))
    return _made(run, (UNKNOWN, len(names)), None, None if "usecols" in rest else names)  # in the order of the file


def _on_disk(run: Interpreter, path: Value, options: dict[str, Value]) -> Table | None:
    """The table in a text that is known; None with an option that isn't followed."""
    given = dict(options)
    separator = given.pop("sep", given.pop("delimiter", ","))
    header, names = given.pop("header", "infer"), given.pop("names", None)
    titles = _labels(run, names) if names is not None else None
    text = files.text_of(run, path)
    for harmless in ("encoding", "engine", "low_memory", "memory_map"):
        given.pop(harmless, None)
    plain = isinstance(separator, str) and len(separator) == 1 and header in ("infer", 0, None)
    if text is None or given or not plain or (names is not None and titles is None):
        return None
    has_header = header == 0 or (header == "infer" and titles is None)
    try:
        found = csv_table(text, separator, header=has_header, names=titles)
    except Unreadable:
        return None
    entries.describe(run, text, entries.words_of(found))
    return found


@model("pandas.read_sql", "pandas.read_sql_query", "pandas.read_sql_table")
def _read_sql(run: Interpreter, sql: Value, con: Value, index_col: Value = None, *more: Value, **rest: Value) -> Value:
    """The result of a query of one table, or a table."""
    found = None if more or rest.keys() - {"params", "parse_dates"} or index_col is not None else query(run, con, sql)
    if found is None:
        return run.unknown("what is read from a database", None, "data")
    names = tuple(name for name in found.columns if name is not None)
    dtypes = {_OF_A_KIND.get(kind) for kind in found.kinds}
    dtype = None if found.rows is None or len(dtypes) > 1 or "parse_dates" in rest else dtypes.pop()
    rows = UNKNOWN if found.rows is None else found.rows
    width = len(found.columns)
    return _made(run, (rows, width), dtype, names if len(names) == width else None)


_OF_A_KIND: Final = {INTEGERS: INT64, FLOATS: FLOAT64, NUMBERS: FLOAT64}


@model("pandas.get_dummies")
def _dummies(run: Interpreter, data: Value, *more: Value, **rest: Value) -> Value:
    """A column for each value that occurs."""
    rows = _dims(run, data)[0] if _is_table(data) else UNKNOWN
    return _made(run, (rows, UNKNOWN))


gives(
    "pandas.to_datetime pandas.to_numeric pandas.concat pandas.merge pandas.cut pandas.qcut pandas.read_json "
    "pandas.read_pickle pandas.read_hdf pandas.crosstab pandas.factorize pandas.unique",
    None,
    "data",
)
for _name in ("isna", "isnull", "notna", "notnull"):
    gives(f"pandas.{_name}", None, "data")
