"""Words that sentences are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from simpletorch.errors._failure import Value

__all__ = ["called", "listed", "numbers"]


def called(value: Value | None, default: str) -> str:
    """A value's name in the program, ``default`` if unknown."""
    return default if value is None else value.name


def listed(shape: Sequence[int]) -> str:
    """``(3, 4)``, as Python writes it: ``(3,)``."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def numbers(text: str) -> tuple[int, ...]:
    """The numbers in a text of torch's: ``[3, 4]``, ``3 x 4``."""
    return tuple(int(n) for n in re.findall(r"-?\d+", text))
