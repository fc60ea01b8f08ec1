"""Columns of Arrow as tensors, and tensors as columns of Arrow: the same memory on both sides."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple, NoReturn

import torch

from simpletorch.errors import BackendError, DTypeMismatch, ShapeMismatch, TorchError, TypeMismatch, as_also
from simpletorch.interop._numpy import from_numpy
from simpletorch.interop._sharing import REFUSALS, explain_tensor, named, refuse, refuse_other, shown

__all__ = ["from_arrow", "from_arrow_table", "to_arrow"]

_NUMBERS: Final = (
    *(torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64),
    *(torch.float16, torch.float32, torch.float64),
)
"""The dtypes that Arrow has too, under the same names."""
_from_dlpack: Final[Any] = torch.from_dlpack  # type: ignore[attr-defined]  # a look-up in torch is a tenth of a call


def from_arrow(column: Any, *, copy: bool = False) -> torch.Tensor:
    """A tensor in the memory of a column of Arrow: ``(rows)``, and ``(rows, *sizes)`` of lists of a fixed size.

    Args:
        column: a `pyarrow.Array` or `pyarrow.ChunkedArray` of numbers, of lists of a fixed size (also within each
            other), or of tensors of a fixed shape. It lives as long as the tensor; Arrow takes it for constant.
        copy: into new memory, which also joins chunks, unpacks the bits of booleans, and takes memory that may not be
            written to, such as a mapped file's.

    Raises:
        TorchError: (also ValueError) there are nulls, several chunks, bits, or memory that may not be written to.
        DTypeMismatch: (also TypeError) torch has no such dtype: strings, times, decimals, lists of several lengths.
        TypeMismatch: (also TypeError) it is no column.

    Examples:
        >>> import pyarrow
        >>> from simpletorch import interop
        >>> interop.from_arrow(pyarrow.array([1.0, 2.0]))
        tensor([1., 2.], dtype=torch.float64)

    Source: https://arrow.apache.org/docs/python/generated/pyarrow.Array.html
    """
    if not copy and (shared := _at_once(column)) is not None:
        return shared
    if not hasattr(column, "null_count") or not hasattr(column, "type"):
        hint = "from_arrow_table(table), or from_arrow(table['name'])" if hasattr(column, "column_names") else None
        refuse("from_arrow", f"{named(column)} is no column of Arrow", hint, also=TypeError, kind=TypeMismatch)
    array = _one_chunk(column, copy)
    if array.null_count:
        refuse(
            "from_arrow",
            f"{array.null_count} of the {len(array)} values are null, which a tensor can't hold",
            "column.fill_null(0), or column.drop_null()",
        )
    sizes, permutation, values = _flattened(array)
    flat = _unpacked(values) if copy else _shared_values(values)
    tensor = flat.view(len(array), *sizes)
    return tensor if permutation is None else tensor.permute(0, *[dim + 1 for dim in permutation])


def from_arrow_table(table: Any, columns: list[str] | None = None, *, copy: bool = False) -> dict[str, torch.Tensor]:
    """The columns of a table of Arrow by their names, each as `from_arrow` gives it.

    ``torch.stack([*tensors.values()], dim=1)`` puts those of one dtype beside each other, ``(rows, columns)``.

    Args:
        table: a `pyarrow.Table` or `pyarrow.RecordBatch`.
        columns: the names; all without them.
        copy: as of `from_arrow`.

    Raises:
        TorchError: (also ValueError) a column is missing, or as of `from_arrow`, with the column's name.
        TypeMismatch: (also TypeError) it is no table.

    Examples:
        >>> import pyarrow
        >>> from simpletorch import interop
        >>> interop.from_arrow_table(pyarrow.table({"age": [31, 45]}))
        {'age': tensor([31, 45])}
    """
    if not hasattr(table, "column_names"):
        refuse("from_arrow_table", f"{named(table)} is no table of Arrow", None, also=TypeError, kind=TypeMismatch)
    names = list(table.column_names) if columns is None else columns
    missing = [name for name in names if name not in table.column_names]
    if missing:
        refuse("from_arrow_table", f"there is no column {missing[0]!r}; the columns are {table.column_names}", None)
    found = {}
    for name in names:
        try:
            found[name] = from_arrow(table.column(name), copy=copy)
        except TorchError as error:
            error.reason = f"column {name!r}: {error.reason}"
            raise
    return found


def _one_chunk(column: Any, copy: bool) -> Any:
    """The array that a column is."""
    if not hasattr(column, "num_chunks"):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    if column.num_chunks and not copy:
        refuse(
            "from_arrow",
            f"the column lies in memory in {column.num_chunks} chunks",
            "from_arrow(column.combine_chunks()), or from_arrow(column, copy=True): both copy",
        )
    return column.combine_chunks()


def _flattened(array: Any) -> tuple[list[int], list[int] | None, Any]:
    """The sizes of each item, in which order its dims are meant, and the values one after the other."""
    shape, permutation = getattr(array.type, "shape", None), getattr(array.type, "permutation", None)
    array = getattr(array, "storage", array)  # of tensors of a fixed shape
    sizes: list[int] = []
    while hasattr(array.type, "list_size"):
        size = array.type.list_size
        sizes.append(size)
        array = array.values.slice(array.offset * size, len(array) * size)  # `flatten` does it in five times the time
        if array.null_count:
            refuse(
                "from_arrow",
                f"{array.null_count} values within the lists are null, which a tensor can't hold",
                "fill them before the lists are made",
            )
    return (sizes if shape is None else list(shape)), permutation, array


def _capsule(array: Any) -> object:
    """An Arrow array's memory, as DLPack hands it over."""
    try:
        return array.__dlpack__(max_version=(1, 0))
    except TypeError:  # an older pyarrow, or what can't be shared, which it says below
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return array.__dlpack__()


def _at_once(column: Any) -> torch.Tensor | None:
    """The tensor over a column of numbers; None if there is more to see to."""
    try:
        array = column if hasattr(column, "buffers") else column.chunk(0) if column.num_chunks == 1 else None
        if array is None or array.type.num_fields:  # lists: asking them for a capsule would take longer
            return None
        tensor: torch.Tensor = _from_dlpack(_capsule(array))
        data = array.buffers()[-1]
    except REFUSALS:
        return None
    return tensor if data is None or data.is_mutable else None


def _shared_values(values: Any) -> torch.Tensor:
    data = values.buffers()[-1]
    if data is not None and not data.is_mutable and str(values.type) != "bool":
        refuse(
            "from_arrow",
            "the column lies in memory that may not be written to (bytes, or a mapped file), and a tensor over it "
            "could be",
            "from_arrow(column, copy=True)",
        )
    try:
        tensor: torch.Tensor = _from_dlpack(_capsule(values))
    except REFUSALS as error:
        _explain_arrow(values, error)
    return tensor


def _unpacked(values: Any) -> torch.Tensor:
    """The values in memory of their own."""
    if _arrow_kind(values.type) not in ("int", "uint", "float", "halffloat", "double", "bool"):
        _explain_arrow(values, None)
    return from_numpy(values.to_numpy(zero_copy_only=False), copy=True)


def _arrow_kind(type: Any) -> str:
    """``int`` of ``int64``, ``timestamp`` of ``timestamp[s]``."""
    return str(type).partition("[")[0].partition("<")[0].partition("(")[0].rstrip("0123456789")


def _explain_arrow(values: Any, error: BaseException | None) -> NoReturn:
    kind = _arrow_kind(values.type)
    if kind == "bool":
        refuse(
            "from_arrow",
            "Arrow keeps a boolean in a bit, and torch in a byte",
            "from_arrow(column, copy=True)",
            cause=error,
        )
    hints = {
        **dict.fromkeys(("string", "large_string", "string_view"), "column.dictionary_encode() has a number for each"),
        "dictionary": "from_arrow(column.combine_chunks().indices)",
        **dict.fromkeys(("timestamp", "duration", "time", "date"), "column.cast('int64'), or 'int32' of 32 bits"),
        **dict.fromkeys(("decimal",), "column.cast('float64')"),
        **dict.fromkeys(("list", "large_list"), "pyarrow.compute.list_flatten(column), or column.cast(pa.list_(…, 3))"),
        "struct": "one field at a time: pyarrow.compute.struct_field(column, 'name')",
        "null": "column.fill_null(0) after column.cast('float32')",
    }
    refuse(
        "from_arrow",
        f"torch has no dtype for Arrow's {values.type}",
        hints.get(kind),
        also=TypeError,
        kind=DTypeMismatch,
        cause=error,
    )


def to_arrow(tensor: torch.Tensor, copy: bool = False) -> Any:
    """A `pyarrow.Array` in the memory of a tensor: ``(rows, *sizes)`` as rows of lists of fixed sizes.

    Args:
        tensor: contiguous, on the CPU, of one dim or more. Arrow takes its arrays for constants.
        copy: into new memory, from any device, of any order, and without the gradient's graph; booleans become bits.

    Raises:
        TorchError: (also ValueError) the tensor isn't contiguous, or is of booleans.
        TorchError: (also RuntimeError) it requires a gradient, is lazy, or isn't strided.
        ShapeMismatch: (also ValueError) it has no dim, or rows of size 0.
        DTypeMismatch: (also TypeError) Arrow has no such dtype.
        TypeMismatch: (also TypeError) it isn't a tensor.
        DeviceMismatch: it isn't on the CPU.
        BackendError: pyarrow isn't installed.

    Examples:
        >>> import torch
        >>> from simpletorch import interop
        >>> interop.to_arrow(torch.tensor([1, 2])).to_pylist()
        [1, 2]

    Source: https://arrow.apache.org/docs/python/generated/pyarrow.Array.html
    """
    arrow = _arrow()
    dtype = arrow.dtypes.get(getattr(tensor, "dtype", None))
    if dtype is None:
        refuse_other("to_arrow", tensor)
        if not (copy and tensor.dtype == torch.bool):
            _explain_dtype(tensor.dtype)
    if copy:
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    try:
        array = tensor.numpy()
    except (TypeError, RuntimeError) as error:
        explain_tensor("to_arrow", tensor, error)
    if not array.flags.c_contiguous:
        refuse(
            "to_arrow",
            f"the tensor of shape {shown(tensor.shape)} and strides {tensor.stride()} is not contiguous",
            "to_arrow(tensor, copy=True)",
        )
    if dtype is None:
        values = arrow.array(array.reshape(-1))
    else:  # what `pyarrow.array` comes to in twice the time
        values = arrow.from_buffers(dtype, array.size, [None, arrow.py_buffer(array)])
    return values if array.ndim == 1 else _rows(values, tuple(array.shape), arrow)


def _rows(values: Any, shape: tuple[int, ...], arrow: _Arrow) -> Any:
    """All values of a tensor as rows of lists of fixed sizes."""
    if not shape:
        raise as_also(ShapeMismatch, ValueError)(
            "(rows, …)", "()", "the tensor has no dim to have rows along", operation="to_arrow", hint="tensor[None]"
        )
    for size in reversed(shape[1:]):
        if not size:
            raise as_also(ShapeMismatch, ValueError)(
                "sizes of 1 or more", shown(shape), "lists of no element don't tell how many there are",
                operation="to_arrow",
            )  # fmt: skip
        values = arrow.lists(values, size)
    return values


class _Arrow(NamedTuple):
    """The used names of pyarrow, found once."""

    dtypes: Mapping[Any, Any]
    array: Callable[..., Any]
    from_buffers: Callable[..., Any]
    py_buffer: Callable[..., Any]
    lists: Callable[..., Any]


@cache
def _arrow() -> _Arrow:
    try:
        pyarrow: Any = import_module("pyarrow")  # by name, because its stubs have half of it
    except ImportError as error:
        raise BackendError("to_arrow needs the package pyarrow, which is not installed: pip install pyarrow") from error
    dtypes = {dtype: getattr(pyarrow, str(dtype).removeprefix("torch."))() for dtype in _NUMBERS}
    return _Arrow(
        dtypes,
        pyarrow.array,
        pyarrow.Array.from_buffers,
        pyarrow.py_buffer,
        pyarrow.FixedSizeListArray.from_arrays,
    )


def _explain_dtype(dtype: torch.dtype) -> NoReturn:
    """Why Arrow can't have numbers of a dtype in the same memory."""
    if dtype == torch.bool:
        refuse(
            "to_arrow",
            "torch keeps a boolean in a byte, and Arrow in a bit",
            "to_arrow(tensor, copy=True), or tensor.view(torch.uint8)",
        )
    hint = "torch.view_as_real(tensor)" if dtype.is_complex else "tensor.float()"
    refuse("to_arrow", f"Arrow has no dtype for {dtype}", hint, also=TypeError, kind=DTypeMismatch)
