"""The parameters of layers: their types, and those that a flag may leave out."""

from __future__ import annotations

from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import Item, Shape

__all__ = ["both", "flagged", "parameter"]


def parameter(*dims: Item) -> TensorType:
    """A parameter of this shape."""
    return TensorType(Shape(dims), is_parameter=True)


def flagged(flag: Value, value: Value) -> Value:
    """A parameter or buffer, None where the flag left it out, unknown if the flag is."""
    return (value if flag else None) if isinstance(flag, bool) else ANYTHING


def both(a: Value, b: Value) -> Value:
    """``a and b`` of flags that may be unknown."""
    if a is False or b is False:
        return False
    return True if a is True and b is True else ANYTHING
