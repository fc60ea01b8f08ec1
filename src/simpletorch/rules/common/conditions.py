"""Conditions that operations put on their operands: each raises the `Mismatch` that says why one doesn't hold.

A condition raises only where it surely fails: what isn't known passes. Names come first, as a message has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from simpletorch.rules.common.arguments import is_dim, plain
from simpletorch.rules.core.dtype import BOOL, FLOAT32, INT32, INT64, Category, DType
from simpletorch.rules.core.mismatch import Hint, Mismatch
from simpletorch.rules.core.values import ANYTHING, Scalar, TensorType, Value
from simpletorch.shapes import Dim, Shape, Unknown, at_least, equal, same

__all__ = [
    "alternatives",
    "better_known",
    "called",
    "category_names",
    "differ",
    "need_at_least",
    "need_categories",
    "need_differentiable",
    "need_distinct",
    "need_divisible",
    "need_dtype",
    "need_entries",
    "need_equal",
    "need_float_or_complex",
    "need_floating",
    "need_index",
    "need_max_rank",
    "need_min_rank",
    "need_nonempty",
    "need_not_bool",
    "need_not_complex",
    "need_number",
    "need_one_given",
    "need_one_of",
    "need_ordered",
    "need_probability",
    "need_rank",
    "need_same_rank",
    "need_same_shape",
    "need_shape",
    "need_size",
    "need_square",
    "need_storable",
    "unequal",
]


# -- words -------------------------------------------------------------------------------------------------------------


@contextmanager
def called(**names: str) -> Iterator[None]:
    """Around another operation's rule: its parameters as they are called here, for the message."""
    try:
        yield
    except Mismatch as m:
        pattern = rf"\b({'|'.join(names)})\b"
        m.reason = re.sub(pattern, lambda found: names[found[1]], m.reason)
        m.hints = tuple(re.sub(pattern, lambda found: names[found[1]], hint) for hint in m.hints)
        raise


def alternatives(words: Sequence[object]) -> str:
    """``1, 2 or 3``."""
    *first, last = map(str, words)
    return f"{', '.join(first)} or {last}" if first else last


def _dims(count: object) -> str:
    # "at least 1" counts too
    return f"{count} dim" if str(count).split()[-1] == "1" else f"{count} dims"


def differ(a: Dim, b: Dim) -> str:
    """How two sizes are no match: the sentence for numbers, or for symbols."""
    both = isinstance(a, int) and isinstance(b, int)
    return f"{a} and {b} differ" if both else f"{a} and {b} are not equal for all sizes"


def unequal(a: Dim, b: Dim) -> str:
    """The end of a sentence about two sizes that differ: nothing for numbers, the quantifier for symbols."""
    return "" if isinstance(a, int) and isinstance(b, int) else "; they are not equal for all sizes"


def better_known(a: Dim, b: Dim) -> Dim:
    """Of two dims that must be equal the one that says more: a number, else an expression."""
    if isinstance(a, Unknown) or (isinstance(b, int) and not isinstance(a, int)):
        return b
    return a


# -- numbers of dims ---------------------------------------------------------------------------------------------------


def need_rank(name: str, tensor: TensorType, *ranks: int, meaning: str = "", hint: Hint = None) -> None:
    """The tensor must have one of these numbers of dims, which mean ``(N, C, L)``."""
    shape = tensor.shape
    if (shape.rank is not None and shape.rank not in ranks) or shape.min_rank > max(ranks):
        expected = ranks[0] if len(ranks) == 1 else ranks
        raise _wrong_rank(name, shape, alternatives(ranks), meaning, expected, hint)


def need_min_rank(name: str, tensor: TensorType, least: int, *, meaning: str = "", hint: Hint = None) -> None:
    """The tensor must have at least this many dims."""
    if tensor.shape.rank is not None and tensor.shape.rank < least:
        raise _wrong_rank(name, tensor.shape, f"at least {least}", meaning, least, hint)


def need_max_rank(name: str, tensor: TensorType, most: int) -> None:
    """The tensor must have at most this many dims."""
    if tensor.shape.min_rank > most:
        raise _wrong_rank(name, tensor.shape, f"at most {most}", "", most)


def _wrong_rank(name: str, shape: Shape, wanted: str, meaning: str, expected: object, hint: Hint = None) -> Mismatch:
    named = f" {meaning}" if meaning else ""
    found = "0-dim" if shape.rank == 0 else str(shape)
    return Mismatch(
        f"{name} must have {_dims(wanted)}{named}, but it is {found}", hint=hint, expected=expected, got=shape.rank
    )


def need_number(name: str, value: Value) -> None:
    """A number is a Python number or a 0-dim tensor."""
    if isinstance(value, TensorType) and value.shape.min_rank > 0:
        raise Mismatch(f"{name} must be a number or 0-dim, but it is {value.shape}", expected=0, got=value.shape.rank)


def need_same_rank(left: str, a: Shape, right: str, b: Shape, *, hint: Hint = None) -> None:
    """Two shapes must have one number of dims."""
    if a.rank != b.rank and None not in (a.rank, b.rank):
        raise Mismatch(
            f"{left} is {a}, but {right} is {b}; they must have the same number of dims",
            hint=hint,
            expected=a.rank,
            got=b.rank,
        )


# -- sizes and shapes --------------------------------------------------------------------------------------------------


def need_equal(left: str, a: Dim, right: str, b: Dim, *, what: str, hint: Hint = None) -> Dim:
    """Two operands must agree in a size; ``what`` says which ("the inner dims"). Gives the better known one."""
    if equal(a, b) is False:
        raise Mismatch(f"{what} differ: {left} has {a}, {right} has {b}{unequal(a, b)}", hint=hint, expected=a, got=b)
    return better_known(a, b)


def need_size(what: str, found: Dim, whose: str, wanted: Dim, *, hint: Hint = None) -> None:
    """A size must be the one that something else demands: ``what`` is ``found``, but ``whose`` is ``wanted``."""
    if equal(found, wanted) is False:
        raise Mismatch(
            f"{what} {found}, but {whose} {wanted}{unequal(found, wanted)}", hint=hint, expected=wanted, got=found
        )


def need_same_shape(left: str, a: Shape, right: str, b: Shape, *, hint: Hint = None) -> None:
    """Two operands must have one shape."""
    if same(a, b) is False:
        exact = a.is_literal and b.is_literal
        raise Mismatch(
            f"{left} is {a}, but {right} is {b}; they must be equal" + ("" if exact else " for all sizes"),
            hint=hint,
            expected=a,
            got=b,
        )


def need_shape(name: str, found: Shape, wanted: Shape, *, whose: str = "it must be", hint: Hint = None) -> None:
    """A shape must be the one that the other operands make necessary."""
    if same(found, wanted) is False:
        exact = found.is_literal and wanted.is_literal
        raise Mismatch(
            f"{name} is {found}, but {whose} {wanted}" + ("" if exact else " for all sizes"),
            hint=hint,
            expected=wanted,
            got=found,
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


def need_divisible(what: str, size: Dim, by: str, divisor: Dim) -> None:
    """``size`` must be a multiple of ``divisor``, which is called ``by``."""
    # of symbols divisibility is never refused: an author who divides expects it to hold
    if divisor == 0 or (isinstance(size, int) and isinstance(divisor, int) and size % divisor):
        raise Mismatch(f"{what} is {size}, which is not divisible by {by}={divisor}", expected=divisor, got=size)


# -- arguments ---------------------------------------------------------------------------------------------------------


def need_at_least(name: str, value: Value, least: int) -> None:
    """An int, or each of several, must not be below ``least``."""
    for dim in value if isinstance(value, tuple) else (value,):
        if is_dim(dim) and at_least(dim, least) is False:
            raise Mismatch(f"{name} is {plain(value)}, but it must be at least {least}", expected=least, got=dim)


def need_probability(name: str, value: Value) -> None:
    """A number must be in [0, 1]."""
    if isinstance(value, int | float) and not 0 <= value <= 1:
        raise Mismatch(f"{name} is {value}, but it must be a probability", got=value)


def need_one_of(name: str, value: Value, *choices: str, also: str = "") -> None:
    """A string must be one of these; ``also`` names what may be there instead of a string."""
    if isinstance(value, str) and value not in choices:
        listed = alternatives([*map(repr, choices), *([also] if also else [])])
        raise Mismatch(f"{name} is {value!r}, but it must be {listed}", expected=choices, got=value)


def need_one_given(**arguments: Value) -> None:
    """Of two arguments exactly one must be there."""
    left, right = arguments
    if all(value is None for value in arguments.values()):
        raise Mismatch(f"neither {left} nor {right} is given")
    if not any(value is None or value is ANYTHING for value in arguments.values()):
        raise Mismatch(f"both {left} and {right} are given; give one")


def need_entries(name: str, value: tuple[Value, ...], *counts: int) -> None:
    """A tuple must have one of these lengths."""
    if len(value) not in counts:
        raise Mismatch(
            f"{name} has {len(value)} entries, but it must have {alternatives(counts)}",
            expected=counts[0],
            got=len(value),
        )


def need_distinct(name: str, given: Value, places: Sequence[int]) -> None:
    """The argument ``given`` must not name a dim twice; ``places`` are the dims that it names."""
    if len(set(places)) < len(places):
        raise Mismatch(f"{name}={plain(given)} names a dim twice", got=given)


def need_index(index: Value, size: Dim, dim: Value) -> None:
    """An index must lie in ``[-size, size)``; for symbols it is taken that the author knows it does."""
    if not is_dim(index):
        return
    is_negative = isinstance(index, int) and index < 0
    # ``-1`` of a dim N that may be empty is no mistake: only what is outside for every size is one
    if at_least(index, size) is True or (is_negative and at_least(-index, size + 1) is True):
        raise Mismatch(f"index {index} is out of range for dim {plain(dim)} of size {size}", expected=size, got=index)


# -- dtypes ------------------------------------------------------------------------------------------------------------

_CATEGORY_NAMES: Final[Mapping[Category, str]] = MappingProxyType(
    {"bool": "Bool", "int": "integer", "float": "floating", "complex": "complex"}
)


def category_names(categories: Sequence[Category]) -> str:
    """``integer, floating or complex``."""
    return alternatives([_CATEGORY_NAMES[c] for c in categories])


def need_categories(name: str, dtype: DType | None, *allowed: Category, why: str = "", hint: Hint = None) -> None:
    """The dtype called ``name`` must be of one of these categories, ``why`` if that isn't plain."""
    if dtype is None or dtype.category is None or dtype.category in allowed:
        return
    why = why or f"it must be {category_names(allowed)}"
    raise Mismatch(f"{name} is {dtype}, but {why}", kind="dtype", hint=hint, expected=allowed, got=dtype)


def need_floating(name: str, tensor: TensorType) -> None:
    """Bools, ints and complex numbers are refused."""
    is_complex = tensor.dtype is not None and tensor.dtype.category == "complex"
    need_categories(name, tensor.dtype, "float", hint=None if is_complex else f"{name}.float()")


def need_float_or_complex(name: str, tensor: TensorType, *, why: str = "") -> None:
    """Ints and bools are refused."""
    need_categories(name, tensor.dtype, "float", "complex", why=why, hint=f"{name}.float()")


def need_not_bool(name: str, tensor: TensorType) -> None:
    """Refuse Bool where an operation subtracts."""
    if tensor.dtype == BOOL:
        raise Mismatch(f"{name} is Bool, which can't be subtracted", kind="dtype", hint=f"{name}.float()", got=BOOL)


def need_not_complex(name: str, tensor: TensorType) -> None:
    """Refuse complex numbers where an operation orders elements."""
    need_categories(
        name, tensor.dtype, "bool", "int", "float", why="complex numbers have no order", hint=f"{name}.abs()"
    )


def need_ordered(name: str, tensor: TensorType) -> None:
    """Refuse complex numbers and Bool where an operation looks for the largest element."""
    need_not_complex(name, tensor)
    if tensor.dtype == BOOL:
        raise Mismatch(f"{name} is Bool, which is not ordered here", kind="dtype", hint=f"{name}.int()", got=BOOL)


def need_differentiable(name: str, dtype: DType | None, *, hint: str) -> None:
    """Only floats and complex numbers have gradients."""
    need_categories(name, dtype, "float", "complex", why="only floating and complex tensors have gradients", hint=hint)


_CASTS: Final[Mapping[DType, str]] = MappingProxyType({BOOL: "bool", INT64: "long", INT32: "int", FLOAT32: "float"})


def need_dtype(name: str, tensor: TensorType, *allowed: DType, what: str = "it", hint: str = "") -> None:
    """The tensor, which is ``what``, must have one of these dtypes."""
    found = tensor.dtype
    if found is None or found in allowed or found.category is None:
        return
    # a family is wrong only if none of its dtypes is allowed
    if found.is_concrete or all(found.category != d.category for d in allowed):
        raise Mismatch(
            f"{name} is {found}, but {what} must be {alternatives(allowed)}",
            kind="dtype",
            hint=hint or f"{name}.{_CASTS[allowed[0]]}()",
            expected=allowed[0],
            got=found,
        )


def need_storable(value: Value, dtype: DType | None) -> None:
    """A complex number can only be stored in a complex tensor."""
    is_complex = isinstance(value, complex) or value == Scalar("complex")
    if is_complex and dtype is not None and dtype.category not in ("complex", None):
        raise Mismatch(f"a complex value can't be stored in a tensor of {dtype}", kind="dtype", got=dtype)
