"""NumPy's functions that put something into an array, take something out of it, or cut it into pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow.libraries import MADE, Work, library_class, method, model, native
from simpletorch.follow.libraries.arrays import (
    ANY,
    array,
    as_array,
    as_dtype,
    by_rule,
    is_hidden,
    promote,
    shape_of,
    with_size,
    write_into,
)
from simpletorch.follow.model import often
from simpletorch.follow.numbers import sizes
from simpletorch.follow.values import Instance, Iterator, List, Tensor, Unknown, Value, is_int
from simpletorch.rules.core.dtype import BOOL, FLOAT64, INT64, DType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args = tuple[Value, ...]
Kwargs = dict[str, Value]


def _flat(run: Interpreter, given: Tensor) -> Tensor:
    found = by_rule(run, "torch.flatten", (given,), {}, given.type.dtype)
    return found if isinstance(found, Tensor) else array(Shape((UNKNOWN,)), given.type.dtype)


def _along(run: Interpreter, value: Value, axis: Value) -> tuple[Tensor, int] | None:
    """An array and the place of its axis, from the front; it is flat without an axis. None where that isn't known."""
    if is_hidden(value):
        return None
    given = as_array(run, value)
    if axis is None:
        return _flat(run, given), 0
    rank = given.type.shape.rank
    return (given, axis % rank) if rank and type(axis) is int and -rank <= axis < rank else None


# -- put in and taken out --------------------------------------------------------------------------------------------


@model("numpy.append")
def _append(run: Interpreter, arr: Value, values: Value, axis: Value = None) -> Value:
    """``(*m), (*n) -> (∏m + ∏n)``; with an axis as ``concatenate``"""
    if is_hidden(arr) or is_hidden(values):
        return array(Shape((UNKNOWN,)), None) if axis is None else run.unknown("arrays put together")
    arrays = [as_array(run, arr), as_array(run, values)]
    if axis is None:
        return by_rule(run, "torch.cat", (tuple(_flat(run, a) for a in arrays), 0), {}, promote(arrays))
    return by_rule(run, "torch.cat", (tuple(arrays), axis), {}, promote(arrays))


@model("numpy.delete")
def _delete(run: Interpreter, arr: Value, obj: Value, axis: Value = None) -> Value:
    """``(*a, n, *b) -> (*a, n - k, *b)``; without an axis ``(∏n - k)``"""
    found = _along(run, arr, axis)
    if found is None:
        return run.unknown("an array without some of its elements")
    source, place = found
    size = source.type.shape.dim(place)
    rows = run.items(obj) if isinstance(obj, tuple | List) else None
    if is_int(obj) or (isinstance(obj, Unknown) and obj.type == "int"):
        count: int | None = 1
    elif rows is not None and isinstance(size, int) and all(type(v) is int and -size <= v < size for v in rows):
        count = len({v % size for v in rows})
    else:
        count = None
    known = count is not None and size is not UNKNOWN
    return with_size(source, place, run.operate("__sub__", size, count) if known else UNKNOWN)


@model("numpy.insert")
def _insert(run: Interpreter, arr: Value, obj: Value, values: Value, axis: Value = None) -> Value:
    """``(*a, n, *b) -> (*a, n + k, *b)``; without an axis ``(∏n + k)``"""
    found = _along(run, arr, axis)
    if found is None:
        return run.unknown("an array with something put in")
    source, place = found
    size = source.type.shape.dim(place)
    one = (is_int(obj) or (isinstance(obj, Unknown) and obj.type == "int")) and not is_hidden(values)
    rank = as_array(run, values).type.shape.rank if one else None
    known = one and rank is not None and (rank == 0 or (axis is not None and rank < len(source.type.shape.dims)))
    return with_size(source, place, run.operate("__add__", size, 1) if known and size is not UNKNOWN else UNKNOWN)


@model("numpy.resize")
def _resize(run: Interpreter, a: Value, new_shape: Value) -> Value:
    dtype = None if is_hidden(a) else as_array(run, a).type.dtype
    return array(shape_of(run, new_shape), dtype)


def _rows_of(run: Interpreter, value: Value, depth: int) -> Value:
    """What ``block`` makes of nested lists: the innermost are joined along the last dim."""
    value = run.resolve(value)
    rows = run.items(value) if isinstance(value, List) else None
    if rows is None:
        return None if isinstance(value, List) or is_hidden(value) else as_array(run, value)
    parts = [_rows_of(run, v, depth - 1) for v in rows]
    ranks = {p.type.shape.rank if isinstance(p, Tensor) else None for p in parts}
    if len(ranks) != 1 or (ranks.pop() or 0) < 2:
        return None
    return by_rule(run, "torch.cat", (tuple(parts), -depth), {}, promote(parts))


@model("numpy.block")
def _block(run: Interpreter, arrays: Value) -> Value:
    """Matrices, in lists of rows: ``[[(a, m), (a, n)], [(b, m), (b, n)]] -> (a + b, m + n)``"""
    rows = run.items(arrays) if isinstance(arrays, List) else None
    depth = 2 if rows and all(isinstance(run.resolve(r), List) for r in rows) else 1
    found = _rows_of(run, arrays, depth) if rows else None
    return found if isinstance(found, Tensor) else run.unknown("arrays put together")


def _joined_rows(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``np.r_[a, 0, b]``"""
    parts = [run.resolve(p) for p in (args[1] if isinstance(args[1], tuple) else (args[1],))]
    if any(isinstance(p, slice | str) or is_hidden(p) for p in parts):
        return run.unknown("rows made of ranges")
    arrays = [as_array(run, p) for p in parts]
    rows = tuple(array(Shape((1,)), a.type.dtype) if a.type.shape.rank == 0 else a for a in arrays)
    kinds = [p if isinstance(p, int | float) else a for p, a in zip(parts, arrays, strict=True)]
    return by_rule(run, "torch.cat", (rows, 0), {}, None if _has_numbers(kinds) else promote(kinds))


def _has_numbers(arrays: list[Value]) -> bool:
    """Whether one of them has no dims: versions differ in how much its dtype counts."""
    return any(isinstance(a, Tensor) and a.type.shape.rank == 0 for a in arrays)


library_class("numpy.lib.r_", methods={"__getitem__": _joined_rows})
MADE["numpy.r_"] = lambda run: Instance(run.program.library_class("numpy.lib.r_"))


@model("numpy.ix_")
def _open_mesh(run: Interpreter, *args: Value) -> Value:
    """``(m), (n) -> (m, 1), (1, n)``"""
    if any(map(is_hidden, args)):
        return run.unknown("an open mesh")
    out, ones = [], (1,) * len(args)
    for i, row in enumerate(args):
        given = as_array(run, row).type
        size = given.shape.dim(0) if given.shape.rank == 1 and given.dtype not in (BOOL, None) else UNKNOWN
        out.append(array(Shape((*ones[:i], size, *ones[i + 1 :])), INT64 if given.dtype == BOOL else given.dtype))
    return tuple(out)


# -- cut and picked --------------------------------------------------------------------------------------------------


def _cut(rule: str) -> Work:
    def work(run: Interpreter, ary: Value, indices_or_sections: Value) -> Value:
        if is_hidden(ary) or not isinstance(indices_or_sections, int | tuple | List):
            return run.unknown("the pieces of an array")
        given = as_array(run, ary)
        found = by_rule(run, rule, (given, indices_or_sections), {}, given.type.dtype)
        return List(found) if isinstance(found, tuple) else found

    return work


for _name in ("hsplit", "vsplit", "dsplit"):
    native(f"numpy.{_name}")(_cut(f"torch.{_name}"))


@model("numpy.unstack")
def _unstacked(run: Interpreter, x: Value, /, *, axis: Value = 0) -> Value:
    given = as_array(run, x)
    return by_rule(run, "torch.unbind", (given, axis), {}, given.type.dtype)


@model("numpy.take_along_axis")
def _take_along(run: Interpreter, arr: Value, indices: Value, axis: Value = -1) -> Value:
    """``(*a, n, *b), (*a, k, *b) -> (*a, k, *b)``"""
    if is_hidden(arr) or is_hidden(indices) or type(axis) is not int:
        return run.unknown("elements along an axis")
    given, index = as_array(run, arr), as_array(run, indices)
    return by_rule(run, "torch.take_along_dim", (given, index, axis), {}, given.type.dtype)


native("numpy.put_along_axis", "numpy.fill_diagonal", "numpy.put", "numpy.place", "numpy.putmask")(write_into)


@model("numpy.flatnonzero")
def _places(run: Interpreter, a: Value) -> Value:
    """``(*n) -> (k)``"""
    return array(Shape((sizes.by_content(run, run.some_size(0)),)), INT64)


@model("numpy.trim_zeros")
def _trimmed(run: Interpreter, filt: Value, trim: Value = "fb", axis: Value = None) -> Value:
    """``(n) -> (k)``"""
    return array(Shape((UNKNOWN,)), None if is_hidden(filt) else as_array(run, filt).type.dtype)


@model("numpy.extract")
def _extracted(run: Interpreter, condition: Value, arr: Value) -> Value:
    """``(*n), (*n) -> (k)``"""
    return array(Shape((UNKNOWN,)), None if is_hidden(arr) else as_array(run, arr).type.dtype)


@model("numpy.compress")
def _compressed(run: Interpreter, condition: Value, a: Value, axis: Value = None, out: Value = None) -> Value:
    """``(k), (*a, n, *b) -> (*a, ?, *b)``"""
    found = _along(run, a, axis)
    return run.unknown("what is picked of an array") if found is None else with_size(*found, UNKNOWN)


def _in_order(run: Interpreter, source: Value, axis: Value, dtype: DType | None = None) -> Value:
    """An array with dims in the order along one of them."""
    if is_hidden(source) or axis is None:
        return run.unknown("an array in another order")
    kind = as_array(run, source).type
    return array(kind.shape, dtype or kind.dtype)


@model("numpy.partition")
def _partition(
    run: Interpreter, a: Value, kth: Value, axis: Value = -1, kind: Value = "introselect", order: Value = None
) -> Value:
    return _in_order(run, a, axis)


@method("array", "argpartition")
@native("numpy.argpartition")
def _argpartition(
    run: Interpreter, a: Value, kth: Value, axis: Value = -1, kind: Value = "introselect", order: Value = None
) -> Value:
    return _in_order(run, a, axis, INT64)


@model("numpy.lexsort")
def _lexsort(run: Interpreter, keys: Value, axis: Value = -1) -> Value:
    """``k keys (*n) -> (*n)``"""
    if is_hidden(keys) or axis != -1:
        return run.unknown("an order")
    shape = as_array(run, keys).type.shape
    return array(Shape(shape.dims[1:]) if shape.rank else ANY, INT64)


@model("numpy.select")
def _selected(run: Interpreter, condlist: Value, choicelist: Value, default: Value = 0) -> Value:
    """Conditions and choices, one for each: all ``(*n)``."""
    rows = [run.items(p) if isinstance(p, tuple | List) else None for p in (condlist, choicelist)]
    given = [run.resolve(v) for r in rows for v in r or ()]
    if None in rows or not given or any(map(is_hidden, given)):
        return run.unknown("what is selected of arrays")
    whole: Value = as_array(run, given[0])
    for one in given[1:]:
        whole = by_rule(run, "Tensor.__add__", (whole, as_array(run, one))) if isinstance(whole, Tensor) else whole
    if not isinstance(whole, Tensor):
        return whole
    kinds = {as_array(run, run.resolve(v)).type.dtype for v in rows[1] or ()}
    only = kinds.pop() if len(kinds) == 1 else None
    # what is put where no condition holds may change the dtype
    fills = type(default) is int or (type(default) is float and only == FLOAT64)
    return array(whole.type.shape, only if only in (FLOAT64, INT64) and fills else None)


# -- windows and made of others --------------------------------------------------------------------------------------


@model("numpy.lib.stride_tricks.sliding_window_view")
def _windows(run: Interpreter, x: Value, window_shape: Value, axis: Value = None, *more: Value, **rest: Value) -> Value:
    """``(n), w -> (n - w + 1, w)``; of several axes the windows' dims come last."""
    if is_hidden(x):
        return run.unknown("windows of an array")
    kind = as_array(run, x).type
    rank = kind.shape.rank
    items = window_shape if isinstance(window_shape, tuple | List) else (window_shape,)
    windows = run.items(items) if isinstance(items, List) else items
    places = tuple(range(rank or 0)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    fits = rank is not None and windows is not None and len(windows) == len(places)
    if not fits or not all(is_int(w) for w in windows or ()) or not all(type(p) is int for p in places):
        return array(ANY, kind.dtype)
    dims = list(kind.shape.dims)
    if not all(-len(dims) <= p < len(dims) for p in places):
        return array(ANY, kind.dtype)
    for place, window in zip(places, windows or (), strict=True):
        dims[place] = UNKNOWN if dims[place] is UNKNOWN else run.operate("__sub__", dims[place], window) + 1
    return array(Shape((*dims, *(windows or ()))), kind.dtype)


@model("numpy.lib.stride_tricks.as_strided")
def _strided(run: Interpreter, x: Value, shape: Value = None, *more: Value, **rest: Value) -> Value:
    if is_hidden(x):
        return run.unknown("a view of an array")
    kind = as_array(run, x).type
    return array(kind.shape if shape is None else shape_of(run, shape), kind.dtype)


@model("numpy.fromiter")
def _from_items(run: Interpreter, iter: Value, dtype: Value, count: Value = -1, *, like: Value = None) -> Value:
    """``(n)`` numbers."""
    found = run.items(iter) if isinstance(iter, Iterator | List | tuple | range) else None
    size = count if is_int(count) and count != -1 else UNKNOWN if found is None else len(found)
    return array(Shape((size,)), as_dtype(dtype))


def _from_bytes(run: Interpreter, dtype: Value, count: Value) -> Value:
    """``(n)`` numbers."""
    size = sizes.named_dim(run, count) if is_int(count) and count != -1 else UNKNOWN
    return array(Shape((size,)), as_dtype(dtype, FLOAT64))


@model("numpy.frombuffer")
def _from_buffer(
    run: Interpreter,
    buffer: Value,
    dtype: Value = None,
    count: Value = -1,
    offset: Value = 0,
    *,
    like: Value = None,
) -> Value:
    return _from_bytes(run, dtype, count)


@model("numpy.fromfile")
def _from_file(
    run: Interpreter,
    file: Value,
    dtype: Value = None,
    count: Value = -1,
    sep: Value = "",
    offset: Value = 0,
    *,
    like: Value = None,
) -> Value:
    return _from_bytes(run, dtype, count)


@model("numpy.fromstring")
def _from_text(
    run: Interpreter, string: Value, dtype: Value = None, count: Value = -1, *, sep: Value = "", like: Value = None
) -> Value:
    return _from_bytes(run, dtype, count)


@model("numpy.fromfunction")
def _from_function(
    run: Interpreter, function: Value, shape: Value, *, dtype: Value = None, like: Value = None, **rest: Value
) -> Value:
    sizes_given = shape_of(run, shape)
    if sizes_given.rank is None:
        return run.unknown("what a function of indexes gives")
    kind = as_dtype(dtype, FLOAT64)
    return run.call(function, tuple(array(sizes_given, kind) for _ in sizes_given.dims), rest)


@model("numpy.apply_along_axis")
def _applied(run: Interpreter, func1d: Value, axis: Value, arr: Value, *more: Value, **rest: Value) -> Value:
    """``(n) -> (*k)`` for each row: ``(*a, n, *b) -> (*a, *k, *b)``"""
    found = None if axis is None else _along(run, arr, axis)
    if found is None:
        return run.unknown("what a function of rows gives")
    given, place = found
    dims = given.type.shape.dims
    first = array(Shape((dims[place],)), given.type.dtype)
    row = run.resolve(often.repeat(run, lambda: run.call(func1d, (first, *more), rest)))
    if is_hidden(row):
        return run.unknown("what a function of rows gives")
    one = as_array(run, row).type
    return array(Shape((*dims[:place], *one.shape.items, *dims[place + 1 :])), one.dtype)
