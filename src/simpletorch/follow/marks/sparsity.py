"""What is known of matrices that aren't arrays of numbers side by side: their shape, dtype and format.

Each is an `Unknown` with a `Matrix`: what nobody has a model for stays unknown. A library's file says which attributes
and operators such a value has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from simpletorch.follow.values import Tensor, Unknown, Value
from simpletorch.rules import TensorType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "ATTRIBUTES",
    "DENSE",
    "ITEMS",
    "MATRIX",
    "OPERATIONS",
    "OPERATORS",
    "TENSOR",
    "Matrix",
    "as_dense",
    "common",
    "forget",
    "matrix_of",
    "new",
    "operate",
    "operation",
    "put",
]

TENSOR: Final = "sparse tensor"
"""A sparse tensor of torch's: also the name of its type."""
MATRIX: Final = "sparse matrix"
"""A sparse matrix of SciPy's."""
DENSE: Final = "matrix"
"""NumPy's ``matrix``, which has two dims whatever is done to it: what SciPy's ``todense()`` and ``sum(1)`` give."""


class Matrix(NamedTuple):
    """What is known of such a value.

    Args:
        kind: one of the three above.
        type: its shape and dtype.
        format: how its numbers are kept, ``"coo"``; None where that isn't known.
        array: of SciPy's: one of the newer classes, ``csr_array``, which compute as arrays do.
        plain: of torch's: each number that is kept is one, none of them a row of numbers.
    """

    kind: str
    type: TensorType
    format: str | None = None
    array: bool = False
    plain: bool = False

    def of_type(self, type: TensorType) -> Matrix:
        """Another one of its format."""
        return self._replace(type=TensorType(type.shape, type.dtype))


ATTRIBUTES: Final[dict[str, Callable[[Interpreter, Unknown, str], Value]]] = {}
"""By kind: ``value.name``, None where nothing is known of it."""
OPERATORS: Final[dict[str, Callable[[Interpreter, str, Value, Value], Value]]] = {}
"""By kind: ``left <operator> right``, None where nothing is known of it."""
OPERATIONS: Final[dict[str, Callable[[Interpreter, str, tuple[Value, ...], dict[str, Value]], Value]]] = {}
"""By kind: what torch's operation of this name gives, None where nothing is known of it."""
ITEMS: Final[dict[str, Callable[[Interpreter, Unknown, Value], Value]]] = {}
"""By kind: ``value[index]``, None where nothing is known of it."""


def matrix_of(value: Value) -> Matrix | None:
    """What is known of a value that is such a matrix; None of all others."""
    return value.matrix if type(value) is Unknown else None


def new(run: Interpreter, known: Matrix) -> Unknown:
    """A new matrix. Sizes that aren't known get a name, so that what is made of them can be compared."""
    shape = known.type.shape
    if shape.is_exact and UNKNOWN in shape.dims:
        shape = Shape(tuple(run.some_size() if d is UNKNOWN else d for d in shape.dims))
    made = run.unknown(f"a {known.kind}", TENSOR if known.kind == TENSOR else None)
    made.matrix = known.of_type(replace(known.type, shape=shape))
    return made


def forget(value: Unknown) -> None:
    """It isn't what it was any more."""
    value.matrix = None


def put(value: Unknown, name: str, new: Value) -> None:
    """``value.name = new`` may change its dtype, or all of it."""
    known = value.matrix
    if known is None or name in ("requires_grad", "grad"):
        return
    same = isinstance(new, Tensor) and new.type.dtype == known.type.dtype
    if known.kind != MATRIX or name == "shape":
        value.matrix = None
    elif name == "data" and not same:
        value.matrix = known.of_type(TensorType(known.type.shape))


def common(a: Value, b: Value) -> Matrix | None:
    """What two of them have in common."""
    left, right = matrix_of(a), matrix_of(b)
    if left is None or right is None or (left.kind, left.array) != (right.kind, right.array):
        return None
    one, other = left.type, right.type
    if one.shape != other.shape:
        return None
    return Matrix(
        left.kind,
        TensorType(one.shape, one.dtype if one.dtype == other.dtype else None),
        left.format if left.format == right.format else None,
        left.array,
        left.plain and right.plain,
    )


def as_dense(value: Value) -> Value:
    """NumPy's ``matrix`` as the array of its numbers, anything else as it is."""
    known = matrix_of(value)
    return Tensor(known.type, array=True) if known is not None and known.kind == DENSE else value


def operate(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """``left <operator> right`` where one of them is such a matrix; None where nothing is known of it."""
    for value in (left, right):
        known = matrix_of(value)
        if known is not None and known.kind in OPERATORS:
            return OPERATORS[known.kind](run, name, left, right)
    return None


def operation(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What torch's operation gives where one of its operands is such a matrix; None where nothing is known of it."""
    for value in args:
        if type(value) is Unknown and value.matrix is not None and value.matrix.kind in OPERATIONS:
            return OPERATIONS[value.matrix.kind](run, name, args, kwargs)
    return None
