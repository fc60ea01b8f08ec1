"""Results of several tensors: torch's named tuples, and values with the places where they were."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.core.dtype import INT64
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.values import Named, TensorType, Value

__all__ = ["RETURN_TYPES", "flagged_indices", "named", "values_and_indices"]

RETURN_TYPES: Final = "torch.return_types."


def named(op: str, **fields: Value) -> Named:
    """The named tuple that torch gives: ``torch.return_types.max(values=…, indices=…)``."""
    return Named(RETURN_TYPES + op, tuple(fields.items()))


def values_and_indices(op: str, values: TensorType) -> Named:
    """Values and where they were, as `torch.max` and `torch.sort` give them."""
    return named(op, values=values, indices=TensorType(values.shape, INT64))


def flagged_indices(values: TensorType, return_indices: Value) -> Value:
    """The values alone, or with the places where they were, as the flag says.

    Raises:
        CannotTell: it isn't known what the flag says.
    """
    if not isinstance(return_indices, bool):
        raise CannotTell
    return (values, TensorType(values.shape, INT64)) if return_indices else values
