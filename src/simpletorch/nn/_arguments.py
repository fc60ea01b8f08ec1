"""The error for a block that can't be built from its arguments: all that is wrong with one call, in one error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from simpletorch.errors import ShapeMismatch, TorchError, TypeMismatch, as_also

__all__ = ["Fault", "divisible", "probability", "refuse", "sizes"]

Fault: TypeAlias = tuple[str, object, object]  # the reason, what was expected, what came


def sizes(**given: object) -> Iterator[Fault]:
    """The arguments that are no positive ints.

    Raises:
        TypeMismatch: (a `TypeError` too) an argument is no int at all.
    """
    for name, value in given.items():
        if not isinstance(value, int) or isinstance(value, bool):
            what = f"{type(value).__name__} {value!r}"
            hint = f"use int({name}), or // in place of a division" if isinstance(value, float) else None
            raise as_also(TypeMismatch, TypeError)("int", what, f"{name} is the {what}, not an int", hint=hint)
        if value < 1:
            yield f"{name} is {value}, but it must be at least 1", 1, value


def divisible(name: str, size: int, by: str, divisor: int) -> Iterator[Fault]:
    """``size`` if ``divisor`` doesn't divide it; nothing about a divisor that is no size itself."""
    if divisor > 0 and size % divisor:
        yield f"{name}={size} is not divisible by {by}={divisor}", divisor, size


def probability(operation: str, name: str, value: float) -> None:
    """Raise a `TorchError` that is a `ValueError` too if ``value`` lies outside of ``[0, 1]``."""
    if not 0 <= value <= 1:
        reason = f"{name} is {value}, but a probability is between 0 and 1"
        raise as_also(TorchError, ValueError)(reason, operation=operation, expected="0 to 1", got=value)


def refuse(operation: str, faults: Iterable[Fault], hints: Mapping[str, str] | None = None) -> None:
    """Raise one error for all of ``faults``, if there are any.

    Args:
        operation: what was to be built, as a user writes it: ``"MLP"``.
        hints: by how a reason begins, what would be right.

    Raises:
        ShapeMismatch: (a `ValueError` too) with the reasons one after the other, and expected and got of the first.
    """
    found = list(faults)
    if not found:
        return
    reasons = [reason for reason, _, _ in found]
    hint = next((h for start, h in (hints or {}).items() if any(r.startswith(start) for r in reasons)), None)
    _, expected, got = found[0]
    raise as_also(ShapeMismatch, ValueError)(expected, got, "; ".join(reasons), operation=operation, hint=hint)
