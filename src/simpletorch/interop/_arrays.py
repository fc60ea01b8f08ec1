"""Arrays of NumPy, JAX, CuPy and Arrow as tensors, and tensors as theirs: the same memory on both sides.

::

    x = interop.from_dlpack(jnp.ones((3, 5)))     # JAX, CuPy, NumPy: whoever speaks DLPack
    y = interop.to_jax(x)
    price = interop.from_arrow(table["price"])    # a column; columns of lists of one length are tensors of two dims

Nothing is copied unless ``copy=True`` asks for it: what can't be shared is an error that says why and what would do.
Whoever holds the memory lives as long as anyone looks at it. What one side writes, the other sees; JAX and Arrow take
their arrays for constants, so write to a copy of those. `torch.from_numpy` and `torch.from_dlpack` are there too, as
`simpletorch.from_numpy` and `simpletorch.from_dlpack`; they warn where these refuse, and a view that runs backwards
ends the process in `torch.from_dlpack` (torch 2.13).

Source: https://dmlc.github.io/dlpack/latest/, https://data-apis.org/array-api/latest/design_topics/data_interchange.html
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, Final, NoReturn

import numpy as np
import torch

from simpletorch.errors import (
    BackendError,
    DeviceMismatch,
    DTypeMismatch,
    ShapeMismatch,
    TorchError,
    TypeMismatch,
    as_also,
)

__all__ = ["from_arrow", "from_arrow_table", "from_dlpack", "from_numpy", "to_arrow", "to_jax", "to_numpy"]

_BY_BITS: Final = {
    name: getattr(torch, name)
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
}
"""Dtypes that NumPy has from the package ml_dtypes, which torch doesn't know: the bits are the same."""
_BITS: Final = {1: torch.uint8, 2: torch.int16}
_ARROW: Final = {
    torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64",
    torch.uint8: "uint8", torch.uint16: "uint16", torch.uint32: "uint32", torch.uint64: "uint64",
    torch.float16: "float16", torch.float32: "float32", torch.float64: "float64",
}  # fmt: skip
_NARROWED: Final = {
    torch.int64: torch.int32, torch.float64: torch.float32, torch.uint64: torch.uint32,
    torch.complex128: torch.complex64,
}  # fmt: skip
"""What JAX makes of dtypes of 64 bits unless it is told to keep them."""
_REFUSALS: Final[tuple[type[Exception], ...]] = (TypeError, ValueError, AttributeError, BufferError, RuntimeError)


def _refuse(
    operation: str,
    reason: str,
    hint: str | None,
    *,
    also: type[Exception] = ValueError,
    kind: type[TorchError] = TorchError,
    cause: BaseException | None = None,
) -> NoReturn:
    """Say why memory can't be shared."""
    raise as_also(kind, also)(reason=reason, operation=operation, hint=hint) from cause


# -- NumPy -----------------------------------------------------------------------------------------------------------


def from_numpy(array: np.ndarray[Any, Any], *, copy: bool = False) -> torch.Tensor:
    """A tensor in the memory of an array of NumPy: ``(*s) -> (*s)``, of the same dtype.

    bfloat16 and float8 of the package ml_dtypes are shared too, which `torch.from_numpy` can't.

    Args:
        array: the array; it lives as long as the tensor.
        copy: into new memory, which also takes what can't be shared: read-only arrays, views that run backwards, fields
            of records, the other byte order.

    Raises:
        TorchError: (also ValueError) the array is read-only, has a negative stride, a stride that is no multiple of the
            item size, or another byte order.
        DTypeMismatch: (also TypeError) torch has no such dtype: strings, objects, dates, records.
        TypeMismatch: (also TypeError) it is no array.
    """
    try:
        if copy:
            return _from_bits(_copied(array))
        if array.flags.writeable:
            return torch.from_numpy(array)
    except _REFUSALS as error:
        if isinstance(array, np.ndarray):
            if array.dtype.name in _BY_BITS:
                return _from_bits(array)
            _explain_numpy(array, error)
        _refuse(
            "from_numpy",
            f"expected an array of NumPy, but got {_named(array)}",
            "from_array(...) takes lists and numbers, from_dlpack(...) the arrays of other libraries",
            also=TypeError,
            kind=TypeMismatch,
            cause=error,
        )
    _refuse(
        "from_numpy",
        f"the array of shape {_shown(array.shape)} is read-only, and a tensor over it could be written to",
        "from_numpy(array, copy=True)",
    )


def _copied(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array in memory of its own that torch can use: forwards, in the machine's byte order."""
    return array.astype(array.dtype.newbyteorder("="), order="C", copy=True)


def _from_bits(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """The tensor over an array, also of a dtype that torch knows and NumPy's own names don't."""
    dtype = _BY_BITS.get(array.dtype.name)
    if dtype is None:
        return torch.from_numpy(array)
    bits = from_numpy(array.view(f"i{array.dtype.itemsize}"))
    return bits.view(dtype)


def _explain_numpy(array: np.ndarray[Any, Any], error: BaseException) -> NoReturn:
    """Why torch can't use the memory of an array."""
    shape, dtype = _shown(array.shape), array.dtype
    if not dtype.isnative:
        _refuse(
            "from_numpy",
            f"the array of dtype {dtype.str!r} has the byte order of other machines",
            "from_numpy(array, copy=True)",
            cause=error,
        )
    if dtype.kind not in "biufc" or isinstance(error, TypeError):
        _refuse(
            "from_numpy",
            f"torch has no dtype for NumPy's {dtype}",
            _instead_of(dtype.kind),
            also=TypeError,
            kind=DTypeMismatch,
            cause=error,
        )
    if any(stride < 0 for stride in array.strides):
        _refuse_backwards("from_numpy", shape, cause=error)
    _refuse(
        "from_numpy",
        f"the strides {array.strides} of the array of shape {shape} are no multiples of its item size {dtype.itemsize}",
        "from_numpy(array, copy=True)",
        cause=error,
    )


def _refuse_backwards(operation: str, shape: str, cause: BaseException | None = None) -> NoReturn:
    _refuse(
        operation,
        f"the array of shape {shape} has a negative stride (it is a view such as array[::-1]), and tensors only run "
        "forwards",
        f"{operation}(array, copy=True)",
        cause=cause,
    )


def _instead_of(kind: str) -> str:
    """What to do with values that are no numbers."""
    return {
        "U": "numbers for the strings: np.unique(array, return_inverse=True)[1]",
        "S": "numbers for the strings: np.unique(array, return_inverse=True)[1]",
        "T": "numbers for the strings: np.unique(array, return_inverse=True)[1]",
        "O": "array.astype(np.float32), if every object is a number",
        "M": "the time as a number: array.view(np.int64)",
        "m": "the time as a number: array.view(np.int64)",
        "V": "one field at a time: from_numpy(array['field'], copy=True)",
    }.get(kind, "array.astype(np.float64)")


def to_numpy(tensor: torch.Tensor, *, copy: bool = False) -> np.ndarray[Any, Any]:
    """An array of NumPy in the memory of a tensor: ``(*s) -> (*s)``, of the same dtype.

    bfloat16 and float8 are given in the dtypes of the package ml_dtypes (JAX brings it), which `Tensor.numpy` can't.

    Args:
        tensor: the tensor, on the CPU; its memory lives as long as the array.
        copy: into new memory, from any device, and without the gradient's graph.

    Raises:
        TorchError: (also RuntimeError) the tensor requires a gradient, is a lazy conjugate, or isn't strided.
        DeviceMismatch: it isn't on the CPU.
        DTypeMismatch: (also TypeError) NumPy has no such dtype.
        BackendError: the package ml_dtypes isn't installed.
    """
    if copy:
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg().clone()
    try:
        return tensor.numpy()
    except (TypeError, RuntimeError) as error:
        if tensor.dtype not in _BY_BITS.values() or tensor.requires_grad or not tensor.is_cpu:
            _explain_tensor("to_numpy", tensor, error)
    return _bits_of(tensor)


def _bits_of(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    try:
        ml_dtypes: Any = import_module("ml_dtypes")
    except ImportError as error:
        raise BackendError(
            f"NumPy has {tensor.dtype} from the package ml_dtypes, which is not installed: pip install ml_dtypes; "
            "tensor.float().numpy() is a copy in float32"
        ) from error
    name = str(tensor.dtype).removeprefix("torch.")
    array: np.ndarray[Any, Any] = tensor.view(_BITS[tensor.itemsize]).numpy().view(getattr(ml_dtypes, name))
    return array


def _explain_tensor(operation: str, tensor: torch.Tensor, error: BaseException | None = None) -> NoReturn:
    """Why another library can't use the memory of a tensor."""
    if tensor.requires_grad:
        reason, hint = "the tensor requires a gradient, which would not see what the array is used for", ".detach()"
    elif tensor.layout != torch.strided:
        reason, hint = f"a tensor of layout {tensor.layout} has no single memory", ".to_dense()"
    elif not tensor.is_cpu:
        raise as_also(DeviceMismatch, TypeError)(
            "cpu", tensor.device, f"the tensor is on {tensor.device}", operation=operation, hint="tensor.cpu()"
        ) from error
    elif tensor.is_conj() or tensor.is_neg():
        reason, hint = "the tensor is a lazy conjugate or negative", ".resolve_conj().resolve_neg()"
    else:
        _refuse(
            operation,
            f"there is no dtype for {tensor.dtype} on the other side",
            "tensor.float()",
            also=TypeError,
            kind=DTypeMismatch,
            cause=error,
        )
    _refuse(operation, reason, f"tensor{hint}", also=RuntimeError, cause=error)


# -- DLPack ----------------------------------------------------------------------------------------------------------


def from_dlpack(
    array: Any, *, device: torch.device | str | int | None = None, copy: bool | None = None
) -> torch.Tensor:
    """A tensor in the memory of an array of JAX, CuPy, NumPy, or whoever else speaks DLPack: ``(*s) -> (*s)``.

    Args:
        array: an object with ``__dlpack__``, or a capsule of `simpletorch.to_dlpack`; it lives as long as the tensor.
        device: where the tensor shall be; moving is the one copy that needn't be asked for.
        copy: into new memory; None (and False) shares.

    Raises:
        TypeMismatch: (also TypeError) the object has no ``__dlpack__``.
        TorchError: (also ValueError) a negative stride, read-only memory of NumPy, or what its library says.
        DTypeMismatch: (also TypeError) torch, or DLPack, has no such dtype.

    Source: https://docs.pytorch.org/docs/stable/dlpack.html
    """
    if isinstance(array, np.ndarray):  # NumPy's own; torch's way over the protocol takes longer
        shared = from_numpy(array, copy=bool(copy))
        return shared if device is None else shared.to(device)
    strides = getattr(array, "strides", None)
    if isinstance(strides, tuple) and strides and min(strides) < 0 and not copy:
        _refuse_backwards("from_dlpack", _shown(array.shape))  # torch would end the process
    try:
        return torch.from_dlpack(array, device=device, copy=copy)  # type: ignore[attr-defined]
    except _REFUSALS as error:
        _explain_dlpack(array, error)


def _explain_dlpack(array: Any, error: BaseException) -> NoReturn:
    if isinstance(array, torch.Tensor):
        _explain_tensor("from_dlpack", array, error)
    if not hasattr(array, "__dlpack__") and type(array).__name__ != "PyCapsule":
        _refuse(
            "from_dlpack",
            f"{_named(array)} has no __dlpack__, by which libraries share memory",
            "from_array(...) takes lists and numbers, from_arrow(...) columns of Arrow",
            also=TypeError,
            kind=TypeMismatch,
            cause=error,
        )
    _refuse(
        "from_dlpack",
        f"{_named(array)} of dtype {getattr(array, 'dtype', 'unknown')} can't be shared: {_first_line(error)}",
        "convert it on its side first, to a dtype and a device that both have",
        also=next((kind for kind in _REFUSALS if type(error) is kind), ValueError),
        cause=error,
    )


def to_jax(tensor: torch.Tensor) -> Any:
    """A `jax.Array` in the memory of a tensor: ``(*s) -> (*s)``, of the same dtype.

    `jax.dlpack.from_dlpack` does the work; it would make 32 bits of 64 without a word.

    Args:
        tensor: dense, in any order of its dims. JAX takes its arrays for constants: don't write to it any more.

    Raises:
        DTypeMismatch: (also TypeError) 64 bits, which JAX has only if ``jax_enable_x64`` is set.
        TorchError: (also ValueError) the elements don't lie side by side, as in ``x[:, ::2]`` and ``x.expand(3, 5)``.
        TorchError: (also RuntimeError) the tensor requires a gradient, or is lazy, or isn't strided.
        BackendError: JAX isn't installed, or has no such device.

    Source: https://docs.jax.dev/en/latest/jax.dlpack.html
    """
    try:
        jax: Any = import_module("jax")  # by name, or mypy would read it with simpletorch
    except ImportError as error:
        raise BackendError("to_jax needs the package jax, which is not installed: pip install jax") from error
    narrow = _NARROWED.get(tensor.dtype)
    if narrow is not None and not jax.config.jax_enable_x64:
        _refuse(
            "to_jax",
            f"JAX would make {narrow} of {tensor.dtype}",
            f"tensor.to({narrow}), or before all else jax.config.update('jax_enable_x64', True)",
            also=TypeError,
            kind=DTypeMismatch,
        )
    try:
        return jax.dlpack.from_dlpack(tensor)
    except _REFUSALS as error:
        if tensor.requires_grad or tensor.layout != torch.strided or tensor.is_conj() or tensor.is_neg():
            _explain_tensor("to_jax", tensor, error)
        if not _is_dense(tensor):
            _refuse(
                "to_jax",
                f"the elements of the tensor of shape {_shown(tensor.shape)} and strides {tensor.stride()} don't lie "
                "side by side, and JAX knows no gaps",
                "tensor.contiguous()",
                cause=error,
            )
        raise BackendError(f"JAX can't take the tensor on {tensor.device}: {_first_line(error)}") from error


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill their memory, in some order of the dims."""
    size = 1
    for stride, length in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if length != 1 and stride != size:
            return False
        size *= length
    return True


# -- Arrow -----------------------------------------------------------------------------------------------------------


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

    Source: https://arrow.apache.org/docs/python/generated/pyarrow.Array.html
    """
    at_once = None if copy or not hasattr(column, "buffers") else _at_once(column)
    if at_once is not None:
        return at_once
    if not hasattr(column, "null_count") or not hasattr(column, "type"):
        hint = "from_arrow_table(table), or from_arrow(table['name'])" if hasattr(column, "column_names") else None
        _refuse("from_arrow", f"{_named(column)} is no column of Arrow", hint, also=TypeError, kind=TypeMismatch)
    array = _one_chunk(column, copy)
    if array.null_count:
        _refuse(
            "from_arrow",
            f"{array.null_count} of the {len(array)} values are null, which a tensor can't hold",
            "column.fill_null(0), or column.drop_null()",
        )
    sizes, permutation, values = _flattened(array)
    if values.null_count:
        _refuse(
            "from_arrow",
            f"{values.null_count} values within the lists are null, which a tensor can't hold",
            "fill them before the lists are made",
        )
    flat = _unpacked(values) if copy else _shared_values(values)
    tensor = flat.view(len(array), *sizes)
    return tensor if permutation is None else tensor.permute(0, *[dim + 1 for dim in permutation])


def from_arrow_table(table: Any, columns: list[str] | None = None, *, copy: bool = False) -> dict[str, torch.Tensor]:
    """Columns of a table of Arrow by their names, each as `from_arrow` gives it.

    ``torch.stack([*tensors.values()], dim=1)`` puts those of one dtype beside each other, ``(rows, columns)``.

    Args:
        table: a `pyarrow.Table` or `pyarrow.RecordBatch`.
        columns: the names; all without them.
        copy: as of `from_arrow`.

    Raises:
        TorchError: (also ValueError) a column is missing, or as of `from_arrow`, with the column's name.
        TypeMismatch: (also TypeError) it is no table.
    """
    if not hasattr(table, "column_names"):
        _refuse("from_arrow_table", f"{_named(table)} is no table of Arrow", None, also=TypeError, kind=TypeMismatch)
    names = list(table.column_names) if columns is None else columns
    missing = [name for name in names if name not in table.column_names]
    if missing:
        _refuse("from_arrow_table", f"there is no column {missing[0]!r}; the columns are {table.column_names}", None)
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
        _refuse(
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
        sizes.append(array.type.list_size)
        array = array.flatten()
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
    """The tensor over an array of numbers; None if there is more to see to."""
    try:
        tensor: torch.Tensor = torch.from_dlpack(_capsule(column))  # type: ignore[attr-defined]
    except _REFUSALS:
        return None
    data = column.buffers()[-1]
    return tensor if data is None or data.is_mutable else None


def _shared_values(values: Any) -> torch.Tensor:
    data = values.buffers()[-1]
    if data is not None and not data.is_mutable and str(values.type) != "bool":
        _refuse(
            "from_arrow",
            "the column lies in memory that may not be written to (bytes, or a mapped file), and a tensor over it "
            "could be",
            "from_arrow(column, copy=True)",
        )
    try:
        return torch.from_dlpack(_capsule(values))  # type: ignore[attr-defined]
    except _REFUSALS as error:
        _explain_arrow(values, error)


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
        _refuse(
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
    _refuse(
        "from_arrow",
        f"torch has no dtype for Arrow's {values.type}",
        hints.get(kind),
        also=TypeError,
        kind=DTypeMismatch,
        cause=error,
    )


def to_arrow(tensor: torch.Tensor, *, copy: bool = False) -> Any:
    """A `pyarrow.Array` in the memory of a tensor: ``(rows, *sizes)`` as rows of lists of fixed sizes.

    Args:
        tensor: contiguous, on the CPU, of one dim or more. Arrow takes its arrays for constants.
        copy: into new memory, from any device, of any order, and without the gradient's graph; booleans become bits.

    Raises:
        TorchError: (also ValueError) the tensor isn't contiguous, or is of booleans.
        TorchError: (also RuntimeError) it requires a gradient, is lazy, or isn't strided.
        ShapeMismatch: (also ValueError) it has no dim.
        DTypeMismatch: (also TypeError) Arrow has no such dtype.
        DeviceMismatch: it isn't on the CPU.
        BackendError: pyarrow isn't installed.

    Source: https://arrow.apache.org/docs/python/generated/pyarrow.py_buffer.html
    """
    try:
        import pyarrow
    except ImportError as error:
        raise BackendError("to_arrow needs the package pyarrow, which is not installed: pip install pyarrow") from error
    if copy:
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    if not tensor.dim():
        raise as_also(ShapeMismatch, ValueError)(
            "(rows, …)", "()", "the tensor has no dim to have rows along", operation="to_arrow", hint="tensor[None]"
        )
    if tensor.layout != torch.strided:
        _explain_tensor("to_arrow", tensor)
    if not tensor.is_contiguous():
        _refuse(
            "to_arrow",
            f"the tensor of shape {_shown(tensor.shape)} and strides {tensor.stride()} is not contiguous",
            "to_arrow(tensor, copy=True)",
        )
    values: Any = _values_of(tensor, copy, pyarrow)
    for size in reversed(tensor.shape[1:]):
        if not size:
            raise as_also(ShapeMismatch, ValueError)(
                "sizes of 1 or more", _shown(tensor.shape), "lists of no element don't tell how many there are",
                operation="to_arrow",
            )  # fmt: skip
        values = pyarrow.FixedSizeListArray.from_arrays(values, size)
    return values


def _values_of(tensor: torch.Tensor, copy: bool, pyarrow: Any) -> Any:
    """The elements one after the other."""
    if tensor.dtype == torch.bool:
        if not copy:
            _refuse(
                "to_arrow",
                "torch keeps a boolean in a byte, and Arrow in a bit",
                "to_arrow(tensor, copy=True), or tensor.view(torch.uint8)",
            )
        return pyarrow.array(tensor.numpy().reshape(-1))
    name = _ARROW.get(tensor.dtype)
    if name is None:
        hint = "torch.view_as_real(tensor)" if tensor.dtype.is_complex else "tensor.float()"
        reason = f"Arrow has no dtype for {tensor.dtype}"
        _refuse("to_arrow", reason, hint, also=TypeError, kind=DTypeMismatch)
    try:
        data = pyarrow.py_buffer(tensor.numpy())  # a foreign_buffer would do, but not say that it may be written to
    except (TypeError, RuntimeError) as error:
        _explain_tensor("to_arrow", tensor, error)
    return pyarrow.Array.from_buffers(getattr(pyarrow, name)(), tensor.numel(), [None, data])


# -- words -----------------------------------------------------------------------------------------------------------


def _named(value: object) -> str:
    """What a value is, in a sentence."""
    module, name = type(value).__module__.partition(".")[0], type(value).__qualname__
    return name if module == "builtins" else f"{module}'s {name}"


def _shown(shape: Any) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
