"""Rows of numbers: arange, linspace, logspace, the indices of triangles, and a mask over one."""

from __future__ import annotations

import math

from simpletorch.rules.common.arguments import dim_or_unknown, dtype_argument, is_dim
from simpletorch.rules.common.conditions import need_at_least, need_number
from simpletorch.rules.common.dtypes import number_dtype
from simpletorch.rules.common.factory import device_argument, made
from simpletorch.rules.core.cards import SOME, Card
from simpletorch.rules.core.dtype import COMPLEX64, DEFAULT_FLOAT, INT64, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Scalar, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Shape, equal


def _bounds(args: tuple[Value, ...], start: Value, end: Value, step: Value) -> tuple[Value, Value, Value]:
    """``arange(end)``, ``arange(start, end)`` or ``arange(start, end, step)``, with the rest by keyword."""
    if len(args) == 1 and end is None:
        return start, args[0], step
    given = [*args, *(v for v in (start, end, step)[len(args) :])]
    if len(given) != 3:
        raise CannotTell
    return given[0], given[1], given[2]


def _length(start: Value, end: Value, step: Value, *, last: bool = False) -> Dim:
    """How many numbers are in the range; ``last``: the end is one of them.

    Raises:
        Mismatch: the step is 0 or leads away from the end.
    """
    if isinstance(step, int | float) and step == 0:
        raise Mismatch("step is 0", got=step)
    numbers = [v for v in (start, end, step) if isinstance(v, int | float)]
    if len(numbers) == 3:
        return _counted(*numbers, last=last)
    if last or not is_dim(start) or not is_dim(end) or not is_dim(step):
        return UNKNOWN
    # rounded up, as // rounds down: for symbols there is no ceil
    if isinstance(step, int) and step < 0:
        return (start - end - step - 1) // -step
    return (end - start + step - 1) // step


def _counted(start: float, end: float, step: float, *, last: bool) -> Dim:
    span = (end - start) / step
    if not math.isfinite(span):
        raise CannotTell
    if span < 0:
        raise Mismatch(f"step {step} leads from {start} away from {end}", got=step)
    if not last and all(isinstance(v, int) for v in (start, end, step)):
        return -int((start - end) // step)
    return math.floor(span) + 1 if last else math.ceil(span)


def _range_dtype(values: tuple[Value, ...]) -> DType | None:
    """Int64 if all are ints, the default float otherwise."""
    found = [number_dtype(v) for v in values]
    categories = [None if d is None else d.category for d in found]
    if "float" in categories:
        return DEFAULT_FLOAT
    return INT64 if all(c in ("int", "bool") for c in categories) else None


def _truncated(bound: Value) -> Value:
    """A bound as an int: torch casts it before it counts."""
    if isinstance(bound, float) and math.isfinite(bound):
        return int(bound)
    return bound if is_dim(bound) or isinstance(bound, bool) else ANYTHING


@rule("torch.arange", moves=True)
def arange(
    *args: Value,
    start: Value = 0,
    end: Value = None,
    step: Value = 1,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``start, end, step -> (ceil((end - start) / step),)``"""
    bounds = _bounds(args, start, end, step)
    found = dtype_argument(dtype, _range_dtype(bounds))
    if found is not None and found.category == "int" and isinstance(bounds[2], float) and abs(bounds[2]) < 1:
        bounds = (bounds[0], bounds[1], ANYTHING)  # cast to 0, which is refused
    elif found == INT64:  # other dtypes are counted in floats
        bounds = (_truncated(bounds[0]), _truncated(bounds[1]), _truncated(bounds[2]))
    size = _length(*bounds)
    return made(Shape.of(size), found, device_argument(device), requires_grad)


@rule("torch.range", moves=True)
def inclusive_range(
    start: Value,
    end: Value,
    step: Value = 1,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``start, end, step -> (floor((end - start) / step) + 1,)``"""
    size = _length(start, end, step, last=True)
    return made(Shape.of(size), dtype_argument(dtype, DEFAULT_FLOAT), device_argument(device), requires_grad)


def _spaced_dtype(start: Value, end: Value) -> DType | None:
    found = [number_dtype(v) for v in (start, end)]
    if any(d is not None and d.category == "complex" for d in found):
        return COMPLEX64
    return None if any(d is None or d.category is None for d in found) else DEFAULT_FLOAT


def _spaced(start: Value, end: Value, steps: Value, dtype: Value, device: Value, requires_grad: Value) -> TensorType:
    need_number("start", start)
    need_number("end", end)
    if isinstance(steps, float | Scalar):
        raise Mismatch("steps is a float, but it must be an int", kind="dtype", got=steps)
    need_at_least("steps", steps, 0)
    found = dtype_argument(dtype, _spaced_dtype(start, end))
    return made(Shape.of(dim_or_unknown(steps)), found, device_argument(device), requires_grad)


@rule("torch.linspace", moves=True, card=Card(gradient=SOME))
def linspace(
    start: Value,
    end: Value,
    steps: Value,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``start, end, steps -> (steps,)``"""
    return _spaced(start, end, steps, dtype, device, requires_grad)


@rule("torch.logspace", moves=True, card=Card(gradient=SOME))
def logspace(
    start: Value,
    end: Value,
    steps: Value,
    base: Value = 10.0,
    *,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``start, end, steps -> (steps,)``"""
    return _spaced(start, end, steps, dtype, device, requires_grad)


def _triangle(row: Value, col: Value, offset: Value, *, lower: bool) -> Dim:
    """How many entries the triangle of a matrix has."""
    rows, cols = dim_or_unknown(row), dim_or_unknown(col)
    need_at_least("row", rows, 0)
    need_at_least("col", cols, 0)
    if not isinstance(offset, int):
        return UNKNOWN
    if isinstance(rows, int) and isinstance(cols, int):
        below = sum(min(max(i + offset + lower, 0), cols) for i in range(rows))
        return below if lower else rows * cols - below
    inward = -offset if lower else offset
    if equal(rows, cols) is True and inward in (0, 1):
        return rows * (rows + 1 - 2 * inward) // 2
    return UNKNOWN


@rule("torch.tril_indices", moves=True)
def tril_indices(
    row: Value, col: Value, offset: Value = 0, *, dtype: Value = None, device: Value = None, **options: Value
) -> TensorType:
    """``row, col, offset -> (2, n)``, n entries of the lower triangle"""
    count = _triangle(row, col, offset, lower=True)
    return made(Shape.of(2, count), dtype_argument(dtype, INT64), device_argument(device))


@rule("torch.triu_indices", moves=True)
def triu_indices(
    row: Value, col: Value, offset: Value = 0, *, dtype: Value = None, device: Value = None, **options: Value
) -> TensorType:
    """``row, col, offset -> (2, n)``, n entries of the upper triangle"""
    count = _triangle(row, col, offset, lower=False)
    return made(Shape.of(2, count), dtype_argument(dtype, INT64), device_argument(device))


@rule("torch.nn.Transformer.generate_square_subsequent_mask", moves=True)
def generate_square_subsequent_mask(sz: Value, device: Value = None, dtype: Value = None) -> TensorType:
    """``sz -> (sz, sz)``, minus infinity above the diagonal"""
    size = dim_or_unknown(sz)
    return made(Shape.of(size, size), dtype_argument(dtype, DEFAULT_FLOAT), device_argument(device))
