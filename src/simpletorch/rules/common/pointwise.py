"""Shared by all element-wise rules: their operands, common shape, refused dtypes, and the in-place check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from simpletorch.rules.common.conditions import category_names
from simpletorch.rules.common.dtypes import number_dtype
from simpletorch.rules.core.dtype import Category
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.values import ANY_TENSOR, ANYTHING, Scalar, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Shape, Unknown, equal

__all__ = [
    "ALL_BUT_FLOAT",
    "ALL_BUT_INT",
    "COMPLEX_ONLY",
    "INEXACT",
    "INTEGRAL",
    "as_number",
    "functions_and_methods",
    "is_number",
    "need_kernel",
    "operand",
    "updated",
]

# Categories that an operation has no kernel for, on the CPU and on CUDA alike (op_db's dtypes and dtypesIfCUDA).
COMPLEX_ONLY: Final = ("complex",)
INEXACT: Final = ("float", "complex")
INTEGRAL: Final = ("bool", "int")
ALL_BUT_FLOAT: Final = ("bool", "int", "complex")
ALL_BUT_INT: Final = ("bool", "float", "complex")

_ORDER: Final[tuple[Category, ...]] = ("bool", "int", "float", "complex")


def functions_and_methods(names: str, *, in_place: bool = False) -> tuple[str, ...]:
    """``"exp log"`` as torch.exp, Tensor.exp, torch.log, Tensor.log; or as Tensor.exp_, Tensor.log_."""
    if in_place:
        return tuple(f"Tensor.{n}_" for n in names.split())
    return tuple(f"{place}.{n}" for n in names.split() for place in ("torch", "Tensor"))


def is_number(value: Value) -> bool:
    """Whether the value is a Python number: bool, int, float or complex, known or not."""
    return isinstance(value, bool | int | Expr | Unknown | float | complex | Scalar)


def as_number(tensor: TensorType) -> Value:
    """The Python number that a tensor of one element becomes."""
    match tensor.dtype and tensor.dtype.category:
        case "int":
            return UNKNOWN
        case "bool" | "float" | "complex" as name:
            return Scalar(name)
        case _:
            return ANYTHING


def operand(value: Value) -> TensorType | Value:
    """A tensor or number as it is, an unknown value as an unknown tensor (which covers the number).

    Raises:
        CannotTell: it is something else.
    """
    if value is ANYTHING:
        return ANY_TENSOR
    if isinstance(value, TensorType) or is_number(value):
        return value
    raise CannotTell


def _orders(values: Iterable[Value]) -> tuple[int, bool]:
    """The highest category among the operands, as far as known, and whether all are known."""
    orders = [None if (d := number_dtype(v)) is None else d.order for v in values]
    return max((o for o in orders if o is not None), default=0), None not in orders


def need_kernel(refused: tuple[str, ...], **operands: Value) -> None:
    """The category that the named operands promote to must be one that torch has a kernel for.

    Raises:
        Mismatch: it is, for sure; the reason names the operand that brings it in.
    """
    if not refused:
        return
    top, complete = _orders(operands.values())
    # an operand that isn't known can only raise the category: a refusal needs all that it may be to be refused
    possible = (_ORDER[top],) if complete else _ORDER[top:]
    if any(c not in refused for c in possible):
        return
    name, value = next(
        (n, v) for n, v in operands.items() if (d := number_dtype(v)) is not None and d.category == _ORDER[top]
    )
    taken = tuple(c for c in _ORDER if c not in refused)
    found = value.dtype if isinstance(value, TensorType) else f"a Python {_ORDER[top]}"
    raise Mismatch(
        f"{name} is {found}, but it must be {category_names(taken)}",
        kind="dtype",
        hint=_cast_hint(name, value, refused),
        expected=taken,
        got=found,
    )


def _cast_hint(name: str, value: Value, refused: tuple[str, ...]) -> str | None:
    if not isinstance(value, TensorType) or (value.dtype and value.dtype.category) == "complex":
        return None
    return f"{name}.float()" if "float" not in refused else f"{name}.long()" if "int" not in refused else None


def updated(target: TensorType, result: TensorType, name: str = "input") -> TensorType:
    """``target`` after an in-place operation that computes ``result``.

    Raises:
        Mismatch: torch can't write ``result`` into ``target``: another shape, or a higher category of dtype.
    """
    _need_same_dims(target.shape, result.shape, name)
    mine, theirs = target.dtype, result.dtype
    if mine is not None and theirs is not None and mine.order is not None and (theirs.order or 0) > mine.order:
        raise Mismatch(
            f"the result is {theirs}, which can't be cast to the {mine} of {name}",
            kind="dtype",
            hint="use the form that isn't in place, which gives a new tensor",
            expected=mine,
            got=theirs,
        )
    return replace(target, shape=_narrowed(target.shape, result.shape))


def _need_same_dims(target: Shape, result: Shape, name: str) -> None:
    if target.is_exact and len(target.items) < result.min_rank:
        raise Mismatch(
            f"{name} is {target}, but the result would be {result}; an in-place operation can't add dims",
            expected=target,
            got=result,
        )
    mine, theirs = target.tail, result.tail
    for i, (m, t) in enumerate(zip(reversed(mine), reversed(theirs), strict=False)):
        if equal(m, t) is False:
            raise Mismatch(
                f"{name} is {target}, but the result would be {result}: {m} and {t} differ at dim {-i - 1}; "
                "an in-place operation can't change the shape",
                expected=target,
                got=result,
            )


def _narrowed(target: Shape, result: Shape) -> Shape:
    """The target's shape, with dims that only the result knows."""
    if target.rank is None or target.rank != result.rank:
        return target
    known: list[Dim] = [t if m is UNKNOWN else m for m, t in zip(target.dims, result.dims, strict=True)]
    return Shape(tuple(known))
