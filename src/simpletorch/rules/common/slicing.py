"""How many elements a slice takes."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.values import Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Unknown, at_least, bounds

__all__ = ["length"]


def length(size: Dim, start: Value, stop: Value, step: Value = None) -> Dim:
    """The number of elements of ``range(size)[start:stop:step]``.

    For symbols it is taken that the author knows that the bounds lie inside: ``x[:n]`` has n elements, ``x[1:]`` of a
    dim ``N`` has ``N - 1``. Where everything is a number, bounds are cut off as Python does.

    Raises:
        Mismatch: the step is not positive, which torch refuses.
    """
    stride = 1 if step is None else dim_or_unknown(step)
    if isinstance(stride, int) and stride <= 0:
        raise Mismatch(f"the step of a slice must be positive, but it is {stride}", hint="use torch.flip", got=stride)
    low = 0 if start is None else _bound(dim_or_unknown(start), size)
    high = size if stop is None else _bound(dim_or_unknown(stop), size)
    if low == 0 and high is size:
        count = size
    elif isinstance(low, int) and isinstance(high, int):
        count = max(0, high - low)
    else:
        count = 0 if at_least(low, high) is True else high - low
        if isinstance(count, int) and isinstance(size, int) and count > size:
            return UNKNOWN
    return count if stride == 1 else (count + stride - 1) // stride


def _bound(value: Dim, size: Dim) -> Dim:
    """Where a bound falls, from 0."""
    if isinstance(value, int) and isinstance(size, int):
        return min(max(value + size, 0) if value < 0 else value, size)
    if isinstance(value, Unknown):
        return UNKNOWN
    if value == 0:
        return 0
    if isinstance(size, Unknown):
        return UNKNOWN
    if _is_negative(value, size):
        inside = size + value
        return 0 if at_least(0, inside) is True else inside
    return size if at_least(value, size) is True else value


def _is_negative(value: int | Expr, size: int | Expr) -> bool:
    """Whether a bound counts from the end. ``2 - W`` does in a dim ``W``: for all but the smallest it is negative."""
    if isinstance(value, int):
        return value < 0
    low, high = bounds(value)
    if high is not None and high <= 0:
        return at_least(value, 0) is not True  # not what is 0 for sure
    return low is None and high is not None and at_least(size + value, 0) is True
