"""The names of measures, which are the same in the log, in `Fit.metrics` and for callbacks; and which are numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

VALIDATION: Final = "validation "
"""What the names of measures on the validation batches begin with."""


def spelled(name: str) -> str:
    """A measure's name as the log has it: ``validation_loss`` is ``validation loss``."""
    rest = name.removeprefix("validation_")
    return name if rest == name else VALIDATION + rest


def numbers_and_others(measured: Mapping[str, object]) -> tuple[dict[str, float], dict[str, Any]]:
    """The measures that are single numbers, and the others: matrices, curves, dicts."""
    numbers: dict[str, float] = {}
    others: dict[str, Any] = {}
    for name, value in measured.items():
        number = _number(value)
        if number is None:
            others[name] = value
        else:
            numbers[name] = number
    return numbers, others


def _number(value: Any) -> float | None:
    if isinstance(value, (int, float)):
        return value
    # tensors and what NumPy calls numbers; one of several elements has no item()
    count = value.numel() if hasattr(value, "numel") else getattr(value, "size", None)
    return float(value.item()) if count == 1 and hasattr(value, "item") else None
