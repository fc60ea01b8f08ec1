"""Conditions that operations put on their operands: each raises the `Mismatch` that says why one doesn't hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from simpletorch.rules.dtype import BOOL, Category, DType
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.values import ANY_TENSOR, ANYTHING, TensorType, Value
from simpletorch.shapes import Dim, Shape, Unknown, equal, same

__all__ = [
    "better_known",
    "called",
    "dtype_or",
    "need_categories",
    "need_equal",
    "need_expandable",
    "need_float_or_complex",
    "need_min_rank",
    "need_nonempty",
    "need_not_bool",
    "need_not_complex",
    "need_rank",
    "need_same_shape",
    "need_square",
    "tensor_list",
    "unequal",
]

_CATEGORY_NAMES: Final[dict[Category, str]] = {
    "bool": "Bool",
    "int": "integer",
    "float": "floating",
    "complex": "complex",
}


@contextmanager
def called(**names: str) -> Iterator[None]:
    """Around another operation's rule: its parameters as they are called here, for the message."""
    try:
        yield
    except Mismatch as m:
        pattern = rf"\b({'|'.join(names)})\b"
        m.reason = re.sub(pattern, lambda found: names[found[1]], m.reason)
        m.hint = m.hint and re.sub(pattern, lambda found: names[found[1]], m.hint)
        raise


def dtype_or(dtype: Value, default: DType | None) -> DType | None:
    """The dtype that a ``dtype=`` argument asks for, ``default`` where it is None, None where it isn't known."""
    if dtype is None:
        return default
    return dtype if isinstance(dtype, DType) else None


def need_categories(name: str, dtype: DType | None, *allowed: Category, hint: str | None = None) -> None:
    """The dtype called ``name`` must be of one of these categories."""
    if dtype is None or dtype.category is None or dtype.category in allowed:
        return
    wanted = " or ".join(_CATEGORY_NAMES[c] for c in allowed)
    raise Mismatch(f"{name} is {dtype}, but it must be {wanted}", kind="dtype", hint=hint, expected=allowed, got=dtype)


def need_float_or_complex(name: str, tensor: TensorType) -> None:
    """Ints and bools are refused."""
    need_categories(name, tensor.dtype, "float", "complex", hint=f"{name}.float()")


def need_not_bool(name: str, tensor: TensorType) -> None:
    """What subtracts refuses Bool."""
    if tensor.dtype == BOOL:
        raise Mismatch(f"{name} is Bool, which can't be subtracted", kind="dtype", hint=f"{name}.float()", got=BOOL)


def need_not_complex(name: str, tensor: TensorType) -> None:
    """What orders its elements refuses complex numbers."""
    if tensor.dtype is not None and tensor.dtype.category == "complex":
        raise Mismatch(
            f"{name} is {tensor.dtype}, but complex numbers have no order",
            kind="dtype",
            hint=f"{name}.abs()",
            got=tensor.dtype,
        )


def _plural(count: int) -> str:
    return f"{count} dim" if count == 1 else f"{count} dims"


def need_rank(name: str, tensor: TensorType, *ranks: int) -> None:
    """The tensor must have one of these numbers of dims."""
    shape = tensor.shape
    if (shape.rank is not None and shape.rank not in ranks) or shape.min_rank > max(ranks):
        wanted = " or ".join(map(str, ranks[:-1])) + (" or " if ranks[:-1] else "") + _plural(ranks[-1])
        raise Mismatch(
            f"{name} must have {wanted}, but it is {shape}",
            expected=ranks[0] if len(ranks) == 1 else ranks,
            got=shape.rank,
        )


def need_min_rank(name: str, tensor: TensorType, least: int) -> None:
    """The tensor must have at least this many dims."""
    rank = tensor.shape.rank
    if rank is not None and rank < least:
        raise Mismatch(
            f"{name} must have at least {_plural(least)}, but it is {tensor.shape}", expected=least, got=rank
        )


def unequal(a: Dim, b: Dim) -> str:
    """The end of a sentence about two dims that differ: nothing for numbers, the quantifier for symbols."""
    return "" if isinstance(a, int) and isinstance(b, int) else "; they are not equal for all sizes"


def need_equal(left: str, a: Dim, right: str, b: Dim, *, what: str) -> Dim:
    """Two sizes must be equal; ``what`` says which ("the inner dims"). Gives the better known one."""
    if equal(a, b) is False:
        raise Mismatch(f"{what} differ: {left} has {a}, {right} has {b}{unequal(a, b)}", expected=a, got=b)
    return better_known(a, b)


def better_known(a: Dim, b: Dim) -> Dim:
    """Of two dims that must be equal the one that says more: a number, else an expression."""
    if isinstance(a, Unknown) or (isinstance(b, int) and not isinstance(a, int)):
        return b
    return a


def need_expandable(name: str, shape: Shape, target: Shape, what: str) -> None:
    """``shape`` must broadcast to ``target`` (called ``what``) without enlarging it."""
    if shape.min_rank > target.min_rank and target.is_exact:
        raise Mismatch(f"{name} {shape} has more dims than {what} {target}", expected=target, got=shape)
    for index, (own, wanted) in enumerate(zip(reversed(shape.tail), reversed(target.tail), strict=False), 1):
        if own != 1 and equal(own, wanted) is False:
            raise Mismatch(
                f"{name} {shape} can't be expanded to {what} {target}: {own} is not {wanted} at dim {-index}"
                + unequal(own, wanted),
                expected=wanted,
                got=own,
            )


def need_same_shape(left: str, a: Shape, right: str, b: Shape) -> None:
    """Two shapes must be equal."""
    if same(a, b) is False:
        exact = a.is_literal and b.is_literal
        raise Mismatch(
            f"{left} is {a}, but {right} is {b}; they must be equal" + ("" if exact else " for all sizes"),
            expected=a,
            got=b,
        )


def need_square(name: str, shape: Shape) -> Dim:
    """The last two dims must be equal; gives their size."""
    rows, columns = shape.last(2)
    if equal(rows, columns) is False:
        raise Mismatch(
            f"the matrices of {name} {shape} must be square, but they are {rows} by {columns}",
            expected=rows,
            got=columns,
        )
    return better_known(rows, columns)


def need_nonempty(name: str, shape: Shape, dims: Sequence[int] | None) -> None:
    """None of these dims (all where it is None) may have size 0: there would be nothing to choose from."""
    for index in range(len(shape.items)) if dims is None else dims:
        if index < len(shape.items) and shape.items[index] == 0:
            raise Mismatch(f"dim {index} of {name} {shape} is empty; there is no element to choose", got=0)


def tensor_list(value: Value) -> tuple[TensorType, ...]:
    """The tensors of a tuple or list; an unknown item is an unknown tensor.

    Raises:
        CannotTell: it is no tuple of tensors.
    """
    if not isinstance(value, tuple):
        raise CannotTell
    found = tuple(ANY_TENSOR if v is ANYTHING else v for v in value)
    if not all(isinstance(v, TensorType) for v in found):
        raise CannotTell
    return found  # type: ignore[return-value]
