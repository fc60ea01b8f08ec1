"""Reading arguments the way torch reads them: ints, sizes, lists of tensors, dtypes; shared by all families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from simpletorch.rules.core.dtype import BY_TORCH_NAME, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.values import ANY_TENSOR, ANYTHING, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Unknown

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = [
    "as_dim",
    "dim_or_unknown",
    "dtype_argument",
    "given_sizes",
    "given_tensors",
    "is_dim",
    "known_ints",
    "plain",
    "sizes",
    "some_tensors",
    "tensor_list",
]


_DIMS: Final = (int, Expr, Unknown)


def is_dim(value: Value) -> TypeIs[Dim]:
    """Whether the value is an int, known or not (a bool is none)."""
    return isinstance(value, _DIMS) and not isinstance(value, bool)


def as_dim(value: Value) -> Dim:
    """An argument that must be an int, as a dim: UNKNOWN where it isn't known.

    Raises:
        CannotTell: it is something else.
    """
    if value is ANYTHING:
        return UNKNOWN
    if is_dim(value):
        return value
    raise CannotTell


def dim_or_unknown(value: Value) -> Dim:
    """An argument that may be other things than an int: the int, UNKNOWN for everything else."""
    return value if is_dim(value) else UNKNOWN


def known_ints(values: Sequence[Value]) -> tuple[int, ...]:
    """The values as numbers.

    Raises:
        CannotTell: one isn't a known int.
    """
    out = []
    for v in values:
        if not isinstance(v, int) or isinstance(v, bool):
            raise CannotTell
        out.append(v)
    return tuple(out)


def plain(value: Value) -> str:
    """The value as a user writes it, for a message."""
    if isinstance(value, tuple):
        return f"({', '.join(map(plain, value))}{',' if len(value) == 1 else ''})"
    return str(value)


def sizes(args: tuple[Value, ...]) -> tuple[Dim, ...]:
    """Sizes given as ``view(2, 3)`` or as ``view((2, 3))``.

    Raises:
        CannotTell: they aren't all ints, or it isn't known how many there are.
    """
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    # one size, or a tuple of any number of them
    if len(args) == 1 and args[0] is ANYTHING:
        raise CannotTell
    return tuple(as_dim(a) for a in args)


def given_sizes(varargs: tuple[Value, ...], keyword: Value) -> tuple[Dim, ...]:
    """`sizes` of what is given one by one, as one tuple, or by keyword."""
    return sizes(varargs) if varargs else sizes((keyword,))


def tensor_list(values: Value) -> tuple[TensorType, ...]:
    """The tensors of a tuple or list; an unknown item is an unknown tensor.

    Raises:
        CannotTell: it isn't known how many there are, or one isn't a tensor.
    """
    if not isinstance(values, tuple):
        raise CannotTell
    out = []
    for v in values:
        if v is ANYTHING:
            v = ANY_TENSOR
        if not isinstance(v, TensorType):
            raise CannotTell
        out.append(v)
    return tuple(out)


def some_tensors(name: str, values: Value) -> tuple[TensorType, ...]:
    """`tensor_list` of at least one tensor."""
    found = tensor_list(values)
    if not found:
        raise Mismatch(f"{name} is an empty list; it needs at least one tensor")
    return found


def given_tensors(varargs: tuple[Value, ...]) -> tuple[TensorType, ...]:
    """`tensor_list` of what is given one by one, or as one list."""
    return tensor_list(varargs[0] if len(varargs) == 1 and not isinstance(varargs[0], TensorType) else varargs)


def dtype_argument(value: Value, default: DType | None) -> DType | None:
    """The argument ``dtype=``: ``default`` where it is None, None where it isn't known.

    Raises:
        Mismatch: it is a text, as NumPy takes it.
    """
    if value is None:
        return default
    if isinstance(value, str):
        hint = f"torch.{value}" if value in BY_TORCH_NAME else None
        raise Mismatch(f"dtype must be a torch.dtype, but it is the text {value!r}", kind="dtype", hint=hint, got=value)
    return value if isinstance(value, DType) else None
