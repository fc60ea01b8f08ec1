"""The dtype of a result: torch's promotion over tensors and Python numbers, and what becomes of one dtype."""

from __future__ import annotations

from collections.abc import Sequence

from simpletorch.rules.core.dtype import (
    BOOL,
    COMPLEX64,
    DEFAULT_FLOAT,
    INT64,
    DType,
    combine_categories,
    promote_all,
    to_complex,
    to_real,
)
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.values import Scalar, TensorType, Value
from simpletorch.shapes import Expr, Unknown

__all__ = [
    "complex_dtype",
    "float_dtype",
    "number_dtype",
    "real_dtype",
    "result_dtype",
    "same_dtype",
    "summed_dtype",
]


def number_dtype(value: Value) -> DType | None:
    """The dtype that a Python number, or a 0-dim tensor, has by itself."""
    match value:
        case TensorType():
            return value.dtype
        case bool() | Scalar("bool"):
            return BOOL
        case int() | Expr() | Unknown():
            return INT64
        case float() | Scalar("float"):
            return DEFAULT_FLOAT
        case complex() | Scalar("complex"):
            return COMPLEX64
        case _:
            return None


def _split(values: Sequence[Value], zero_dim: dict[int, bool]) -> DType | None:
    """`torch.result_type` with the ranks that ``zero_dim`` assumes for tensors of unknown rank."""
    # the three of ATen/native/TypeProperties.cpp: tensors with dims, 0-dim tensors, Python numbers
    groups: list[list[DType | None]] = [[], [], []]
    for i, v in enumerate(values):
        if isinstance(v, TensorType):
            is_zero = v.shape.rank == 0 if v.shape.rank is not None else zero_dim.get(i, False)
            groups[1 if is_zero else 0].append(v.dtype)
        else:
            groups[2].append(number_dtype(v))
    out: DType | None = None
    started = False
    for group in reversed(groups):
        if not group:
            continue
        own = promote_all(group)
        out = combine_categories(own, out) if started else own
        started = True
    return out


def _one_dtype(a: Value, b: Value) -> DType | None:
    """That of two tensors with dims, if both have it, as most have; None where more must be asked."""
    if not isinstance(a, TensorType) or not isinstance(b, TensorType) or a.dtype is not b.dtype:
        return None
    plain = a.dtype is not None and a.dtype.is_concrete and a.shape.rank and b.shape.rank
    return a.dtype if plain else None


def result_dtype(*values: Value) -> DType | None:
    """`torch.result_type`: dims beat 0-dim tensors beat Python numbers, unless the category is higher.

    None where it can't be told, also because a tensor of unknown rank may be 0-dim and that would matter.
    """
    if len(values) == 2 and (own := _one_dtype(*values)) is not None:
        return own
    hidden = [
        i for i, v in enumerate(values) if isinstance(v, TensorType) and v.shape.rank is None and v.shape.min_rank == 0
    ]
    first = _split(values, {})
    if len(values) == 1 or not hidden or all(isinstance(v, TensorType) and v.dtype == first for v in values):
        return first
    # each of them may be 0-dim or not, and every case must give one dtype
    if len(hidden) > 4:
        return None
    for assumed in range(1, 2 ** len(hidden)):
        if _split(values, {i: bool(assumed >> k & 1) for k, i in enumerate(hidden)}) != first:
            return None
    return first


def float_dtype(*values: Value) -> DType | None:
    """The dtype of an operation that gives floats for ints and bools (``exp``, ``/``, ``mean`` of floats)."""
    found = result_dtype(*values)
    return DEFAULT_FLOAT if found is not None and found.category in ("bool", "int") else found


def summed_dtype(dtype: DType | None) -> DType | None:
    """Sums and products of ints and bools are Int64."""
    return INT64 if dtype is not None and dtype.category in ("bool", "int") else dtype


def real_dtype(dtype: DType | None) -> DType | None:
    """The dtype of an absolute value, also where only the family is known."""
    if dtype is None or dtype.category in ("bool", "int", "float"):
        return dtype
    return to_real(dtype) if dtype.is_concrete else None


def complex_dtype(dtype: DType | None) -> DType | None:
    """The complex dtype of the same precision."""
    if dtype is None or dtype.category == "complex":
        return dtype
    return to_complex(dtype) if dtype.category == "float" and dtype.is_concrete else None


def same_dtype(*operands: tuple[str, TensorType]) -> DType | None:
    """The one dtype that all named operands must have, as ``mm`` and ``linear`` demand; None where unknown.

    Raises:
        Mismatch: two of them differ for sure.
    """
    known = [(name, t.dtype) for name, t in operands if t.dtype is not None]
    for name, dtype in known[1:]:
        first, expected = known[0]
        differ = dtype != expected and ((dtype.is_concrete and expected.is_concrete) or dtype.order != expected.order)
        if differ and dtype.order is not None and expected.order is not None:
            to_first = dtype.order <= expected.order
            raise Mismatch(
                f"{first} is {expected}, but {name} is {dtype}; both must have one dtype",
                kind="dtype",
                hint=f"{name}.to({first}.dtype)" if to_first else f"{first}.to({name}.dtype)",
                expected=expected,
                got=dtype,
            )
    concrete = [d for _, d in known if d.is_concrete]
    return concrete[0] if concrete else (known[0][1] if known else None)
