"""``pyarrow``: columns that are made of arrays, lists of numbers or tensors have a length and a dtype, and tables such
columns by their names. All else is unknown: what is read from a file, and what is computed of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow.libraries import Work, by_name, library_class, model, native
from simpletorch.follow.libraries.arrays import as_array
from simpletorch.follow.values import Dict, Instance, List, Tensor, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BY_TORCH_NAME, DType
from simpletorch.shapes import UNKNOWN, Dim, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["columns_of", "held", "over"]

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_COLUMN: Final = "pyarrow.Array"
_TABLE: Final = "pyarrow.Table"
_KIND: Final = "pyarrow.DataType"
_HELD: Final = "values"  # in the state of a column: the type of the tensor over it; of a table: its columns by name
_NUMBERS: Final = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"


def _made(run: Interpreter, name: str, held: Value) -> Instance:
    made = Instance(run.program.library_class(name))
    run.heap.write(made.state, _HELD, held)
    return made


def _of(value: Value, name: str) -> Value:
    return value.state.get(_HELD) if isinstance(value, Instance) and value.cls.is_a(name) else None


def held(value: Value) -> TensorType | None:
    """The type of the tensor over a column, None for anything else."""
    found = _of(value, _COLUMN)
    return found if isinstance(found, TensorType) else None


def columns_of(run: Interpreter, table: Value) -> dict[str, Value] | None:
    """The columns of a table by their names, None where these aren't known."""
    found = _of(run.resolve(table), _TABLE)
    return dict(found) if isinstance(found, tuple) else None


def over(run: Interpreter, value: Value) -> Value:
    """A column in the memory of a tensor."""
    value = run.resolve(value)
    known = isinstance(value, Tensor) and value.type.shape.rank
    return _made(run, _COLUMN, TensorType(value.type.shape, value.type.dtype) if known else TensorType())


def _column_of(run: Interpreter, value: Value, kind: Value = None) -> Value:
    """``pa.array(value, type)``: a column of a value's rows."""
    value = run.resolve(value)
    known = held(value)
    if known is not None and kind is None:
        return value
    rows = known or (as_array(run, value).type if isinstance(value, Tensor | List | tuple | range) else TensorType())
    stated = _of(run.resolve(kind), _KIND)
    dtype, inner = stated if isinstance(stated, tuple) else (rows.dtype if kind is None else None, None)
    length = rows.shape.dims[0] if rows.shape.is_exact and rows.shape.rank else UNKNOWN
    if inner is None and rows.shape.rank != 1:  # lists of several lengths, or nobody knows
        return _made(run, _COLUMN, TensorType())
    return _made(run, _COLUMN, TensorType(Shape((length, *(inner or ()))), dtype))


# -- kinds -----------------------------------------------------------------------------------------------------------

library_class(_KIND, unknown="a type of Arrow")


def _number(dtype: DType) -> Work:
    return lambda run, args, kwargs: _made(run, _KIND, (dtype, None))


for _name in _NUMBERS.split():
    native(f"pyarrow.{_name}")(_number(BY_TORCH_NAME[_name]))


@model("pyarrow.list_")
def _list(run: Interpreter, value_type: Value, list_size: Value = -1) -> Value:
    """Lists, with a second argument of this size."""
    kind = _of(value_type, _KIND)
    if not isinstance(kind, tuple) or not isinstance(list_size, int) or list_size < 0:
        return _made(run, _KIND, None)
    return _made(run, _KIND, (kind[0], (list_size, *(kind[1] or ()))))


# -- columns ---------------------------------------------------------------------------------------------------------


@model("pyarrow.array")
def _array(run: Interpreter, obj: Value, type: Value = None, *more: Value, **rest: Value) -> Value:
    return run.each(obj, lambda v: _column_of(run, v, type))


@native("pyarrow.chunked_array")
def _chunked(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("arrays type", args, kwargs)
    chunks = [held(_column_of(run, chunk)) for chunk in run.items(given.get("arrays")) or ()]
    kinds = [kind for kind in chunks if kind is not None and kind.shape.rank == 1]
    if not kinds or len(kinds) < len(chunks) or "type" in given:
        return _made(run, _COLUMN, TensorType())
    length: Dim = 0
    for kind in kinds:
        length = length + kind.shape.dims[0]
    return _made(run, _COLUMN, TensorType(Shape((length,)), kinds[0].dtype))


def _length(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    kind = held(args[0])
    length = kind.shape.dims[0] if kind is not None and kind.shape.is_exact else UNKNOWN
    return run.unknown("how long a column is", "int", "data") if length is UNKNOWN else length


def _to_numpy(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    kind = held(args[0])
    return Tensor(TensorType() if kind is None or kind.shape.rank != 1 else kind, array=True)


library_class(_COLUMN, methods={"__len__": _length, "to_numpy": _to_numpy}, unknown="a column of Arrow")


# -- tables ----------------------------------------------------------------------------------------------------------


@native("pyarrow.table", "pyarrow.record_batch")
def _table(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    data = run.resolve(args[0] if args else kwargs.get("data"))
    if isinstance(data, Dict) and isinstance(run.items(data), tuple):
        return _made(run, _TABLE, tuple((k, _column_of(run, v)) for k, v in data.cells.items()))
    given = by_name("data names", args, kwargs)
    rows = run.items(data) if isinstance(data, List | tuple) else None
    names = run.items(given.get("names")) if "names" in given else None
    if rows is None or names is None or len(rows) != len(names):
        return _made(run, _TABLE, None)
    return _made(run, _TABLE, tuple((run.resolve(k), _column_of(run, v)) for k, v in zip(names, rows, strict=True)))


def _column(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``table["name"]``, ``table.column(0)``."""
    columns, which = columns_of(run, args[0]), run.resolve(args[1]) if len(args) > 1 else None
    found = None
    if columns is not None and isinstance(which, int) and -len(columns) <= which < len(columns):
        found = [*columns.values()][which]
    elif columns is not None and isinstance(which, str):
        found = columns.get(which)
    return run.unknown("a column of a table") if found is None else found


library_class(_TABLE, methods={"__getitem__": _column, "column": _column}, unknown="a table of Arrow")
